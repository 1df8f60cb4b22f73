package interpose_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/interpose"
	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

func init() {
	clients["forever"] = foreverClient
	clients["hammer"] = hammerClient
	clients["short"] = shortClient
	clients["panics"] = panicsClient
	clients["random"] = randomClient
}

// end is how a program has ended, or why it did not begin.
type end struct {
	status syscall.WaitStatus
	err    error
}

// started starts a client and returns without waiting for it.
func (r *rig) started(t testing.TB, out *os.File, name string, args ...string) (pid int, ended chan end) {
	t.Helper()
	pids := make(chan int, 1)
	ended = make(chan end, 1)
	s := clientSpec(t, out, name, args...)
	s.Started = func(pid int) { pids <- pid }
	go func() {
		status, err := r.Run(s)
		ended <- end{status, err}
		close(pids)
	}()
	pid, ok := <-pids
	require.True(t, ok, "the program has not been started")
	return pid, ended
}

// foreverClient makes everything that a file can have, over and over.
func foreverClient([]string) error {
	for {
		fd, err := opens()
		if err != nil {
			return err
		}
		if _, err := asyncEvent(fd); err != nil {
			return err
		}
		if err := works(fd); err != nil {
			return err
		}
		uar, err := newUAR(fd)
		if err != nil {
			return err
		}
		mem, err := unix.Mmap(fd, int64(uar.offset), int(uar.length), unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		mem[0x800] = 1
		if err := unix.Munmap(mem); err != nil {
			return err
		}
		unix.Close(fd)
		// The event descriptor stays until the process is gone, or there is no more.
		if fd > 500 {
			for i := 3; i < 600; i++ {
				unix.Close(i)
			}
		}
	}
}

// TestKill kills programs at any moment. What they had is gone with them.
func TestKill(t *testing.T) {
	times := 200
	if testing.Short() {
		times = 20
	}
	r := newRig(t, nil)
	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for i := range times {
		pid, ended := r.started(t, os.Stdout, "forever")
		time.Sleep(time.Duration(random.IntN(30_000)) * time.Microsecond)
		require.NoError(t, unix.Kill(pid, unix.SIGKILL))
		select {
		case end := <-ended: // with an error if the program was not there yet
			if end.err == nil {
				require.Equal(t, syscall.SIGKILL, end.status.Signal(), "time %d", i)
				killed++
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("time %d: the session does not end", i)
		}
	}
	require.Greater(t, killed, times/2)
	require.Eventually(t, func() bool { return r.dev.Uverbs.OpenFiles() == 0 }, 5*time.Second, time.Millisecond)
}

// hammerClient has many threads use one file.
func hammerClient(args []string) error {
	threads, _ := strconv.Atoi(args[0])
	fd, err := opens()
	if err != nil {
		return err
	}
	errs := make(chan error, threads)
	for range threads {
		go func() {
			runtime.LockOSThread()
			for range 50 {
				if err := works(fd); err != nil {
					errs <- err
					return
				}
				event, err := asyncEvent(fd)
				if err != nil {
					errs <- err
					return
				}
				if err := unix.Close(event); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range threads {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

func TestHammer(t *testing.T) {
	r := newRig(t, nil)
	var both sync.WaitGroup
	for range 2 { // sessions
		both.Go(func() { r.run(t, "hammer", "64") })
	}
	both.Wait()
}

func shortClient([]string) error {
	fd, err := opens()
	if err != nil {
		return err
	}
	_, err = asyncEvent(fd)
	return err
}

// descriptorsOf counts this process's descriptors.
func descriptorsOf(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

// TestManyPrograms counts what the Supervisor has after many programs have gone.
func TestManyPrograms(t *testing.T) {
	r := newRig(t, nil)
	r.run(t, "short")
	settled := func() bool { return r.dev.Uverbs.OpenFiles() == 0 }
	require.Eventually(t, settled, 5*time.Second, time.Millisecond)
	time.Sleep(50 * time.Millisecond)
	fds, routines := descriptorsOf(t), runtime.NumGoroutine()
	times := 40
	if testing.Short() {
		times = 10
	}
	for range times {
		r.run(t, "short")
	}
	for range 500 {
		if settled() && descriptorsOf(t) <= fds && runtime.NumGoroutine() <= routines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("descriptors: %d, %d before; goroutines: %d, %d before", descriptorsOf(t), fds, runtime.NumGoroutine(), routines)
}

// breaks is a watcher that breaks in one call.
type breaks struct{ once sync.Once }

func (b *breaks) Enter(c *watch.Call) {
	if c.Name == "ioctl" {
		b.once.Do(func() { panic("on purpose") })
	}
}

func (*breaks) Leave(*watch.Call) {}

// panicsClient sees one call fail, and its file with it, and all others work.
func panicsClient([]string) error {
	fd, err := openNode()
	if err != nil {
		return err
	}
	if err := getContext(fd); !errors.Is(err, unix.EIO) {
		return fmt.Errorf("the call that breaks: %w, not EIO", err)
	}
	if _, err := os.ReadFile("/proc/self/status"); err != nil {
		return err
	}
	if err := getContext(fd); !errors.Is(err, unix.EIO) {
		return fmt.Errorf("the next one on a file that may be locked: %w, not EIO", err)
	}
	for range 3 {
		other, err := opens()
		if err != nil {
			return fmt.Errorf("another file: %w", err)
		}
		if err := works(other); err != nil {
			return fmt.Errorf("another file: %w", err)
		}
		unix.Close(fd)
		fd = other
	}
	return nil
}

// TestPanic breaks the Supervisor in a call: that call is EIO and is reported, and
// what else is called goes on.
func TestPanic(t *testing.T) {
	r := newRig(t, func(c *interpose.Config) { c.Watch = new(breaks) })
	r.run(t, "panics")
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Len(t, r.reports, 1)
	require.Contains(t, r.reports[0], "on purpose")
	r.reports = nil
}

// randomClient makes system calls that are looked at with random arguments.
func randomClient(args []string) error {
	seed, _ := strconv.ParseUint(args[0], 10, 64)
	times, _ := strconv.Atoi(args[1])
	r := rand.New(rand.NewPCG(seed, 0))
	mem, err := unix.Mmap(-1, 0, 1<<16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	if err := unix.Mprotect(mem[1<<15:1<<15+4096], unix.PROT_NONE); err != nil {
		return err
	}
	base := uintptr(addrOf(mem))
	texts := []string{node, "/sys/class/infiniband", "/sys/class/infiniband_verbs/uverbs0/dev", "uverbs0", "", "/dev/null", "/proc/self/fd/20", "../x"}
	fds := []int{-1, 999, unix.AT_FDCWD}
	for range 4 {
		fd, err := opens()
		if err != nil {
			return err
		}
		far, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 20)
		if err != nil {
			return err
		}
		unix.Close(fd)
		event, err := asyncEvent(far)
		if err != nil {
			return err
		}
		fds = append(fds, far, event)
	}
	pointer := func() uintptr {
		switch r.IntN(8) {
		case 0:
			return uintptr(r.Uint64())
		case 1:
			return 0
		case 2:
			return base + 1<<15 - uintptr(r.IntN(32))
		case 3:
			return ^uintptr(r.IntN(4096))
		}
		at := r.IntN(1<<15 - 256)
		switch r.IntN(3) {
		case 0:
			copy(mem[at:], texts[r.IntN(len(texts))]+"\x00")
		case 1: // a header
			b := mem[at:]
			n := r.IntN(4)
			b[0], b[1] = byte(24+16*n), 0
			b[2], b[3] = byte(r.IntN(20)), 0
			b[4], b[5] = byte(r.IntN(8)), byte(r.IntN(2)*16)
			b[6], b[7] = byte(n), 0
			clear(b[8:24])
			b[16] = spec.RDMA_DRIVER_MLX5
			for i := range n {
				a := b[24+16*i:]
				a[0], a[1] = byte(r.IntN(16)), byte(r.IntN(2)*16)
				a[2], a[3] = byte(r.IntN(64)), 0
				a[4], a[5], a[6], a[7] = byte(r.IntN(2)), 0, 0, 0
				v := uint64(r.IntN(64))
				if r.IntN(2) == 0 {
					v = uint64(base) + uint64(r.IntN(1<<16))
				}
				for j := range 8 {
					a[8+j] = byte(v >> (8 * j))
				}
			}
		}
		return base + uintptr(at)
	}
	fd := func() uintptr { return uintptr(fds[r.IntN(len(fds))]) }
	small := func() uintptr { return uintptr(r.IntN(1 << r.IntN(20))) }
	for range times {
		var a [6]uintptr
		var nr uintptr
		switch r.IntN(12) {
		case 0, 1, 2, 3:
			nr, a = unix.SYS_IOCTL, [6]uintptr{fd(), spec.RDMA_VERBS_IOCTL, pointer()}
		case 4:
			// What is mapped must not take the place of what is used.
			nr, a = unix.SYS_MMAP, [6]uintptr{0, small(), uintptr(r.IntN(4)), unix.MAP_SHARED, fd(), small() << 12}
		case 5:
			nr, a = unix.SYS_OPENAT, [6]uintptr{fd(), pointer(), uintptr(r.IntN(1<<22)) &^ (unix.O_CREAT | unix.O_TRUNC | unix.O_TMPFILE)}
		case 6:
			nr, a = unix.SYS_NEWFSTATAT, [6]uintptr{fd(), pointer(), pointer(), uintptr(r.IntN(1 << 14))}
		case 7:
			nr, a = unix.SYS_STATX, [6]uintptr{fd(), pointer(), uintptr(r.IntN(1 << 14)), uintptr(r.IntN(1 << 12)), pointer()}
		case 8:
			nr, a = unix.SYS_READLINKAT, [6]uintptr{fd(), pointer(), pointer(), small()}
		case 9:
			nr, a = unix.SYS_FACCESSAT2, [6]uintptr{fd(), pointer(), uintptr(r.IntN(16)), uintptr(r.IntN(1 << 13))}
		case 10:
			nr, a = unix.SYS_OPENAT2, [6]uintptr{fd(), pointer(), pointer(), 24}
		case 11:
			nr, a = unix.SYS_FSTAT, [6]uintptr{fd(), pointer()}
		}
		got, _, e := unix.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		if e != 0 {
			continue
		}
		switch nr {
		case unix.SYS_OPENAT, unix.SYS_OPENAT2:
			unix.Close(int(got))
		case unix.SYS_MMAP:
			unix.RawSyscall(unix.SYS_MUNMAP, got, a[1], 0)
		}
	}
	return nil
}

// TestRandom has programs make system calls with random arguments.
func TestRandom(t *testing.T) {
	times := "20000"
	if testing.Short() {
		times = "2000"
	}
	r := newRig(t, nil)
	for seed := range 4 {
		r.run(t, "random", strconv.Itoa(seed), times)
	}
}
