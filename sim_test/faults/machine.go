package faults

import (
	"errors"
	"sync"
	"time"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
)

// target is the model with threads whose calls are known to an injector.
type target struct {
	kernel *spec.Kernel
	j      *injector
	judge  *judge // of the calls in which something failed; nil without faults
	alone  bool   // no two calls of the case run at the same time
}

// Boot implements player.Target.
func (tg *target) Boot(c *casefile.Case) (player.Machine, error) {
	md := &model.Model{Kernel: tg.kernel, Trace: func(*casefile.Case) trace.Sink { return tg.j }}
	m, err := md.Boot(c)
	if err != nil {
		return nil, err
	}
	mm := &machine{Machine: m.(*model.Machine), tg: tg, device: map[uint64]bool{}, steps: len(c.Steps)}
	mm.wrap()
	return mm, nil
}

type machine struct {
	*model.Machine
	tg *target

	mu     sync.Mutex
	device map[uint64]bool // addresses at which the device is mapped
	steps  int             // of the case
	locked bool            // a call has left a lock held, for which another would wait for ever
}

var _ player.Machine = (*machine)(nil)

// wrap makes the operations of the machine's device steps.
func (m *machine) wrap() {
	if d := m.Driver.Device(); d != nil {
		if ib := d.IBDevice(); ib != nil {
			failingOps(&ib.Ops)
		}
	}
}

// Process implements player.Machine.
func (m *machine) Process() player.Task { return m.task(m.Machine.Process()) }

func (m *machine) task(t player.Task) *task {
	mt := t.(*model.Task)
	return &task{mt, m, mt.Modelled().Trace.ID}
}

// Remove implements player.Machine.
func (m *machine) Remove(by player.Task) error {
	t := by.(*task)
	return m.err(t.id, "remove", func() error { return m.Machine.Remove(t.Task) })
}

// Add implements player.Machine. What fails then fails in the driver's probe, which
// is no call.
func (m *machine) Add() error {
	err := m.Machine.Add()
	m.wrap()
	return err
}

// Event implements player.Machine.
func (m *machine) Event(object string, index int, typ string) error {
	return m.err(machineThread, "event", func() error { return m.Machine.Event(object, index, typ) })
}

// heldAtMost is how long a driver holds who is to wait in it. A case goes on to release
// them; but where the call that was to be held has failed, the case itself may be
// who is held.
const heldAtMost = time.Second

// Hold implements player.Machine.
func (m *machine) Hold(op string) error {
	if m.tg.judge != nil {
		time.AfterFunc(heldAtMost, func() { _ = m.Machine.Release() }) // the driver may hold nobody any more
	}
	return m.Machine.Hold(op)
}

// Shutdown implements player.Machine.
func (m *machine) Shutdown() {
	_ = m.err(machineThread, "exit", func() error { m.Machine.Shutdown(); return nil })
}

func (m *machine) err(thread int, name string, do func() error) error {
	_, err := m.call(thread, name, func() (int64, error) { return 0, do() })
	return err
}

// errLocked is the answer to a call that is not made.
var errLocked = errors.New("a call before this one has left a lock held")

// call makes a call.
func (m *machine) call(thread int, name string, do func() (int64, error)) (int64, error) {
	j := m.tg.j
	if !m.tg.alone && j.idle(m.steps) {
		m.locked = m.Locked()
	}
	if m.locked {
		return -1, errLocked
	}
	c := j.begin(thread, name)
	if m.tg.alone && j.list {
		c.before = m.Books()
	}
	ret, err := do()
	j.end(c, ret, err)
	if m.tg.alone && (j.list || len(c.hits) > 0) {
		c.after = m.Books()
	}
	if m.tg.alone {
		m.locked = m.Locked()
	}
	if m.tg.judge != nil && len(c.hits) > 0 {
		return m.tg.judge.call(m, c, ret, err, do)
	}
	return ret, err
}

// task is a thread.
type task struct {
	*model.Task
	m  *machine
	id int
}

var _ player.Task = (*task)(nil)

func (t *task) call(name string, do func() (int64, error)) (int64, error) {
	return t.m.call(t.id, name, do)
}

func (t *task) num(name string, do func() (int, error)) (int, error) {
	n, err := t.call(name, func() (int64, error) { n, err := do(); return int64(n), err })
	return int(n), err
}

func (t *task) addr(name string, do func() (uint64, error)) (uint64, error) {
	n, err := t.call(name, func() (int64, error) { n, err := do(); return int64(n), err })
	return uint64(n), err
}

func (t *task) err(name string, do func() error) error { return t.m.err(t.id, name, do) }

// Thread implements player.Task.
func (t *task) Thread() player.Task { return t.m.task(t.Task.Thread()) }

