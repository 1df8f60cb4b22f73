package sim_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	fewObjects  = 1000
	manyObjects = 1_000_000
	// manyAim is how many times their cost at 1,000 objects calls may take at
	// 1,000,000, in order of handles.
	manyAim = 1.5
)

// population is a file with live objects, and the calls that make one more, look
// one up and destroy one.
type population struct {
	c                    *caller
	create, use, destroy func(id uint64) uint64
}

func newPopulation(tb testing.TB) *population {
	c := newNop(tb)
	handled := func(method uint16) func(id uint64) uint64 {
		call, at := c.handleCall(tb, method)
		return func(id uint64) uint64 {
			c.task.Mem.PutUint64(at, id)
			c.do(tb, call)
			id, _ = c.task.Mem.GetUint64(at)
			return id
		}
	}
	return &population{c, handled(nopCreate), handled(nopUse), handled(nopDestroy)}
}

// fill makes objects until there are n, and returns how long one took.
func (p *population) fill(tb testing.TB, from, n uint64) time.Duration {
	start := time.Now()
	for id := from; id < n; id++ {
		if p.create(0) != id {
			tb.Fatal("a handle that is not the next one")
		}
	}
	return time.Since(start) / time.Duration(n-from)
}

// costs are the least times of fewObjects calls of each kind while n others live.
type costs struct{ create, lookup, destroy, random least }

func (p *population) measure(tb testing.TB, n uint64, rng *rand.Rand, c *costs) {
	timed := func(l *least, call func(i uint64)) {
		start := time.Now()
		for i := range uint64(fewObjects) {
			call(i)
		}
		l.take(time.Since(start))
	}
	timed(&c.create, func(uint64) { p.create(0) })
	first := rng.Uint64N(n)
	timed(&c.lookup, func(i uint64) { p.use((first + i) % n) })
	timed(&c.random, func(uint64) { p.use(rng.Uint64N(n)) })
	timed(&c.destroy, func(i uint64) { p.destroy(n + i) })
}

// heap returns the bytes in use when the garbage is collected.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMillionObjects: with a million live objects making, looking up and
// destroying in order of handles cost at most 1.5 times what they do with a
// thousand.
func TestMillionObjects(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("times say nothing here")
	}
	few, many := newPopulation(t), newPopulation(t)
	atFew := few.fill(t, 0, fewObjects)
	before := heap()
	atMany := many.fill(t, 0, manyObjects)
	bytes := float64(heap()-before) / manyObjects

	rng := rand.New(rand.NewPCG(1, 2))
	var a, b costs
	within := func() bool {
		return over(b.create, a.create) <= manyAim && over(b.lookup, a.lookup) <= manyAim && over(b.destroy, a.destroy) <= manyAim
	}
	ok := rounds(func() {
		few.measure(t, fewObjects, rng, &a)
		many.measure(t, manyObjects, rng, &b)
	}, within)
	start := time.Now()
	for id := range uint64(manyObjects) {
		many.destroy(id)
	}
	emptied := time.Since(start) / manyObjects

	for _, line := range []struct {
		name      string
		few, many least
	}{{"create", a.create, b.create}, {"look up", a.lookup, b.lookup}, {"destroy", a.destroy, b.destroy}, {"look up at random", a.random, b.random}} {
		t.Logf("%-18s %5d ns with %d, %5d ns with %d: %.2f times", line.name,
			int(line.few)/fewObjects, fewObjects, int(line.many)/fewObjects, manyObjects, over(line.many, line.few))
	}
	t.Logf("with the garbage collection: %v to make one of the first %d, %v of the first %d, %v to destroy it", atFew, fewObjects, atMany, manyObjects, emptied)
	t.Logf("%.0f bytes an object", bytes)
	require.True(t, ok)
}
