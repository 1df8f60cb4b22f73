package kernel

import (
	"encoding/binary"
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// The write() commands of the tests. Numbers are free to choose but for that
// of DESTROY_CQ.
const (
	cmdPlain   = 1  // 16 bytes of request, no response
	cmdResp    = 2  // 16 and 8 bytes
	cmdUdata   = 3  // likewise, and the driver's part
	cmdMasked  = 4  // not in the device's mask
	cmdNew     = 5  // makes a thing
	cmdNeeds   = 6  // needs an operation that the device lacks
	cmdExPlain = 9  // extended
	cmdExNeeds = 10 // extended, needs one
	cmdHole    = 8
	extended   = spec.IB_USER_VERBS_CMD_FLAG_EXTENDED
)

// writer is a rig whose device has those commands.
type writer struct {
	*rig
	handle func(b *Bundle) error
	gone   []uobject.RemoveReason
}

func newWriter(tb testing.TB) *writer {
	tb.Helper()
	w := &writer{handle: func(*Bundle) error { return nil }}
	handler := func(b *Bundle) error { return w.handle(b) }
	d := Definitions{
		Spec: []spec.Definition{{
			Object: spec.Object{ID: thing, Name: "THING", Class: spec.ClassIDR},
			Writes: []spec.Write{
				{Object: thing, Command: cmdPlain, Name: "IB_USER_VERBS_CMD_PLAIN", ReqSize: 16},
				{Object: thing, Command: cmdResp, Name: "IB_USER_VERBS_CMD_RESP", ReqSize: 16, RespSize: 8, HasResp: true},
				{Object: thing, Command: cmdUdata, Name: "IB_USER_VERBS_CMD_UDATA", ReqSize: 16, RespSize: 8, HasResp: true, HasUdata: true},
				{Object: thing, Command: cmdMasked, Name: "IB_USER_VERBS_CMD_MASKED"},
				{Object: thing, Command: cmdNew, Name: "IB_USER_VERBS_CMD_NEW"},
				{Object: thing, Command: cmdNeeds, Name: "IB_USER_VERBS_CMD_NEEDS", Needs: []spec.Op{spec.OpAllocPD}},
				{Object: thing, Command: spec.IB_USER_VERBS_CMD_DESTROY_CQ, Name: "IB_USER_VERBS_CMD_DESTROY_CQ", ReqSize: 16, RespSize: 8, HasResp: true},
				{Object: thing, Command: cmdExPlain, Name: "IB_USER_VERBS_EX_CMD_PLAIN", Ex: true, ReqSize: 99, RespSize: 99},
				{Object: thing, Command: cmdExNeeds, Name: "IB_USER_VERBS_EX_CMD_NEEDS", Ex: true, Needs: []spec.Op{spec.OpAllocPD}},
			},
		}},
		Types: map[uint16]*uobject.TypeAttrs{thing: {Destroy: func(_ *uobject.Object, why uobject.RemoveReason, _ uobject.Attrs) error {
			w.gone = append(w.gone, why)
			return nil
		}}},
		Writes: map[WriteID]Handler{
			{cmdNew, false}: func(b *Bundle) (err error) {
				if b.UObject, err = uobject.AllocBegin(b.APIObject(thing), b); err != nil {
					return err
				}
				b.UObject.HW = "thing"
				return w.handle(b)
			},
			{spec.IB_USER_VERBS_CMD_DESTROY_CQ, false}: handler, {cmdExPlain, true}: handler, {cmdExNeeds, true}: handler,
		},
	}
	for _, cmd := range []uint8{cmdPlain, cmdResp, cmdUdata, cmdMasked, cmdNeeds} {
		d.Writes[WriteID{cmd, false}] = handler
	}
	w.rig = newRigOf(tb, nil, testDefs(), core.DeviceOps{})
	dev := &core.Device{Name: "test1", DriverID: testDriver, UverbsCmdMask: ^uint64(1 << cmdMasked), Ops: w.d.IBDevice().Ops}
	var err error
	w.d, err = w.m.Register(dev, d)
	require.NoError(tb, err)
	w.fd, err = w.p.Open("/dev/infiniband/uverbs1", syscall.O_RDWR)
	require.NoError(tb, err)
	w.file = w.d.files[0]
	w.file.SetUcontext(nil, core.NewUcontext(dev, &w.file.Umaps, &w.file.Objects))
	return w
}

// command is a write() command: its headers as they are and its payload.
type command struct {
	cmd     uint32
	in, out uint16

	ex                      bool // it has the second header
	response                uint64
	providerIn, providerOut uint16
	reserved                uint32

	payload []byte
}

func (c *command) bytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, c.cmd)
	b = binary.LittleEndian.AppendUint16(b, c.in)
	b = binary.LittleEndian.AppendUint16(b, c.out)
	if c.ex {
		b = binary.LittleEndian.AppendUint64(b, c.response)
		b = binary.LittleEndian.AppendUint16(b, c.providerIn)
		b = binary.LittleEndian.AppendUint16(b, c.providerOut)
		b = binary.LittleEndian.AppendUint32(b, c.reserved)
	}
	return append(b, c.payload...)
}

