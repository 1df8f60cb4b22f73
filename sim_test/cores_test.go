package sim_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// coresAim is how many times the calls of one core two cores do on one file.
const coresAim = 1.8

// fullCores is what two cores do of a loop that shares nothing when nobody else has
// them. As long as they do less a test measures on, to see them alone if it can.
const fullCores = 1.9

// twoThreads are what two threads of one process do with one file.
var twoThreads = []struct {
	name string
	make func(tb testing.TB) (one, two calls)
}{
	{"refused at the command", func(tb testing.TB) (calls, calls) {
		return ofThreads(tb, newCaller(tb, "rxe"), func(c *caller) calls {
			return func(n int) {
				for range n {
					c.task.Ioctl(c.fd, spec.RDMA_VERBS_IOCTL+1, 0)
				}
			}
		})
	}},
	{"refused at the header", func(tb testing.TB) (calls, calls) {
		return ofThreads(tb, newCaller(tb, "rxe"), func(c *caller) calls {
			at := c.queryPort(tb)
			require.True(tb, c.task.Mem.PutUint16(at, 23)) // the length
			return func(n int) {
				for range n {
					c.refused(tb, at)
				}
			}
		})
	}},
	{"refused at the last attribute", func(tb testing.TB) (calls, calls) {
		return ofThreads(tb, newNop(tb), func(c *caller) calls {
			attrs := nopAttrs(c.alloc(tb, 64))
			attrs[9].Len = 7
			at := c.call(tb, nopObject, nopMethod, attrs...)
			return func(n int) {
				for range n {
					c.refused(tb, at)
				}
			}
		})
	}},
	{"ten attributes and a handler that does nothing", func(tb testing.TB) (calls, calls) {
		return ofThreads(tb, newNop(tb), func(c *caller) calls { return c.nop(tb) })
	}},
	{"QUERY_PORT on rxe", func(tb testing.TB) (calls, calls) {
		return ofThreads(tb, newCaller(tb, "rxe"), func(c *caller) calls { return c.again(tb, c.queryPort(tb)) })
	}},
	{"QUERY_PORT on mlx5", func(tb testing.TB) (calls, calls) {
		return ofThreads(tb, newCaller(tb, "mlx5"), func(c *caller) calls { return c.again(tb, c.queryPort(tb)) })
	}},
	{"lookups of different handles", func(tb testing.TB) (calls, calls) {
		c := newNop(tb)
		return ofThreads(tb, c, func(c *caller) calls {
			const own = 64
			first := c.makeNops(tb, own)
			use, at := c.handleCall(tb, nopUse)
			return func(n int) {
				for i := range n {
					c.task.Mem.PutUint64(at, first+uint64(i%own))
					c.do(tb, use)
				}
			}
		})
	}},
}

// ofThreads makes the same for two threads of a caller.
func ofThreads(tb testing.TB, c *caller, make func(c *caller) calls) (one, two calls) {
	return make(c.thread(tb)), make(c.thread(tb))
}

// again repeats one call.
func (c *caller) again(tb testing.TB, at copyuser.Addr) calls {
	return func(n int) {
		for range n {
			c.do(tb, at)
		}
	}
}

// TestTwoCores: two threads on one file do 1.8 times the calls of one. Two
// processors need not be two cores: where the same calls on a machine each do less
// than twice as many too, that is what 1.8 is taken of. These share what all of the
// process does, so they have to gain as much as a loop that shares nothing and needs
// all that a core has.
func TestTwoCores(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("times say nothing here")
	}
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("there is one processor")
	}
	for _, tc := range twoThreads {
		t.Run(tc.name, func(t *testing.T) {
			one, _ := tc.make(t)
			other, _ := tc.make(t)
			shared, apart, bare := newPair(tc.make(t)), newPair(one, other), newPair(busy(), busy())
			aim := func(of *pair) float64 { return coresAim * min(1, of.cores()/2) }
			rounds(func() { shared.round(); apart.round(); bare.round() }, func() bool {
				return bare.cores() >= fullCores && apart.cores() >= aim(bare) && shared.cores() >= aim(apart)
			})
			t.Logf("%.2f times one core's calls, at %d ns each; on two machines %.2f times; a loop that shares nothing %.2f times",
				shared.cores(), int(shared.single.at(0))/shared.n, apart.cores(), bare.cores())
			if bare.cores() < 1.1 {
				t.Skip("two threads that share nothing do no more than one: there is one core")
			}
			require.GreaterOrEqual(t, apart.cores(), aim(bare), "on two machines")
			require.GreaterOrEqual(t, shared.cores(), aim(apart), "on one file")
		})
	}
}

