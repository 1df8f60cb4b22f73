package lab

import (
	"fmt"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/trace"
	"uverbsim/verbs/libmlx5"
)

// node is the device's node.
const node = "/dev/infiniband/uverbs0"

// machine is a booted machine with a program that has the device open.
type machine struct {
	k   *kernel.Machine
	dev *mlx5.Device
	p   *process.Process
	ctx *libmlx5.Context
	fd  int // of the device

	memory, records arena // for requests and what they point to; for doorbell records
	entries         [kernel.BatchMaxCalls * kernel.BatchEntrySize]byte

	counted *process.Task // a thread whose calls are counted
	counter *counter
}

// boot returns a machine with one mlx5 device, which is open.
func boot(opts ...kernel.Option) (*machine, error) {
	m := &machine{k: kernel.NewMachine(methods.Core(), opts...), counter: new(counter)}
	var err error
	if m.dev, err = mlx5.New(m.k, mlx5.Config{}); err != nil {
		return nil, err
	}
	m.p = m.k.NewProcess(process.Options{PID: 1})
	m.counted = m.p.NewTask(trace.NewTask(1, m.counter))
	if m.ctx, err = libmlx5.OpenDevice(m.p, node); err != nil {
		return nil, err
	}
	m.fd = m.ctx.CmdFD
	return m, nil
}

// count returns what the calls of f take. They are those of the thread that f gets.
func (m *machine) count(f func(*thread) error) (Counts, error) {
	t := &thread{Task: m.counted}
	return m.countOn(t, func() error { return f(t) })
}

// countOn is count for a thread that is there, of the task that is counted.
func (m *machine) countOn(t *thread, f func() error) (Counts, error) {
	m.counter.Counts = Counts{}
	t.calls, t.user = 0, Accesses{}
	err := f()
	c := m.counter.Counts
	c.Crossings, c.User = t.calls, t.user
	return c, err
}

// arena is memory of the program that is given out piece by piece.
type arena struct{ next, end copyuser.Addr }

// take returns the address of n bytes of zeros, in a cache line of their own.
func (a *arena) take(m *machine, n int) (copyuser.Addr, error) {
	const align, chunk = 64, 16 * copyuser.PageSize
	size := copyuser.Addr(n+align-1) &^ (align - 1)
	if a.next+size > a.end {
		at, err := m.pages(max(chunk, n))
		if err != nil {
			return 0, err
		}
		a.next, a.end = at, at+copyuser.Addr(max(chunk, n))
	}
	a.next += size
	return a.next - size, nil
}

// alloc is take for what is no doorbell record.
func (m *machine) alloc(n int) (copyuser.Addr, error) { return m.memory.take(m, n) }

// pages maps memory of its own, from the start of a page.
func (m *machine) pages(n int) (copyuser.Addr, error) {
	return m.p.Mmap(-1, uint64(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
}

// store writes to the program's memory, which is there.
func (m *machine) store(at copyuser.Addr, b []byte) {
	if !m.p.Store(at, b) {
		panic(fmt.Sprintf("lab: the program's memory at %#x is not mapped", uint64(at)))
	}
}

// load reads it.
func (m *machine) load(at copyuser.Addr, b []byte) {
	if !m.p.Load(at, b) {
		panic(fmt.Sprintf("lab: the program's memory at %#x is not mapped", uint64(at)))
	}
}
