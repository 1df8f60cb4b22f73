package kernel

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/spec"
)

// treeFacts are the parts of uapi-6.12.json that say what is in a device's
// tree.
type treeFacts struct {
	Core     struct{ Objects []treeObject }
	Drivers  map[string]struct{ Objects []treeObject }
	Write    []treeWrite
	WriteEx  []treeWrite `json:"write_ex"`
	Profiles map[string]struct {
		Ops            []string `json:"needed_ops_present"`
		Objects        int      `json:"surviving_objects"`
		Methods        int      `json:"surviving_ioctl_methods"`
		Writes         []string `json:"surviving_writes"`
		RemovedObjects []string `json:"removed_objects"`
	} `json:"device_profiles"`
}

type treeObject struct {
	Name    string
	Key     uint32 `json:"obj_key"`
	Methods []struct {
		Name  string
		Key   uint32
		Attrs []struct {
			Name string
			Key  uint32 `json:"attr_key"`
		}
	}
}

type treeWrite struct {
	Name              string `json:"cmd"`
	Num, Key          uint32
	ReqSize           uint8 `json:"req_size"`
	RespSize          uint8 `json:"resp_size"`
	HasUdata, HasResp bool
}

func (w *treeWrite) UnmarshalJSON(b []byte) error {
	type plain treeWrite
	var flags struct {
		HasUdata bool `json:"has_udata"`
		HasResp  bool `json:"has_resp"`
	}
	if err := json.Unmarshal(b, (*plain)(w)); err != nil {
		return err
	}
	err := json.Unmarshal(b, &flags)
	w.HasUdata, w.HasResp = flags.HasUdata, flags.HasResp
	return err
}

func loadTree(t *testing.T) *treeFacts {
	raw, err := os.ReadFile("../spec/testdata/uapi-6.12.json")
	require.NoError(t, err)
	var f treeFacts
	require.NoError(t, json.Unmarshal(raw, &f))
	return &f
}

// profileDrivers has the id of each driver that the facts have a profile of.
var profileDrivers = map[string]uint32{
	"mlx5": spec.RDMA_DRIVER_MLX5, "efa": spec.RDMA_DRIVER_EFA, "bnxt_re": spec.RDMA_DRIVER_BNXT_RE,
	"rxe": spec.RDMA_DRIVER_RXE, "siw": spec.RDMA_DRIVER_SIW,
}

// profileMasks are the write() commands that a driver adds to those of every
// device: where it sets uverbs_cmd_mask.
var profileMasks = map[string]uint64{
	"rxe": 1<<spec.IB_USER_VERBS_CMD_POST_SEND | 1<<spec.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
	"siw": 1 << spec.IB_USER_VERBS_CMD_POST_SEND,
}

// treeOf builds the tree of a driver's device.
func treeOf(t *testing.T, driver string, ops core.DeviceOps, cmdMask uint64) *API {
	t.Helper()
	id, ok := profileDrivers[driver]
	require.True(t, ok, driver)
	dev := &core.Device{Ops: ops, UverbsCmdMask: cmdMask, DriverID: id}
	own := spec.Linux6_12.Definitions(id)[len(spec.Core()):]
	api, err := NewAPI(dev, emptyDefs(spec.Core()), emptyDefs(own))
	require.NoError(t, err)
	return api
}

// TestTreeKeys wants the tree of a device that can do everything to have just
// the objects, methods, attributes and commands that the kernel's tables have,
// under the kernel's keys.
func TestTreeKeys(t *testing.T) {
	f := loadTree(t)
	for driver, own := range f.Drivers {
		t.Run(driver, func(t *testing.T) {
			want := map[uint32]string{}
			for _, o := range slices.Concat(f.Core.Objects, own.Objects) {
				want[o.Key] = o.Name
				for _, m := range o.Methods {
					want[m.Key] = m.Name
					for _, a := range m.Attrs {
						want[m.Key|a.Key] = a.Name
					}
				}
			}
			for _, w := range slices.Concat(f.Write, f.WriteEx) {
				want[w.Key] = w.Name
			}
			got := map[uint32]string{}
			for key, elm := range treeOf(t, driver, allOps(), ^uint64(0)).radix.From(0) {
				switch {
				case elm.Object != nil:
					got[key] = elm.Object.Name
				case elm.Method != nil:
					got[key] = elm.Method.Name
				case elm.Write != nil:
					got[key] = elm.Write.Name
				default:
					got[key] = elm.Attr.Name
				}
			}
			require.Equal(t, want, got)
		})
	}
}

