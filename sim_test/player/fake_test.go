package player_test

import (
	"encoding/binary"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/sim_test/player"
)

// fake is a target whose node is a file that does what a test says.
type fake struct {
	ioctl func(t *process.Task, cmd uint32, arg copyuser.Addr) (int64, error)
	write func(t *process.Task, buf copyuser.Addr, n uint64) (int64, error)
	read  func(t *process.Task, buf copyuser.Addr, n uint64) (int64, error)
	boots int
}

func (f *fake) Boot(*casefile.Case) (player.Machine, error) {
	f.boots++
	m := &fakeMachine{f: f, release: make(chan struct{})}
	m.ops = process.FileOps{
		Ioctl: func(t *process.Task, _ *process.File, cmd uint32, arg copyuser.Addr) (int64, error) {
			if f.ioctl == nil {
				return 0, nil
			}
			return f.ioctl(t, cmd, arg)
		},
		Write: func(t *process.Task, _ *process.File, buf copyuser.Addr, n uint64) (int64, error) {
			return f.write(t, buf, n)
		},
		Read: func(t *process.Task, _ *process.File, buf copyuser.Addr, n uint64) (int64, error) {
			return f.read(t, buf, n)
		},
		Mmap: func(_ *process.Task, _ *process.File, a *copyuser.Area) error {
			for i := range a.Pages() {
				a.InsertPage(i, copyuser.NewPage())
			}
			return nil
		},
	}
	m.p = process.New(m, process.Options{})
	return m, nil
}

type fakeMachine struct {
	f       *fake
	ops     process.FileOps
	p       *process.Process
	release chan struct{}
}

func (m *fakeMachine) Open(t *process.Task, _ string, flags int) (*process.File, error) {
	return process.NewFile(t, &m.ops, nil, flags)
}

func (m *fakeMachine) Process() player.Task { return &fakeTask{Task: m.p.MainTask()} }

var errNot = &player.Unplayable{Op: "this", Reason: "the fake does not"}

func (m *fakeMachine) Remove(player.Task) error        { return errNot }
func (m *fakeMachine) Add() error                      { return errNot }
func (m *fakeMachine) Netdev(bool) error               { return errNot }
func (m *fakeMachine) Chmod(uint32) error              { return syscall.EPERM }
func (m *fakeMachine) Event(string, int, string) error { return errForeign }
func (m *fakeMachine) Hold(string) error               { return nil }
func (m *fakeMachine) DriverLog() (string, error)      { return "one two", nil }
func (m *fakeMachine) Patience() time.Duration         { return 50 * time.Millisecond }
func (m *fakeMachine) Shutdown()                       {}

func (m *fakeMachine) Release() error {
	select {
	case <-m.release:
	default:
		close(m.release)
	}
	return nil
}

// fakeTask is a modelled thread.
type fakeTask struct{ *process.Task }

func (t *fakeTask) Thread() player.Task                  { return &fakeTask{t.NewTask(nil)} }
func (t *fakeTask) Open(flags int) (int, error)          { return t.Task.Open("/node", flags) }
func (t *fakeTask) SetNonblock(fd int) error             { return t.Task.SetNonblock(fd, true) }
func (t *fakeTask) SendFD(int, player.Task) (int, error) { return -1, errNot }

func (t *fakeTask) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	return t.Task.Ioctl(fd, cmd, copyuser.Addr(arg))
}

func (t *fakeTask) Read(fd int, addr, n uint64) (int64, error) {
	return t.Task.Read(fd, copyuser.Addr(addr), n)
}

func (t *fakeTask) Write(fd int, addr, n uint64) (int64, error) {
	return t.Task.Write(fd, copyuser.Addr(addr), n)
}

func (t *fakeTask) Map(n uint64) (uint64, error) {
	return t.Mmap(-1, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
}

func (t *fakeTask) Mmap(fd int, n uint64, prot, flags int, off uint64) (uint64, error) {
	a, err := t.Task.Mmap(fd, n, prot, flags, off)
	return uint64(a), err
}

func (t *fakeTask) Munmap(addr, n uint64) error { return t.Task.Munmap(copyuser.Addr(addr), n) }

func (t *fakeTask) Mprotect(addr, n uint64, prot int) error {
	return t.Task.Mprotect(copyuser.Addr(addr), n, prot)
}

func (t *fakeTask) Mremap(addr, oldLen, newLen uint64, flags int) (uint64, error) {
	a, err := t.Task.Mremap(copyuser.Addr(addr), oldLen, newLen, flags)
	return uint64(a), err
}

func (t *fakeTask) Load(addr uint64, dst []byte) int  { return t.Mem.CopyIn(dst, copyuser.Addr(addr)) }
func (t *fakeTask) Store(addr uint64, src []byte) int { return t.Mem.CopyOut(copyuser.Addr(addr), src) }

func (t *fakeTask) Capset([]int) error { return nil }

func (t *fakeTask) Getrlimit(r int) (uint64, uint64, error) {
	l := t.Task.Getrlimit(process.Resource(r))
	return l.Cur, l.Max, nil
}

func (t *fakeTask) Setrlimit(r int, cur, max uint64) error {
	return t.SetRlimit(process.Resource(r), process.Rlimit{Cur: cur, Max: max})
}

func (t *fakeTask) EnterCgroup(string) error       { return errNot }
func (t *fakeTask) CgroupMax(string) error         { return errNot }
func (t *fakeTask) LeaveCgroup() error             { return errNot }
func (t *fakeTask) CgroupCurrent() (string, error) { return "", errNot }

func (t *fakeTask) Fork() (player.Task, error) {
	p, err := t.Task.Fork()
	if err != nil {
		return nil, err
	}
	return &fakeTask{p.MainTask()}, nil
}

// parse reads a case.
func parse(t *testing.T, line string) *casefile.Case {
	t.Helper()
	c, err := casefile.Unmarshal([]byte(line))
	require.NoError(t, err)
	return c
}

// readable returns how many bytes can be read from an address on, up to max.
func readable(t *process.Task, a copyuser.Addr, max int) int {
	b := make([]byte, max)
	return t.Mem.CopyIn(b, a)
}

func word(t *process.Task, a copyuser.Addr) uint64 {
	var b [8]byte
	t.Mem.CopyIn(b[:], a)
	return binary.LittleEndian.Uint64(b[:])
}

// errForeign is an error that no system call may have.
var errForeign = errors.New("not an errno")
