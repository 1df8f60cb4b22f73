package mlx5

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// noRoom is a sink that has no memory for one kind of place in a table.
type noRoom struct{ what string }

func (*noRoom) Event(*trace.Task, *trace.Event) {}

func (n *noRoom) Fail(_ *trace.Task, s trace.Step, what string) bool {
	return s == trace.Alloc && what == n.what
}

// newODPRig is a rig whose device can page on demand, and a domain for that.
func newODPRig(t *testing.T, n *noRoom) (*rig, *core.PD) {
	r := newTracedRig(t, Config{Profile: hw.ConnectX6Dx}, trace.NewTask(1, n))
	r.devxContext()
	require.NoError(t, r.dev.umrResourceInit(nil))
	return r, &core.PD{Device: r.dev.IB, Driver: &pd{resp: spec.Mlx5AllocPDResp{PDN: r.dev.umrc.pdn}}}
}

// TestNoPlaceInTable: what the device has made, and the driver has no place for, is
// given back to the device, with what was made for it.
func TestNoPlaceInTable(t *testing.T) {
	var n noRoom
	r, dom := newODPRig(t, &n)
	rc, raw := r.qpArgs(spec.IB_QPT_RC), r.qpArgs(spec.IB_QPT_RAW_PACKET)
	raw.ucmd.SQBufAddr = uint64(r.take(copyuser.PageSize))
	rawRecv := raw
	rawRecv.ucmd.SQWQECount = 0
	buf := uint64(r.take(copyuser.PageSize))
	create := func(a qpArgs) func() error {
		return func() error { _, _, err := r.createQP(&a); return err }
	}
	for _, c := range []struct {
		name, what string
		do         func() error
		want       error
	}{
		{"a queue pair", "qp_table_entry", create(rc), rule.MLX5QPTableNoMemory},
		{"a send queue", "qp_table_entry", create(raw), rule.MLX5QPTableNoMemory},
		{"a receive queue", "qp_table_entry", create(rawRecv), rule.MLX5QPTableNoMemory},
		{"a region that is paged on demand", "odp_mkeys_entry", func() error {
			_, err := r.dev.createUserODPMR(r.task, dom, buf, copyuser.PageSize, buf, core.AccessOnDemand)
			return err
		}, rule.MLX5ODPKeyNoMemory},
		{"the whole address space", "odp_mkeys_entry", func() error {
			_, err := r.dev.createUserODPMR(r.task, dom, 0, 1<<64-1, 0, core.AccessOnDemand)
			return err
		}, rule.MLX5ODPKeyNoMemory},
	} {
		require.NoError(t, r.dev.odpCreateEQ(nil), "what stays")
		before := r.counts()
		n.what = c.what
		require.Equal(t, c.want, c.do(), c.name)
		n.what = ""
		require.Empty(t, cmp.Diff(before, r.counts()), c.name)
		require.Empty(t, r.dev.odpKeys.keys, c.name)
	}
}

// TestNoPlaceForChild: a part of the whole address space that there is no place for is
// not made, and the page fault that needs it says so; the next one makes it.
func TestNoPlaceForChild(t *testing.T) {
	var n noRoom
	r, dom := newODPRig(t, &n)
	all, err := r.dev.createUserODPMR(r.task, dom, 0, 1<<64-1, 0, core.AccessOnDemand)
	require.NoError(t, err)
	buf := uint64(r.take(copyuser.PageSize))
	fault := func() (int, error) {
		return r.dev.pagefaultMR(r.task.Trace, toMR(all), buf, copyuser.PageSize, nil, 0)
	}
	before, umems := r.counts(), r.dev.IB.Umems()
	n.what = "implicit_children_entry"
	_, err = fault()
	require.Equal(t, error(rule.MLX5ODPChildNoMemory), err)
	require.Empty(t, cmp.Diff(before, r.counts()))
	require.Equal(t, umems, r.dev.IB.Umems())
	n.what = ""
	pages, err := fault()
	require.NoError(t, err)
	require.Equal(t, 1, pages)
	require.Equal(t, umems+1, r.dev.IB.Umems())
	n.what = "implicit_children_entry"
	_, err = fault()
	require.NoError(t, err, "it is there")
}

// TestNoPlaceForObject: the same of objects that a user makes with its own command.
func TestNoPlaceForObject(t *testing.T) {
	key := cmdOf(ifc.MLX5_CMD_OP_CREATE_MKEY, 272, 0)
	mkc.accessMode10.Set(mkcIn.Bytes(key), mkcAccessModeKLMs)
	for _, c := range []struct {
		what string
		cmd  []byte
		want error
	}{
		{"dct_xa_entry", cmdOf(ifc.MLX5_CMD_OP_CREATE_DCT, 128, 0), rule.MLX5QPDCTTableNoMemory},
		{"odp_mkeys_entry", key, rule.MLX5ODPKeyNoMemory},
	} {
		var n noRoom
		r := newTracedRig(t, Config{}, trace.NewTask(1, &n))
		r.devxContext()
		before := r.counts()
		n.what = c.what
		_, _, err := r.devxObject(c.cmd, 16)
		require.Equal(t, c.want, err)
		require.Empty(t, cmp.Diff(before, r.counts()), c.what)
		require.Empty(t, r.dev.odpKeys.keys, c.what)
	}
}
