package sim_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

// parseAim is how many times a bare loop a call may take that does no more than
// be parsed.
const parseAim = 3

// userBytes is the user's memory as a bare loop has it.
type userBytes interface {
	copyIn(dst []byte, from uint64) bool
}

// modelBytes is the user's memory of the model: pages, which may be absent or
// forbidden.
type modelBytes struct {
	mem copyuser.Memory
	at  copyuser.Addr
}

func (m modelBytes) copyIn(dst []byte, from uint64) bool {
	return copyuser.CopyFromUser(nil, m.mem, dst, m.at+copyuser.Addr(from))
}

// flatBytes is a slice, with nothing but a bound to check.
type flatBytes []byte

func (m flatBytes) copyIn(dst []byte, from uint64) bool {
	if from > uint64(len(m)) || uint64(len(m))-from < uint64(len(dst)) {
		return false
	}
	copy(dst, m[from:])
	return true
}

// bareParse is the least that a call with ten attributes takes: two copies from
// the user's memory, the header's and the attributes' words, a look-up of each
// attribute by its id, and a check of its length, its reserved bits and of its
// being there once. It has no system call, descriptor, or locks.
type bareParse struct {
	user    userBytes
	hdr     [spec.IoctlHdrSize]byte
	attrs   [10 * spec.IoctlAttrSize]byte
	specs   [64]*bareSpec
	methods map[uint32]uint64 // the attributes that a method must have
	got     [64]struct {
		data uint64
		len  uint16
	}
}

type bareSpec struct{ min, max uint16 }

func newBareParse(tb testing.TB, memory func(flatBytes) userBytes) *bareParse {
	attrs := nopAttrs(1 << 20)
	p := &bareParse{
		user:    memory(spec.EncodeMethod(nopDriver, nopObject, nopMethod, attrs...)),
		methods: map[uint32]uint64{nopObject<<16 | nopMethod: 1<<10 - 1},
	}
	for i := range attrs {
		p.specs[i] = &bareSpec{min: 8, max: 8}
	}
	require.True(tb, p.call(), "the bare loop finds its own call wrong")
	return p
}

func (p *bareParse) call() bool {
	if !p.user.copyIn(p.hdr[:], 0) {
		return false
	}
	hdr := spec.DecodeIoctlHdr(&p.hdr)
	if int(hdr.Length) != spec.IoctlHdrSize+int(hdr.NumAttrs)*spec.IoctlAttrSize || hdr.NumAttrs > 10 || hdr.Reserved1|uint64(hdr.Reserved2) != 0 {
		return false
	}
	mandatory, ok := p.methods[uint32(hdr.ObjectID)<<16|uint32(hdr.MethodID)]
	if !ok || !p.user.copyIn(p.attrs[:int(hdr.NumAttrs)*spec.IoctlAttrSize], spec.IoctlHdrSize) {
		return false
	}
	var present uint64
	for i := range int(hdr.NumAttrs) {
		a := p.attrs[i*spec.IoctlAttrSize:][:spec.IoctlAttrSize]
		word, data := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(a[8:])
		id, n := uint16(word), uint16(word>>16)
		if id >= 64 {
			return false
		}
		s := p.specs[id]
		if s == nil || n < s.min || n > s.max || word>>48 != 0 || present>>id&1 != 0 {
			return false
		}
		p.got[id].data, p.got[id].len = data, n
		present |= 1 << id
	}
	return mandatory&^present == 0
}

func (p *bareParse) again(n int) {
	for range n {
		if !p.call() {
			panic("the bare loop finds its own call wrong")
		}
	}
}

func flat(user flatBytes) userBytes { return user }

// inModel puts a call into the memory of a caller.
func (c *caller) inModel(tb testing.TB) func(flatBytes) userBytes {
	return func(user flatBytes) userBytes {
		at := c.alloc(tb, uint64(len(user)))
		require.True(tb, c.task.Mem.Store(at, user))
		return modelBytes{c.task.Mem, at}
	}
}

// TestParseCost: a call with ten attributes whose handler does nothing takes at
// most three times the bare loop that copies from the same memory. How many times
// it takes one that copies from a slice is told beside.
func TestParseCost(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("times say nothing here")
	}
	c := newNop(t)
	call, bare, slice := c.nop(t), calls(newBareParse(t, c.inModel(t)).again), calls(newBareParse(t, flat).again)
	const n = 500
	var whole, bareTime, sliceTime least
	ok := rounds(func() {
		whole.take(call.time(n))
		bareTime.take(bare.time(n))
		sliceTime.take(slice.time(n))
	}, func() bool { return over(whole, bareTime) <= parseAim })
	t.Logf("%d ns, %.2f times the %d ns of the bare loop, %.2f times the %d ns of one with a slice",
		int(whole)/n, over(whole, bareTime), int(bareTime)/n, over(whole, sliceTime), int(sliceTime)/n)
	require.True(t, ok)
}

// BenchmarkBareParse is the bare loop that TestParseCost compares with.
func BenchmarkBareParse(b *testing.B) {
	for name, memory := range map[string]func(flatBytes) userBytes{"model": newNop(b).inModel(b), "slice": flat} {
		b.Run(name, func(b *testing.B) {
			p := newBareParse(b, memory)
			for b.Loop() {
				p.call()
			}
		})
	}
}
