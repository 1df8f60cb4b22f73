package schema

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
)

// facts are numbers that were taken from the kernel's own macros: see
// spec/testdata/uapi-6.12.json.
type facts struct {
	Merged map[string][]struct {
		Name    string
		Methods []struct {
			Name      string
			Finalized struct {
				NumAttrs     int    `json:"num_attrs"`
				KeyBitmapLen int    `json:"key_bitmap_len"`
				Mandatory    string `json:"attr_mandatory_bitmap"`
				HasUdata     bool   `json:"has_udata"`
				UseStack     bool   `json:"use_stack"`
				BundleSize   int    `json:"bundle_size"`
			}
		}
	}
	Profiles map[string]struct {
		Present []string `json:"needed_ops_present"`
		Absent  []string `json:"needed_ops_absent"`
		Objects int      `json:"surviving_objects"`
		Methods int      `json:"surviving_ioctl_methods"`
		Writes  []string `json:"surviving_writes"`
		Removed []string `json:"removed_objects"`
	} `json:"device_profiles"`
	Write   []writeFact
	WriteEx []writeFact `json:"write_ex"`
}

type writeFact struct {
	Cmd      string
	Num      uint32
	ReqSize  int  `json:"req_size"`
	RespSize int  `json:"resp_size"`
	HasUdata bool `json:"has_udata"`
	HasResp  bool `json:"has_resp"`
	Key      uint32
}

func readFacts(t *testing.T) facts {
	b, err := os.ReadFile("../../spec/testdata/uapi-6.12.json")
	require.NoError(t, err)
	var f facts
	require.NoError(t, json.Unmarshal(b, &f))
	return f
}

func build(t *testing.T, driver string, k *spec.Kernel) *Document {
	t.Helper()
	d, err := DriverByName(driver)
	require.NoError(t, err)
	doc, err := Build(d, k)
	require.NoError(t, err)
	return doc
}

// TestPrunedAsTheKernelPrunes compares what is left of each driver's tables.
func TestPrunedAsTheKernelPrunes(t *testing.T) {
	f := readFacts(t)
	delete(f.Profiles, "siw") // package spec does not have its structs
	require.Equal(t, len(drivers)-1, len(f.Profiles), "core is no driver")
	for name, want := range f.Profiles {
		t.Run(name, func(t *testing.T) {
			d, err := DriverByName(name)
			require.NoError(t, err)
			for _, op := range want.Present {
				o, ok := spec.OpByName(op)
				require.True(t, ok && d.has(spec.Linux6_12, o), op)
			}
			for _, op := range want.Absent {
				o, ok := spec.OpByName(op)
				require.True(t, ok && !d.has(spec.Linux6_12, o), op)
			}
			doc := build(t, name, spec.Linux6_12)
			objects, methods := 0, 0
			var removed, writes []string
			for _, o := range doc.Objects {
				if o.Pruned != "" {
					removed = append(removed, o.Name)
				} else {
					objects++
				}
				for _, m := range o.Methods {
					if m.Pruned == "" {
						methods++
					}
					require.Equal(t, m.Pruned == "", m.Finalized != nil, m.Name)
				}
				for _, w := range o.Writes {
					if w.Pruned == "" {
						writes = append(writes, w.Name)
					}
				}
			}
			require.Equal(t, want.Objects, objects)
			require.Equal(t, want.Methods, methods)
			require.ElementsMatch(t, want.Writes, writes)
			require.ElementsMatch(t, want.Removed, removed)
		})
	}
}

// TestFinalizedAsTheKernelDoes compares what the kernel computes of each method.
func TestFinalizedAsTheKernelDoes(t *testing.T) {
	merged := readFacts(t).Merged
	require.NotEmpty(t, merged)
	for driver, objects := range merged {
		doc := build(t, driver, spec.Linux6_12)
		compared := 0
		for _, want := range objects {
			for _, m := range want.Methods {
				sel, err := doc.Find(want.Name + "." + m.Name)
				require.NoError(t, err)
				if sel.Method.Pruned != "" {
					continue
				}
				mandatory, err := strconv.ParseUint(m.Finalized.Mandatory, 0, 64)
				require.NoError(t, err)
				f := m.Finalized
				require.Equal(t, &Finalized{f.NumAttrs, f.KeyBitmapLen, mandatory, f.HasUdata, f.UseStack, f.BundleSize},
					sel.Method.Finalized, m.Name)
				compared++
			}
		}
		require.Greater(t, compared, 15, driver)
	}
}

// wholeSizes are the least requests of the extended commands whose handlers call
// uverbs_request_start: struct ib_uverbs_create_flow without its flow_specs, and
// struct ib_uverbs_ex_create_rwq_ind_table without its wq_handles.
var wholeSizes = map[string]int{
	"IB_USER_VERBS_EX_CMD_CREATE_FLOW":        4 + 4 + 16,
	"IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL": 4 + 4,
}

// TestWritesAsTheKernelDeclares compares the commands.
func TestWritesAsTheKernelDeclares(t *testing.T) {
	f := readFacts(t)
	doc := build(t, "core", spec.Linux6_12)
	compared := 0
	for _, want := range append(f.Write, f.WriteEx...) {
		sel, err := doc.Find(want.Cmd)
		require.NoError(t, err)
		w := sel.Write
		require.Equal(t, want.Num, w.Command&0xff, want.Cmd)
		require.Equal(t, want.Key, w.Key, want.Cmd)
		least, room := want.ReqSize, want.RespSize
		if w.Ex { // uapi_create_write drops these; see the handlers
			least, room = wholeSizes[want.Cmd], 0
		}
		require.Equal(t, least, w.ReqMin, want.Cmd)
		require.Equal(t, w.Ex && least == 0, w.Fills, want.Cmd)
		require.Equal(t, want.HasResp, w.HasResp, want.Cmd)
		if want.HasResp {
			require.Equal(t, room, w.RespMin, want.Cmd)
		}
		require.Equal(t, want.HasUdata || w.Ex, w.HasUdata, want.Cmd)
		require.Empty(t, w.Pruned, want.Cmd)
		compared++
	}
	require.Equal(t, 47, compared)
}
