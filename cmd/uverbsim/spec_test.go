package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/rxe"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/report/schema"
	"uverbsim/spec"
)

// specOutput runs spec and returns what it printed.
func specOutput(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	status := run(append([]string{"spec"}, args...), strings.NewReader(""), &out, &errOut)
	require.Zero(t, status, errOut.String())
	require.Empty(t, errOut.String())
	return out.String()
}

func TestSpecRefusals(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"qc"}, `uverbsim: no object "QC" on mlx5, kernel 6.12: the nearest is CQ`},
		{[]string{"cq.creat"}, `uverbsim: UVERBS_OBJECT_CQ has no method or command "CREAT" on mlx5, kernel 6.12: the nearest is CQ.CREATE`},
		{[]string{"--driver", "mlx4"}, "uverbsim: --driver mlx4: one of core, mlx5, rxe, efa, bnxt_re"},
		{[]string{"--kernel", "5.4"}, "uverbsim: --kernel 5.4: one of " + kernelNames()},
		{[]string{"--diff", "7.0"}, "uverbsim: --diff 7.0: one of " + kernelNames()},
		{[]string{"--tree", "--format", "png"}, "uverbsim: --format png: one of text, dot, svg"},
		{[]string{"--json", "--tree"}, "uverbsim: --json, --tree: only one of them at a time"},
		{[]string{"--schema", "cq"}, "uverbsim: cq: --schema is the same for every object"},
		{[]string{"--schema", "--driver", "rxe"}, "uverbsim: --driver rxe: --schema is the same for every driver"},
		{[]string{"--schema", "--kernel", "6.1"}, "uverbsim: --kernel 6.1: --schema is the same for every kernel"},
		{[]string{"--diff", ""}, "uverbsim: --diff: an empty value"},
		{[]string{"cq", "qp"}, "uverbsim: spec: one argument too many: qp"},
		{[]string{"--format", "svg"}, "uverbsim: --format is for --tree"},
		{[]string{"--tree", "uvar"}, `uverbsim: no object "UVAR" on mlx5, kernel 6.12: the nearest is VAR`},
		{[]string{"--diff", "6.1", "cqq"}, `uverbsim: no object "CQQ" on mlx5, kernel 6.12: the nearest is CQ`},
		{[]string{"--syzlang", "--driver", "rxe", "wq.destroyed"}, `uverbsim: UVERBS_OBJECT_WQ has no method or command "DESTROYED" on rxe, kernel 6.12: the nearest is WQ.DESTROY`},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			var out, errOut bytes.Buffer
			require.Equal(t, 2, run(append([]string{"spec"}, tt.args...), strings.NewReader(""), &out, &errOut))
			require.Empty(t, out.String())
			require.Equal(t, tt.want+"\n", errOut.String())
		})
	}
}

func TestSpecTable(t *testing.T) {
	// By drivers/infiniband/core/uverbs_std_types_cq.c and mlx5-abi.h.
	out := specOutput(t, "cq.create")
	for _, line := range []string{
		"UVERBS_METHOD_CQ_CREATE id 0, key 0x1840, declared by core, since 6.1",
		"2 0x1845 UVERBS_ATTR_CREATE_CQ_USER_HANDLE PTR_IN in 8 mandatory 6.1 u64, cookie",
		"0x1002 0x1846 MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX PTR_IN in 4 optional 6.12 u32",
		"struct mlx5_ib_create_cq, 32 bytes",
		"16 u32 cqe_size",
	} {
		require.Contains(t, strings.Join(strings.Fields(out), " "), line)
	}
	require.NotContains(t, specOutput(t, "--kernel", "6.1", "cq.create"), "UAR_INDEX")
	require.Contains(t, specOutput(t, "--driver", "efa", "srq"), "pruned: efa has no destroy_srq")
	require.Contains(t, specOutput(t, "--driver", "rxe"), "UVERBS_OBJECT_WQ")
}

func TestSpecJSON(t *testing.T) {
	var doc schema.Document
	d := json.NewDecoder(strings.NewReader(specOutput(t, "--json", "--driver", "rxe", "pd.alloc_pd")))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&doc))
	require.Len(t, doc.Objects, 1)
	require.Len(t, doc.Objects[0].Writes, 1)
	require.Equal(t, map[string]schema.Struct{
		"struct ib_uverbs_alloc_pd": {Size: 8, Members: []schema.Member{
			{Name: "response", Size: 8, Type: "u64", Is: &schema.Meaning{Role: "response_address"}},
		}},
		"struct ib_uverbs_alloc_pd_resp": {Size: 4, Members: []schema.Member{
			{Name: "pd_handle", Size: 4, Type: "u32", Is: &schema.Meaning{Role: "handle", Objects: []string{"UVERBS_OBJECT_PD"}}},
		}},
	}, doc.Structs)
	published, err := schema.Published()
	require.NoError(t, err)
	require.Equal(t, string(published), specOutput(t, "--schema"))
}

