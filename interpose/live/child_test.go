package live

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
)

const (
	ps = copyuser.PageSize
	rw = unix.PROT_READ | unix.PROT_WRITE
	ro = unix.PROT_READ

	// free is where neither the loader, the Go runtime nor the race detector (from
	// 0x200000000000 on) map anything.
	free copyuser.Addr = 0x100000000000
)

// order is what the child is to do.
type order struct {
	Op          string
	Addr, Len   uint64
	Prot, Flags int
	Path        string // a file to map
	Data        []byte
}

// reply is what came of it.
type reply struct {
	Err  string
	Data []byte
	Yes  bool
}

// proc is a live process that maps what it is told: this program, started again.
type proc struct {
	cmd *exec.Cmd
	in  *gob.Encoder
	out *gob.Decoder

	stdin  io.Writer
	stdout io.Reader
}

const childEnv = "LIVE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		go func() {
			serve()
			os.Exit(0)
		}()
		<-leave
		_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0) // this thread alone
	}
	os.Exit(m.Run())
}

// leave has the child's first thread exit. It is the one that runs main.
var leave = make(chan struct{})

func init() { runtime.LockOSThread() }

// serve is the child.
func serve() {
	in, out := gob.NewDecoder(bufio.NewReader(os.Stdin)), gob.NewEncoder(os.Stdout)
	_ = out.Encode(&reply{})
	for {
		var o order
		if in.Decode(&o) != nil {
			return
		}
		var r reply
		if err := o.do(&r); err != nil {
			r.Err = err.Error()
		}
		if out.Encode(&r) != nil {
			return
		}
	}
}

func (o *order) do(r *reply) error {
	switch o.Op {
	case "mmap":
		return o.mmap()
	case "munmap":
		_, _, errno := unix.Syscall(unix.SYS_MUNMAP, uintptr(o.Addr), uintptr(o.Len), 0)
		return failure(errno)
	case "mprotect":
		_, _, errno := unix.Syscall(unix.SYS_MPROTECT, uintptr(o.Addr), uintptr(o.Len), uintptr(o.Prot))
		return failure(errno)
	case "load":
		r.Data = make([]byte, o.Len)
		copy(r.Data, memoryAt(o.Addr, int(o.Len)))
	case "store":
		copy(memoryAt(o.Addr, len(o.Data)), o.Data)
	case "watch":
		r.Yes = watch(o.Addr, time.Duration(o.Len))
	case "leave":
		close(leave)
	case "exec":
		return syscall.Exec("/proc/self/exe", []string{"child"}, os.Environ())
	default:
		return fmt.Errorf("no such order: %s", o.Op)
	}
	return nil
}

func (o *order) mmap() error {
	fd := -1
	if o.Path != "" {
		f, err := os.OpenFile(o.Path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		fd = int(f.Fd())
	} else {
		o.Flags |= unix.MAP_ANONYMOUS
	}
	_, _, errno := unix.Syscall6(unix.SYS_MMAP, uintptr(o.Addr), uintptr(o.Len), uintptr(o.Prot),
		uintptr(o.Flags|unix.MAP_FIXED), uintptr(fd), 0)
	return failure(errno)
}

func failure(errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// start starts a child, which ends with the test.
func start(t testing.TB) *proc {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p := &proc{cmd: cmd, stdin: in, stdout: out}
	p.renew(t)
	return p
}

// renew waits until the program has started.
func (p *proc) renew(t testing.TB) {
	t.Helper()
	p.in, p.out = gob.NewEncoder(p.stdin), gob.NewDecoder(p.stdout)
	p.answer(t)
}

func (p *proc) tell(t testing.TB, o order) reply {
	t.Helper()
	require.NoError(t, p.in.Encode(&o))
	return p.answer(t)
}

func (p *proc) answer(t testing.TB) (r reply) {
	t.Helper()
	require.NoError(t, p.out.Decode(&r))
	require.Empty(t, r.Err)
	return r
}

// mmap maps pages at an address, over what is there.
func (p *proc) mmap(t testing.TB, a copyuser.Addr, pages uint64, prot, flags int) copyuser.Addr {
	t.Helper()
	p.tell(t, order{Op: "mmap", Addr: uint64(a), Len: pages * ps, Prot: prot, Flags: flags})
	return a
}

// mapFile maps a file of that size, which may be less than the pages.
func (p *proc) mapFile(t testing.TB, a copyuser.Addr, pages uint64, prot, flags int, size int64) (path string) {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	require.NoError(t, f.Truncate(size))
	require.NoError(t, f.Close())
	p.tell(t, order{Op: "mmap", Addr: uint64(a), Len: pages * ps, Prot: prot, Flags: flags, Path: f.Name()})
	return f.Name()
}

func (p *proc) munmap(t testing.TB, a copyuser.Addr, pages uint64) {
	t.Helper()
	p.tell(t, order{Op: "munmap", Addr: uint64(a), Len: pages * ps})
}

func (p *proc) mprotect(t testing.TB, a copyuser.Addr, pages uint64, prot int) {
	t.Helper()
	p.tell(t, order{Op: "mprotect", Addr: uint64(a), Len: pages * ps, Prot: prot})
}

func (p *proc) load(t testing.TB, a copyuser.Addr, n int) string {
	t.Helper()
	return string(p.tell(t, order{Op: "load", Addr: uint64(a), Len: uint64(n)}).Data)
}

func (p *proc) store(t testing.TB, a copyuser.Addr, s string) {
	t.Helper()
	p.tell(t, order{Op: "store", Addr: uint64(a), Data: []byte(s)})
}

// space opens the child's memory.
func (p *proc) space(t testing.TB) *Space {
	t.Helper()
	s, err := Open(p.cmd.Process.Pid)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// kill ends the child and waits until its memory is gone.
func (p *proc) kill(t testing.TB) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	_ = p.cmd.Wait()
}
