package kernel_test

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/rxe"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/verbs/libmlx5"
)

// A machine has a core, devices and processes. A process opens a device's node and
// calls it by bytes in its memory. What is refused is an error that names the check.
func ExampleNewMachine() {
	m := kernel.NewMachine(methods.Core())
	if _, err := m.Register(rxe.New(rxe.Config{})); err != nil {
		fmt.Println(err)
		return
	}
	p := m.NewProcess(process.Options{})
	fd, err := p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	if err != nil {
		fmt.Println(err)
		return
	}
	mem, err := p.Mmap(-1, copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Mem.Store(mem, spec.EncodeMethod(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT))

	for range 2 { // a file has one context
		_, err = p.Ioctl(fd, spec.RDMA_VERBS_IOCTL, mem)
		fmt.Println(err)
	}
	_, err = p.Open("/dev/infiniband/uverbs1", syscall.O_RDWR)
	fmt.Println(err)
	// Output:
	// <nil>
	// EINVAL (ucontext/twice): The file has its context already.
	// ENOENT (open/no-node): There is no device node of that name.
}

// A driver can add methods of its own. This one doubles a number: the parser has
// looked at lengths and at what is mandatory before its handler runs.
func ExampleDefinitions() {
	const (
		driverID     = 99
		objectMath   = spec.NSFlag
		methodDouble = spec.NSFlag
		attrNumber   = spec.NSFlag
		attrResult   = spec.NSFlag + 1
	)
	driver := kernel.Definitions{
		Spec: []spec.Definition{{Object: spec.Object{ID: objectMath, Name: "MATH", Methods: []spec.Method{
			{ID: methodDouble, Name: "DOUBLE", Attrs: []spec.Attr{
				{ID: attrNumber, Name: "NUMBER", Type: spec.TypePtrIn, Len: 4, MinLen: 4, Mandatory: true},
				{ID: attrResult, Name: "RESULT", Type: spec.TypePtrOut, Len: 4, MinLen: 4, Mandatory: true},
			}},
		}}}},
		Methods: map[kernel.MethodID]kernel.Handler{
			{Object: objectMath, Method: methodDouble}: func(b *kernel.Bundle) error {
				n, err := b.Uint32(attrNumber)
				if err != nil {
					return err
				}
				return b.CopyToUint32(attrResult, 2*n)
			},
		},
	}
	m := kernel.NewMachine(methods.Core())
	dev := &core.Device{Name: "math0", DriverID: driverID, Ops: core.DeviceOps{
		AllocUcontext:   func(*core.Ucontext, *core.Udata) error { return nil },
		DeallocUcontext: func(*process.Task, *core.Ucontext) {},
	}}
	if _, err := m.Register(dev, driver); err != nil {
		fmt.Println(err)
		return
	}
	p := m.NewProcess(process.Options{})
	fd, err := p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	if err != nil {
		fmt.Println(err)
		return
	}
	mem, err := p.Mmap(-1, copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	result := mem + 1024
	double := func(attrs ...spec.IoctlAttr) {
		p.Mem.Store(mem, spec.EncodeMethod(driverID, objectMath, methodDouble, attrs...))
		_, err := p.Ioctl(fd, spec.RDMA_VERBS_IOCTL, mem)
		var b [4]byte
		p.Mem.Load(result, b[:])
		fmt.Println(binary.LittleEndian.Uint32(b[:]), err)
	}

	to := spec.IoctlAttr{AttrID: attrResult, Len: 4, Data: uint64(result)}
	double(spec.IoctlAttr{AttrID: attrNumber, Len: 4, Data: 21}, to) // up to 8 bytes lie in the attribute
	double(spec.IoctlAttr{AttrID: attrNumber, Len: 2, Data: 30}, to)
	double(to)
	// Output:
	// 42 <nil>
	// 42 EINVAL (attr/too-short): The attribute's length is below the least that the method accepts.
	// 42 EINVAL (attr/missing): An attribute that the method must have is missing.
}

// When a device goes, its node goes at once. Who has it open keeps the file, and
// every call on it fails.
func ExampleMachine_Unregister() {
	m := kernel.NewMachine(methods.Core())
	if _, err := mlx5.New(m, mlx5.Config{}); err != nil {
		fmt.Println(err)
		return
	}
	p := m.NewProcess(process.Options{})
	ctx, err := libmlx5.OpenDevice(p, "/dev/infiniband/uverbs0")
	if err != nil {
		fmt.Println(err)
		return
	}

	m.Unregister(p.MainTask(), m.Device("/dev/infiniband/uverbs0"))
	_, err = ctx.AllocPD()
	fmt.Println(err)
	_, err = p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	fmt.Println(err)
	fmt.Println(p.Close(ctx.CmdFD))
	// Output:
	// EIO (context/device-gone): The device was removed.
	// ENOENT (open/no-node): There is no device node of that name.
	// <nil>
}
