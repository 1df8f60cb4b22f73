package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// rawRig has the objects that a raw packet queue pair is made of.
type rawRig struct {
	*objectRig
	tis, sq, rq uint32
}

const (
	sqBuffer = 0x600000
	sqRecord = 0x300180
)

func newRawRig(t testing.TB) *rawRig {
	r := &rawRig{objectRig: newObjectRig(t)}
	r.tis = r.made(r.tisInput())
	r.sq = r.made(r.sqInput())
	r.rq = r.made(r.rqInput())
	return r
}

func (r *rawRig) tisInput(more ...at) []byte {
	return cmd(0x912, 0, 0, 0, append([]at{{33, 1, 5}, {32 + 37, 3, uint64(r.td)}}, more...)...)
}

// A send queue of 4 blocks.
func (r *rawRig) sqNumbers() []at {
	return append([]at{
		{32, 1, 0x10},   // flush_in_error_en
		{37, 3, 0x1234}, // user_index
		{41, 3, uint64(r.cqn)},
		{64, 2, 1}, // tis_lst_sz
		{77, 3, uint64(r.tis)},
		{80, 1, 0x10}, // cyclic
	}, wqNumbers(80, r.pd)...)
}

func (r *rawRig) sqInput(more ...at) []byte {
	in := cmd(0x904, 0, 0, 8, append(append(r.sqNumbers(), at{113, 1, 6}), more...)...)
	binary.BigEndian.PutUint64(in[272:], sqBuffer)
	return in
}

func (r *rawRig) rqNumbers() []at {
	return append([]at{{32, 1, 0x10}, {37, 3, 0x4321}, {41, 3, uint64(r.cqn)}, {80, 1, 0x10}}, wqNumbers(80, r.pd)...)
}

func (r *rawRig) rqInput(more ...at) []byte {
	in := cmd(0x908, 0, 0, 8, append(r.rqNumbers(), more...)...)
	binary.BigEndian.PutUint64(in[272:], srqBuffer)
	return in
}

func query(op uint16, n uint32) []byte { return cmd(op, 0, 0, 0, at{8, 4, uint64(n)}) }

func TestTIS(t *testing.T) {
	r := newRawRig(t)
	want := []at{{17, 1, 5}, {53, 3, uint64(r.td)}}
	r.answers(query(0x915, r.tis), want...)
	r.answers(cmd(0x913, 0, 0, 0, at{8, 4, uint64(r.tis)}, at{16, 8, 1}, at{33, 1, 7}, at{32, 1, 0x8f}))
	r.answers(query(0x915, r.tis), append(want, at{17, 1, 7})...)
	r.answers(cmd(0x913, 0, 0, 0, at{8, 4, uint64(r.tis)}, at{16, 8, 6}, at{33, 1, 1}, at{32, 1, 0x8f}))
	r.answers(query(0x915, r.tis), append(want, at{17, 1, 7}, at{16, 1, 0x8f})...)
	r.refused(cmd(0x913, 0, 0, 0, at{8, 4, uint64(r.tis)}, at{16, 8, 8}), badModifyMask)
	r.refused(cmd(0x913, 0, 0, 0, at{8, 4, noObject}), noSuchObject)
	r.refused(r.tisInput(at{69, 3, noObject}), noSuchTD)

	r.refused(query(0x914, r.tis), objectBusy)
	r.answers(query(0x906, r.sq))
	r.refused(query(0x817, r.td), objectBusy)
	r.answers(query(0x914, r.tis))
	r.answers(query(0x817, r.td))
	r.refused(query(0x915, r.tis), noSuchObject)
}

// On a device without transport domains the number means nothing.
func TestTISWithoutDomains(t *testing.T) {
	p, err := ConnectX6Dx.With(map[string]uint64{"log_max_transport_domain": 0})
	require.NoError(t, err)
	r := newRig(t, p)
	n := r.made(cmd(0x912, 0, 0, 0, at{69, 3, noObject}))
	r.answers(query(0x915, n), at{53, 3, noObject})
}

