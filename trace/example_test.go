package trace_test

import (
	"fmt"
	"strings"
	"syscall"

	"uverbsim/drivers/rxe"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
)

// graph is a sink that prints functions as ftrace does, and what they copy and
// refuse.
type graph struct{ depth int }

func (g *graph) Event(_ *trace.Task, e *trace.Event) {
	switch e.Kind {
	case trace.Enter:
		g.line("%s() {", e.Name)
		g.depth++
	case trace.Leave:
		g.depth--
		g.line("}")
	case trace.CopyIn:
		g.line("copied in: %d of %d bytes", e.C, e.B)
	case trace.Refuse:
		g.line("refused: %s", e.Name)
	}
}

func (g *graph) line(format string, args ...any) {
	fmt.Printf(strings.Repeat("  ", g.depth)+format+"\n", args...)
}

// A thread of a process with a task reports what the kernel does in its system
// calls. This one says that its header, of 24 bytes, has 23.
func ExampleNewTask() {
	p, err := newProcess()
	if err != nil {
		fmt.Println(err)
		return
	}
	fd, err := p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	if err != nil {
		fmt.Println(err)
		return
	}
	mem, err := p.Mmap(-1, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Mem.Store(mem, spec.EncodeIoctl(&spec.IoctlHdr{Length: 23, DriverID: spec.RDMA_DRIVER_RXE}, nil))

	thread := p.NewTask(trace.NewTask(1, new(graph)))
	_, err = thread.Ioctl(fd, spec.RDMA_VERBS_IOCTL, mem)
	fmt.Println(err)
	// Output:
	// ib_uverbs_ioctl() {
	//   copied in: 24 of 24 bytes
	//   refused: header/length
	// }
	// EINVAL (header/length): The header's length is above 4096 or is not exactly 24 + 16 * num_attrs.
}

// noMemory is a sink that makes an allocation fail.
type noMemory struct{ what string }

func (noMemory) Event(*trace.Task, *trace.Event) {}

func (n noMemory) Fail(t *trace.Task, s trace.Step, what string) bool {
	if s != trace.Alloc || what != n.what {
		return false
	}
	fmt.Println(s, what, "fails in", t.Functions())
	return true
}

// A sink that is an Injector chooses which steps fail. There is no memory for the
// first open; the next one finds everything as it was.
func ExampleInjector() {
	p, err := newProcess()
	if err != nil {
		fmt.Println(err)
		return
	}
	thread := p.NewTask(trace.NewTask(1, noMemory{"ib_uverbs_file"}))
	_, err = thread.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	fmt.Println(err)
	_, err = p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	fmt.Println("opened:", err == nil)
	// Output:
	// alloc ib_uverbs_file fails in [ib_uverbs_open]
	// ENOMEM (open/no-memory): There was no memory for the open file.
	// opened: true
}

// newProcess returns a process of a machine with a device.
func newProcess() (*process.Process, error) {
	m := kernel.NewMachine(methods.Core())
	if _, err := m.Register(rxe.New(rxe.Config{})); err != nil {
		return nil, err
	}
	return m.NewProcess(process.Options{}), nil
}
