package kernel

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// refusals are calls that a check before the handler refuses, each with the
// rule that does.
func refusals(r *rig) []struct {
	name string
	put  func(tb testing.TB)
	cmd  uint32
	want *rule.Rule
} {
	type refusal = struct {
		name string
		put  func(tb testing.TB)
		cmd  uint32
		want *rule.Rule
	}
	put := func(object, method uint16, attrs ...spec.IoctlAttr) func(testing.TB) {
		return func(tb testing.TB) { r.put(tb, r.mem, object, method, attrs...) }
	}
	ten := r.tenAttrs()
	unknown := spec.IoctlAttr{AttrID: 30, Flags: spec.UVERBS_ATTR_F_MANDATORY}
	const cmd = spec.RDMA_VERBS_IOCTL
	return []refusal{
		{"command", put(testObject, testTen), cmd + 1, rule.CmdUnknown},
		{"header", func(tb testing.TB) {
			put(testObject, testTen)(tb)
			require.True(tb, r.p.Mem.Store(r.mem, []byte{23, 0}))
		}, cmd, rule.HeaderLength},
		{"method", put(testObject, spec.NSFlag+7), cmd, rule.MethodUnknown},
		{"missing", put(testObject, testTen, ten[:9]...), cmd, rule.AttrMissing},
		{"duplicate", put(testObject, testTen, append(ten[:2:2], ten[1])...), cmd, rule.AttrDuplicate},
		{"too-long", put(testObject, testTen, spec.IoctlAttr{AttrID: 0, Len: 9}), cmd, rule.AttrTooLong},
		{"unknown-mandatory-after-new", put(testObject, testCreate, spec.IoctlAttr{}, unknown), cmd, rule.AttrUnknownMandatory},
		{"not-found", put(testObject, testUse, spec.IoctlAttr{Data: 1000}), cmd, rule.ObjectNotFound},
	}
}

// TestRefusalsAllocateNothing holds the budget of 0 allocations for an ioctl
// that is refused before the handler, on a file that was used before.
func TestRefusalsAllocateNothing(t *testing.T) {
	r := newRig(t, nil)
	for _, tc := range refusals(r) {
		t.Run(tc.name, func(t *testing.T) {
			tc.put(t)
			_, err := r.p.Ioctl(r.fd, tc.cmd, r.mem)
			if tc.want == rule.CmdUnknown {
				require.ErrorIs(t, err, syscall.ENOTTY)
			} else {
				require.Equal(t, error(tc.want), err)
			}
			require.Zero(t, testing.AllocsPerRun(1000, func() { r.p.Ioctl(r.fd, tc.cmd, r.mem) }))
		})
	}
}

func BenchmarkRefused(b *testing.B) {
	r := newRig(b, nil)
	for _, tc := range refusals(r) {
		b.Run(tc.name, func(b *testing.B) {
			tc.put(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.p.Ioctl(r.fd, tc.cmd, r.mem); err == nil {
					b.Fatal("not refused")
				}
			}
		})
	}
}

// BenchmarkTenAttributes is a call with ten attributes whose handler does
// nothing.
func BenchmarkTenAttributes(b *testing.B) {
	r := newRig(b, nil)
	r.put(b, r.mem, testObject, testTen, r.tenAttrs()...)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.ioctl(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTenAttributesAllocateNothing(t *testing.T) {
	r := newRig(t, nil)
	r.put(t, r.mem, testObject, testTen, r.tenAttrs()...)
	require.NoError(t, r.ioctl())
	require.Zero(t, testing.AllocsPerRun(1000, func() { r.ioctl() }))
}

// BenchmarkTenAttributesParallel is the same from several threads on one file.
func BenchmarkTenAttributesParallel(b *testing.B) {
	r := newRig(b, nil)
	attrs := r.tenAttrs()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		task := r.p.NewTask(nil)
		mem, err := task.Mmap(-1, copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
		if err != nil {
			b.Error(err)
			return
		}
		r.put(b, mem, testObject, testTen, attrs...)
		for pb.Next() {
			if _, err := task.Ioctl(r.fd, spec.RDMA_VERBS_IOCTL, mem); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// lookups is a call that looks up one of the rig's live objects.
type lookups struct {
	task *process.Task
	fd   int
	mem  copyuser.Addr
}

// newLookups prepares the call in memory of its own.
func (r *rig) newLookups(tb testing.TB, task *process.Task) *lookups {
	mem, err := task.Mmap(-1, copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(tb, err)
	r.put(tb, mem, testObject, testUse, spec.IoctlAttr{})
	return &lookups{task, r.fd, mem}
}

func (l *lookups) look(tb testing.TB, id uint64) {
	l.task.Mem.PutUint64(l.mem+spec.IoctlHdrSize+spec.IoctlAttrDataOffset, id)
	if _, err := l.task.Ioctl(l.fd, spec.RDMA_VERBS_IOCTL, l.mem); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkHandleLookup looks up one of n live objects: in the order of their
// handles, at random, and in order by several threads.
func BenchmarkHandleLookup(b *testing.B) {
	for _, n := range []uint64{10, 10_000, 1_000_000} {
		r := newRig(b, nil)
		for range n {
			r.call(b, testCreate, 0)
		}
		l := r.newLookups(b, r.p.MainTask())
		b.Run(fmt.Sprintf("order/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for id := uint64(0); b.Loop(); id++ {
				l.look(b, id%n)
			}
		})
		b.Run(fmt.Sprintf("random/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			rng := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				l.look(b, rng.Uint64N(n))
			}
		})
		b.Run(fmt.Sprintf("parallel/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				own := r.newLookups(b, r.p.NewTask(nil))
				for id := uint64(0); pb.Next(); id++ {
					own.look(b, id%n)
				}
			})
		})
	}
}