func TestSQ(t *testing.T) {
	r := newRawRig(t)
	want := append(r.sqNumbers(), at{113, 1, 6})
	state := func(s uint64) at { return at{33, 1, s << 4} }
	r.answers(query(0x907, r.sq), want...)
	modify := func(from, to uint64, more ...at) []byte {
		return cmd(0x905, 0, 0, 0, append([]at{{8, 4, from<<28 | uint64(r.sq)}, state(to)}, more...)...)
	}
	r.refused(modify(1, 1), notInState)
	r.refused(modify(0, 2), badStep)
	r.answers(modify(0, 3))
	r.answers(modify(3, 0))
	r.answers(modify(0, 1, at{16, 8, 1}, at{62, 2, 9}))
	want = append(want, at{62, 2, 9})
	r.answers(query(0x907, r.sq), append(want, state(1))...)
	r.refused(modify(1, 1, at{16, 8, 2}), badModifyMask)
	r.answers(modify(1, 1, at{62, 2, 5}))
	r.answers(modify(1, 3))
	r.refused(modify(3, 1), badStep)
	r.answers(query(0x907, r.sq), append(want, state(3))...)
	r.answers(modify(3, 0))
	r.answers(query(0x907, r.sq), want...)

	for name, tt := range map[string]struct {
		in  at
		why *refusal
	}{
		"ready from the start": {state(1), badQueueState},
		"two interfaces":       {at{64, 2, 2}, badTISList},
		"no interface there":   {at{77, 3, noObject}, noSuchTIS},
		"no completion queue":  {at{41, 3, noObject}, noSuchCQ},
		"no domain":            {at{89, 3, noObject}, noSuchPD},
		"more than its pages":  {at{115, 1, 7}, shortWQPages},
		"more than the device": {at{115, 1, 16}, badWQSize},
	} {
		t.Run(name, func(t *testing.T) {
			before := r.Counts()
			r.refused(r.sqInput(tt.in), tt.why)
			require.Equal(t, before, r.Counts())
		})
	}
	r.refused(query(0x401, r.cqn), objectBusy)
}

func TestRQ(t *testing.T) {
	r := newRawRig(t)
	want := r.rqNumbers()
	state := func(s uint64) at { return at{33, 1, s << 4} }
	r.answers(query(0x90b, r.rq), want...)
	modify := func(from, to uint64, more ...at) []byte {
		return cmd(0x909, 0, 0, 0, append([]at{{8, 4, from<<28 | uint64(r.rq)}, state(to)}, more...)...)
	}
	r.answers(modify(0, 1, at{16, 8, 1<<1 | 1<<2 | 1<<3}, at{32, 1, 0x30}, at{44, 1, 7}))
	r.answers(query(0x90b, r.rq), append(want, state(1), at{32, 1, 0x30}, at{44, 1, 7})...)
	r.refused(modify(1, 1, at{16, 8, 1}), badModifyMask)
	r.refused(modify(0, 1), notInState)
	r.answers(modify(1, 0))

	for name, tt := range map[string]struct {
		in  at
		why *refusal
	}{
		"ready from the start": {state(1), badQueueState},
		"no completion queue":  {at{41, 3, noObject}, noSuchCQ},
		"no such memory":       {at{32, 1, 0x02}, badRQMemory},
		"no pool":              {at{32, 1, 0x01}, noSuchSRQ},
	} {
		t.Run(name, func(t *testing.T) { r.refused(r.rqInput(tt.in), tt.why) })
	}

	// The entries may be those of a pool, but not of another shared queue.
	pool := r.made(srqTests[2].input(r.objectRig))
	n := r.made(r.rqInput(at{32, 1, 0x01}, at{49, 3, uint64(pool)}))
	r.refused(query(0x90e, pool), objectBusy)
	r.answers(query(0x90a, n))
	r.answers(query(0x90e, pool))
	xrc := r.made(srqTests[1].input(r.objectRig))
	r.refused(r.rqInput(at{32, 1, 0x01}, at{49, 3, uint64(xrc)}), noSuchSRQ)
}

