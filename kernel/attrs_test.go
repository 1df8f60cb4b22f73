package kernel

import (
	"bytes"
	"fmt"
	"math"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// userData are n bytes as a user hands them in: in the attribute up to 8, else
// in the tests' data.
func (p *parser) userData(tb testing.TB, id uint16, b []byte) spec.IoctlAttr {
	tb.Helper()
	at := spec.IoctlAttr{AttrID: id, Len: uint16(len(b)), Data: inline(b)}
	if len(b) > 8 {
		require.True(tb, p.p.Store(p.data(), b))
		at.Data = uint64(p.data())
	}
	return at
}

// TestTails hands in every length from 0 to 24 with one byte that is not zero
// at every place, to attributes of which the kernel knows 0 to 16 bytes. What
// it does not know must be zero; what it knows gets to the handler.
func TestTails(t *testing.T) {
	p := newParser(t, nil)
	for id, known := range tailLens {
		for n := range 25 {
			for nonzero := -1; nonzero < n; nonzero++ {
				sent := make([]byte, n)
				if nonzero >= 0 {
					sent[nonzero] = 0x80
				}
				got := bytes.Repeat([]byte{0xee}, int(known))
				p.handle = func(b *Bundle) error { return b.CopyFromOrZero(got, uint16(id)) }
				at := p.userData(t, uint16(id), sent)
				if n < 8 {
					at.Data |= math.MaxUint64 << (8 * n) // beyond its length nothing counts
				}
				p.put(t, p.mem, thing, methodTails, at)
				err := p.ioctl()
				what := fmt.Sprintf("known %d, sent %d, byte %d", known, n, nonzero)
				if nonzero >= int(known) {
					require.Equalf(t, error(rule.AttrTrailingNonzero), err, what)
					continue
				}
				require.NoErrorf(t, err, what)
				want := make([]byte, known)
				copy(want, sent)
				require.Equalf(t, want, got, what)
			}
		}
	}
}

// TestPointers reads one attribute in each way.
func TestPointers(t *testing.T) {
	long := []byte("sixteen letters!")
	for _, tc := range []struct {
		name string
		sent []byte
		read func(b *Bundle) (any, error)
		want any
	}{
		{"inline", long[:4], func(b *Bundle) (any, error) { d := make([]byte, 4); err := b.CopyFrom(d, attrIn); return d, err }, long[:4]},
		{"8 bytes are inline", long[:8], func(b *Bundle) (any, error) { d := make([]byte, 8); err := b.CopyFrom(d, attrIn); return d, err }, long[:8]},
		{"9 bytes are not", long[:9], func(b *Bundle) (any, error) { d := make([]byte, 9); err := b.CopyFrom(d, attrIn); return d, err }, long[:9]},
		{"all", long, func(b *Bundle) (any, error) { d := make([]byte, 16); err := b.CopyFrom(d, attrIn); return d, err }, long},
		{"shorter than read", long[:6], func(b *Bundle) (any, error) {
			d := []byte("--------")
			err := b.CopyFrom(d, attrIn)
			return d, err
		}, []byte("sixtee--")},
		{"a part", long, func(b *Bundle) (any, error) { d := make([]byte, 3); err := b.CopyFromOrZero(d, attrIn); return d, err }, long[:3]},
		{"length", long[:9], func(b *Bundle) (any, error) { return b.Len(attrIn) }, 9},
		{"array", long[:12], func(b *Bundle) (any, error) { return b.ArraySize(attrIn, 4) }, 3},
		{"u32", []byte{1, 2, 3, 4}, func(b *Bundle) (any, error) { return b.Uint32(attrIn) }, uint32(0x04030201)},
		{"u64", []byte{1, 2, 3, 4, 5, 6, 7, 8}, func(b *Bundle) (any, error) { return b.Uint64(attrIn) }, uint64(0x0807060504030201)},
		{"u64 of 5 bytes", []byte{1, 2, 3, 4, 5}, func(b *Bundle) (any, error) { return b.Uint64(attrIn) }, uint64(0x0504030201)},
		{"flags of 4 bytes", []byte{1, 0, 0, 0}, func(b *Bundle) (any, error) { return b.Flags64(attrIn, 3) }, uint64(1)},
		{"flags of 8 bytes", []byte{2, 0, 0, 0, 0, 0, 0, 1}, func(b *Bundle) (any, error) { return b.Flags64(attrIn, math.MaxUint64) }, uint64(1<<56 | 2)},
		{"no flags", nil, func(b *Bundle) (any, error) { return b.Flags32(attrIn, 0) }, uint32(0)},
		{"const", []byte{7, 0, 0, 0, 0, 0, 0, 0}, func(b *Bundle) (any, error) { return b.Const(attrIn, 7) }, uint64(7)},
		{"const absent", nil, func(b *Bundle) (any, error) { return b.ConstDefault(attrIn, 7, 3) }, uint64(3)},
		{"const present", []byte{5, 0, 0, 0}, func(b *Bundle) (any, error) { return b.ConstDefault(attrIn, 7, 3) }, uint64(5)},
		{"signed", bytes.Repeat([]byte{0xff}, 8), func(b *Bundle) (any, error) { return b.ConstSigned(attrIn, -1, 0) }, int64(-1)},
		{"valid", long[:4], func(b *Bundle) (any, error) { return b.IsValid(attrIn), nil }, true},
		{"not valid", nil, func(b *Bundle) (any, error) { return b.IsValid(attrIn), nil }, false},
		{"an id that no attribute has", nil, func(b *Bundle) (any, error) { return b.IsValid(0xffff), nil }, false},
		{"no objects", nil, func(b *Bundle) (any, error) { o, err := b.Objects(attrIn); return len(o), err }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newParser(t, nil)
			var got any
			var err error
			p.handle = func(b *Bundle) error { got, err = tc.read(b); return nil }
			var attrs []spec.IoctlAttr
			if tc.sent != nil {
				attrs = []spec.IoctlAttr{p.userData(t, attrIn, tc.sent)}
			}
			p.put(t, p.mem, thing, methodAttrs, attrs...)
			require.NoError(t, p.ioctl())
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

// TestCopiedIn: an attribute that is declared so is copied before the handler
// runs, so that what the user does meanwhile does not matter.
func TestCopiedIn(t *testing.T) {
	p := newParser(t, nil)
	for _, n := range []int{1, 8, 9, 500, 4096} {
		sent := bytes.Repeat([]byte{byte(n)}, n)
		p.handle = func(b *Bundle) error {
			require.True(t, p.p.Store(p.data(), make([]byte, copyuser.PageSize)))
			got, err := b.Bytes(attrAlloc)
			require.NoError(t, err)
			require.Equal(t, sent, got)
			return nil
		}
		p.put(t, p.mem, thing, methodAttrs, p.userData(t, attrAlloc, sent))
		require.NoError(t, p.ioctl())
	}
}

// TestAlloc: what a call was given stays its own until it ends, however much it
// asks for, and is zero.
func TestAlloc(t *testing.T) {
	p := newParser(t, nil)
	p.put(t, p.mem, thing, methodAttrs)
	for range 2 {
		p.handle = func(b *Bundle) error {
			var parts [][]byte
			for i := range 20 {
				part, err := b.Alloc(1 << i)
				require.NoError(t, err)
				require.Equal(t, make([]byte, 1<<i), part)
				for j := range part {
					part[j] = byte(i + 1)
				}
				parts = append(parts, part)
			}
			for i, part := range parts {
				require.Equal(t, bytes.Repeat([]byte{byte(i + 1)}, 1<<i), part)
			}
			return nil
		}
		require.NoError(t, p.ioctl())
		b := p.p.MainTask().Spares[spareBundle].Value.(*Bundle)
		require.LessOrEqual(t, cap(b.priv.mem), maxSpareMem)
	}
}

// TestSpareBundlesKeepNothing: a bundle that waits for the next call holds
// neither objects nor the caller.
func TestSpareBundlesKeepNothing(t *testing.T) {
	p := newParser(t, nil)
	one, two := p.newThing(t), p.newThing(t)
	p.put(t, p.mem, thing, methodArrays, p.userData(t, arrayWrite, words(uint32(one), uint32(two))))
	require.NoError(t, p.ioctl())
	p.put(t, p.mem, thing, methodAttrs, spec.IoctlAttr{AttrID: attrRead, Data: one})
	require.NoError(t, p.ioctl())
	p.put(t, p.mem, thing, methodDestroy, spec.IoctlAttr{AttrID: 0, Data: one})
	require.NoError(t, p.ioctl())
	b := p.p.MainTask().Spares[spareBundle].Value.(*Bundle)
	require.Nil(t, b.file)
	require.Nil(t, b.task)
	require.Nil(t, b.context)
	require.Empty(t, b.priv.objects)
	for i := range b.attrs {
		require.Nil(t, b.attrs[i].object)
		require.Nil(t, b.attrs[i].objects)
	}
}

// TestEnum: the element says what the data must be, and gets to the handler.
func TestEnum(t *testing.T) {
	p := newParser(t, nil)
	for _, tc := range []struct {
		elem uint16
		sent []byte
	}{
		{0, []byte{1, 2, 3, 4}},
		{2, []byte{1}},
		{2, bytes.Repeat([]byte{9}, 12)},
		{2, append(bytes.Repeat([]byte{9}, 12), 0, 0, 0, 0)},
	} {
		got := make([]byte, 12)
		elem := -1
		p.handle = func(b *Bundle) (err error) {
			elem, err = b.Enum(attrEnum)
			require.NoError(t, err)
			return b.CopyFromOrZero(got, attrEnum)
		}
		at := p.userData(t, attrEnum, tc.sent)
		at.AttrData = tc.elem
		p.put(t, p.mem, thing, methodAttrs, at)
		require.NoError(t, p.ioctl())
		require.Equal(t, int(tc.elem), elem)
		require.Equal(t, tc.sent[:min(len(tc.sent), 12)], got[:min(len(tc.sent), 12)])
	}
}

func TestRawFD(t *testing.T) {
	p := newParser(t, nil)
	for _, fd := range []int64{0, -1, math.MaxInt32, math.MinInt32} {
		var got int32
		p.handle = func(b *Bundle) (err error) { got, err = b.RawFD(attrRawFD); return err }
		p.put(t, p.mem, thing, methodAttrs, spec.IoctlAttr{AttrID: attrRawFD, Data: uint64(fd)})
		require.NoError(t, p.ioctl())
		require.Equal(t, int32(fd), got)
	}
}

// TestArrays has arrays of every way to hand them in. Whatever was taken is
// released, on success and after the first handle that cannot be had.
func TestArrays(t *testing.T) {
	p := newParser(t, nil)
	var things []uint32
	for range 300 {
		things = append(things, uint32(p.newThing(t)))
	}
	for _, tc := range []struct {
		name string
		id   uint16
		ids  []uint32
		want *rule.Rule
	}{
		{"none", arrayRead, nil, nil},
		{"one, inline", arrayRead, things[:1], nil},
		{"two, inline", arrayRead, things[:2], nil},
		{"three", arrayRead, things[:3], nil},
		{"the same twice", arrayRead, []uint32{things[0], things[0]}, nil},
		{"many", arrayWrite, things, nil},
		{"the same twice, exclusively", arrayWrite, []uint32{things[0], things[0]}, rule.ObjectBusyWrite},
		{"the first is not there", arrayRead, []uint32{9999, things[0]}, rule.ObjectNotFound},
		{"the last of many is not there", arrayWrite, append(append([]uint32{}, things[1:]...), 9999), rule.ObjectNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := p.state(t)
			var got []uint32
			p.handle = func(b *Bundle) error {
				objects, err := b.Objects(tc.id)
				require.NoError(t, err)
				for _, o := range objects {
					got = append(got, uint32(o.ID()))
					require.NotZero(t, o.Usecnt())
				}
				return nil
			}
			p.put(t, p.mem, thing, methodArrays, p.userData(t, tc.id, words(tc.ids...)))
			err := p.ioctl()
			if tc.want != nil {
				require.Equal(t, error(tc.want), err)
				require.Empty(t, got)
			} else {
				require.NoError(t, err)
				require.Equal(t, tc.ids, got)
			}
			require.Equal(t, before, p.state(t))
		})
	}
	t.Run("two arrays", func(t *testing.T) {
		before := p.state(t)
		require.True(t, p.p.Store(p.data(), words(things[:200]...)))
		read := []uint32{things[200], things[201]}
		p.handle = func(b *Bundle) error {
			first, _ := b.Objects(arrayRead)
			second, _ := b.Objects(arrayWrite)
			require.Len(t, first, 2)
			require.Len(t, second, 200)
			require.Equal(t, int64(read[1]), first[1].ID())
			require.Equal(t, int64(things[199]), second[199].ID())
			return nil
		}
		p.put(t, p.mem, thing, methodArrays,
			spec.IoctlAttr{AttrID: arrayRead, Len: 8, Data: inline(words(read...))},
			spec.IoctlAttr{AttrID: arrayWrite, Len: 800, Data: uint64(p.data())})
		require.NoError(t, p.ioctl())
		require.Equal(t, before, p.state(t))
	})
}

// TestOutputs: what is written is flagged on the flags that the kernel copied,
// whatever the user has made of them since.
func TestOutputs(t *testing.T) {
	src := []byte("an answer of 20 byte")
	for _, tc := range []struct {
		name  string
		len   uint16
		write func(b *Bundle) error
		want  []byte // of 24 bytes that were 0xee
	}{
		{"cut", 8, func(b *Bundle) error { return b.CopyTo(attrOut, src) }, src[:8]},
		{"short", 16, func(b *Bundle) error { return b.CopyTo(attrOut, src[:5]) }, src[:5]},
		{"short and cleared", 16, func(b *Bundle) error { return b.CopyToStructOrZero(attrOut, src[:5]) }, append(src[:5:5], make([]byte, 11)...)},
		{"u32", 8, func(b *Bundle) error { return b.CopyToUint32(attrOut, 0x01020304) }, []byte{4, 3, 2, 1}},
		{"u64", 8, func(b *Bundle) error { return b.CopyToUint64(attrOut, 0x0102030405060708) }, []byte{8, 7, 6, 5, 4, 3, 2, 1}},
		{"only flagged", 8, func(b *Bundle) error { return b.OutputWritten(attrOut) }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newParser(t, nil)
			require.True(t, p.p.Store(p.data(), bytes.Repeat([]byte{0xee}, 24)))
			p.handle = func(b *Bundle) error {
				p.p.Mem.PutUint16(p.mem+spec.IoctlHdrSize+spec.IoctlAttrFlagsOffset, 0x7770)
				addr, err := b.OutputAddr(attrOut)
				require.NoError(t, err)
				require.Equal(t, p.data(), addr)
				return tc.write(b)
			}
			p.put(t, p.mem, thing, methodAttrs,
				spec.IoctlAttr{AttrID: attrOut, Len: tc.len, Flags: spec.UVERBS_ATTR_F_MANDATORY | 0x40, Data: uint64(p.data())})
			require.NoError(t, p.ioctl())
			require.Equal(t, uint16(spec.UVERBS_ATTR_F_MANDATORY|spec.UVERBS_ATTR_F_VALID_OUTPUT|0x40), p.answer(t, 0).Flags)
			got := make([]byte, 24)
			require.True(t, p.p.Load(p.data(), got))
			require.Equal(t, append(tc.want[:len(tc.want):len(tc.want)], bytes.Repeat([]byte{0xee}, 24-len(tc.want))...), got)
		})
	}
}

// TestUHW: the driver's part of the request is handed over as it is, a short
// one where it lies in the user's array; the response is flagged when the
// handler is content.
func TestUHW(t *testing.T) {
	for _, n := range []uint16{0, 4, 8, 9} {
		for _, fail := range []error{nil, syscall.EBUSY} {
			p := newParser(t, nil)
			var got core.Udata
			p.handle = func(b *Bundle) error { got = *b.Udata(); return fail }
			p.put(t, p.mem, thing, methodUHW,
				spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 5, Data: 0x4000},
				spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_IN, Len: n, Data: 0x3000})
			err := p.ioctl()
			in := copyuser.Addr(0x3000)
			if n <= 8 {
				in = p.mem + spec.IoctlHdrSize + spec.IoctlAttrSize + spec.IoctlAttrDataOffset
			}
			require.Equal(t, core.Udata{In: in, InLen: uint64(n), Out: 0x4000, OutLen: 5}, core.Udata{In: got.In, InLen: got.InLen, Out: got.Out, OutLen: got.OutLen})
			if fail != nil {
				require.Equal(t, fail, err)
				require.Zero(t, p.answer(t, 0).Flags)
			} else {
				require.NoError(t, err)
				require.Equal(t, uint16(spec.UVERBS_ATTR_F_VALID_OUTPUT), p.answer(t, 0).Flags)
			}
			require.Zero(t, p.answer(t, 1).Flags)

			// The next call does not see it.
			p.handle = func(b *Bundle) error { got = *b.Udata(); return nil }
			p.put(t, p.mem, thing, methodAttrs)
			require.NoError(t, p.ioctl())
			require.Empty(t, cmp.Diff([4]uint64{}, [4]uint64{uint64(got.In), got.InLen, uint64(got.Out), got.OutLen}))
		}
	}
}

