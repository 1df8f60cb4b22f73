package main

import (
	"strconv"
	"sync"
	"time"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/interpose/watch"
	"uverbsim/process"
	"uverbsim/report/explain"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
)

// explained is the model as a target that keeps every system call that it
// refuses, with what the kernel did for it.
type explained struct {
	kernel *spec.Kernel

	mu    sync.Mutex
	ran   string          // the kernel that was booted last
	calls []*explain.Call // in the order of their answers
}

// Boot implements player.Target.
func (e *explained) Boot(c *casefile.Case) (player.Machine, error) {
	rec := explain.NewRecorder()
	target := model.Model{Kernel: e.kernel, Trace: func(*casefile.Case) trace.Sink { return rec }}
	m, err := target.Boot(c)
	if err != nil {
		return nil, err
	}
	em := m.(*model.Machine)
	e.ran = em.Kernel.Kernel().Name
	return &explainedMachine{Machine: em, of: e, rec: rec, driver: c.Driver, caps: capsOf(c), opens: opensOf(c)}, nil
}

// capsOf returns the capabilities of the device that a case asks for, nil for a
// device without firmware.
func capsOf(c *casefile.Case) func(string) (uint64, bool) {
	if c.Driver != "mlx5" {
		return nil
	}
	profile := hw.Recorded
	var asked map[string]uint64
	if c.Device != nil {
		if p := hw.ProfileByName(c.Device.Profile); p != nil {
			profile = p
		}
		asked = c.Device.Caps
	}
	return func(field string) (uint64, bool) {
		if n, ok := asked[field]; ok {
			return n, true
		}
		return profile.FindCap(field)
	}
}

// explainedMachine is a machine of the model whose processes are watched.
type explainedMachine struct {
	*model.Machine
	of     *explained
	rec    *explain.Recorder
	driver string
	caps   func(string) (uint64, bool)

	opened deviceFiles
	opens  []string // the names of the descriptors that are still to be opened
}

// Process implements player.Machine.
func (m *explainedMachine) Process() player.Task { return m.task(m.Machine.Process()) }

// Remove implements player.Machine.
func (m *explainedMachine) Remove(by player.Task) error {
	return m.Machine.Remove(by.(*explainedTask).Task)
}

func (m *explainedMachine) task(t player.Task) player.Task { return &explainedTask{t.(*model.Task), m} }

// ib is the driver's device, nil while there is none.
func (m *explainedMachine) ib() *core.Device {
	if d := m.Driver.Device(); d != nil {
		return d.IBDevice()
	}
	return nil
}

// explainedTask is a thread whose system calls are watched.
type explainedTask struct {
	*model.Task
	m *explainedMachine
}

// watched makes a system call and keeps it if it is refused.
func (t *explainedTask) watched(c watch.Call, args []explain.Value, do func() error) error {
	p := t.Modelled()
	c.Mem = p.Mem
	c.Kernel = t.m.Kernel.Kernel()
	c.Driver, _ = casefile.DriverID(t.m.driver)
	c.Device = t.m.Driver.Device()
	c.TakeArgument()
	memlock, pinned := p.Getrlimit(process.RLIMIT_MEMLOCK).Cur, pinnedBy(p)
	t.m.rec.Begin(p.Trace)
	c.Err = do()
	did := t.m.rec.End(p.Trace)
	if c.Err == nil {
		return nil
	}
	c.TakeAnswer()
	objects, others := t.m.openFiles(p, &c)
	e := t.m.of
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, &explain.Call{
		Call: &c, Trace: did, DriverName: t.m.driver, IB: t.m.ib(), Cap: t.m.caps, Memlock: memlock, Pinned: pinned,
		Objects: objects, Others: others, Mapped: mappedBy(p, c.Err), Args: args, QPs: queuePairs(p, c.FD),
	})
	return c.Err
}

// pinnedBy is how many pages a process has pinned.
func pinnedBy(p *process.Task) uint64 {
	if m, ok := p.Mem.(interface{ PinnedVM() int64 }); ok {
		return uint64(m.PinnedVM())
	}
	return 0
}

func argument(name string, n uint64) []explain.Value {
	return []explain.Value{{Name: name, Value: strconv.FormatUint(n, 10)}}
}

// Thread implements player.Task.
func (t *explainedTask) Thread() player.Task { return t.m.task(t.Task.Thread()) }

// Open implements player.Files.
func (t *explainedTask) Open(flags int) (fd int, err error) {
	err = t.watched(watch.Call{Name: "open", OpenFlags: flags}, nil, func() error {
		fd, err = t.Task.Open(flags)
		return err
	})
	t.m.noteOpen(t.Modelled(), fd, err)
	return fd, err
}

// Close implements player.Files.
func (t *explainedTask) Close(fd int) error {
	return t.watched(watch.Call{Name: "close", FD: fd}, nil, func() error { return t.Task.Close(fd) })
}

// Ioctl implements player.Files.
func (t *explainedTask) Ioctl(fd int, cmd uint32, arg uint64) (n int64, err error) {
	err = t.watched(watch.Call{Name: "ioctl", FD: fd, Cmd: cmd, Arg: copyuser.Addr(arg)}, nil, func() error {
		n, err = t.Task.Ioctl(fd, cmd, arg)
		return err
	})
	return n, err
}