func TestRQT(t *testing.T) {
	r := newRawRig(t)
	other := r.made(r.rqInput())
	table := func(op uint16, most, size uint64, more []at, rqs ...uint32) []byte {
		numbers := append([]at{{54, 2, most}, {58, 2, size}}, more...)
		for i, n := range rqs {
			numbers = append(numbers, at{272 + 4*i, 4, uint64(n)})
		}
		return cmd(op, 0, 0, 4*len(rqs), numbers...)
	}
	n := r.made(table(0x916, 4, 2, nil, r.rq, other))
	answer := func(numbers ...at) {
		t.Helper()
		in, out, want := query(0x919, n), Output(0x919, 16), make([]byte, 272+16)
		require.NoError(t, r.Exec(nil, in, out))
		for _, a := range append([]at{{54, 2, 4}}, numbers...) {
			a.put(want)
		}
		require.Equal(t, want, out)
	}
	answer(at{58, 2, 2}, at{272, 4, uint64(r.rq)}, at{276, 4, uint64(other)})
	r.refused(query(0x90a, r.rq), objectBusy)

	mod := []at{{8, 4, uint64(n)}, {16, 8, 1}}
	r.refused(table(0x917, 0, 5, mod, r.rq, r.rq, r.rq, r.rq, r.rq), badRQTSize)
	r.refused(table(0x917, 0, 1, mod, noObject), noSuchRQ)
	r.answers(table(0x917, 0, 3, mod, other, other, other))
	answer(at{58, 2, 3}, at{272, 4, uint64(other)}, at{276, 4, uint64(other)}, at{280, 4, uint64(other)})
	r.answers(query(0x90a, r.rq))
	r.refused(query(0x90a, other), objectBusy)

	r.refused(table(0x916, 4, 2, nil, other), badRQTSize)
	r.refused(table(0x916, 129, 0, nil), badRQTSize)
	r.refused(table(0x916, 1, 1, nil, noObject), noSuchRQ)
	r.refused(table(0x916, 1, 1, []at{{52, 1, 1}}, other), badRQTType)
	r.answers(query(0x918, n))
	r.answers(query(0x90a, other))
}

func TestTIR(t *testing.T) {
	r := newRawRig(t)
	numbers := []at{{32 + 29, 3, uint64(r.rq)}, {32 + 37, 3, uint64(r.td)}}
	input := func(more ...at) []byte { return cmd(0x900, 0, 0, 0, append(numbers, more...)...) }
	n := r.made(input())
	r.answers(query(0x903, n), numbers...)
	r.refused(query(0x90a, r.rq), objectBusy)

	modify := func(bits uint64, more ...at) []byte {
		return cmd(0x901, 0, 0, 0, append([]at{{8, 4, uint64(n)}, {16, 8, bits}}, more...)...)
	}
	r.answers(modify(1<<4, at{68, 1, 3}, at{72, 4, 0x11111111}))
	block := at{68, 1, 3}
	r.answers(query(0x903, n), append(numbers, block)...)
	r.answers(modify(1<<2, at{68, 1, 0x20}, at{72, 8, 0x0123456789abcdef}, at{112, 4, 0xc0000003}))
	r.answers(query(0x903, n), append(numbers, at{68, 1, 0x23}, at{72, 8, 0x0123456789abcdef}, at{112, 4, 0xc0000003})...)
	r.refused(modify(1<<1), badModifyMask)
	r.answers(query(0x902, n))

	r.refused(input(at{36, 1, 0x20}), badTIRType)
	r.refused(input(at{36, 1, 0x10}), noSuchRQT)
	r.refused(input(at{61, 3, noObject}), noSuchRQ)
	r.refused(input(at{69, 3, noObject}), noSuchTD)
	table := r.made(cmd(0x916, 0, 0, 4, at{54, 2, 1}, at{58, 2, 1}, at{272, 4, uint64(r.rq)}))
	n = r.made(input(at{36, 1, 0x10}, at{65, 3, uint64(table)}))
	r.refused(query(0x918, table), objectBusy)
	r.answers(query(0x902, n))
	r.answers(query(0x918, table))
}

// A user's objects are made of his own and of shared ones; nobody else sees them.
func TestRawObjectsOfUsers(t *testing.T) {
	r := newRawRig(t)
	uid := uint16(r.made(Input(0xa04, 0, 0, 0)))
	mine := func(in []byte) []byte {
		binary.BigEndian.PutUint16(in[2:], uid)
		return in
	}
	r.refused(mine(r.tisInput()), noSuchTD)
	td := r.made(mine(Input(0x816, 0, 0, 0)))
	tis := r.made(mine(r.tisInput(at{69, 3, uint64(td)})))
	r.refused(query(0x914, tis), noSuchObject)
	r.refused(mine(query(0x915, r.tis+100)), noSuchObject)
	r.answers(query(0x915, tis), at{17, 1, 5}, at{53, 3, uint64(td)})

	// The driver may use all.
	n := r.made(r.sqInput(at{77, 3, uint64(tis)}))
	r.refused(mine(query(0x914, tis)), objectBusy)
	r.answers(query(0x906, n))
	r.answers(mine(query(0x914, tis)))
}