// TestEarlyID: the new handle is in the user's attribute as soon as the parser
// has come to it, whatever becomes of the call.
func TestEarlyID(t *testing.T) {
	const mark = 0xdead
	for _, tc := range []struct {
		name   string
		attrs  []spec.IoctlAttr
		handle error
		want   uint64
	}{
		{"refused by a later attribute", []spec.IoctlAttr{{AttrID: 0, Data: mark}, {AttrID: 1, Len: 3}}, nil, 1},
		{"refused by the handler", []spec.IoctlAttr{{AttrID: 0, Data: mark}}, syscall.EBUSY, 1},
		{"refused by an earlier attribute", []spec.IoctlAttr{{AttrID: 1, Len: 3}, {AttrID: 0, Data: mark}}, nil, mark},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newParser(t, nil)
			p.newThing(t)
			before := p.state(t)
			p.handle = func(*Bundle) error { return tc.handle }
			p.put(t, p.mem, thing, methodNew, tc.attrs...)
			require.Error(t, p.ioctl())
			got := mark
			for i, at := range tc.attrs {
				if at.AttrID == 0 {
					got = int(p.answer(t, i).Data)
				}
			}
			require.Equal(t, tc.want, uint64(got))
			require.Equal(t, before, p.state(t))
			p.handle = func(*Bundle) error { return nil }
			require.Equal(t, uint64(1), p.newThing(t), "its number is free again")
		})
	}
}

