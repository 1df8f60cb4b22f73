package core

import (
	"fmt"
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

const page = copyuser.PageSize

// pinner is a process with npages of memory, a limit of locked memory in bytes,
// and maybe CAP_IPC_LOCK.
func pinner(tb testing.TB, limit uint64, capable bool, npages int) (*process.Process, copyuser.Addr) {
	tb.Helper()
	cred := process.Root()
	if !capable {
		cred.Effective = cred.Effective.Without(process.CAP_IPC_LOCK)
	}
	limits := process.DefaultLimits()
	limits.MEMLOCK = process.Rlimit{Cur: limit, Max: process.RLIM_INFINITY}
	p := process.New(nil, process.Options{Cred: cred, Limits: &limits})
	at, err := p.Mmap(-1, uint64(npages)*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(tb, err)
	return p, at
}

// TestUmemLimits has limits of locked memory against sizes: of a buffer counts
// every page that it touches, and pages that are pinned twice count twice.
func TestUmemLimits(t *testing.T) {
	for _, tc := range []struct {
		limit   uint64
		offset  uint64
		sizes   []uint64 // pinned one after the other
		want    []*rule.Rule
		capable []*rule.Rule // with CAP_IPC_LOCK; nil is success
	}{
		{0, 0, []uint64{1}, []*rule.Rule{rule.UmemNoMlock}, nil},
		{1, 0, []uint64{1}, []*rule.Rule{rule.UmemMemlockLimit}, nil},
		{page - 1, 0, []uint64{1}, []*rule.Rule{rule.UmemMemlockLimit}, nil},
		{page, 0, []uint64{1}, []*rule.Rule{nil}, nil},
		{page, 0, []uint64{page}, []*rule.Rule{nil}, nil},
		{page, 0, []uint64{page + 1}, []*rule.Rule{rule.UmemMemlockLimit}, nil},
		{page, page - 1, []uint64{1}, []*rule.Rule{nil}, nil},
		{page, page - 1, []uint64{2}, []*rule.Rule{rule.UmemMemlockLimit}, nil},
		{2*page - 1, 0, []uint64{page, page}, []*rule.Rule{nil, rule.UmemMemlockLimit}, nil},
		{2 * page, 0, []uint64{page, page, 1}, []*rule.Rule{nil, nil, rule.UmemMemlockLimit}, nil},
		{4 * page, 0, []uint64{3 * page, 2 * page, page, 1}, []*rule.Rule{nil, rule.UmemMemlockLimit, nil, rule.UmemMemlockLimit}, nil},
		{process.RLIM_INFINITY, 0, []uint64{4 * page}, []*rule.Rule{nil}, nil},
	} {
		for _, capable := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%d+%v/%v", tc.limit, tc.offset, tc.sizes, capable), func(t *testing.T) {
				p, at := pinner(t, tc.limit, capable, 4)
				var umems []*Umem
				pages := 0
				for i, size := range tc.sizes {
					u, err := GetUmem(p.MainTask(), new(Device), uint64(at)+tc.offset, size, AccessLocalWrite)
					if want := tc.want[i]; want != nil && !capable {
						require.Equal(t, error(want), err)
					} else {
						require.NoError(t, err)
						umems = append(umems, u)
						pages += u.NumPages()
					}
					require.Equal(t, int64(pages), p.Mem.PinnedVM())
					require.Equal(t, pages, p.Mem.PinnedPages())
				}
				for _, u := range umems {
					u.Release(nil)
				}
				require.Zero(t, p.Mem.PinnedVM())
				require.Zero(t, p.Mem.PinnedPages())
			})
		}
	}
}