// Read implements player.Files.
func (t *explainedTask) Read(fd int, addr, n uint64) (got int64, err error) {
	err = t.watched(watch.Call{Name: "read", FD: fd, Addr: addr, Length: n}, nil, func() error {
		got, err = t.Task.Read(fd, addr, n)
		return err
	})
	return got, err
}

// Write implements player.Files.
func (t *explainedTask) Write(fd int, addr, n uint64) (got int64, err error) {
	err = t.watched(watch.Call{Name: "write", FD: fd, Addr: addr, Length: n}, nil, func() error {
		got, err = t.Task.Write(fd, addr, n)
		return err
	})
	return got, err
}

// SetNonblock implements player.Files.
func (t *explainedTask) SetNonblock(fd int) error {
	return t.watched(watch.Call{Name: "setfl", FD: fd}, nil, func() error { return t.Task.SetNonblock(fd) })
}

// Poll implements player.Files.
func (t *explainedTask) Poll(fd int, timeout time.Duration) (revents uint16, err error) {
	err = t.watched(watch.Call{Name: "poll", FD: fd}, nil, func() error {
		revents, err = t.Task.Poll(fd, timeout)
		return err
	})
	return revents, err
}

// SendFD implements player.Files.
func (t *explainedTask) SendFD(fd int, to player.Task) (n int, err error) {
	err = t.watched(watch.Call{Name: "sendfd", FD: fd}, nil, func() error {
		n, err = t.Task.SendFD(fd, to.(*explainedTask).Task)
		return err
	})
	return n, err
}

// Mmap implements player.Memory.
func (t *explainedTask) Mmap(fd int, n uint64, prot, flags int, off uint64) (addr uint64, err error) {
	call := watch.Call{Name: "mmap", FD: fd, Length: n, Prot: prot, Flags: flags, Offset: off}
	err = t.watched(call, nil, func() error {
		addr, err = t.Task.Mmap(fd, n, prot, flags, off)
		return err
	})
	return addr, err
}

// Munmap implements player.Memory.
func (t *explainedTask) Munmap(addr, n uint64) error {
	return t.watched(watch.Call{Name: "munmap", Addr: addr, Length: n}, nil, func() error { return t.Task.Munmap(addr, n) })
}

// Mprotect implements player.Memory.
func (t *explainedTask) Mprotect(addr, n uint64, prot int) error {
	call := watch.Call{Name: "mprotect", Addr: addr, Length: n, Prot: prot}
	return t.watched(call, nil, func() error { return t.Task.Mprotect(addr, n, prot) })
}

// Mremap implements player.Memory.
func (t *explainedTask) Mremap(addr, oldLen, newLen uint64, flags int) (to uint64, err error) {
	call := watch.Call{Name: "mremap", Addr: addr, Length: oldLen, Flags: flags}
	err = t.watched(call, nil, func() error {
		to, err = t.Task.Mremap(addr, oldLen, newLen, flags)
		return err
	})
	return to, err
}

// Dup implements player.Files.
func (t *explainedTask) Dup(fd int) (n int, err error) {
	err = t.watched(watch.Call{Name: "dup", FD: fd}, nil, func() error { n, err = t.Task.Dup(fd); return err })
	return n, err
}

// Dup2 implements player.Files.
func (t *explainedTask) Dup2(fd, to int) (n int, err error) {
	err = t.watched(watch.Call{Name: "dup2", FD: fd}, nil, func() error { n, err = t.Task.Dup2(fd, to); return err })
	return n, err
}

// Dup3 implements player.Files.
func (t *explainedTask) Dup3(fd, to, flags int) (n int, err error) {
	err = t.watched(watch.Call{Name: "dup3", FD: fd}, nil, func() error { n, err = t.Task.Dup3(fd, to, flags); return err })
	return n, err
}

// FcntlDupFD implements player.Files.
func (t *explainedTask) FcntlDupFD(fd, min int, cloexec bool) (n int, err error) {
	err = t.watched(watch.Call{Name: "fcntl", FD: fd}, nil, func() error { n, err = t.Task.FcntlDupFD(fd, min, cloexec); return err })
	return n, err
}

// Setuid implements player.Identity.
func (t *explainedTask) Setuid(uid uint32) error {
	return t.watched(watch.Call{Name: "setuid"}, argument("uid", uint64(uid)), func() error { return t.Task.Setuid(uid) })
}

// Setgid implements player.Identity.
func (t *explainedTask) Setgid(gid uint32) error {
	return t.watched(watch.Call{Name: "setgid"}, argument("gid", uint64(gid)), func() error { return t.Task.Setgid(gid) })
}

// Setrlimit implements player.Identity.
func (t *explainedTask) Setrlimit(resource int, cur, max uint64) error {
	return t.watched(watch.Call{Name: "setrlimit"}, append(argument("rlim_cur", cur), argument("rlim_max", max)...), func() error { return t.Task.Setrlimit(resource, cur, max) })
}

// Fork implements player.Task.
func (t *explainedTask) Fork() (player.Task, error) {
	var child player.Task
	err := t.watched(watch.Call{Name: "fork"}, nil, func() (err error) {
		child, err = t.Task.Fork()
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.m.task(child), nil
}