// Open implements player.Files.
func (t *task) Open(flags int) (int, error) {
	return t.num("open", func() (int, error) { return t.Task.Open(flags) })
}

// Close implements player.Files.
func (t *task) Close(fd int) error { return t.err("close", func() error { return t.Task.Close(fd) }) }

// Ioctl implements player.Files.
func (t *task) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	return t.call("ioctl", func() (int64, error) { return t.Task.Ioctl(fd, cmd, arg) })
}

// Read implements player.Files.
func (t *task) Read(fd int, addr, n uint64) (int64, error) {
	return t.call("read", func() (int64, error) { return t.Task.Read(fd, addr, n) })
}

// Write implements player.Files.
func (t *task) Write(fd int, addr, n uint64) (int64, error) {
	return t.call("write", func() (int64, error) { return t.Task.Write(fd, addr, n) })
}

// Poll implements player.Files.
func (t *task) Poll(fd int, timeout time.Duration) (uint16, error) {
	n, err := t.num("poll", func() (int, error) { n, err := t.Task.Poll(fd, timeout); return int(n), err })
	return uint16(n), err
}

// Dup implements player.Files.
func (t *task) Dup(fd int) (int, error) {
	return t.num("dup", func() (int, error) { return t.Task.Dup(fd) })
}

// Dup2 implements player.Files.
func (t *task) Dup2(fd, to int) (int, error) {
	return t.num("dup2", func() (int, error) { return t.Task.Dup2(fd, to) })
}

// Dup3 implements player.Files.
func (t *task) Dup3(fd, to, flags int) (int, error) {
	return t.num("dup3", func() (int, error) { return t.Task.Dup3(fd, to, flags) })
}

// FcntlDupFD implements player.Files.
func (t *task) FcntlDupFD(fd, min int, cloexec bool) (int, error) {
	return t.num("fcntl", func() (int, error) { return t.Task.FcntlDupFD(fd, min, cloexec) })
}

// SendFD implements player.Files.
func (t *task) SendFD(fd int, to player.Task) (int, error) {
	return t.num("recvmsg", func() (int, error) { return t.Task.SendFD(fd, to.(*task).Task) })
}

// Mmap implements player.Memory: of the device. Memory of a process's own is not this
// model's.
func (t *task) Mmap(fd int, n uint64, prot, flags int, off uint64) (uint64, error) {
	return t.mapped(t.addr("mmap", func() (uint64, error) { return t.Task.Mmap(fd, n, prot, flags, off) }))
}

// Map implements player.Memory.
func (t *task) Map(n uint64) (uint64, error) {
	addr, err := t.Task.Map(n)
	t.m.mu.Lock()
	delete(t.m.device, addr)
	t.m.mu.Unlock()
	return addr, err
}

// mapped remembers where the device is mapped.
func (t *task) mapped(addr uint64, err error) (uint64, error) {
	if err == nil {
		t.m.mu.Lock()
		t.m.device[addr] = true
		t.m.mu.Unlock()
	}
	return addr, err
}

func (t *task) ofDevice(addr uint64) bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	return t.m.device[addr]
}

// Munmap implements player.Memory.
func (t *task) Munmap(addr, n uint64) error {
	if !t.ofDevice(addr) {
		return t.Task.Munmap(addr, n)
	}
	return t.err("munmap", func() error { return t.Task.Munmap(addr, n) })
}

// Mprotect implements player.Memory.
func (t *task) Mprotect(addr, n uint64, prot int) error {
	if !t.ofDevice(addr) {
		return t.Task.Mprotect(addr, n, prot)
	}
	return t.err("mprotect", func() error { return t.Task.Mprotect(addr, n, prot) })
}

// Mremap implements player.Memory.
func (t *task) Mremap(addr, oldLen, newLen uint64, flags int) (uint64, error) {
	return t.mapped(t.addr("mremap", func() (uint64, error) { return t.Task.Mremap(addr, oldLen, newLen, flags) }))
}

// Store implements player.Memory: what is stored may be a doorbell.
func (t *task) Store(addr uint64, src []byte) int {
	n, _ := t.num("store", func() (int, error) { return t.Task.Store(addr, src), nil })
	return n
}

// Fork implements player.Task.
func (t *task) Fork() (player.Task, error) {
	var child player.Task
	err := t.err("fork", func() (err error) { child, err = t.Task.Fork(); return err })
	if err != nil {
		return nil, err
	}
	return t.m.task(child), nil
}

// Exec implements player.Task.
func (t *task) Exec() error { return t.err("execve", t.Task.Exec) }

// Exit implements player.Task.
func (t *task) Exit() { _ = t.err("exit", func() error { t.Task.Exit(); return nil }) }