// TestNewThatFails: the hardware object goes with the call that made it; one
// that the driver will not destroy stays, under the number that the user was
// told.
func TestNewThatFails(t *testing.T) {
	p := newParser(t, nil)
	before := p.state(t)
	p.handle = func(*Bundle) error { return syscall.ENOSPC }
	p.put(t, p.mem, thing, methodNew, spec.IoctlAttr{})
	require.Equal(t, syscall.ENOSPC, p.ioctl())
	require.Equal(t, []uobject.RemoveReason{uobject.RemoveAbort}, p.gone)
	require.Equal(t, before, p.state(t))

	p.refuse = syscall.EBUSY
	require.Equal(t, syscall.ENOSPC, p.ioctl())
	p.refuse = nil
	handle := p.answer(t, 0).Data
	p.handle = func(*Bundle) error { return nil }
	p.put(t, p.mem, thing, methodAttrs, spec.IoctlAttr{AttrID: attrRead, Data: handle})
	require.NoError(t, p.ioctl())
	p.put(t, p.mem, thing, methodDestroy, spec.IoctlAttr{Data: handle})
	require.NoError(t, p.ioctl())
	require.Equal(t, before, p.state(t))
}

// TestDestroyThenHandler: the object is destroyed before the handler runs and
// is gone whatever the handler says; without a destroy there is no handler.
func TestDestroyThenHandler(t *testing.T) {
	p := newParser(t, nil)
	before := p.state(t)
	handle := p.newThing(t)
	called := false
	p.handle = func(b *Bundle) error {
		called = true
		o, err := b.Object(0)
		require.NoError(t, err)
		require.Nil(t, o.HW)
		require.Equal(t, int32(-1), o.Usecnt())
		require.Equal(t, []uobject.RemoveReason{uobject.RemoveDestroy}, p.gone)
		return b.CopyToUint32(1, 1)
	}
	p.refuse = syscall.EBUSY
	p.put(t, p.mem, thing, methodDestroy, spec.IoctlAttr{Data: handle}, spec.IoctlAttr{AttrID: 1, Len: 4, Data: nowhere})
	require.Equal(t, syscall.EBUSY, p.ioctl())
	require.False(t, called)
	p.refuse = nil
	require.Equal(t, error(rule.AttrOutputFault), p.ioctl())
	require.True(t, called)
	require.Equal(t, before, p.state(t))
	require.Equal(t, error(rule.ObjectNotFound), p.ioctl())
}

