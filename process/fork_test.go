package process_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
)

// mappable is a device whose one page can be mapped.
func mappable(page *copyuser.Page) process.FileOps {
	return process.FileOps{Mmap: func(_ *process.Task, _ *process.File, a *copyuser.Area) error {
		if a.Pages() != 1 {
			return syscall.EINVAL
		}
		a.Ops = &copyuser.AreaOps{}
		a.RemapPFN(0, page)
		return nil
	}}
}

func TestMmap(t *testing.T) {
	const shared, private, anon = syscall.MAP_SHARED, syscall.MAP_PRIVATE, syscall.MAP_ANONYMOUS
	n := newNode(mappable(copyuser.NewPage()))
	for _, c := range []struct {
		name   string
		open   int
		length uint64
		prot   int
		flags  int
		off    uint64
		want   error
	}{
		{"device", syscall.O_RDWR, ps, rw, shared, 0, nil},
		{"part of a page", syscall.O_RDWR, 1, rw, shared, ps, nil},
		{"the driver refuses", syscall.O_RDWR, 2 * ps, rw, shared, 0, syscall.EINVAL},
		{"offset unaligned", syscall.O_RDWR, ps, rw, shared, 1, rule.MmapOffsetUnaligned},
		{"offset unaligned, anonymous", syscall.O_RDWR, ps, rw, private | anon, 1, rule.MmapOffsetUnaligned},
		{"no length", syscall.O_RDWR, 0, rw, shared, 0, rule.MmapZeroLength},
		{"write to read-only", syscall.O_RDONLY, ps, rw, shared, 0, rule.MmapWriteShared},
		{"read of read-only", syscall.O_RDONLY, ps, syscall.PROT_READ, shared, 0, nil},
		{"write-only", syscall.O_WRONLY, ps, syscall.PROT_WRITE, shared, 0, rule.MmapNotReadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			n.released = nil
			p := process.New(n, process.Options{})
			fd := open(t, p, c.open)
			a, err := p.Mmap(fd, c.length, c.prot, c.flags, c.off)
			require.NoError(t, p.Close(fd))
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
				require.Len(t, n.released, 1)
				return
			}
			require.NoError(t, err)
			require.Empty(t, n.released, "the mapping holds the file")
			require.NoError(t, p.Munmap(a, c.length))
			require.Len(t, n.released, 1)
		})
	}

	p := process.New(newNode(process.FileOps{}), process.Options{})
	_, err := p.Mmap(open(t, p, syscall.O_RDWR), ps, rw, shared, 0)
	require.ErrorIs(t, err, syscall.ENODEV)
	_, err = p.Mmap(-1, 0, rw, shared, 1)
	require.ErrorIs(t, err, rule.MmapOffsetUnaligned, "before the descriptor")
	_, err = p.Mmap(-1, 0, rw, shared, 0)
	require.ErrorIs(t, err, rule.FDBad, "before the length")
}

// TestMmapInterrupted: a driver's mmap that waits can be interrupted.
func TestMmapInterrupted(t *testing.T) {
	p := process.New(newNode(process.FileOps{Mmap: func(*process.Task, *process.File, *copyuser.Area) error {
		return process.ERESTARTSYS
	}}), process.Options{})
	_, err := p.Mmap(open(t, p, syscall.O_RDWR), ps, rw, syscall.MAP_SHARED, 0)
	require.ErrorIs(t, err, syscall.EINTR)
}

func TestMmapAt(t *testing.T) {
	task := process.New(nil, process.Options{}).MainTask()
	a, err := task.MmapAt(0x40000, -1, ps, rw, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS|syscall.MAP_FIXED, 0)
	require.NoError(t, err)
	require.Equal(t, addr(0x40000), a)
}

func TestMprotectMremap(t *testing.T) {
	p := process.New(newNode(mappable(copyuser.NewPage())), process.Options{})
	a := buffer(t, p, "text")
	require.NoError(t, p.Mprotect(a, ps, syscall.PROT_READ))
	require.False(t, p.Mem.Store(a, []byte{1}))
	require.ErrorIs(t, p.Mprotect(a+1, ps, rw), syscall.EINVAL)
	b, err := p.Mremap(a, ps, 2*ps, copyuser.MREMAP_MAYMOVE)
	require.NoError(t, err)
	require.Equal(t, "text", text(t, p, b, 4))

	dev, err := p.Mmap(open(t, p, syscall.O_RDWR), ps, rw, syscall.MAP_SHARED, 0)
	require.NoError(t, err)
	_, err = p.Mremap(dev, ps, 2*ps, copyuser.MREMAP_MAYMOVE)
	require.ErrorIs(t, err, syscall.EFAULT, "a device's mapping does not grow")
}

