package methods

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

const (
	device       = spec.UVERBS_OBJECT_DEVICE
	getContextID = spec.UVERBS_METHOD_GET_CONTEXT
)

// TestCoreIsWhole: every method and command that the core declares has its
// function, in each kernel, for the fullest driver and for the barest.
func TestCoreIsWhole(t *testing.T) {
	full := new(fake).ops()
	bare := core.DeviceOps{AllocUcontext: full.AllocUcontext, DeallocUcontext: full.DeallocUcontext}
	for _, k := range spec.Kernels() {
		for name, ops := range map[string]core.DeviceOps{"full": full, "bare": bare} {
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				_, err := kernel.NewAPI(&core.Device{Ops: ops, Kernel: k}, Core(), kernel.Definitions{})
				require.NoError(t, err)
			})
		}
	}
}

// TestGetContext follows the recorded cases ctx/get-… of rxe; the fake device
// has two completion vectors instead of one.
func TestGetContext(t *testing.T) {
	const vectors, support = spec.UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, spec.UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT
	t.Run("ctx/get-outputs", func(t *testing.T) {
		r := newRig(t, nil)
		n, s := r.buf(4), r.buf(8)
		r.ok(device, getContextID, ptr(vectors, 4, n), ptr(support, 8, s))
		require.Equal(t, "!!", r.written())
		require.Equal(t, "02000000", r.hex(n, 4))
		require.Equal(t, "0100000000000000", r.hex(s, 8))
	})
	t.Run("ctx/get-twice", func(t *testing.T) {
		r := newContext(t, nil)
		n := r.buf(4)
		r.refused(rule.UcontextTwice, device, getContextID, ptr(vectors, 4, n))
		require.Equal(t, "!", r.written())
		require.Equal(t, "02000000", r.hex(n, 4))
		require.Empty(t, r.took())
	})
	t.Run("ctx/get-second-output-fault", func(t *testing.T) {
		r := newRig(t, nil)
		n := r.buf(4)
		r.refused(rule.AttrOutputFault, device, getContextID, ptr(support, 8, r.unplug), ptr(vectors, 4, n))
		require.Equal(t, ".!", r.written())
		require.Equal(t, "02000000", r.hex(n, 4))
		r.ok(device, getContextID)
	})
	t.Run("ctx/get-attr-order", func(t *testing.T) {
		r := newRig(t, nil)
		s := r.buf(8)
		r.refused(rule.AttrOutputFault, device, getContextID, ptr(support, 8, s), ptr(vectors, 4, r.unplug))
		require.Equal(t, "..", r.written())
		require.Equal(t, "a5a5a5a5a5a5a5a5", r.hex(s, 8))
	})
}

// TestDriverRefusesContext: what alloc_ucontext refuses leaves no context.
func TestDriverRefusesContext(t *testing.T) {
	refuse := true
	r := newRig(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.AllocUcontext = func(*core.Ucontext, *core.Udata) error {
			if refuse {
				return rule.ObjectNoMemory
			}
			return nil
		}
	}))
	g := process.NewCgroup(nil)
	r.p.SetCgroup(g)
	r.refused(rule.ObjectNoMemory, device, getContextID)
	require.Equal(t, "hca_handle=0 hca_object=0 ", g.Current("fake0"))
	r.refused(rule.ContextNone, device, spec.UVERBS_METHOD_QUERY_PORT,
		num(spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, 1), ptr(spec.UVERBS_ATTR_QUERY_PORT_RESP, 48, r.buf(48)))
	refuse = false
	r.ok(device, getContextID)
}

// TestQueryContext: the answer before there is a context is that of the
// recorded case ctx/query-context-before.
func TestQueryContext(t *testing.T) {
	r := newRig(t, nil)
	n := r.buf(4)
	r.refused(rule.ContextNone, device, spec.UVERBS_METHOD_QUERY_CONTEXT, ptr(0, 4, n))
	require.Equal(t, "a5a5a5a5", r.hex(n, 4))
	r.ok(device, getContextID)
	r.took()
	r.ok(device, spec.UVERBS_METHOD_QUERY_CONTEXT, ptr(0, 4, n))
	require.Equal(t, "02000000", r.hex(n, 4))
	require.Equal(t, []string{"query_ucontext"}, r.took())

	r = newContext(t, nil, lacking(func(ops *core.DeviceOps) { ops.QueryUcontext = nil }))
	n = r.buf(4)
	r.refused(rule.QueryContextUnsupported, device, spec.UVERBS_METHOD_QUERY_CONTEXT, ptr(0, 4, n))
	require.Equal(t, "a5a5a5a5", r.hex(n, 4))
}

