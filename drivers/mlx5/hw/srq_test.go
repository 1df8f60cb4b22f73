package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the tests' shared receive queues lie.
const (
	srqBuffer = 0x500000
	srqRecord = 0x300100
)

// srqCommands are the commands of a kind of shared receive queues, and a queue of
// four entries of 32 bytes.
type srqCommands struct {
	name                   string
	create, destroy, query uint16
	armed                  func(n, lwm uint64) []byte
	in                     func(r *objectRig) []at // of the command that makes one
	context                int                     // where the context begins there
	out                    int                     // and in the answer to a query
	pas                    int
	error                  uint8 // event
	errorAt                int   // where it has the number
	state                  at    // of one in error, in the answer
	lwm                    int   // where the answer has the limit
}

func wqNumbers(from int, pd uint32) []at {
	return []at{
		{from + 9, 3, uint64(pd)}, {from + 16, 8, srqRecord},
		{from + 33, 1, 5}, // log_wq_stride
		{from + 35, 1, 2}, // log_wq_sz
	}
}

var srqTests = []srqCommands{
	{
		name: "SRQ", create: 0x700, destroy: 0x701, query: 0x702,
		armed: func(n, lwm uint64) []byte { return cmd(0x703, 0, 1, 0, at{8, 4, n}, at{14, 2, lwm}) },
		in: func(r *objectRig) []at {
			return []at{{16, 1, 2}, {20, 1, 1}, {21, 3, uint64(r.xrcd)}, {41, 3, uint64(r.pd)}, {56, 8, srqRecord}}
		},
		context: 16, out: 16, pas: 272, error: 0x12, errorAt: 24, state: at{16, 1, 0x12}, lwm: 44,
	},
	{
		name: "XRC SRQ", create: 0x705, destroy: 0x706, query: 0x707,
		armed: func(n, lwm uint64) []byte { return cmd(0x708, 0, 1, 0, at{8, 4, n}, at{14, 2, lwm}) },
		in: func(r *objectRig) []at {
			return []at{{16, 1, 2}, {20, 1, 1}, {21, 3, uint64(r.xrcd)}, {25, 3, uint64(r.cqn)}, {33, 3, 0x1234},
				{41, 3, uint64(r.pd)}, {56, 8, srqRecord}}
		},
		context: 16, out: 16, pas: 272, error: 0x12, errorAt: 24, state: at{16, 1, 0x12}, lwm: 44,
	},
	{
		name: "RMP", create: 0x90c, destroy: 0x90e, query: 0x90f,
		armed: func(n, lwm uint64) []byte {
			return cmd(0x90d, 0, 0, 0, at{8, 4, 1<<28 | n}, at{16, 8, 1}, at{33, 1, 0x10}, at{86, 2, lwm})
		},
		in:      func(r *objectRig) []at { return append(wqNumbers(80, r.pd), at{33, 1, 0x10}) },
		context: 32, out: 32, pas: 272, error: 0x12, errorAt: 24, state: at{33, 1, 0x30}, lwm: 86,
	},
	{
		name: "XRQ", create: 0x717, destroy: 0x718, query: 0x719,
		armed: func(n, lwm uint64) []byte { return cmd(0x703, 0, 2, 0, at{8, 4, n}, at{14, 2, lwm}) },
		in: func(r *objectRig) []at {
			return append(wqNumbers(144, r.pd), at{18, 1, 1}, at{21, 3, 0x1234}, at{25, 3, uint64(r.cqn)})
		},
		context: 16, out: 16, pas: 336, error: 0x18, errorAt: 20, state: at{16, 1, 0x10}, lwm: 150,
	},
}

func (k *srqCommands) input(r *objectRig, more ...at) []byte {
	in := cmd(k.create, 0, 0, 8, append(k.in(r), more...)...)
	binary.BigEndian.PutUint64(in[k.pas:], srqBuffer)
	return in
}