// TestFork: what the child has of its own and what it shares.
func TestFork(t *testing.T) {
	n := newNode(mappable(copyuser.NewPage()))
	p := process.New(n, process.Options{Cgroup: process.NewCgroup(process.NewCgroup(nil))})
	fd := open(t, p, syscall.O_RDWR)
	_, err := p.MainTask().GetUnusedFD(false) // descriptor 1 stays reserved
	require.NoError(t, err)
	two := open(t, p, syscall.O_RDWR|syscall.O_CLOEXEC)
	a := buffer(t, p, "parent")
	dev, err := p.Mmap(fd, ps, rw, syscall.MAP_SHARED, 0)
	require.NoError(t, err)
	nofile(t, p, 9)
	require.NoError(t, p.Setgid(5))

	child, err := p.Fork()
	require.NoError(t, err)
	require.NotEqual(t, p.PID, child.PID)
	require.Equal(t, *p.Cred(), *child.Cred())
	require.NotSame(t, p.Cred(), child.Cred(), "credentials of its own")
	require.Same(t, p.Cgroup(), child.Cgroup())
	require.Equal(t, uint64(9), child.Rlimit(process.RLIMIT_NOFILE))
	require.Equal(t, []int{fd, two}, child.FDs())
	file, same := p.MainTask().Fget(fd), child.MainTask().Fget(fd)
	require.Same(t, file, same)
	file.Put(nil)
	same.Put(nil)
	require.Equal(t, int64(4), file.Refs(), "a descriptor and a mapping in each")

	require.True(t, child.Mem.Store(a, []byte("child.")))
	require.Equal(t, "parent", text(t, p, a, 6))
	require.True(t, child.Mem.Store(dev, []byte("device")))
	require.Equal(t, "device", text(t, p, dev, 6))
	require.Equal(t, 1, open(t, child, 0), "a descriptor without a file is free in the child")
	require.NoError(t, child.SetRlimit(process.RLIMIT_NOFILE, process.Rlimit{Cur: 3, Max: 3}))
	require.Equal(t, uint64(9), p.Rlimit(process.RLIMIT_NOFILE))
	require.NoError(t, child.Setuid(3))
	require.Zero(t, p.Cred().UID)
	_, err = child.Open("dev", 0)
	require.ErrorIs(t, err, syscall.EMFILE)
}

// TestForkFiles: a file is released with the last descriptor and mapping of
// either process.
func TestForkFiles(t *testing.T) {
	n := newNode(mappable(copyuser.NewPage()))
	p := process.New(n, process.Options{})
	fd := open(t, p, syscall.O_RDWR)
	dev, err := p.Mmap(fd, ps, rw, syscall.MAP_SHARED, 0)
	require.NoError(t, err)
	child, err := p.Fork()
	require.NoError(t, err)
	require.NoError(t, p.Close(fd))
	require.NoError(t, p.Munmap(dev, ps))
	require.NoError(t, child.Close(fd))
	require.Empty(t, n.released)
	require.True(t, child.Mem.Load(dev, make([]byte, 1)))
	child.Exit()
	require.Equal(t, []any{1}, n.released)
}

func TestForkNoMemory(t *testing.T) {
	p := withFailing(nil, "vm_area_dup")
	buffer(t, p, "")
	_, err := p.Fork()
	require.ErrorIs(t, err, rule.ForkAlloc)
}

