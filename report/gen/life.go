package gen

import (
	"uverbsim/casefile"
	"uverbsim/spec"
)

// What a step is, in parts of 100; the rest are calls.
const (
	pollPart = 3
	readPart = 3
)

// invoked is how often a command goes by ioctl instead of by write().
const invoked = 0.15

// step adds a step that makes sense, as far as is known.
func (m *maker) step() {
	f := pick(m, m.files)
	events := append(append([]string(nil), f.channels...), f.asyncs...)
	switch n := m.r.IntN(100); {
	case n < pollPart:
		m.add(&casefile.Poll{FD: pick(m, append(events, f.fd))})
	case n < pollPart+readPart && len(events) > 0:
		m.add(&casefile.ReadEvent{FD: pick(m, events), Len: pick(m, []int{8, 16, 32, 4, 0}), Nonblock: true})
	default:
		c := m.choose(f)
		switch {
		case c.method != nil:
			m.ioctl(f, c)
		case m.chance(invoked) && c.write.Command != spec.IB_USER_VERBS_CMD_GET_CONTEXT && c.write.Command != spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL:
			m.invokeWrite(f, c)
		default:
			m.writeCall(f, c)
		}
	}
}

// choose picks a call, mostly one whose objects are there.
func (m *maker) choose(f *file) *call {
	total := 0
	for i := range m.bunches {
		total += m.bunches[i].weight
	}
	for {
		n := m.r.IntN(total)
		i := 0
		for n >= m.bunches[i].weight {
			n -= m.bunches[i].weight
			i++
		}
		if b := &m.bunches[i]; sensible(f, b.key) || m.chance(0.02) {
			return pick(m, b.calls)
		}
	}
}

// prerequisites are the types of which an object has to be there before another
// can be made.
var prerequisites = map[uint16][]uint16{
	spec.UVERBS_OBJECT_QP:  {spec.UVERBS_OBJECT_PD, spec.UVERBS_OBJECT_CQ},
	spec.UVERBS_OBJECT_SRQ: {spec.UVERBS_OBJECT_PD},
	spec.UVERBS_OBJECT_MR:  {spec.UVERBS_OBJECT_PD},
	spec.UVERBS_OBJECT_MW:  {spec.UVERBS_OBJECT_PD},
	spec.UVERBS_OBJECT_AH:  {spec.UVERBS_OBJECT_PD},
}

// sensible says whether a call can succeed.
func sensible(f *file, k key) bool {
	needs := []uint16{k.object}
	switch {
	case k.object == spec.UVERBS_OBJECT_DEVICE, k.object == spec.UVERBS_OBJECT_COMP_CHANNEL, k.object == spec.UVERBS_OBJECT_ASYNC_EVENT:
		return true
	case k.deed == create:
		needs = prerequisites[k.object]
	}
	for _, typ := range needs {
		if len(f.of(typ)) == 0 {
			return false
		}
	}
	return true
}
