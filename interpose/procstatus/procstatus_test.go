package procstatus

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// text is of a program that calls itself "x\nUid:\t0", as the kernel writes that.
const text = "Name:\tx\\nUid:\\t0\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t12\nNgid:\t0\nPid:\t34\nPPid:\t5\nTracerPid:\t67\n" +
	"Uid:\t1000\t0\t2\t4294967295\nGid:\t10\t11\t12\t13\nFDSize:\t64\nGroups:\t \nNStgid:\t99\n" +
	"CapInh:\t0000000000000001\nCapPrm:\t000001ffffffffff\nCapEff:\tffffffffffffffff\nCapBnd:\t0000000000000007\n"

var read = Status{
	TGID: 12, PPID: 5, Tracer: 67,
	UID: IDs{1000, 0, 2, 1<<32 - 1}, GID: IDs{10, 11, 12, 13},
	Inheritable: 1, Permitted: 1<<41 - 1, Effective: 1<<64 - 1,
}

func TestParse(t *testing.T) {
	s, err := parse([]byte(text))
	require.NoError(t, err)
	require.Equal(t, read, s)
	s, err = parse([]byte(strings.TrimSuffix(text, "\n")))
	require.NoError(t, err)
	require.Equal(t, read, s)
}

// TestOddText: a line that is missing or has other numbers than it should is an error
// that names it.
func TestOddText(t *testing.T) {
	for _, name := range []string{"Tgid", "PPid", "TracerPid", "Uid", "Gid", "CapInh", "CapPrm", "CapEff"} {
		before, rest, ok := strings.Cut(text, "\n"+name+":\t")
		require.True(t, ok)
		numbers, after, _ := strings.Cut(rest, "\n")
		with := func(numbers string) string { return before + "\n" + name + ":\t" + numbers + "\n" + after }
		require.Equal(t, text, with(numbers))
		for what, odd := range map[string]string{
			"no line":         before + "\n" + after,
			"another's":       before + "\nNS" + name + ":\t" + numbers + "\n" + after,
			"no number":       with(""),
			"one more":        with(numbers + "\t1"),
			"no decimal":      with("0x1" + strings.TrimLeft(numbers, "0123456789abcdef")),
			"negative":        with("-" + numbers),
			"too great":       with("1ffffffffffffffff" + strings.TrimLeft(numbers, "0123456789abcdef")),
			"cut in the name": before + "\n" + name,
		} {
			s, err := parse([]byte(odd))
			require.ErrorContains(t, err, name, what)
			require.Zero(t, s, what)
		}
	}
	_, err := parse(nil)
	require.Error(t, err)
}

// TestTooGreat: a number is of the kernel's type.
func TestTooGreat(t *testing.T) {
	for _, c := range []struct{ is, odd string }{
		{"Tgid:\t12", "Tgid:\t2147483648"}, {"\t4294967295", "\t4294967296"}, {"ffffffffffffffff", "10000000000000000"},
	} {
		require.Contains(t, text, c.is)
		_, err := parse([]byte(strings.Replace(text, c.is, c.odd, 1)))
		require.ErrorIs(t, err, strconv.ErrRange, c.odd)
	}
}

// TestUnhashed: a process without an id is gone.
func TestUnhashed(t *testing.T) {
	_, err := parse([]byte(strings.Replace(text, "Tgid:\t12", "Tgid:\t0", 1)))
	require.ErrorIs(t, err, unix.ESRCH)
}

// TestSelf compares with what system calls say.
func TestSelf(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, id := range []int{os.Getpid(), unix.Gettid()} {
		s, err := Read(id)
		require.NoError(t, err)
		require.Equal(t, os.Getpid(), s.TGID)
		require.Equal(t, os.Getppid(), s.PPID)
		require.Equal(t, [...]uint32{uint32(os.Getuid()), uint32(os.Geteuid())}, [...]uint32{s.UID.Real, s.UID.Effective})
		require.Equal(t, [...]uint32{uint32(os.Getgid()), uint32(os.Getegid())}, [...]uint32{s.GID.Real, s.GID.Effective})
		var caps [2]unix.CapUserData
		require.NoError(t, unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps[0]))
		both := func(low, high uint32) uint64 { return uint64(high)<<32 | uint64(low) }
		require.Equal(t, both(caps[0].Inheritable, caps[1].Inheritable), s.Inheritable)
		require.Equal(t, both(caps[0].Permitted, caps[1].Permitted), s.Permitted)
		require.Equal(t, both(caps[0].Effective, caps[1].Effective), s.Effective)
	}
}

// The tests leave the first thread, whose credentials are the process's, alone.
func init() { runtime.LockOSThread() }

// TestThread: a thread may be another user's than the rest of its process.
func TestThread(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	type result struct {
		s   Status
		err error
	}
	read := make(chan result)
	go func() {
		runtime.LockOSThread() // and so ends the thread, which alone the system calls change
		_, _, e := unix.RawSyscall(unix.SYS_SETRESGID, 4, 5, 6)
		if e == 0 {
			_, _, e = unix.RawSyscall(unix.SYS_SETRESUID, 1, 2, 3)
		}
		if e != 0 {
			read <- result{err: e}
			return
		}
		s, err := Read(unix.Gettid())
		read <- result{s, err}
	}()
	r := <-read
	require.NoError(t, r.err)
	require.Equal(t, os.Getpid(), r.s.TGID)
	require.Equal(t, IDs{1, 2, 3, 2}, r.s.UID)
	require.Equal(t, IDs{4, 5, 6, 5}, r.s.GID)
	require.Zero(t, r.s.Effective)
	s, err := Read(os.Getpid())
	require.NoError(t, err)
	require.Zero(t, s.UID.Effective)
}

// TestEnded: a process that has ended is told of until it is waited for.
func TestEnded(t *testing.T) {
	child := exec.Command("true")
	require.NoError(t, child.Start())
	pid := child.Process.Pid
	require.NoError(t, unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	s, err := Read(pid)
	require.NoError(t, err)
	require.Equal(t, pid, s.TGID)
	require.Equal(t, os.Getpid(), s.PPID)
	require.Equal(t, uint32(os.Getuid()), s.UID.Real)
	require.NoError(t, child.Wait())
	for _, id := range []int{pid, 0, -1} {
		s, err = Read(id)
		require.ErrorIs(t, err, os.ErrNotExist)
		require.Zero(t, s)
	}
}

// TestTraced: a tracer is told by its thread.
func TestTraced(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	child := exec.Command("true")
	child.SysProcAttr = &syscall.SysProcAttr{Ptrace: true} // it stops
	require.NoError(t, child.Start())
	s, err := Read(child.Process.Pid)
	require.NoError(t, child.Process.Kill())
	child.Wait()
	require.NoError(t, err)
	require.Equal(t, unix.Gettid(), s.Tracer)
}