// TestInvokeWrite holds the framing of a write() command in attributes.
func TestInvokeWrite(t *testing.T) {
	const invoke, allocPD = spec.UVERBS_METHOD_INVOKE_WRITE, spec.IB_USER_VERBS_CMD_ALLOC_PD
	r := newContext(t, nil)
	cmd := num(spec.UVERBS_ATTR_WRITE_CMD, 8, allocPD)
	out := r.buf(4)
	r.refused(rule.InvokeWriteCoreSize, device, invoke, cmd)
	r.refused(rule.InvokeWriteCoreSize, device, invoke, cmd, num(spec.UVERBS_ATTR_CORE_IN, 4, 0), ptr(spec.UVERBS_ATTR_CORE_OUT, 4, out))
	r.refused(rule.InvokeWriteCoreSize, device, invoke, cmd, num(spec.UVERBS_ATTR_CORE_IN, 8, 0), ptr(spec.UVERBS_ATTR_CORE_OUT, 3, out))
	r.refused(rule.WriteCommandFlags, device, invoke, num(spec.UVERBS_ATTR_WRITE_CMD, 8, 0x100))
	r.refused(rule.ConstRange, device, invoke, num(spec.UVERBS_ATTR_WRITE_CMD, 8, 1<<32))
	require.Equal(t, "a5a5a5a5", r.hex(out, 4))
	require.Empty(t, r.took())

	r.ok(device, invoke, cmd, num(spec.UVERBS_ATTR_CORE_IN, 8, 0), ptr(spec.UVERBS_ATTR_CORE_OUT, 4, out))
	require.Equal(t, "00000000", r.hex(out, 4))
	require.Equal(t, "..!", r.written())

	// A response that cannot be written destroys what was made.
	r.took()
	r.refused(rule.AttrOutputFault, device, invoke, cmd, num(spec.UVERBS_ATTR_CORE_IN, 8, 0), ptr(spec.UVERBS_ATTR_CORE_OUT, 4, r.unplug))
	require.Equal(t, []string{"alloc_pd", "dealloc_pd"}, r.took())
	require.EqualValues(t, 1, r.newPD())
}

// TestContextOfRemovedDevice follows the recorded cases
// rmcall/get_context_plain-no-context and rmcall/query_port-no-context: after
// the device is gone a file that never had a context gets none.
func TestContextOfRemovedDevice(t *testing.T) {
	r := newRig(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.DisassociateUcontext = func(*process.Task, *core.Ucontext) {}
	}))
	r.m.Unregister(r.p.MainTask(), r.uverbs)
	n := r.buf(4)
	r.refused(rule.UcontextDeviceGone, device, getContextID, ptr(spec.UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4, n))
	require.Equal(t, "02000000", r.hex(n, 4))
	r.refused(rule.ContextDeviceGone, device, queryPortID, portAttrsOf(r, 1, 48)...)
}

// TestContextCharge: a context is one hca_handle of the caller's control group.
func TestContextCharge(t *testing.T) {
	r := newRig(t, nil)
	g := process.NewCgroup(nil)
	require.NoError(t, g.SetMax("fake0", "hca_handle=0"))
	r.p.SetCgroup(g)
	require.ErrorIs(t, r.call(device, getContextID), syscall.EAGAIN)
	require.Empty(t, r.took())
	require.NoError(t, g.SetMax("fake0", "hca_handle=1"))
	r.ok(device, getContextID)
	require.Equal(t, "hca_handle=1 hca_object=0 ", g.Current("fake0"))
	require.NoError(t, r.p.Close(r.fd))
	require.Equal(t, "hca_handle=0 hca_object=0 ", g.Current("fake0"))
}