// answer is what a query of the queue answers.
func (k *srqCommands) answer(r *objectRig, more ...at) (numbers []at) {
	for _, a := range k.in(r) {
		a.byte += k.out - k.context
		numbers = append(numbers, a)
	}
	return append(numbers, more...)
}

// postSRQ writes an entry that names the next one and has one data segment with that
// key.
func (r *objectRig) postSRQ(entry, next uint16, key uint32) {
	b := make([]byte, 32)
	binary.BigEndian.PutUint16(b[2:], next)
	binary.BigEndian.PutUint32(b[20:], key)
	r.mem.set(srqBuffer+Addr(entry)*32, b)
}

func TestSRQs(t *testing.T) {
	for _, k := range srqTests {
		t.Run(k.name, func(t *testing.T) {
			r := newObjectRig(t)
			n := r.made(k.input(r))
			query := cmd(k.query, 0, 0, 0, at{8, 4, uint64(n)})
			r.answers(query, k.answer(r)...)
			r.answers(k.armed(uint64(n), 3))
			r.answers(query, k.answer(r, at{k.lwm, 2, 3})...)
			r.refused(k.armed(uint64(n), 5), badLWM)
			r.refused(k.armed(noObject, 1), noSuchObject)

			s := r.srqOf(n)
			require.Equal(t, r.pd, s.pd)
			r.srqError(s)
			r.srqError(s)
			require.Equal(t, []EQE{event(k.error, 0, at{k.errorAt, 4, uint64(n)})}, r.happened(), "told once")
			r.answers(query, k.answer(r, at{k.lwm, 2, 3}, k.state)...)
			_, _, ok, err := r.srqNext(s, make([]byte, 64))
			require.False(t, ok)
			require.ErrorIs(t, err, errSRQBroken)

			r.refused(cmd(0x801, 0, 0, 0, at{8, 4, uint64(r.pd)}), objectBusy)
			end := cmd(k.destroy, 0, 0, 0, at{8, 4, uint64(n)})
			for _, other := range srqTests {
				if other.name != k.name {
					r.refused(cmd(other.destroy, 0, 0, 0, at{8, 4, uint64(n)}), noSuchObject)
				}
			}
			r.hold([]ref{{kindSRQ, n}})
			r.refused(end, objectBusy)
			r.drop([]ref{{kindSRQ, n}})
			r.answers(end)
			r.refused(query, noSuchObject)
			require.Nil(t, r.srqOf(n))
			r.answers(cmd(0x801, 0, 0, 0, at{8, 4, uint64(r.pd)}))
		})
	}
}

func TestSRQRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind int // of srqTests
		in   at
		why  *refusal
	}{
		{"SRQ without a domain", 0, at{41, 3, noObject}, noSuchPD},
		{"SRQ without an XRC domain", 0, at{21, 3, noObject}, noSuchXRCD},
		{"SRQ in error", 0, at{16, 1, 0x12}, badSRQState},
		{"SRQ of two pages", 0, at{16, 1, 8}, shortWQPages},
		{"XRC SRQ without a queue for completions", 1, at{25, 3, noObject}, noSuchCQ},
		{"XRC SRQ whose pages end", 1, at{16, 1, 15}, shortWQPages},
		{"RMP that is not ready", 2, at{33, 1, 0}, badSRQState},
		{"RMP that is too large", 2, at{115, 1, 16}, badWQSize},
		{"RMP of striding entries", 2, at{80, 1, 0x20}, badWQType},
		{"RMP of short entries", 2, at{113, 1, 3}, badWQStride},
		{"RMP whose pages end", 2, at{115, 1, 8}, shortWQPages},
		{"RMP in memory of a user that is not there", 2, at{116, 1, 0x40}, noSuchUMEM},
		{"XRQ without a domain", 3, at{153, 3, noObject}, noSuchPD},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newObjectRig(t)
			before := r.Counts()
			r.refused(srqTests[tt.kind].input(r, tt.in), tt.why)
			require.Equal(t, before, r.Counts())
		})
	}
	r := newObjectRig(t)
	r.refused(cmd(0x703, 0, 3, 0), badArmMode)
	r.refused(cmd(0x708, 0, 2, 0), badArmMode)
}

