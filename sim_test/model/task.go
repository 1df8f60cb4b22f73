package model

import (
	"syscall"
	"time"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/sim_test/player"
)

// Task is a thread of a modelled process.
type Task struct {
	m *Machine
	t *process.Task
}

var _ player.Task = (*Task)(nil)

// Process returns the modelled process.
func (t *Task) Process() *process.Process { return t.t.Process }

// Modelled returns the modelled thread.
func (t *Task) Modelled() *process.Task { return t.t }

// Thread implements player.Task.
func (t *Task) Thread() player.Task { return &Task{t.m, t.t.NewTask(t.m.newTrace())} }

// Open implements player.Files.
func (t *Task) Open(flags int) (int, error) { return t.t.Open(t.m.node(), flags) }

// Close implements player.Files.
func (t *Task) Close(fd int) error { return t.t.Close(fd) }

// Ioctl implements player.Files.
func (t *Task) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	defer t.settle()
	return t.t.Ioctl(fd, cmd, copyuser.Addr(arg))
}

// settle lets the device do all that it has to do.
func (t *Task) settle() {
	s, ok := t.m.Driver.(Stepper)
	for ok && s.Step(t.t.Trace) {
		continue
	}
}

// Read implements player.Files.
func (t *Task) Read(fd int, addr, n uint64) (int64, error) {
	return t.t.Read(fd, copyuser.Addr(addr), n)
}

// Write implements player.Files.
func (t *Task) Write(fd int, addr, n uint64) (int64, error) {
	defer t.settle()
	return t.t.Write(fd, copyuser.Addr(addr), n)
}

// SetNonblock implements player.Files.
func (t *Task) SetNonblock(fd int) error { return t.t.SetNonblock(fd, true) }

// Poll implements player.Files.
func (t *Task) Poll(fd int, timeout time.Duration) (uint16, error) { return t.t.Poll(fd, timeout) }

// Dup implements player.Files.
func (t *Task) Dup(fd int) (int, error) { return t.t.Dup(fd) }

// Dup2 implements player.Files.
func (t *Task) Dup2(fd, to int) (int, error) { return t.t.Dup2(fd, to) }

// Dup3 implements player.Files.
func (t *Task) Dup3(fd, to, flags int) (int, error) { return t.t.Dup3(fd, to, flags) }

// FcntlDupFD implements player.Files.
func (t *Task) FcntlDupFD(fd, min int, cloexec bool) (int, error) {
	return t.t.FcntlDupFD(fd, min, cloexec)
}

// SendFD implements player.Files. What is passed is closed by an exec.
func (t *Task) SendFD(fd int, to player.Task) (int, error) {
	dst := to.(*Task).t
	n, err := t.t.SendFD(fd, dst)
	if err != nil {
		return n, err
	}
	_, err = dst.Ioctl(n, process.FIOCLEX, 0)
	return n, err
}

// FDs implements player.Files.
func (t *Task) FDs() []int { return t.t.FDs() }

// Map implements player.Memory.
func (t *Task) Map(n uint64) (uint64, error) {
	const prot, flags = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS
	return t.Mmap(-1, n, prot, flags, 0)
}

// Mmap implements player.Memory.
func (t *Task) Mmap(fd int, n uint64, prot, flags int, off uint64) (uint64, error) {
	a, err := t.t.Mmap(fd, n, prot, flags, off)
	return uint64(a), err
}

// Munmap implements player.Memory.
func (t *Task) Munmap(addr, n uint64) error { return t.t.Munmap(copyuser.Addr(addr), n) }

// Mprotect implements player.Memory.
func (t *Task) Mprotect(addr, n uint64, prot int) error {
	return t.t.Mprotect(copyuser.Addr(addr), n, prot)
}

// Mremap implements player.Memory.
func (t *Task) Mremap(addr, oldLen, newLen uint64, flags int) (uint64, error) {
	a, err := t.t.Mremap(copyuser.Addr(addr), oldLen, newLen, flags)
	return uint64(a), err
}

// Load implements player.Memory.
func (t *Task) Load(addr uint64, dst []byte) int { return t.t.Mem.CopyIn(dst, copyuser.Addr(addr)) }

// Store implements player.Memory. What is stored may be a doorbell.
func (t *Task) Store(addr uint64, src []byte) int {
	defer t.settle()
	return t.t.Mem.CopyOut(copyuser.Addr(addr), src)
}

// Setuid implements player.Identity.
func (t *Task) Setuid(uid uint32) error { return t.t.Setuid(uid) }

// Setgid implements player.Identity.
func (t *Task) Setgid(gid uint32) error { return t.t.Setgid(gid) }

// Capset implements player.Identity.
func (t *Task) Capset(drop []int) error {
	caps := make([]process.Cap, len(drop))
	for i, n := range drop {
		caps[i] = process.Cap(n)
	}
	return t.t.Capset(caps...)
}

// Getrlimit implements player.Identity.
func (t *Task) Getrlimit(resource int) (cur, max uint64, err error) {
	l := t.t.Getrlimit(process.Resource(resource))
	return l.Cur, l.Max, nil
}

// Setrlimit implements player.Identity.
func (t *Task) Setrlimit(resource int, cur, max uint64) error {
	return t.t.SetRlimit(process.Resource(resource), process.Rlimit{Cur: cur, Max: max})
}

// device is the name of the machine's RDMA device, under which control groups
// know it.
func (t *Task) device() (string, error) {
	if d := t.m.Driver.Device(); d != nil {
		if ib := d.IBDevice(); ib != nil {
			return ib.Name, nil
		}
	}
	return "", rule.OpenNoNode
}

// EnterCgroup implements player.Identity.
func (t *Task) EnterCgroup(max string) error {
	g := process.NewCgroup(t.m.cgroups)
	if max != "" {
		dev, err := t.device()
		if err != nil {
			return err
		}
		if err := g.SetMax(dev, max); err != nil {
			return err
		}
	}
	t.t.SetCgroup(g)
	t.m.entered(t.t.Process, g)
	return nil
}

// CgroupMax implements player.Identity.
func (t *Task) CgroupMax(max string) error {
	dev, err := t.device()
	if err != nil {
		return err
	}
	return t.m.group(t.t.Process).SetMax(dev, max)
}

// LeaveCgroup implements player.Identity.
func (t *Task) LeaveCgroup() error {
	t.t.SetCgroup(t.m.cgroups)
	return nil
}

// CgroupCurrent implements player.Identity.
func (t *Task) CgroupCurrent() (string, error) {
	dev, err := t.device()
	if err != nil {
		return "", err
	}
	return t.m.group(t.t.Process).Current(dev), nil
}

// Fork implements player.Task.
func (t *Task) Fork() (player.Task, error) {
	p, err := t.t.Fork()
	if err != nil {
		return nil, err
	}
	t.m.admit(p)
	return &Task{t.m, p.MainTask()}, nil
}

// Exec implements player.Task.
func (t *Task) Exec() error { return t.t.Exec() }

// Exit implements player.Task.
func (t *Task) Exit() { t.t.Exit() }
