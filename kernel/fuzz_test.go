package kernel

import (
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

// Where a fuzzed call lies, and what it may point at.
const (
	fuzzCall    = 0x100000
	fuzzPayload = 0x200000
)

func mapAt(tb testing.TB, r *rig, at copyuser.Addr) {
	tb.Helper()
	_, err := r.p.MainTask().MmapAt(at, -1, copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS|syscall.MAP_FIXED, 0)
	require.NoError(tb, err)
}

// FuzzParser makes one ioctl of any bytes on a file with two things (handles 0
// and 1) and a channel (descriptor 1), whose handler reads every attribute in
// every way. Whatever the answer, the call may leave no lock, no reference and
// no object but one that it was asked to make or destroy.
func FuzzParser(f *testing.F) {
	seed := func(with func(testing.TB, *parser)) {
		p := newParser(f, nil)
		with(f, p)
		call := make([]byte, spec.IoctlHdrSize+4*spec.IoctlAttrSize)
		if p.p.Load(p.mem, call) {
			f.Add(call, []byte{1, 0, 0, 0})
		}
	}
	for _, tc := range parserRefusals() {
		seed(tc.with)
	}
	seed(calling(methodArrays, a{AttrID: arrayRead, Len: 4, Data: 1}, a{AttrID: arrayWrite, Len: 8, Data: 1 << 32}))
	seed(calling(methodArrays, a{AttrID: arrayRead, Len: 16, Data: fuzzPayload}))
	seed(calling(methodAttrs, a{AttrID: attrIn, Len: 16, Data: fuzzPayload}, a{AttrID: attrOut, Len: 16, Data: fuzzPayload},
		a{AttrID: attrTail, Len: 99, Data: fuzzPayload}, a{AttrID: attrFD, Data: 1}))
	seed(calling(methodDestroy, a{Data: 1}))

	p := newParser(f, nil)
	mapAt(f, p.rig, fuzzCall)
	mapAt(f, p.rig, fuzzPayload)
	p.newFD(f, channel)
	f.Fuzz(func(t *testing.T, call, payload []byte) {
		watchdog.On(t)
		p.handle = readAll
		for _, handles := p.file.Objects.Counts(); handles < 2; handles++ {
			p.newThing(t)
		}
		before := p.state(t)
		p.p.Store(fuzzCall, call[:min(len(call), copyuser.PageSize)])
		p.p.Store(fuzzPayload, payload[:min(len(payload), copyuser.PageSize)])
		_, err := p.p.Ioctl(p.fd, spec.RDMA_VERBS_IOCTL, fuzzCall)
		if err != nil {
			require.NotEmpty(t, rule.ErrnoName(rule.Errno(err)))
		}
		after := p.state(t)
		made := after.Objects - before.Objects
		require.LessOrEqual(t, made, 1)
		require.GreaterOrEqual(t, made, -1)
		if after.FDs != before.FDs {
			require.Equal(t, 1, made)
		}
		for id, holds := range after.Holds {
			require.Zero(t, holds[0], "handle %d is held", id)
		}
		p.tidy(t)
	})
}

// tidy takes away what a fuzzed call made, so that two things and the channel
// are left.
func (p *parser) tidy(tb testing.TB) {
	for _, fd := range p.p.FDs() {
		if fd > 1 {
			require.NoError(tb, p.p.Close(fd))
		}
	}
	var ids []int64
	for o := range p.file.Objects.Objects(nil) {
		if o.Type().ID == thing && o.ID() > 1 {
			ids = append(ids, o.ID())
		}
	}
	p.handle = func(*Bundle) error { return nil }
	for _, id := range ids {
		p.put(tb, p.mem, thing, methodDestroy, spec.IoctlAttr{Data: uint64(id)})
		require.NoError(tb, p.ioctl())
	}
	if handlers := p.d.IBDevice().EventHandlers(); handlers != 0 {
		tb.Errorf("%d event handlers are left", handlers)
	}
}

// readAll reads every attribute in every way.
func readAll(b *Bundle) error {
	for id := range uint16(32) {
		buf := b.Scratch(64)
		var errs []error
		note := func(err error) { errs = append(errs, err) }
		_, err := b.Len(id)
		note(err)
		note(b.CopyFrom(buf, id))
		note(b.CopyFromOrZero(buf[:5], id))
		_, err = b.Uint32(id)
		note(err)
		_, err = b.Uint64(id)
		note(err)
		_, err = b.Flags32(id, 0xff)
		note(err)
		_, err = b.Const(id, 100)
		note(err)
		_, err = b.RawFD(id)
		note(err)
		_, err = b.Enum(id)
		note(err)
		_, err = b.Objects(id)
		note(err)
		_, err = b.ArraySize(id, 4)
		note(err)
		note(b.CopyToStructOrZero(id, binary.LittleEndian.AppendUint64(nil, uint64(id))))
		if b.IsValid(id) == (errs[0] != nil) {
			panic("an attribute is there and absent")
		}
	}
	return nil
}

// FuzzWriteHeader makes one write() of any bytes. Whatever the headers say, the
// handler is only called with parts of the request that lie in what was
// written, or for the old DESTROY_CQ 8 bytes behind it.
func FuzzWriteHeader(f *testing.F) {
	for _, tc := range headerCases() {
		f.Add(tc.c.bytes())
	}
	w := newWriter(f)
	mapAt(f, w.rig, fuzzCall)
	f.Fuzz(func(t *testing.T, cmd []byte) {
		watchdog.On(t)
		cmd = cmd[:min(len(cmd), copyuser.PageSize)]
		w.p.Store(fuzzCall, cmd)
		end := fuzzCall + copyuser.Addr(len(cmd))
		w.handle = func(b *Bundle) error {
			for _, u := range []struct {
				in copyuser.Addr
				n  uint64
			}{{b.UCore.In, b.UCore.InLen}, {b.DriverUdata.In, b.DriverUdata.InLen}} {
				if u.n == 0 {
					require.Zero(t, u.in)
					continue
				}
				require.GreaterOrEqual(t, u.in, copyuser.Addr(fuzzCall+cmdHdrSize))
				slack := copyuser.Addr(0)
				if cmd[0] == spec.IB_USER_VERBS_CMD_DESTROY_CQ && len(cmd) == 16 {
					slack = 8
				}
				require.LessOrEqual(t, u.in+copyuser.Addr(u.n), end+slack)
			}
			return syscall.EBUSY
		}
		before := w.state(t)
		_, err := w.p.Write(w.fd, fuzzCall, uint64(len(cmd)))
		require.Error(t, err)
		require.NotEmpty(t, rule.ErrnoName(rule.Errno(err)))
		require.Equal(t, before, w.state(t))
	})
}
