package uobject_test

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// The ids of an object of a driver's own, with the methods that make and destroy
// one and the attribute of both that has its handle.
const (
	objectTicket  = spec.NSFlag
	ticketCreate  = spec.NSFlag
	ticketDestroy = spec.NSFlag + 1
	ticketHandle  = spec.NSFlag
)

// A driver declares how its objects are made and destroyed, and the machine keeps
// their handles: it gives out the lowest free one, and destroys what is left when
// the file is closed.
func ExampleTypeAttrs() {
	handle := func(a spec.Access) []spec.Attr {
		return []spec.Attr{{ID: ticketHandle, Name: "TICKET_HANDLE", Type: spec.TypeIDR, Object: objectTicket, Access: a, Mandatory: true}}
	}
	made := 0
	driver := kernel.Definitions{
		Spec: []spec.Definition{{Object: spec.Object{ID: objectTicket, Name: "TICKET", Class: spec.ClassIDR, Methods: []spec.Method{
			{ID: ticketCreate, Name: "TICKET_CREATE", Attrs: handle(spec.AccessNew)},
			{ID: ticketDestroy, Name: "TICKET_DESTROY", Attrs: handle(spec.AccessDestroy), Destroy: true},
		}}}},
		Types: map[uint16]*uobject.TypeAttrs{objectTicket: {
			Destroy: func(o *uobject.Object, why uobject.RemoveReason, _ uobject.Attrs) error {
				fmt.Printf("handle %d, ticket %d: %s\n", o.ID(), o.HW, why)
				return nil
			},
		}},
		Methods: map[kernel.MethodID]kernel.Handler{
			{Object: objectTicket, Method: ticketCreate}: func(b *kernel.Bundle) error {
				o, err := b.Object(ticketHandle)
				if err != nil {
					return err
				}
				made++
				o.HW = made
				return nil
			},
		},
	}
	p, fd, mem, err := open(driver)
	if err != nil {
		fmt.Println(err)
		return
	}
	call := func(method uint16, handle uint64) (uint32, error) {
		p.Mem.Store(mem, spec.EncodeMethod(driverID, objectTicket, method, spec.IoctlAttr{AttrID: ticketHandle, Data: handle}))
		_, err := p.Ioctl(fd, spec.RDMA_VERBS_IOCTL, mem)
		var data [4]byte
		p.Mem.Load(mem+spec.IoctlHdrSize+8, data[:])
		return binary.LittleEndian.Uint32(data[:]), err
	}

	for range 2 {
		h, err := call(ticketCreate, 0)
		fmt.Println("made", h, err)
	}
	_, err = call(ticketDestroy, 0)
	fmt.Println(err)
	_, err = call(ticketDestroy, 0)
	fmt.Println(err)
	h, err := call(ticketCreate, 0)
	fmt.Println("made", h, err)
	fmt.Println(p.Close(fd))
	// Output:
	// made 0 <nil>
	// made 1 <nil>
	// handle 0, ticket 1: destroy
	// <nil>
	// ENOENT (object/not-found): No live object of this open file has that handle.
	// made 0 <nil>
	// handle 0, ticket 3: close
	// handle 1, ticket 2: close
	// <nil>
}

const driverID = 99

// open makes a machine with a device of that driver, and a process that has opened
// the device, with a context and a page of memory.
func open(driver kernel.Definitions) (p *process.Process, fd int, mem copyuser.Addr, err error) {
	m := kernel.NewMachine(methods.Core())
	dev := &core.Device{Name: "tickets0", DriverID: driverID, Ops: core.DeviceOps{
		AllocUcontext:   func(*core.Ucontext, *core.Udata) error { return nil },
		DeallocUcontext: func(*process.Task, *core.Ucontext) {},
	}}
	if _, err := m.Register(dev, driver); err != nil {
		return nil, -1, 0, err
	}
	p = m.NewProcess(process.Options{})
	if fd, err = p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR); err != nil {
		return nil, -1, 0, err
	}
	mem, err = p.Mmap(-1, copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	if err != nil {
		return nil, -1, 0, err
	}
	p.Mem.Store(mem, spec.EncodeMethod(driverID, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT))
	_, err = p.Ioctl(fd, spec.RDMA_VERBS_IOCTL, mem)
	return p, fd, mem, err
}
