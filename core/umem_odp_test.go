package core

import (
	"math"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// fakeDMA is a bus on which each page has an address of its own.
type fakeDMA struct {
	mu    sync.Mutex
	next  uint64
	pages map[uint64]*copyuser.Page
}

func newDMA() *fakeDMA { return &fakeDMA{next: page, pages: map[uint64]*copyuser.Page{}} }

func (d *fakeDMA) Map(pages []*copyuser.Page) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := d.next
	for _, p := range pages {
		d.pages[d.next] = p
		d.next += page
	}
	return first
}

func (d *fakeDMA) Unmap(addr uint64, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for range n {
		delete(d.pages, addr)
		addr += page
	}
}

// dropAll is a driver that keeps nothing but the list.
func dropAll(t *trace.Task, u *UmemODP, start, end uint64) {
	u.Lock(t)
	defer u.Unlock(t)
	u.UnmapDMAPages(t, start, end)
}

const odpAccess = AccessLocalWrite | AccessOnDemand

// mapped makes pages reachable, and returns what the device may do with each: r, w
// for both, - for nothing.
func mapped(t *testing.T, u *UmemODP, virt, n, access uint64, fault bool) (string, error) {
	t.Helper()
	pages, err := u.MapDMAAndLock(nil, virt, n, access, fault)
	if err != nil {
		return "", err
	}
	defer u.Unlock(nil)
	require.Equal(t, int(numPages(virt, n)), pages)
	s, present := "", 0
	for _, e := range u.List {
		s += string("-r?w"[e&(ODPReadAllowed|ODPWriteAllowed)])
		if e != 0 {
			present++
		}
	}
	require.Equal(t, present, u.NPages)
	return s, nil
}

