package methods_test

import (
	"fmt"
	"syscall"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/spec"
)

// A machine whose core has the standard handlers, with a device that can do
// next to nothing. The process opens it, asks for the state of a port before
// and after it has a context, and then for a port that does not exist.
func ExampleCore() {
	m := kernel.NewMachine(methods.Core())
	dev := &core.Device{Name: "tiny0", DriverID: 99, PhysPorts: 1, Ops: core.DeviceOps{
		AllocUcontext:   func(*core.Ucontext, *core.Udata) error { return nil },
		DeallocUcontext: func(*process.Task, *core.Ucontext) {},
		QueryPort: func(_ *process.Task, _ *core.Device, _ uint32, attr *core.PortAttr) error {
			attr.State = 4 // IB_PORT_ACTIVE
			return nil
		},
	}}
	if _, err := m.Register(dev, kernel.Definitions{}); err != nil {
		fmt.Println(err)
		return
	}

	p := m.NewProcess(process.Options{})
	fd, _ := p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	mem, _ := p.Mmap(-1, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	answer := uint64(mem) + 2048
	call := func(method uint16, attrs ...spec.IoctlAttr) {
		p.Mem.Store(mem, spec.EncodeMethod(99, spec.UVERBS_OBJECT_DEVICE, method, attrs...))
		_, err := p.Ioctl(fd, spec.RDMA_VERBS_IOCTL, mem)
		fmt.Println(err)
	}
	queryPort := func(port uint64) {
		call(spec.UVERBS_METHOD_QUERY_PORT,
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, Len: 8, Data: port},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_RESP, Len: 48, Data: answer})
	}

	queryPort(1)
	call(spec.UVERBS_METHOD_GET_CONTEXT)
	queryPort(1)
	var resp [48]byte
	p.Mem.Load(mem+2048, resp[:])
	fmt.Println("state", resp[26])
	queryPort(2)
	// Output:
	// EINVAL (context/none): The file has no context yet.
	// <nil>
	// <nil>
	// state 4
	// EINVAL (port/invalid): The device has no port of that number.
}
