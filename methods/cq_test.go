package methods

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

const (
	objCQ    = spec.UVERBS_OBJECT_CQ
	cqCreat  = spec.UVERBS_METHOD_CQ_CREATE
	cqHandle = spec.UVERBS_ATTR_CREATE_CQ_HANDLE
)

// with returns the attributes with one of them replaced, or added.
func with(attrs []spec.IoctlAttr, a spec.IoctlAttr) []spec.IoctlAttr {
	for i := range attrs {
		if attrs[i].AttrID == a.AttrID {
			attrs[i] = a
			return attrs
		}
	}
	return append(attrs, a)
}

// without returns the attributes without one of them.
func without(attrs []spec.IoctlAttr, id uint16) []spec.IoctlAttr {
	for i := range attrs {
		if attrs[i].AttrID == id {
			return append(attrs[:i:i], attrs[i+1:]...)
		}
	}
	return attrs
}

// TestCQCreateDestroy follows the recorded cases cq/create-destroy and
// handle/destroy-response-fault.
func TestCQCreateDestroy(t *testing.T) {
	r := newContext(t, nil)
	attrs := r.cqAttrs()
	r.ok(objCQ, cqCreat, attrs...)
	require.Equal(t, "....!", r.written())
	require.Zero(t, r.attr(0).Data)
	require.Equal(t, "10000000", r.hex(addrOf(attrs[4]), 4))
	require.EqualValues(t, 0x1122, r.cq.Object.UserHandle.Load())

	resp, err := r.destroy(destroyCQ, 0)
	require.NoError(t, err)
	require.Equal(t, "0000000000000000", resp)
	require.Equal(t, []string{"create_cq", "destroy_cq"}, r.took())
	_, err = r.destroy(destroyCQ, 0)
	require.Equal(t, error(rule.ObjectNotFound), err)

	r.newCQ()
	r.refused(rule.AttrOutputFault, objCQ, spec.UVERBS_METHOD_CQ_DESTROY, num(0, 0, 0), ptr(1, 8, r.unplug))
	require.Equal(t, []string{"create_cq", "destroy_cq"}, r.took())
	_, err = r.destroy(destroyCQ, 0)
	require.Equal(t, error(rule.ObjectNotFound), err)
}

// TestCQCreateRefused: after each refusal the handle is written back and free
// again, as in the recorded cases cq/… and handle/write-back-on-handler-failure.
func TestCQCreateRefused(t *testing.T) {
	driver := func(ops *core.DeviceOps) {
		ops.CreateCQ = func(*core.CQ, *core.CQInitAttr, core.Attrs) error { return syscall.EINVAL }
	}
	tests := []struct {
		name string
		bad  spec.IoctlAttr
		ops  func(*core.DeviceOps)
		want error
	}{
		{"cq/vector-2", num(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 2), nil, rule.CQCompVector},
		{"cq/vector-ffffffff", num(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0xffffffff), nil, rule.CQCompVector},
		{"an unknown flag", num(spec.UVERBS_ATTR_CREATE_CQ_FLAGS, 4, 4), nil, rule.FlagsUnknown},
		{"the driver refuses", num(cqHandle, 0, 0), driver, syscall.EINVAL},
		{"the driver has no create_cq", num(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 2),
			func(ops *core.DeviceOps) { ops.CreateCQ = nil }, rule.CQUnsupported},
		{"flags come before the vector", num(spec.UVERBS_ATTR_CREATE_CQ_FLAGS, 8, 1<<40), nil, rule.FlagsUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refs := refCounter{}
			r := newContext(t, trace.NewTask(1, refs), lacking(func(ops *core.DeviceOps) {
				if tt.ops != nil {
					tt.ops(ops)
				}
			}))
			pd := r.newPD()
			fd, channel := r.newAsync(), r.newChannel()
			held := []int64{refs["UVERBS_OBJECT_ASYNC_EVENT"], refs["UVERBS_OBJECT_COMP_CHANNEL"]}
			attrs := with(r.cqAttrs(num(spec.UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0, uint64(fd)),
				num(spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, uint64(channel))), tt.bad)
			attrs[0].Data = 999
			require.Equal(t, tt.want, r.call(objCQ, cqCreat, attrs...))
			require.Equal(t, pd+1, r.attr(0).Data)
			require.NotContains(t, r.written(), "!")
			require.Equal(t, "a5a5a5a5", r.hex(addrOf(attrs[4]), 4))
			require.Equal(t, held, []int64{refs["UVERBS_OBJECT_ASYNC_EVENT"], refs["UVERBS_OBJECT_COMP_CHANNEL"]})
			require.Equal(t, pd+1, r.newPD())
		})
	}
}

// TestCQResponseFault follows the recorded case cq/resp-readonly: the queue
// that was made is destroyed.
func TestCQResponseFault(t *testing.T) {
	r := newContext(t, nil)
	attrs := with(r.cqAttrs(), ptr(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, r.unplug))
	r.refused(rule.AttrOutputFault, objCQ, cqCreat, attrs...)
	require.Equal(t, []string{"create_cq", "destroy_cq"}, r.took())
	require.Zero(t, r.newCQ())
}