// TestLazyCopies: apart from the header and the attributes, a call reads from
// the user what its handler asks for and no more.
func TestLazyCopies(t *testing.T) {
	type copied struct{ Addr, Len uint64 }
	for _, tc := range []struct {
		name   string
		attr   spec.IoctlAttr
		handle func(b *Bundle) error
		want   func(p *parser) []copied
	}{
		{"nobody asks", spec.IoctlAttr{AttrID: attrIn, Len: 16}, nil, func(*parser) []copied { return nil }},
		{"the handler asks", spec.IoctlAttr{AttrID: attrIn, Len: 16}, func(b *Bundle) error { return b.CopyFrom(make([]byte, 16), attrIn) },
			func(p *parser) []copied { return []copied{{uint64(p.data()), 16}} }},
		{"it asks for a part", spec.IoctlAttr{AttrID: attrIn, Len: 16}, func(b *Bundle) error { return b.CopyFromOrZero(make([]byte, 5), attrIn) },
			func(p *parser) []copied { return []copied{{uint64(p.data()), 5}} }},
		{"it asks for the length", spec.IoctlAttr{AttrID: attrIn, Len: 16}, func(b *Bundle) error { _, err := b.Len(attrIn); return err },
			func(*parser) []copied { return nil }},
		{"inline", spec.IoctlAttr{AttrID: attrIn, Len: 8}, func(b *Bundle) error { return b.CopyFrom(make([]byte, 8), attrIn) },
			func(*parser) []copied { return nil }},
		{"a tail", spec.IoctlAttr{AttrID: attrTail, Len: 16}, nil, func(p *parser) []copied { return []copied{{uint64(p.data()) + 12, 4}} }},
		{"no tail", spec.IoctlAttr{AttrID: attrTail, Len: 12}, nil, func(*parser) []copied { return nil }},
		{"copied in", spec.IoctlAttr{AttrID: attrAlloc, Len: 16}, nil, func(p *parser) []copied { return []copied{{uint64(p.data()), 16}} }},
		{"copied in, inline", spec.IoctlAttr{AttrID: attrAlloc, Len: 8}, func(b *Bundle) error { _, err := b.Bytes(attrAlloc); return err },
			func(*parser) []copied { return nil }},
		{"an output", spec.IoctlAttr{AttrID: attrOut, Len: 16}, nil, func(*parser) []copied { return nil }},
		{"unknown", spec.IoctlAttr{AttrID: 30, Len: 16}, nil, func(*parser) []copied { return nil }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newParser(t, nil)
			if tc.handle != nil {
				p.handle = tc.handle
			}
			tc.attr.Data = uint64(p.data())
			p.put(t, p.mem, thing, methodAttrs, tc.attr)
			var seen recorder
			_, err := p.p.NewTask(trace.NewTask(1, &seen)).Ioctl(p.fd, spec.RDMA_VERBS_IOCTL, p.mem)
			require.NoError(t, err)
			var got []copied
			for _, e := range seen.events {
				if e.Kind == trace.CopyIn {
					got = append(got, copied{e.A, e.B})
				}
				require.NotEqual(t, trace.CopyOut, e.Kind)
			}
			head := []copied{{uint64(p.mem), spec.IoctlHdrSize}, {uint64(p.mem) + spec.IoctlHdrSize, spec.IoctlAttrSize}}
			require.Equal(t, append(head, tc.want(p)...), got)
		})
	}
}

