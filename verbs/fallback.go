package verbs

import (
	"errors"
	"fmt"
	"syscall"
)

// Fallback says what is to become of a command after its ioctl was tried: enum
// write_fallback of libibverbs/cmd_write.h.
type Fallback uint8

// The members of enum write_fallback.
const (
	TryWrite   Fallback = iota // there is no such ioctl: use the write() command
	TryWriteEx                 // there is no such ioctl: use the extended write() command
	Failed                     // the command has failed
	Success                    // the ioctl did it
)

// Op names a command in the set of those whose ioctl the kernel does not have:
// _CMD_BIT of libibverbs/cmd_write.h.
type Op uint8

// The commands that have both an ioctl and a write() form, by the operation of
// struct verbs_context_ops that they serve.
const (
	OpFreeContext Op = iota // GET_CONTEXT, which has no operation of its own
	OpQueryPort
	OpDeallocPD
	OpDeregMR
	OpCreateCQ
	OpDestroyCQ
	OpCreateQP
	OpDestroyQP
	OpCreateSRQ
	OpDestroySRQ
	OpDestroyAH
	OpDeallocMW
	OpCloseXRCD
	numOps
)

// ErrNoFallback is the error of a command for which the kernel has no ioctl and
// whose attributes no write() command can express. Its errno is EOPNOTSUPP.
var ErrNoFallback = fmt.Errorf("verbs: the kernel has no ioctl for this, and write() cannot express it: %w", syscall.EOPNOTSUPP)

// ExecuteIoctlFallback executes the command as an ioctl unless the kernel is
// known not to have it, and says how to go on. ENOTTY means that it has no
// ioctls at all, and none is tried again; EPROTONOSUPPORT that it has not this
// one, which is not tried again. It models _execute_ioctl_fallback in
// libibverbs/cmd_fallback.c.
//
// Errors: with Failed, those of ExecuteIoctl and ErrNoFallback.
func (c *Context) ExecuteIoctlFallback(op Op, cmd *CommandBuffer) (Fallback, error) {
	if c.ioctlUnsupported(op) {
		return cmd.checkLegacy()
	}
	err := c.ExecuteIoctl(cmd)
	switch {
	case err == nil:
		return Success, nil
	case errors.Is(err, syscall.ENOTTY):
		for o := range numOps {
			c.setIoctlUnsupported(o)
		}
		return cmd.checkLegacy()
	case errors.Is(err, syscall.EPROTONOSUPPORT):
		c.setIoctlUnsupported(op)
		return cmd.checkLegacy()
	}
	return Failed, err
}

func (c *Context) ioctlUnsupported(op Op) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unsupportedIoctls>>op&1 != 0
}

func (c *Context) setIoctlUnsupported(op Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsupportedIoctls |= 1 << op
}

// checkLegacy models _check_legacy in libibverbs/cmd_fallback.c: whether a
// write() command can say what the links of cmd do.
func (cmd *CommandBuffer) checkLegacy() (Fallback, error) {
	requireEx, ioctlOnly := cmd.fallbackRequireEx, cmd.fallbackIoctlOnly
	for link := cmd.next; link != nil; link = link.next {
		for i := range link.attrs {
			if !link.isLegacy(i) {
				return Failed, ErrNoFallback
			}
		}
		requireEx = requireEx || link.fallbackRequireEx
		ioctlOnly = ioctlOnly || link.fallbackIoctlOnly
	}
	switch {
	case ioctlOnly:
		return Failed, ErrNoFallback
	case requireEx:
		return TryWriteEx, nil
	}
	return TryWrite, nil
}