func TestSpecForms(t *testing.T) {
	require.Contains(t, specOutput(t, "--tree", "cq"), "shown are 21")
	require.True(t, strings.HasPrefix(specOutput(t, "--tree", "--format", "dot"), "digraph"))
	x := xml.NewDecoder(strings.NewReader(specOutput(t, "--tree", "--format", "svg")))
	for {
		if _, err := x.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
	}
	require.Contains(t, specOutput(t, "--diff", "6.1"), "- UVERBS_OBJECT_CQ.UVERBS_METHOD_CQ_CREATE.MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX")
	require.Contains(t, specOutput(t, "--syzlang", "cq.create"), "ioctl$uverbs_CQ_CREATE(fd fd_rdma, ")
}

// TestSpecExtendedRequests sends each extended command without any request: it is
// too short for those alone of which spec says that a least length is checked.
func TestSpecExtendedRequests(t *testing.T) {
	for _, k := range spec.Kernels() {
		d, err := schema.DriverByName("mlx5")
		require.NoError(t, err)
		doc, err := schema.Build(d, k)
		require.NoError(t, err)
		var whole []string
		sent := 0
		for _, o := range doc.Objects {
			for _, w := range o.Writes {
				if !w.Ex {
					continue
				}
				header := make([]byte, spec.CmdHdrSize+spec.ExCmdHdrSize)
				binary.LittleEndian.PutUint32(header, w.Command)
				answer := decodeJSON(t, "", "--kernel", k.Name, "--write", hex.EncodeToString(header)).Answer
				short := answer.Errno == "ENOSPC"
				require.Equal(t, w.ReqMin > 0, short, "%s: %s", w.Name, answer.Errno)
				require.Equal(t, !short, w.Fills, w.Name)
				if short {
					whole = append(whole, w.Short)
				}
				sent++
			}
		}
		require.Equal(t, 12, sent)
		require.Equal(t, []string{"EX_CREATE_FLOW", "EX_CREATE_RWQ_IND_TBL"}, slices.Sorted(slices.Values(whole)))
	}
}

// TestSpecIsTheDevice compares what spec builds with the devices that run: the
// same keys with the same names, but for what an adapter does not have.
func TestSpecIsTheDevice(t *testing.T) {
	for _, k := range spec.Kernels() {
		t.Run("rxe/"+k.Name, func(t *testing.T) {
			m := kernel.NewMachine(methods.Core(), kernel.Version(k))
			dev, err := m.Register(rxe.New(rxe.Config{Kernel: k}))
			require.NoError(t, err)
			require.Equal(t, entries(described(t, "rxe", k)), entries(dev.API))
		})
		for _, p := range hw.Profiles() {
			t.Run("mlx5/"+p.Name()+"/"+k.Name, func(t *testing.T) {
				m := kernel.NewMachine(methods.Core(), kernel.Version(k))
				_, err := mlx5.New(m, mlx5.Config{Profile: p})
				require.NoError(t, err)
				want, got := entries(described(t, "mlx5", k)), entries(m.Devices()[0].API)
				for key, name := range got {
					require.Equal(t, want[key], name)
				}
				maps.DeleteFunc(want, func(key uint32, name string) bool { return got[key] == name })
				require.Equal(t, lacking[p.Name()], objectsOf(want))
			})
		}
	}
}

// lacking are the objects of which an adapter of that profile lacks all or a
// part: VAR and PP, whose conditions a real ConnectX-6 Dx does not meet; of the
// small one, which has no DEVX either, no steering anchors, no memory windows,
// and no device memory, so that MR lacks DM_MR_REG.
var lacking = map[string][]string{
	"connectx6dx": {"obj 0x1006", "obj 0x1007"},
	"small": {
		"obj 0x1000", "obj 0x1001", "obj 0x1002", "obj 0x1004", "obj 0x1005", "obj 0x1006", "obj 0x1007", "obj 0x1009",
		"obj 14", "obj 7", "obj 8",
	},
}

func described(t *testing.T, driver string, k *spec.Kernel) *kernel.API {
	d, err := schema.DriverByName(driver)
	require.NoError(t, err)
	api, err := d.API(k)
	require.NoError(t, err)
	return api
}

// entries are the names in a device's tree.
func entries(api *kernel.API) map[uint32]string {
	names := map[uint32]string{}
	for key, elm := range api.Tree().From(0) {
		switch {
		case elm.Object != nil:
			names[key] = elm.Object.Name
		case elm.Method != nil:
			names[key] = elm.Method.Name
		case elm.Write != nil:
			names[key] = elm.Write.Name
		default:
			names[key] = elm.Attr.Name
		}
	}
	return names
}

func objectsOf(names map[uint32]string) []string {
	var list []string
	for key := range names {
		list = append(list, spec.FormatKey(spec.KeyObj(spec.ObjectID(key))))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