// TestMostAttributes: a call may have as many attributes as fit into a page,
// most of them unknown, wherever the known one is.
func TestMostAttributes(t *testing.T) {
	const most = (copyuser.PageSize - spec.IoctlHdrSize) / spec.IoctlAttrSize
	p := newParser(t, nil)
	attrs := make([]spec.IoctlAttr, most)
	for i := range attrs {
		attrs[i] = spec.IoctlAttr{AttrID: uint16(100 + i), Len: uint16(i), Data: nowhere}
	}
	attrs[most-1] = spec.IoctlAttr{AttrID: attrIn, Len: 4, Data: 7}
	var got uint32
	p.handle = func(b *Bundle) (err error) { got, err = b.Uint32(attrIn); return err }
	p.put(t, p.mem, thing, methodAttrs, attrs...)
	require.NoError(t, p.ioctl())
	require.Equal(t, uint32(7), got)
}

// TestNoAttributes: the empty array may lie anywhere.
func TestNoAttributes(t *testing.T) {
	p := newParser(t, nil)
	end := p.mem + 2*copyuser.PageSize - spec.IoctlHdrSize
	p.put(t, end, thing, methodAttrs)
	_, err := p.p.Ioctl(p.fd, spec.RDMA_VERBS_IOCTL, end)
	require.NoError(t, err)
}

// TestParserSeesOneCopy: the lengths that were checked are the lengths that
// are used, though another thread changes the array during the call.
func TestParserSeesOneCopy(t *testing.T) {
	p := newParser(t, nil)
	p.handle = func(b *Bundle) error {
		p.p.Mem.PutUint64(p.mem+spec.IoctlHdrSize, math.MaxUint64)
		n, err := b.Len(attrIn)
		require.Equal(t, 4, n)
		return err
	}
	p.put(t, p.mem, thing, methodAttrs, spec.IoctlAttr{AttrID: attrIn, Len: 4})
	require.NoError(t, p.ioctl())
}