// TestUmemRefuses has what is refused whatever the limits, and in which order.
func TestUmemRefuses(t *testing.T) {
	const top = math.MaxUint64
	for _, tc := range []struct {
		name       string
		addr, size uint64 // addr 0 is the process's memory
		access     uint32
		want       *rule.Rule
	}{
		{"wraps", top - 10, 100, 0, rule.UmemOverflow},
		{"ends in the last page", top - page, 10, 0, rule.UmemOverflow},
		{"wraps, before on demand", top, 1, AccessOnDemand, rule.UmemOverflow},
		{"on demand", 0, page, AccessOnDemand, rule.UmemOnDemand},
		{"on demand, before empty", page, 0, AccessOnDemand, rule.UmemOnDemand},
		{"empty", page, 0, 0, rule.UmemEmpty},
		{"too many pages", 0x1000, 1 << 44, 0, rule.UmemEmpty},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, at := pinner(t, process.RLIM_INFINITY, true, 1)
			if tc.addr == 0 {
				tc.addr = uint64(at)
			}
			_, err := GetUmem(p.MainTask(), new(Device), tc.addr, tc.size, tc.access)
			require.Equal(t, error(tc.want), err)
			require.Zero(t, p.Mem.PinnedVM())
		})
	}
	t.Run("no mlock, before on demand", func(t *testing.T) {
		p, at := pinner(t, 0, false, 1)
		_, err := GetUmem(p.MainTask(), new(Device), uint64(at), page, AccessOnDemand)
		require.Equal(t, error(rule.UmemNoMlock), err)
	})
	t.Run("no length inside a page pins that page", func(t *testing.T) {
		p, at := pinner(t, 2*page, false, 1)
		u, err := GetUmem(p.MainTask(), new(Device), uint64(at)+5, 0, 0)
		require.NoError(t, err)
		require.Equal(t, 1, u.NumPages())
		require.Equal(t, 5, u.Offset())
		require.Len(t, u.Pin.Pages(), 1)
		_, err = GetUmem(p.MainTask(), new(Device), 1, 0, 0)
		require.ErrorIs(t, err, syscall.EFAULT, "that page must be there")
		u.Release(nil)
		require.Zero(t, p.Mem.PinnedVM())
	})
	for _, step := range []string{"ib_umem", "page_list", "pin_user_pages_fast", "sg_append_table", "dma_map"} {
		t.Run("no memory for "+step, func(t *testing.T) {
			p, at := pinner(t, page, false, 1)
			_, err := GetUmem(p.NewTask(trace.NewTask(1, breaks(step))), new(Device), uint64(at), 1, 0)
			require.Equal(t, error(rule.UmemNoMemory), err)
			require.Zero(t, p.Mem.PinnedVM())
			require.Zero(t, p.Mem.PinnedPages())
		})
	}
}

// breaks is a sink that fails the steps of one name.
type breaks string

func (breaks) Event(*trace.Task, *trace.Event)                      {}
func (s breaks) Fail(_ *trace.Task, _ trace.Step, what string) bool { return what == string(s) }

// TestUmemFault: memory that cannot all be pinned is not charged.
func TestUmemFault(t *testing.T) {
	p, at := pinner(t, process.RLIM_INFINITY, false, 3)
	require.NoError(t, p.Munmap(at+2*page, page))
	require.NoError(t, p.Mprotect(at+page, page, syscall.PROT_READ))
	for _, tc := range []struct {
		name   string
		size   uint64
		access uint32
		ok     bool
	}{
		{"readable", 2 * page, 0, true},
		{"writable", page, AccessLocalWrite, true},
		{"read only to be written", 2 * page, AccessLocalWrite, false},
		{"read only to be written remotely", 2 * page, AccessRemoteWrite, false},
		{"read only for atomics", 2 * page, AccessRemoteAtomic, false},
		{"read only for windows", 2 * page, AccessMWBind, false},
		{"read only to be read remotely", 2 * page, AccessRemoteRead, true},
		{"a hole", 3 * page, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u, err := GetUmem(p.MainTask(), &Device{Kernel: spec.Linux6_12}, uint64(at), tc.size, tc.access)
			if !tc.ok {
				require.ErrorIs(t, err, syscall.EFAULT)
			} else {
				require.NoError(t, err)
				require.Equal(t, tc.access&accessWritable != 0, u.Writable)
				u.Release(nil)
			}
			require.Zero(t, p.Mem.PinnedVM())
			require.Zero(t, p.Mem.PinnedPages())
		})
	}
}

// TestUmemRelease: the account that is relieved is the one that was charged,
// and nil is nothing.
func TestUmemRelease(t *testing.T) {
	(*Umem)(nil).Release(nil)
	p, at := pinner(t, process.RLIM_INFINITY, false, 2)
	u, err := GetUmem(p.MainTask(), new(Device), uint64(at), 2*page, 0)
	require.NoError(t, err)
	child, err := p.Fork()
	require.NoError(t, err)
	require.Zero(t, child.Mem.PinnedVM(), "a child has pinned nothing")
	mem := p.Mem
	p.Exit()
	require.Equal(t, int64(2), mem.PinnedVM())
	u.Release(nil)
	require.Zero(t, mem.PinnedVM())
	require.Zero(t, child.Mem.PinnedVM())
}