// TestUmemODP: pages come when they are asked for and go when the process changes its
// memory; none is pinned or counts as locked.
func TestUmemODP(t *testing.T) {
	const both = ODPReadAllowed | ODPWriteAllowed
	p, at := pinner(t, page, false, 4)
	start := uint64(at)
	dma := newDMA()
	u, err := GetUmemODP(p.MainTask(), &Device{}, dma, start+1, 4*page-1, odpAccess, dropAll)
	require.NoError(t, err)
	require.True(t, u.Writable)
	require.Equal(t, 4, u.NumPages())
	require.True(t, p.MainTask().Mem.Store(at+page, []byte("hello")))

	for _, tt := range []struct {
		virt, n, access uint64
		fault           bool
		want            string
	}{
		{start, 4 * page, both, false, "-w--"},
		{start + 2*page + 5, 1, ODPReadAllowed, true, "-wr-"},
		{start + 2*page, page + 1, both, true, "-www"},
	} {
		got, err := mapped(t, u, tt.virt, tt.n, tt.access, tt.fault)
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
	b := make([]byte, 5)
	dma.pages[u.List[1]&ODPDMAAddrMask].Load(0, b)
	require.Equal(t, "hello", string(b))
	require.Len(t, dma.pages, 3)
	require.Zero(t, p.MainTask().Mem.PinnedPages())
	require.Zero(t, p.MainTask().Mem.PinnedVM())

	require.NoError(t, p.Munmap(at+page, page))
	require.Len(t, dma.pages, 2)
	_, err = mapped(t, u, start, 2*page, both, true)
	require.Equal(t, error(rule.HMMUnmapped), err)
	for _, r := range [][2]uint64{{start - 1, 1}, {start + 4*page, 1}, {start + page, 3*page + 1}, {start, math.MaxUint64}} {
		_, err = mapped(t, u, r[0], r[1], both, true)
		require.Equal(t, error(rule.UmemODPRange), err)
	}
	p.Exit()
	require.Empty(t, dma.pages, "they go with the address space")
	_, err = mapped(t, u, start, 1, both, true)
	require.Equal(t, error(rule.UmemODPNoOwner), err)
	u.Release(nil)
}

// TestUmemODPRelease: what the device still has goes with the memory.
func TestUmemODPRelease(t *testing.T) {
	p, at := pinner(t, 0, true, 2)
	dma := newDMA()
	u, err := GetUmemODP(p.MainTask(), &Device{}, dma, uint64(at), 2*page, AccessOnDemand, dropAll)
	require.NoError(t, err)
	require.False(t, u.Writable)
	got, err := mapped(t, u, uint64(at), 2*page, ODPReadAllowed, true)
	require.NoError(t, err)
	require.Equal(t, "rr", got)
	u.Release(nil)
	require.Empty(t, dma.pages)
	require.NoError(t, p.Munmap(at, 2*page), "nobody is told any more")
}

// TestUmemODPTooLong: memory whose list of pages the kernel could not allocate.
func TestUmemODPTooLong(t *testing.T) {
	p, at := pinner(t, 0, true, 1)
	const most = math.MaxInt32 / 8 // of small pages: 2 GiB of numbers of 8 bytes
	for _, tt := range []struct {
		pages  uint64
		access uint32
		want   error
	}{
		{most + 1, odpAccess, rule.UmemODPNoMemory},
		{1 << 35, odpAccess, rule.UmemODPNoMemory},
		{most &^ 511, odpAccess | AccessHugetlb, nil}, // the list has one for 512 of them
		{most&^511 + 512, odpAccess | AccessHugetlb, rule.UmemODPNoMemory},
	} {
		u, err := GetUmemODP(p.MainTask(), &Device{}, newDMA(), uint64(at)&^(1<<hpageShift-1), tt.pages*page, tt.access, dropAll)
		if tt.want != nil {
			require.Equal(t, tt.want, err)
			continue
		}
		require.NoError(t, err)
		u.Release(nil)
	}
}

// TestUmemODPImplicit: a part of the whole address space is memory of its own.
func TestUmemODPImplicit(t *testing.T) {
	p, at := pinner(t, 0, true, 1)
	dma := newDMA()
	_, err := AllocUmemODPImplicit(p.MainTask(), &Device{}, dma, odpAccess|AccessHugetlb)
	require.Equal(t, error(rule.UmemODPHugetlb), err)
	all, err := AllocUmemODPImplicit(p.MainTask(), &Device{}, dma, odpAccess)
	require.NoError(t, err)
	part, err := all.AllocChild(nil, uint64(at)-page, 4*page, dropAll)
	require.NoError(t, err)
	require.True(t, part.Writable)
	got, err := mapped(t, part, uint64(at), 1, ODPReadAllowed|ODPWriteAllowed, true)
	require.NoError(t, err)
	require.Equal(t, "-w--", got)
	part.Release(nil)
	p.Exit()
	_, err = all.AllocChild(nil, uint64(at), page, dropAll)
	require.Equal(t, error(rule.UmemODPChildOwner), err)
	all.Release(nil)
	require.Empty(t, dma.pages)
}

// TestUmemODPHuge: where huge pages are asked for, smaller ones are no use.
func TestUmemODPHuge(t *testing.T) {
	const huge = 2 << 20
	p := process.New(nil, process.Options{})
	at, err := p.Mmap(-1, 2*huge, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(t, err)
	start := (uint64(at) + huge - 1) &^ (huge - 1)
	u, err := GetUmemODP(p.MainTask(), &Device{}, newDMA(), start, 100, odpAccess|AccessHugetlb, dropAll)
	require.NoError(t, err)
	require.Equal(t, 1, u.NumPages())
	n, err := u.MapDMAAndLock(nil, start, 100, ODPReadAllowed, false)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	u.Unlock(nil)
	_, err = u.MapDMAAndLock(nil, start, 100, ODPReadAllowed, true)
	require.Equal(t, error(rule.UmemODPPageOrder), err)
	u.Release(nil)
	p.Exit()
}

// TestUmemODPRefused has ranges that are none.
func TestUmemODPRefused(t *testing.T) {
	p, at := pinner(t, 0, true, 1)
	for _, tt := range []struct {
		addr, size uint64
		want       *rule.Rule
	}{
		{uint64(at), math.MaxUint64, rule.UmemODPOverflow},
		{math.MaxUint64 - 4095, 4000, rule.UmemODPOverflow}, // the end of its last page wraps around
		{uint64(at), 0, rule.UmemODPEmpty},
	} {
		_, err := GetUmemODP(p.MainTask(), &Device{}, newDMA(), tt.addr, tt.size, odpAccess, dropAll)
		require.Equal(t, error(tt.want), err)
	}
}

// TestUmemDmabuf: memory of another driver is mapped for the device from where it
// begins, until it moves or is given back.
func TestUmemDmabuf(t *testing.T) {
	p, _ := pinner(t, 0, true, 1)
	task, dma := p.MainTask(), newDMA()
	buf := process.NewDmaBuf(4 * page)
	_, err := buf.WriteAt([]byte("third page"), 2*page)
	require.NoError(t, err)
	fd, err := buf.Export(task, syscall.O_RDWR)
	require.NoError(t, err)
	moves := 0
	u, err := GetUmemDmabuf(task, &Device{}, dma, 2*page+6, page, fd, AccessLocalWrite, func(t *trace.Task, u *UmemDmabuf) {
		moves++
		u.UnmapPages(t)
	})
	require.NoError(t, err)
	require.NoError(t, task.Close(fd))
	for range 2 {
		u.Lock(nil)
		require.False(t, u.IsMapped())
		addr := u.MapPages(nil)
		require.Equal(t, addr, u.MapPages(nil), "once")
		u.Unlock(nil)
		require.Len(t, dma.pages, 2)
		b := make([]byte, 4)
		dma.pages[addr].Load(6, b)
		require.Equal(t, "page", string(b))
		require.True(t, buf.Move(nil))
		require.Empty(t, dma.pages)
	}
	require.Equal(t, 2, moves)
	u.Release(nil)
	attached, _ := buf.Attachments()
	require.Zero(t, attached)

	fd, err = buf.Export(task, syscall.O_RDWR)
	require.NoError(t, err)
	pinned, err := GetUmemDmabufPinned(task, &Device{}, dma, 0, page, fd, 0)
	require.NoError(t, err)
	require.False(t, buf.Move(nil), "it is pinned")
	require.Len(t, dma.pages, 1)
	pinned.Release(nil)
	require.True(t, buf.Move(nil))
	require.Empty(t, dma.pages)
	for _, tt := range []struct {
		offset, size uint64
		fd           int
		want         *rule.Rule
	}{
		{0, 4*page + 1, fd, rule.DmabufRange}, {page, 0, fd, rule.DmabufEmpty}, {1, math.MaxUint64, fd, rule.DmabufOverflow},
		{0, 1, fd + 1, rule.DmabufBad},
	} {
		_, err := GetUmemDmabuf(task, &Device{}, dma, tt.offset, tt.size, tt.fd, 0, nil)
		require.Equal(t, error(tt.want), err)
	}
	p.Exit()
}