// write writes the command from r.mem.
func (w *writer) write(tb testing.TB, c command) (int64, error) {
	tb.Helper()
	b := c.bytes()
	require.True(tb, w.p.Store(w.mem, b))
	return w.p.Write(w.fd, w.mem, uint64(len(b)))
}

// zeros are n bytes of payload.
func zeros(n int) []byte { return make([]byte, n) }

// headerCase is a command and the rule that refuses it, nil for none.
type headerCase struct {
	name string
	c    command
	want *rule.Rule
}

// headerCases has the checks of a command's headers, in their order.
func headerCases() []headerCase {
	const beyond = uint64(copyuser.TaskSizeMax)
	return []headerCase{
		{"plain", command{cmd: cmdPlain, in: 6, payload: zeros(16)}, nil},
		{"plain, longer", command{cmd: cmdPlain, in: 100, payload: zeros(392)}, nil},
		{"in_words too small", command{cmd: cmdPlain, in: 5, payload: zeros(16)}, rule.WriteWords},
		{"in_words too large", command{cmd: cmdPlain, in: 7, payload: zeros(16)}, rule.WriteWords},
		{"in_words of bytes", command{cmd: cmdPlain, in: 24, payload: zeros(16)}, rule.WriteWords},
		{"no multiple of 4", command{cmd: cmdPlain, in: 6, payload: zeros(17)}, rule.WriteWords},
		{"words before size", command{cmd: cmdPlain, in: 6, payload: zeros(4)}, rule.WriteWords},
		{"request short", command{cmd: cmdPlain, in: 5, payload: zeros(12)}, rule.WriteRequestShort},
		{"request short before response short", command{cmd: cmdResp, in: 5, payload: zeros(12)}, rule.WriteRequestShort},
		{"response short", command{cmd: cmdResp, in: 6, out: 1, payload: zeros(16)}, rule.WriteResponseShort},
		{"response", command{cmd: cmdResp, in: 6, out: 2, payload: zeros(16)}, nil},
		{"DESTROY_CQ of 16 bytes", command{cmd: spec.IB_USER_VERBS_CMD_DESTROY_CQ, in: 4, payload: zeros(8)}, nil},
		{"DESTROY_CQ of 20 bytes", command{cmd: spec.IB_USER_VERBS_CMD_DESTROY_CQ, in: 5, payload: zeros(12)}, rule.WriteRequestShort},
		{"DESTROY_CQ of 24 bytes", command{cmd: spec.IB_USER_VERBS_CMD_DESTROY_CQ, in: 6, out: 1, payload: zeros(16)}, rule.WriteResponseShort},
		{"hole", command{cmd: cmdHole, in: 2}, rule.WriteNotSupported},
		{"hole with wrong words", command{cmd: cmdHole, in: 3}, rule.WriteWords},
		{"masked", command{cmd: cmdMasked, in: 2}, rule.WriteNotSupported},
		{"needs", command{cmd: cmdNeeds, in: 2}, rule.WriteNotSupported},
		{"beyond the last", command{cmd: spec.IB_USER_VERBS_CMD_DESTROY_CQ + 1, in: 2}, rule.WriteCommandRange},
		{"largest", command{cmd: 0xff, in: 2}, rule.WriteCommandRange},
		{"bit 8", command{cmd: 0x100 | cmdPlain, in: 6, payload: zeros(16)}, rule.WriteCommandFlags},
		{"bit 30", command{cmd: 1<<30 | cmdPlain, in: 6, payload: zeros(16)}, rule.WriteCommandFlags},
		{"flags before range", command{cmd: 0x1ff}, rule.WriteCommandFlags},

		{"extended", command{cmd: extended | cmdExPlain, ex: true}, nil},
		{"extended, the last one", command{cmd: extended | cmdExNeeds, in: 6, payload: zeros(16)}, rule.WriteCommandRange},
		{"extended hole has the words of a plain one", command{cmd: extended | 1, in: 6, payload: zeros(16)}, rule.WriteNotSupported},
		{"extended beyond", command{cmd: extended | 200}, rule.WriteCommandRange},
		{"extended too short", command{cmd: extended | cmdExPlain, payload: zeros(15)}, rule.WriteExTooShort},
		{"extended words", command{cmd: extended | cmdExPlain, ex: true, in: 1, providerIn: 2, payload: zeros(24)}, nil},
		{"extended words of 4 bytes", command{cmd: extended | cmdExPlain, ex: true, in: 6, payload: zeros(24)}, rule.WriteExWords},
		{"extended words too few", command{cmd: extended | cmdExPlain, ex: true, in: 1, payload: zeros(16)}, rule.WriteExWords},
		{"extended words too many", command{cmd: extended | cmdExPlain, ex: true, in: 1, providerIn: 65535, payload: zeros(16)}, rule.WriteExWords},
		{"extended reserved", command{cmd: extended | cmdExPlain, ex: true, reserved: 1, response: 0x1000}, rule.WriteExReserved},
		{"extended words before reserved", command{cmd: extended | cmdExPlain, ex: true, in: 1, reserved: 1}, rule.WriteExWords},
		{"extended response without words", command{cmd: extended | cmdExPlain, ex: true, response: 0x1000}, rule.WriteExNoOutWords},
		{"extended words without response", command{cmd: extended | cmdExPlain, ex: true, out: 1}, rule.WriteExNoResponse},
		{"extended provider words without response", command{cmd: extended | cmdExPlain, ex: true, providerOut: 1}, rule.WriteExNoResponse},
		{"extended response", command{cmd: extended | cmdExPlain, ex: true, response: 0x1000, out: 1}, nil},
		{"extended response of the driver", command{cmd: extended | cmdExPlain, ex: true, response: 0x1000, providerOut: 1}, nil},
		{"extended response at the end", command{cmd: extended | cmdExPlain, ex: true, response: beyond - 16, out: 1, providerOut: 1}, nil},
		{"extended response over the end", command{cmd: extended | cmdExPlain, ex: true, response: beyond - 15, out: 1, providerOut: 1}, rule.WriteExResponseFault},
		{"extended response of the kernel", command{cmd: extended | cmdExPlain, ex: true, response: 1 << 63, out: 1}, rule.WriteExResponseFault},
		{"extended response that wraps", command{cmd: extended | cmdExPlain, ex: true, response: math.MaxUint64 - 7, out: 1}, rule.WriteExResponseFault},
	}
}