// A pool can be put into error and back, from the state that it is in.
func TestModifyRMP(t *testing.T) {
	r := newObjectRig(t)
	k := srqTests[2]
	n := uint64(r.made(k.input(r)))
	modify := func(from, to uint64) []byte { return cmd(0x90d, 0, 0, 0, at{8, 4, from<<28 | n}, at{33, 1, to << 4}) }
	r.refused(modify(3, 1), notInState)
	r.refused(modify(1, 2), badSRQState)
	r.answers(modify(1, 3))
	r.answers(cmd(k.query, 0, 0, 0, at{8, 4, n}), k.answer(r, k.state)...)
	r.answers(modify(3, 1))
	r.answers(cmd(k.query, 0, 0, 0, at{8, 4, n}), k.answer(r)...)
}

// Entries are taken along the chain that they make, from entry 0 on.
func TestSRQOrder(t *testing.T) {
	r := newObjectRig(t)
	s := r.srqOf(r.made(srqTests[2].input(r)))
	buf := make([]byte, 128)
	none := func() {
		_, _, ok, err := r.srqNext(s, buf)
		require.NoError(t, err)
		require.False(t, ok)
	}
	take := func(entry uint16, key uint32) {
		t.Helper()
		for range 2 { // reading takes nothing
			segs, index, ok, err := r.srqNext(s, buf)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, entry, index)
			require.Len(t, segs, 16)
			require.Equal(t, key, binary.BigEndian.Uint32(segs[4:]))
		}
		r.srqTake(s)
	}
	r.postSRQ(0, 2, 10)
	r.postSRQ(2, 1, 12)
	none()
	r.mem.put32(srqRecord, 2)
	take(0, 10)
	take(2, 12)
	none()
	r.postSRQ(1, 0, 11)
	r.postSRQ(0, 3, 20)
	r.mem.put32(srqRecord, 4)
	take(1, 11)
	take(0, 20)
	none()

	// The counter is of 16 bits.
	s.posted, s.taken = 0xffff, 0xffff
	r.postSRQ(3, 0, 13)
	r.mem.put32(srqRecord, 0x30000)
	take(3, 13)
	none()
	require.Empty(t, r.happened(), "nobody asked")
}

// A pool can be a ring: then an entry has nothing but data segments.
func TestCyclicRMP(t *testing.T) {
	r := newObjectRig(t)
	s := r.srqOf(r.made(srqTests[2].input(r, at{80, 1, 0x10})))
	for i := range uint16(4) {
		r.postSRQ(i, 3, uint32(i))
	}
	r.mem.put32(srqRecord, 6)
	for i := range 6 {
		segs, index, ok, err := r.srqNext(s, make([]byte, 64))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, uint16(i%4), index)
		require.Len(t, segs, 32)
		require.Equal(t, byte(i%4), segs[23])
		r.srqTake(s)
	}
}

func TestSRQThatCannotBeRead(t *testing.T) {
	r := newObjectRig(t)
	s := r.srqOf(r.made(srqTests[2].input(r)))
	buf := make([]byte, 128)
	r.postSRQ(0, 4, 0) // there are entries 0 to 3
	r.mem.put32(srqRecord, 2)
	_, _, ok, err := r.srqNext(s, buf)
	require.True(t, ok)
	require.NoError(t, err)
	r.srqTake(s)
	_, _, ok, err = r.srqNext(s, buf)
	require.False(t, ok)
	require.ErrorIs(t, err, errSRQLink)

	s.at = 0
	r.mem.bad[srqBuffer/ramPage] = true
	_, _, ok, err = r.srqNext(s, buf)
	require.False(t, ok)
	require.ErrorIs(t, err, errBus)

	s.taken = s.posted
	r.mem.bad[srqRecord/ramPage] = true
	_, _, _, err = r.srqNext(s, buf)
	require.ErrorIs(t, err, errBus)
}

