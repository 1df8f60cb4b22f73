package gen

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// Drivers are those that cases can be made for.
var Drivers = []string{"rxe"}

// Cases makes count cases for a driver. Each depends on nothing but the seed,
// the driver and its number.
func Cases(seed uint64, count int, driver string) iter.Seq[*casefile.Case] {
	return func(yield func(*casefile.Case) bool) {
		for i := range count {
			if !yield(makeCase(seed, i, driver)) {
				return
			}
		}
	}
}

// maker makes one case.
type maker struct {
	r       *rand.Rand
	c       *casefile.Case
	defs    []spec.Definition
	calls   []call
	bunches []bunch
	files   []*file
	opened  int      // how many steps open files
	told    []string // what was mutated
}

// Shape of a case.
const (
	leastSteps, mostSteps = 4, 14 // besides those that open files
	secondFile            = 0.2
	mutated               = 0.55 // of the cases
	mostMutations         = 3
)

func makeCase(seed uint64, number int, driver string) *casefile.Case {
	id, _ := casefile.DriverID(driver)
	m := &maker{
		r:    rand.New(rand.NewPCG(seed, uint64(number))),
		c:    &casefile.Case{Name: fmt.Sprintf("gen/%d-%04d", seed, number), Driver: driver, Bufs: map[string]*casefile.Buf{}},
		defs: spec.Linux6_12.Definitions(id),
	}
	m.calls = callsOf(m.defs)
	m.bunches = bunchesOf(m.calls)
	m.openFile()
	if m.chance(secondFile) {
		m.openFile()
	}
	m.opened = len(m.c.Steps)
	for range leastSteps + m.r.IntN(mostSteps-leastSteps+1) {
		m.step()
	}
	if m.chance(mutated) {
		for range 1 + m.r.IntN(mostMutations) {
			m.mutate()
		}
	}
	m.look()
	m.c.Why = "a random life of objects"
	if len(m.told) > 0 {
		m.c.Why += "; " + strings.Join(m.told, "; ")
	}
	return m.c
}

func (m *maker) chance(p float64) bool { return m.r.Float64() < p }

func pick[T any](m *maker, list []T) T { return list[m.r.IntN(len(list))] }

func (m *maker) add(a casefile.Action) *casefile.Step {
	m.c.Steps = append(m.c.Steps, casefile.Step{Do: a})
	return &m.c.Steps[len(m.c.Steps)-1]
}

// buffer makes a buffer and returns its name.
func (m *maker) buffer(b casefile.Buf) string {
	name := fmt.Sprintf("b%d", len(m.c.Bufs))
	m.c.Bufs[name] = &b
	return name
}

// outFill is what stands where the kernel may write.
const outFill = 0xa5

func (m *maker) outBuffer(n int) string {
	return m.buffer(casefile.Buf{Fill: outFill, Len: n, Edge: m.chance(0.1)})
}

// look asks at the end which objects there are.
func (m *maker) look() {
	for _, f := range m.files {
		for range 2 {
			m.ioctl(f, m.method(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INFO_HANDLES))
		}
	}
}