func TestVerifyHdr(t *testing.T) {
	for _, tc := range headerCases() {
		t.Run(tc.name, func(t *testing.T) {
			w := newWriter(t)
			called := false
			w.handle = func(*Bundle) error { called = true; return nil }
			n, err := w.write(t, tc.c)
			if tc.want != nil {
				require.Equal(t, error(tc.want), err)
				require.False(t, called)
				return
			}
			require.NoError(t, err)
			require.Equal(t, int64(len(tc.c.bytes())), n)
			require.True(t, called)
		})
	}
}

// writeRefusal is a write() that is refused.
type writeRefusal struct {
	name string
	want error
	do   func(tb testing.TB, w *writer) error
}

// writeRefusals has the refusals that are not about the headers' content.
func writeRefusals() []writeRefusal {
	plain := command{cmd: cmdPlain, in: 6, payload: zeros(16)}
	return []writeRefusal{
		{"another process's credentials", rule.WriteAccess, func(tb testing.TB, w *writer) error {
			child, err := w.p.Fork()
			require.NoError(tb, err)
			_, err = child.Write(w.fd, nowhere, 0)
			return err
		}},
		{"credentials that changed", rule.WriteAccess, func(tb testing.TB, w *writer) error {
			require.NoError(tb, w.p.Setuid(0))
			_, err := w.write(tb, plain)
			return err
		}},
		{"nothing", rule.WriteTooShort, func(tb testing.TB, w *writer) error { _, err := w.p.Write(w.fd, nowhere, 0); return err }},
		{"7 bytes", rule.WriteTooShort, func(tb testing.TB, w *writer) error { _, err := w.p.Write(w.fd, nowhere, 7); return err }},
		{"header", rule.WriteHeaderFault, func(tb testing.TB, w *writer) error { _, err := w.p.Write(w.fd, nowhere, 8); return err }},
		{"extended header", rule.WriteExHeaderFault, func(tb testing.TB, w *writer) error {
			at := w.mem + 2*copyuser.PageSize - 8
			c := command{cmd: extended | cmdExPlain}
			require.True(tb, w.p.Store(at, c.bytes()))
			_, err := w.p.Write(w.fd, at, 24)
			return err
		}},
		{"response address", rule.WriteResponseFault, func(tb testing.TB, w *writer) error {
			at := w.mem + 2*copyuser.PageSize - 8
			c := command{cmd: cmdResp, in: 6, out: 2}
			require.True(tb, w.p.Store(at, c.bytes()))
			_, err := w.p.Write(w.fd, at, 24)
			return err
		}},
		{"the handler", syscall.EBUSY, func(tb testing.TB, w *writer) error {
			w.handle = func(*Bundle) error { return syscall.EBUSY }
			_, err := w.write(tb, plain)
			return err
		}},
		{"the handler's EPROTONOSUPPORT stays", syscall.EPROTONOSUPPORT, func(tb testing.TB, w *writer) error {
			w.handle = func(*Bundle) error { return syscall.EPROTONOSUPPORT }
			_, err := w.write(tb, plain)
			return err
		}},
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, tc := range writeRefusals() {
		t.Run(tc.name, func(t *testing.T) {
			w := newWriter(t)
			before := w.state(t)
			before.Refs, before.FDs = 0, 0
			require.Equal(t, tc.want, tc.do(t, w))
			after := w.state(t)
			after.Refs, after.FDs = 0, 0
			require.Equal(t, before, after)
		})
	}
}

// TestWriteParts has how a command is divided between core and driver.
func TestWriteParts(t *testing.T) {
	type part struct{ In, InLen, Out, OutLen uint64 }
	const resp = 0x5000
	withResp := func(n int) []byte {
		b := zeros(n)
		binary.LittleEndian.PutUint64(b, resp)
		return b
	}
	for _, tc := range []struct {
		name         string
		c            command
		core, driver part // In counts from the start of the write
	}{
		{"plain", command{cmd: cmdPlain, in: 6, out: 3, payload: zeros(16)}, part{8, 16, 0, 12}, part{}},
		{"plain, longer", command{cmd: cmdPlain, in: 8, payload: zeros(24)}, part{8, 24, 0, 0}, part{}},
		{"response", command{cmd: cmdResp, in: 6, out: 3, payload: withResp(16)}, part{8, 16, resp, 12}, part{}},
		{"udata, none", command{cmd: cmdUdata, in: 6, out: 2, payload: withResp(16)}, part{8, 16, resp, 8}, part{}},
		{"udata in", command{cmd: cmdUdata, in: 8, out: 2, payload: withResp(24)}, part{8, 16, resp, 8}, part{24, 8, 0, 0}},
		{"udata out", command{cmd: cmdUdata, in: 6, out: 5, payload: withResp(16)}, part{8, 16, resp, 8}, part{0, 0, resp + 8, 12}},
		{"DESTROY_CQ of 16 bytes", command{cmd: spec.IB_USER_VERBS_CMD_DESTROY_CQ, in: 4, out: 2, payload: withResp(8)}, part{8, 16, resp, 8}, part{}},
		{"extended, empty", command{cmd: extended | cmdExPlain, ex: true}, part{}, part{}},
		{"extended", command{cmd: extended | cmdExPlain, ex: true, in: 2, out: 3, providerIn: 1, providerOut: 4, response: resp, payload: zeros(24)},
			part{24, 16, resp, 24}, part{40, 8, resp + 24, 32}},
		{"extended, driver only", command{cmd: extended | cmdExPlain, ex: true, providerIn: 1, providerOut: 1, response: resp, payload: zeros(8)},
			part{0, 0, 0, 0}, part{24, 8, resp, 8}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWriter(t)
			of := func(u *core.Udata) part {
				p := part{uint64(u.In), u.InLen, uint64(u.Out), u.OutLen}
				if u.In != 0 {
					p.In -= uint64(w.mem)
				}
				return p
			}
			var c, d part
			w.handle = func(b *Bundle) error { c, d = of(&b.UCore), of(&b.DriverUdata); return nil }
			_, err := w.write(t, tc.c)
			require.NoError(t, err)
			require.Equal(t, tc.core, c)
			require.Equal(t, tc.driver, d)
		})
	}
}

