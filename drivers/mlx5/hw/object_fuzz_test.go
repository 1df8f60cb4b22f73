package hw

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// recount holds the number of users of each object to what the live objects name.
func (r *rawRig) recount() {
	users := map[ref]int{}
	name := func(refs []ref) {
		for _, x := range refs {
			users[x]++
		}
	}
	for k := range r.objects {
		for _, o := range r.objects[k].live {
			switch o := o.as.(type) {
			case *context:
				name(o.refs)
			case *srq:
				name(o.refs)
			}
		}
	}
	for k := range r.objects {
		for n, o := range r.objects[k].live {
			require.Equal(r.t, users[ref{kind(k), n}], o.users, "%v %d", kind(k), n)
			delete(users, ref{kind(k), n})
		}
	}
	require.Empty(r.t, users, "objects that are named and do not exist")
}

// Random commands about objects, right and wrong ones: nothing is destroyed that
// another object needs, and at the end everything can be.
func TestRandomObjects(t *testing.T) {
	p, err := ConnectX6Dx.With(map[string]uint64{"general_obj_types": 1 << 13, "dct": 1, "tag_matching": 1})
	require.NoError(t, err)
	r := &rawRig{objectRig: &objectRig{rig: newRig(t, p)}}
	r.eqn = r.createEQ(eqOptions{mask: 1<<64 - 2})
	before := r.Counts()
	rng := rand.New(rand.NewSource(4))
	few := func() uint32 { return uint32(rng.Intn(5)) }

	table := func() []byte {
		n := rng.Intn(4)
		numbers := []at{{54, 2, 3}, {58, 2, uint64(n)}}
		for i := range n {
			numbers = append(numbers, at{272 + 4*i, 4, uint64(few())})
		}
		return cmd(0x916, 0, 0, 4*n, numbers...)
	}
	// An object is made out of whatever numbers the rig has.
	makers := []struct {
		kind kind
		end  uint16
		in   func() []byte
	}{
		{kindPD, 0x801, func() []byte { return Input(0x800, 0, 0, 0) }},
		{kindXRCD, 0x80f, func() []byte { return Input(0x80e, 0, 0, 0) }},
		{kindTD, 0x817, func() []byte { return Input(0x816, 0, 0, 0) }},
		{kindCQ, 0x401, func() []byte {
			o := cqOptions{log: 4, eqn: r.eqn}
			return o.input(0x400, 0)
		}},
		{kindTIS, 0x914, func() []byte { return r.tisInput() }},
		{kindSQ, 0x906, func() []byte { return r.sqInput(at{77, 3, uint64(r.tis)}) }},
		{kindRQ, 0x90a, func() []byte { return r.rqInput(at{32, 1, uint64(rng.Intn(2))}, at{49, 3, uint64(few())}) }},
		{kindRQT, 0x918, table},
		{kindTIR, 0x902, func() []byte {
			return cmd(0x900, 0, 0, 0, at{36, 1, uint64(rng.Intn(3)) << 4}, at{61, 3, uint64(few())}, at{65, 3, uint64(few())}, at{69, 3, uint64(r.td)})
		}},
		{kindDCT, 0x711, func() []byte {
			return cmd(0x710, 0, 0, 0, at{25, 3, uint64(r.cqn)}, at{37, 3, uint64(few())}, at{41, 3, uint64(r.pd)})
		}},
		{kindGeneralObject, 0xa03, func() []byte { return cmd(0xa00, 0, uint16(12+rng.Intn(2)), rng.Intn(40)) }},
		{kindQCounter, 0x772, func() []byte { return Input(0x771, 0, 0, 0) }},
		{kindSRQ, srqTests[0].destroy, func() []byte { return srqTests[0].input(r.objectRig) }},
		{kindSRQ, srqTests[1].destroy, func() []byte { return srqTests[1].input(r.objectRig) }},
		{kindSRQ, srqTests[2].destroy, func() []byte { return srqTests[2].input(r.objectRig) }},
		{kindSRQ, srqTests[3].destroy, func() []byte { return srqTests[3].input(r.objectRig) }},
	}
	others := []func() []byte{
		func() []byte { return cmd(0x712, 0, 0, 0, at{8, 4, uint64(few())}) },
		func() []byte {
			return cmd(0x905, 0, 0, 0, at{8, 4, uint64(rng.Intn(4))<<28 | 1<<23 + uint64(few())}, at{33, 1, uint64(rng.Intn(4)) << 4})
		},
		func() []byte {
			return cmd(0x909, 0, 0, 0, at{8, 4, uint64(rng.Intn(4))<<28 | uint64(few())}, at{33, 1, uint64(rng.Intn(4)) << 4})
		},
		func() []byte {
			in := table()
			at{0, 2, 0x917}.put(in)
			at{8, 4, uint64(few())}.put(in)
			at{16, 8, 1}.put(in)
			return in
		},
	}
	made := 0
	for i := range 10000 {
		r.pd, r.xrcd, r.td, r.cqn, r.tis = few(), few(), few(), few(), few()
		var in []byte
		m := makers[rng.Intn(len(makers))]
		switch rng.Intn(4) {
		case 0, 1:
			in = m.in()
			if rng.Intn(4) == 0 {
				for range rng.Intn(3) {
					in[8+rng.Intn(len(in)-8)] ^= 1 << rng.Intn(8)
				}
			}
		case 2:
			n := few()
			if m.end == 0x906 {
				n += 1 << 23
			}
			in = cmd(m.end, 0, 13, 0, at{8, 4, uint64(n)})
		case 3:
			in = others[rng.Intn(len(others))]()
		}
		_, s := r.exec(in)
		if s == MLX5_CMD_STAT_OK {
			made++
		}
		if i%100 == 0 {
			r.recount()
		}
		for r.Step() {
		}
	}
	require.Greater(t, made, 1000)
	r.recount()

	// Ended in the order in which they need each other, all goes.
	for range 6 {
		for _, m := range makers {
			for n := range r.objects[m.kind].live {
				if m.kind == kindDCT {
					r.exec(query(0x712, n))
				}
				r.exec(cmd(m.end, 0, 13, 0, at{8, 4, uint64(n)}))
			}
		}
	}
	require.Equal(t, before, r.Counts())
}