// TestCQChannel: a channel takes the completion events of its CQ, and lives
// until the CQ is gone although its descriptor was closed (recorded case
// fd/comp-close-before-cq). Events read are counted, unread ones go with the CQ.
func TestCQChannel(t *testing.T) {
	r := newContext(t, nil)
	fd := r.newChannel()
	r.newCQ(num(spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, uint64(fd)))
	channel := r.cq.Context.(*kernel.CompletionEventFile)
	r.cq.CompHandler(nil, r.cq)
	r.cq.CompHandler(nil, r.cq)
	require.Equal(t, 2, channel.Queue.Len())
	at := r.buf(8)
	n, err := r.p.Read(fd, at, 8)
	require.NoError(t, err)
	require.EqualValues(t, 8, n)
	require.Equal(t, "2211000000000000", r.hex(at, 8))
	require.NoError(t, r.p.Close(fd))

	resp, err := r.destroy(destroyCQ, 0)
	require.NoError(t, err)
	require.Equal(t, "0100000000000000", resp)
	require.Zero(t, channel.Queue.Len())
}

// TestCQEvents: events of a CQ go to the descriptor that was named for it, else
// to the first one of the file.
func TestCQEvents(t *testing.T) {
	r := newContext(t, nil)
	first, second := r.newAsync(), r.newAsync()
	for _, fd := range []int{first, second} {
		require.NoError(t, r.p.SetNonblock(fd, true))
	}
	read := func(fd int) string {
		at := r.buf(16)
		if _, err := r.p.Read(fd, at, 16); err != nil {
			require.ErrorIs(t, err, syscall.EAGAIN)
			return ""
		}
		return r.hex(at, 16)
	}
	const cqErr = "22110000000000000000000000000000"
	raise := func() { r.cq.EventHandler(nil, &core.Event{Type: spec.IB_EVENT_CQ_ERR, CQ: r.cq}) }

	r.newCQ()
	raise()
	require.Equal(t, cqErr, read(first))
	require.Empty(t, read(second))
	handle := r.newCQ(num(spec.UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0, uint64(second)))
	raise()
	require.Empty(t, read(first))
	require.Equal(t, cqErr, read(second))

	raise()
	resp, err := r.destroy(destroyCQ, handle)
	require.NoError(t, err)
	require.Equal(t, "0000000001000000", resp)
	require.Empty(t, read(second))
}

// refCounter counts the references on the objects of each type.
type refCounter map[string]int64

func (c refCounter) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Ref {
		c[e.Name] += int64(e.B)
	}
}

// failing makes the allocations of those names fail.
type failing map[string]bool

func (failing) Event(*trace.Task, *trace.Event) {}

func (f failing) Fail(_ *trace.Task, s trace.Step, what string) bool {
	return s == trace.Alloc && f[what]
}

// TestNoMemory: each allocation of a handler can fail, and leaves nothing.
func TestNoMemory(t *testing.T) {
	fail := failing{}
	r := newContext(t, trace.NewTask(1, fail))
	pd, cq := r.newPD(), r.newCQ()
	r.took()
	tests := []struct {
		what           string
		want           *rule.Rule
		object, method uint16
		attrs          []spec.IoctlAttr
	}{
		{"ib_cq", rule.CQNoMemory, objCQ, cqCreat, r.cqAttrs()},
		{"ib_qp", rule.QPNoMemory, spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, r.rcAttrs(pd, cq)},
		{"ib_srq", rule.SRQNoMemory, spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_CREATE, r.srqAttrs(pd, 0)},
		{"ib_counters", rule.CountersNoMemory, spec.UVERBS_OBJECT_COUNTERS, spec.UVERBS_METHOD_COUNTERS_CREATE, []spec.IoctlAttr{num(0, 0, 0)}},
		{"ib_ucontext", rule.UcontextNoMemory, device, getContextID, nil},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			fail[tt.what] = true
			defer delete(fail, tt.what)
			require.Equal(t, error(tt.want), r.call(tt.object, tt.method, tt.attrs...))
			require.Empty(t, r.took())
		})
	}
	_, err := r.destroy(destroyCQ, cq)
	require.NoError(t, err)
	_, err = r.destroy(destroyPD, pd)
	require.NoError(t, err)
}

// TestCQAllocations bounds what a CQ costs. Of its life in a warm file remain
// the object, its own struct, the queue and its attributes.
func TestCQAllocations(t *testing.T) {
	r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.CreateCQ = func(*core.CQ, *core.CQInitAttr, core.Attrs) error { return nil }
		ops.DestroyCQ = func(*core.CQ, *core.Udata) error { return nil }
	}))
	create := r.cqAttrs()
	resp := r.buf(8)
	kill := []spec.IoctlAttr{num(0, 0, 0), ptr(1, 8, resp)}
	run := func() {
		require.NoError(t, r.call(objCQ, cqCreat, create...))
		require.NoError(t, r.call(objCQ, spec.UVERBS_METHOD_CQ_DESTROY, kill...))
	}
	run()
	putting := testing.AllocsPerRun(100, func() {
		r.put(objCQ, cqCreat, create...)
		r.put(objCQ, spec.UVERBS_METHOD_CQ_DESTROY, kill...)
	})
	require.LessOrEqual(t, testing.AllocsPerRun(100, run)-putting, 4.0)
}
