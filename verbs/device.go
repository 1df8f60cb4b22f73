package verbs

import (
	"errors"
	"sync"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

// Context is an open device: struct ibv_context with struct verbs_ex_private.
// Its methods may be called by several goroutines at once.
type Context struct {
	CmdFD   int // of the device node
	AsyncFD int // of the asynchronous events, -1 while there is none

	NumCompVectors uint32
	CoreSupport    uint64 // IB_UVERBS_CORE_SUPPORT_*

	// AllowDisassociateDestroy makes a destroy of what went with its device
	// succeed, as the environment variable RDMAV_ALLOW_DISASSOC_DESTROY does.
	AllowDisassociateDestroy bool

	sys           System
	driverID      uint32
	useIoctlWrite bool

	mu                sync.Mutex // over what follows
	unsupportedIoctls uint64     // a bit for each Op
	frames            []*Frame
	elements          map[uint64]any // *CQ, *QP and *SRQ, by user handle
	lastHandle        uint64
}

// OpenDevice opens a device node for the library of a driver, RDMA_DRIVER_*,
// which makes the context by alloc. It models verbs_open_device in
// libibverbs/device.c. A context that comes with an error is the driver's
// library's to free.
//
// Errors: those of open, of alloc, and of the allocation of the descriptor for
// asynchronous events.
func OpenDevice(sys System, path string, driverID uint32, alloc func(*Context) error) (*Context, error) {
	fd, err := sys.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	c := InitContext(sys, fd, driverID)
	if err := alloc(c); err != nil {
		c.Uninit()
		return nil, err
	}
	if c.AsyncFD == -1 {
		if err := c.cmdAllocAsyncFD(); err != nil {
			return c, err
		}
	}
	return c, nil
}

// InitContext returns a context for an open device node, and finds out whether
// the kernel takes write() commands by ioctl. It models verbs_init_context in
// libibverbs/device.c.
func InitContext(sys System, fd int, driverID uint32) *Context {
	c := &Context{CmdFD: fd, AsyncFD: -1, sys: sys, driverID: driverID, elements: map[uint64]any{}}
	c.useIoctlWrite = c.hasIoctlWrite()
	return c
}

// System returns the process that the context is of.
func (c *Context) System() System { return c.sys }

// hasIoctlWrite models has_ioctl_write in libibverbs/device.c: it sends a
// command that is too short for any kernel, and looks how it is refused.
func (c *Context) hasIoctlWrite() bool {
	f := c.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE, 1, nil)
	cmd.FillAttrConstIn(spec.UVERBS_ATTR_WRITE_CMD, spec.IB_USER_VERBS_CMD_QUERY_DEVICE)
	err := c.ExecuteIoctl(cmd)
	return !errors.Is(err, syscall.EPROTONOSUPPORT) && !errors.Is(err, syscall.ENOTTY)
}

// Uninit closes the context's descriptors and gives its memory back. It models
// verbs_uninit_context in libibverbs/device.c.
func (c *Context) Uninit() {
	c.mu.Lock()
	frames := c.frames
	c.frames = nil
	c.mu.Unlock()
	for _, f := range frames {
		f.unmap(mapping{f.base, frameSize})
	}
	c.closeFD(c.CmdFD)
	if c.AsyncFD != -1 {
		c.closeFD(c.AsyncFD)
	}
}

// closeFD closes a descriptor that the library opened. There is no answer to
// a failure: the descriptor is gone in any case.
func (c *Context) closeFD(fd int) { _ = c.sys.Close(fd) }

// destroyErr models verbs_is_destroy_err of libibverbs/cmd_write.h. It says
// whether a destroy is over, and with which error.
func (c *Context) destroyErr(err error) (over bool, _ error) {
	if c.AllowDisassociateDestroy && errors.Is(err, syscall.EIO) {
		return true, nil
	}
	return err != nil, err
}

// read reads a wire struct from a descriptor by way of the program's memory. It
// says whether that many bytes came.
func read[T any](c *Context, fd int, v *T) (bool, error) {
	f := c.Frame()
	defer f.Leave()
	b := spec.Bytes(v)
	at := f.push(b)
	if f.err != nil {
		return false, f.err
	}
	n, err := c.sys.Read(fd, copyuser.Addr(at), uint64(len(b)))
	if err != nil {
		return false, err
	}
	f.load(at, b)
	return n == int64(len(b)), f.err
}