// TestWriteNew: a command's new object is committed or aborted by what the
// handler says. A write()'s bundle has no attributes.
func TestWriteNew(t *testing.T) {
	w := newWriter(t)
	before := w.state(t)
	w.handle = func(b *Bundle) error {
		require.False(t, b.IsValid(0))
		_, err := b.Bytes(0)
		require.Equal(t, error(rule.AttrAbsent), err)
		part, err := b.Alloc(100)
		require.NoError(t, err)
		require.Equal(t, make([]byte, 100), part)
		return syscall.ENOSPC
	}
	_, err := w.write(t, command{cmd: cmdNew, in: 2})
	require.Equal(t, syscall.ENOSPC, err)
	require.Equal(t, []uobject.RemoveReason{uobject.RemoveAbort}, w.gone)
	require.Equal(t, before, w.state(t))
	w.handle = func(*Bundle) error { return nil }
	_, err = w.write(t, command{cmd: cmdNew, in: 2})
	require.NoError(t, err)
	objects, handles := w.file.Objects.Counts()
	require.Equal(t, []int{1, 1}, []int{objects, handles})
	require.NoError(t, w.p.Close(w.fd))
	require.Equal(t, uobject.RemoveClose, w.gone[1])
}

// TestWriteAllocatesNothing holds the budget of a plain command.
func TestWriteAllocatesNothing(t *testing.T) {
	w := newWriter(t)
	c := command{cmd: cmdUdata, in: 8, out: 4, payload: zeros(24)}
	_, err := w.write(t, c)
	require.NoError(t, err)
	n := uint64(len(c.bytes()))
	require.Zero(t, testing.AllocsPerRun(100, func() { w.p.Write(w.fd, w.mem, n) }))
}

// TestWriteAllocatesNothingAfterPanic: a handler that panics does not keep the bundle
// that the task has for its commands.
func TestWriteAllocatesNothingAfterPanic(t *testing.T) {
	w := newWriter(t)
	c := command{cmd: cmdUdata, in: 8, out: 4, payload: zeros(24)}
	nop := w.handle
	w.handle = func(*Bundle) error { panic("a handler") }
	require.PanicsWithValue(t, "a handler", func() { w.write(t, c) })
	w.handle = nop
	_, err := w.write(t, c)
	require.NoError(t, err)
	n := uint64(len(c.bytes()))
	require.Zero(t, testing.AllocsPerRun(100, func() { w.p.Write(w.fd, w.mem, n) }))
}