// TestExec: descriptors that are marked for it are closed, the others stay; the
// memory is new.
func TestExec(t *testing.T) {
	n := newNode(mappable(copyuser.NewPage()))
	p := process.New(n, process.Options{})
	kept := open(t, p, syscall.O_RDWR)
	closed := open(t, p, syscall.O_RDWR|syscall.O_CLOEXEC)
	mapped := open(t, p, syscall.O_RDWR|syscall.O_CLOEXEC)
	_, err := p.Mmap(mapped, ps, rw, syscall.MAP_SHARED, 0)
	require.NoError(t, err)
	a := buffer(t, p, "old")
	mem := p.Mem
	pin, err := mem.Pin(a, 3, true)
	require.NoError(t, err)
	mem.AddPinnedVM(1)

	require.NoError(t, p.Exec())
	require.Equal(t, []int{kept}, p.FDs())
	require.ElementsMatch(t, []any{2, 3}, n.released)
	require.NotSame(t, mem, p.Mem)
	require.False(t, p.Mem.Load(a, make([]byte, 1)))
	require.Zero(t, p.Mem.PinnedVM())
	require.Equal(t, int64(1), mem.PinnedVM(), "the old account stays with the old memory")
	require.False(t, mem.MmgetNotZero())
	got := make([]byte, 3)
	_, err = pin.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
	require.Equal(t, closed, open(t, p, 0))
}

// TestExit: first the mappings go, then the descriptors; what nobody holds any
// more is released at the end, the last first.
func TestExit(t *testing.T) {
	var log []string
	n := newNode(process.FileOps{Mmap: func(_ *process.Task, f *process.File, a *copyuser.Area) error {
		a.Ops = &copyuser.AreaOps{Close: func(cur copyuser.Current, _ *copyuser.Area) {
			require.NotNil(t, cur.(*process.Task))
			log = append(log, "vma closed")
		}}
		a.RemapPFN(0, copyuser.NewPage())
		return nil
	}})
	n.ops.Release = func(_ *process.Task, f *process.File) {
		log = append(log, "file "+string('0'+rune(f.Private.(int))))
	}
	p := process.New(n, process.Options{})
	open(t, p, syscall.O_RDWR)
	two := open(t, p, syscall.O_RDWR)
	three := open(t, p, syscall.O_RDWR)
	for _, fd := range []int{two, three} {
		_, err := p.Mmap(fd, ps, rw, syscall.MAP_SHARED, 0)
		require.NoError(t, err)
	}
	require.NoError(t, p.Close(three))
	p.Exit()
	require.Equal(t, []string{"vma closed", "vma closed", "file 2", "file 1", "file 3"}, log)
	require.Zero(t, p.FDCount())
	p.Exit()
	require.Len(t, log, 5)
}

// TestDelayedFput: the last reference that goes within a system call releases
// the file when the call returns; outside of one, at once.
func TestDelayedFput(t *testing.T) {
	var log []string
	release := func(_ *process.Task, f *process.File) { log = append(log, f.Private.(string)) }
	anon := &process.FileOps{Release: release}
	ops := process.FileOps{Ioctl: func(task *process.Task, _ *process.File, _ uint32, _ addr) (int64, error) {
		for _, name := range []string{"first", "second"} {
			f, err := process.NewAnonFile(task, anon, name, 0)
			require.NoError(t, err)
			f.Put(task)
		}
		log = append(log, "ioctl done")
		return 0, nil
	}}
	p := process.New(newNode(ops), process.Options{})
	_, err := p.Ioctl(open(t, p, 0), 0, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"ioctl done", "second", "first"}, log)

	log = nil
	for _, task := range []*process.Task{p.MainTask(), nil} {
		f, err := process.NewAnonFile(p.MainTask(), anon, "outside", 0)
		require.NoError(t, err)
		require.True(t, f.GetNotZero())
		f.Put(task)
		require.Empty(t, log)
		f.Put(task)
		require.Equal(t, []string{"outside"}, log)
		require.False(t, f.GetNotZero())
		require.Panics(t, func() { f.Put(task) })
		log = nil
	}
}

// TestReleasePuts: a release may put the last reference of another file.
func TestReleasePuts(t *testing.T) {
	var log []string
	inner := &process.FileOps{Release: func(_ *process.Task, f *process.File) { log = append(log, "inner") }}
	outer := &process.FileOps{Release: func(task *process.Task, f *process.File) {
		f.Private.(*process.File).Put(task)
		log = append(log, "outer")
	}}
	p := process.New(nil, process.Options{})
	task := p.MainTask()
	in, err := process.NewAnonFile(task, inner, nil, 0)
	require.NoError(t, err)
	out, err := process.NewAnonFile(task, outer, in, 0)
	require.NoError(t, err)
	fd, err := task.GetUnusedFD(false)
	require.NoError(t, err)
	task.FDInstall(fd, out)
	require.NoError(t, p.Close(fd))
	require.Equal(t, []string{"outer", "inner"}, log)
}