// The limit's event comes once, when an entry is taken that leaves fewer.
func TestSRQLimit(t *testing.T) {
	r := newObjectRig(t)
	k := srqTests[1]
	n := r.made(k.input(r))
	s := r.srqOf(n)
	for i := range uint16(4) {
		r.postSRQ(i, (i+1)%4, uint32(i))
	}
	limit := []EQE{event(0x14, 0, at{24, 4, uint64(n)})}
	take := func() {
		_, _, ok, err := r.srqNext(s, make([]byte, 32))
		require.NoError(t, err)
		require.True(t, ok)
		r.srqTake(s)
	}
	r.mem.put32(srqRecord, 1)
	take()
	r.answers(k.armed(uint64(n), 2))
	require.Empty(t, r.happened(), "fewer are there already")
	r.mem.put32(srqRecord, 4)
	take()
	require.Empty(t, r.happened(), "two are left")
	r.answers(cmd(k.query, 0, 0, 0, at{8, 4, uint64(n)}), k.answer(r, at{44, 2, 2}, at{46, 2, 2})...)
	take()
	require.Equal(t, limit, r.happened())
	r.answers(cmd(k.query, 0, 0, 0, at{8, 4, uint64(n)}), k.answer(r, at{46, 2, 1})...)
	take()
	require.Empty(t, r.happened())

	r.answers(k.armed(uint64(n), 1))
	r.mem.put32(srqRecord, 5)
	take()
	r.answers(cmd(k.destroy, 0, 0, 0, at{8, 4, uint64(n)}))
	require.Empty(t, r.happened(), "an event about a queue that is gone")
}

// A queue may lie in memory that its user registered as a UMEM.
func TestSRQInUMEM(t *testing.T) {
	r := newObjectRig(t)
	umem := uint64(r.made(cmd(0xa08, 0, 0, 16, at{36, 4, 0x40}, at{40, 8, 2}, at{48, 8, srqBuffer | 3}, at{56, 8, srqBuffer | 0x1003})))
	k := srqTests[2]
	in := k.input(r, at{116, 1, 0xc0}, at{120, 4, umem}, at{124, 4, umem}, at{128, 8, 0xfc0}, at{96, 8, 0x1100})
	s := r.srqOf(r.made(in))
	r.refused(cmd(0xa0a, 0, 0, 0, at{8, 4, umem}), objectBusy)
	require.Equal(t, Addr(srqBuffer+0x1140), s.record)
	b := make([]byte, 32)
	b[20+3] = 7
	r.mem.set(srqBuffer+0x1000, b)
	r.mem.put32(srqBuffer+0x1140, 1)
	segs, _, ok, err := r.srqNext(s, make([]byte, 32))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, uint8(7), segs[7])

	r.refused(k.input(r, at{116, 1, 0x40}, at{124, 4, umem}, at{128, 8, 0x1fe0}), shortWQPages)
	r.refused(k.input(r, at{116, 1, 0x40}, at{124, 4, umem}, at{128, 8, 1<<64 - 0x80}), shortWQPages)
	r.refused(k.input(r, at{116, 1, 0x80}, at{120, 4, umem}, at{96, 8, 0x1fc0}), shortWQPages)
}

// Reading and taking an entry allocates nothing.
func TestSRQAllocates(t *testing.T) {
	r := newObjectRig(t)
	s := r.srqOf(r.made(srqTests[2].input(r)))
	for i := range uint16(4) {
		r.postSRQ(i, (i+1)%4, 1)
	}
	r.mem.put32(srqRecord, 0x4000)
	buf := make([]byte, 32)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if _, _, ok, _ := r.srqNext(s, buf); ok {
			r.srqTake(s)
		}
	}))
	require.Greater(t, s.taken, uint16(900))
}