// TestWriteTables wants the tables of write() commands to be the kernel's, with
// the sizes and flags that it keeps: none of an extended command.
func TestWriteTables(t *testing.T) {
	f := loadTree(t)
	writes, exWrites := treeOf(t, "mlx5", allOps(), ^uint64(0)).Writes()
	for _, table := range []struct {
		got  []*WriteMethod
		want []treeWrite
		isEx bool
	}{{writes, f.Write, false}, {exWrites, f.WriteEx, true}} {
		want := map[int]treeWrite{}
		last := 0
		for _, w := range table.want {
			last = max(last, int(w.Num))
			want[int(w.Num)] = w
		}
		require.Len(t, table.got, last+1)
		for i, m := range table.got {
			w, ok := want[i]
			if !ok {
				require.Empty(t, m.Name, i)
				continue
			}
			require.Equal(t, w.Name, m.Name)
			require.Equal(t, table.isEx, m.IsEx, m.Name)
			if table.isEx {
				w = treeWrite{}
			}
			require.Equal(t, [4]any{w.ReqSize, w.RespSize, w.HasUdata, w.HasResp},
				[4]any{m.ReqSize, m.RespSize, m.HasUdata, m.HasResp}, m.Name)
		}
	}
}

// opsNamed has those operations alone; none may be called.
func opsNamed(t *testing.T, names []string) core.DeviceOps {
	t.Helper()
	want := map[spec.Op]bool{}
	for _, n := range names {
		op, ok := spec.OpByName(n)
		require.True(t, ok, n)
		want[op] = true
	}
	all := allOps()
	var ops core.DeviceOps
	for i := range reflect.TypeFor[core.DeviceOps]().NumField() {
		var one core.DeviceOps
		f := reflect.ValueOf(&all).Elem().Field(i)
		reflect.ValueOf(&one).Elem().Field(i).Set(f)
		for op := range want {
			if one.Has(op) {
				reflect.ValueOf(&ops).Elem().Field(i).Set(f)
			}
		}
	}
	for op := range spec.NumOps {
		require.Equal(t, want[op], ops.Has(op), op)
	}
	return ops
}

// TestProfiles wants what is left of the tree, for the operations that each
// driver has in 6.12's sources, to be what the facts count and name.
func TestProfiles(t *testing.T) {
	f := loadTree(t)
	require.Len(t, f.Profiles, len(profileDrivers))
	for driver, want := range f.Profiles {
		t.Run(driver, func(t *testing.T) {
			api := treeOf(t, driver, opsNamed(t, want.Ops), spec.DefaultUverbsCmdMask|profileMasks[driver])
			gone := map[string]bool{}
			for _, o := range f.Core.Objects {
				gone[o.Name] = true
			}
			objects, methods := 0, 0
			var commands []string
			for _, elm := range api.radix.From(0) {
				switch {
				case elm.Object != nil:
					delete(gone, elm.Object.Name)
					objects++
				case elm.Method != nil:
					methods++
				case elm.Write != nil:
					commands = append(commands, elm.Write.Name)
				}
			}
			require.Equal(t, want.Objects, objects)
			require.Equal(t, want.Methods, methods)
			require.Equal(t, want.RemovedObjects, append([]string{}, slices.Sorted(maps.Keys(gone))...))
			require.ElementsMatch(t, want.Writes, commands)

			writes, exWrites := api.Writes()
			var table []string
			for _, m := range slices.Concat(writes, exWrites) {
				if m.Name != "" {
					table = append(table, m.Name)
				}
			}
			require.ElementsMatch(t, want.Writes, table)
		})
	}
}