// busy is a loop that shares nothing and keeps several of a core's units at work.
func busy() calls {
	state := new([256]uint64)
	return func(n int) {
		a, b, c, d := state[64], state[65], state[66], state[67]
		for range n {
			for i := range uint64(64) {
				a, b, c, d = a*6364136223846793005+i, b+a>>3, c^(d<<7)+i, d+state[96+i&31]
			}
		}
		state[64], state[65], state[66], state[67] = a, b, c, d
	}
}

// BenchmarkTwoCores shows how many times the calls of one core two do.
func BenchmarkTwoCores(b *testing.B) {
	for _, tc := range twoThreads {
		b.Run(tc.name, func(b *testing.B) {
			p := newPair(tc.make(b))
			for b.Loop() {
				p.round()
			}
			b.ReportMetric(0, "ns/op")
			report(b, map[string]float64{"ns/call": float64(p.single.at(0)) / float64(p.n), "cores": p.cores()})
		})
	}
}

// The object of a driver that does nothing.
const (
	nopDriver  = 99
	nopObject  = spec.NSFlag
	nopMethod  = spec.NSFlag     // ten pointers
	nopCreate  = spec.NSFlag + 1 // these three have a handle
	nopDestroy = spec.NSFlag + 2
	nopUse     = spec.NSFlag + 3
)

// newNop is a caller whose device has one object and handlers that do nothing:
// what a call costs is what the framework costs.
func newNop(tb testing.TB) *caller {
	handle := func(access spec.Access) []spec.Attr {
		return []spec.Attr{{ID: 0, Name: "HANDLE", Type: spec.TypeIDR, Object: nopObject, Access: access, Mandatory: true}}
	}
	var ten []spec.Attr
	for i := range uint16(10) {
		a := spec.Attr{ID: i, Name: fmt.Sprint("PTR", i), Type: spec.TypePtrIn, Len: 8, MinLen: 8, Mandatory: true}
		if i > 7 {
			a.Type = spec.TypePtrOut
		}
		ten = append(ten, a)
	}
	nop := func(*kernel.Bundle) error { return nil }
	defs := kernel.Definitions{
		Spec: []spec.Definition{{Object: spec.Object{ID: nopObject, Name: "NOP", Class: spec.ClassIDR, Methods: []spec.Method{
			{ID: nopMethod, Name: "TEN", Attrs: ten},
			{ID: nopCreate, Name: "CREATE", Attrs: handle(spec.AccessNew)},
			{ID: nopDestroy, Name: "DESTROY", Destroy: true, Attrs: handle(spec.AccessDestroy)},
			{ID: nopUse, Name: "USE", Attrs: handle(spec.AccessRead)},
		}}}},
		Types: map[uint16]*uobject.TypeAttrs{nopObject: {
			Destroy: func(*uobject.Object, uobject.RemoveReason, uobject.Attrs) error { return nil },
		}},
		Methods: map[kernel.MethodID]kernel.Handler{
			{Object: nopObject, Method: nopMethod}: nop,
			{Object: nopObject, Method: nopUse}:    nop,
			{Object: nopObject, Method: nopCreate}: func(b *kernel.Bundle) error {
				o, err := b.Object(0)
				if err != nil {
					return err
				}
				o.HW = o
				return nil
			},
		},
	}
	return newCallerOn(tb, nopDriver, func(m *kernel.Machine) error {
		_, err := m.Register(&core.Device{Name: "nop0", DriverID: nopDriver, UverbsCmdMask: ^uint64(0), Ops: core.DeviceOps{
			AllocUcontext:   func(*core.Ucontext, *core.Udata) error { return nil },
			DeallocUcontext: func(*process.Task, *core.Ucontext) {},
		}}, defs)
		return err
	})
}

// nopAttrs are ten attributes whose data is at an address.
func nopAttrs(at copyuser.Addr) []spec.IoctlAttr {
	attrs := make([]spec.IoctlAttr, 10)
	for i := range attrs {
		attrs[i] = spec.IoctlAttr{AttrID: uint16(i), Len: 8, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: uint64(at)}
	}
	return attrs
}

// nop is the call with ten attributes.
func (c *caller) nop(tb testing.TB) calls {
	return c.again(tb, c.call(tb, nopObject, nopMethod, nopAttrs(c.alloc(tb, 64))...))
}

// handleCall is a call with a handle, and where that is.
func (c *caller) handleCall(tb testing.TB, method uint16) (call, handle copyuser.Addr) {
	call = c.call(tb, nopObject, method, spec.IoctlAttr{})
	return call, call + spec.IoctlHdrSize + spec.IoctlAttrDataOffset
}

// makeNops makes n objects and returns the handle of the first, behind which
// the others' come.
func (c *caller) makeNops(tb testing.TB, n int) (first uint64) {
	create, at := c.handleCall(tb, nopCreate)
	for i := range n {
		c.do(tb, create)
		id, _ := c.task.Mem.GetUint64(at)
		if i == 0 {
			first = id
		}
		require.Equal(tb, first+uint64(i), id)
	}
	return first
}
