//go:build linux

package firmware

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const functionSize = int(unsafe.Sizeof(function{}))

// plug makes the function.
func (b *bridge) plug(f *function) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(b.fd), uintptr(ioctlPlug), uintptr(unsafe.Pointer(f))); errno != 0 {
		return fmt.Errorf("%s: no function: %w", bridgeDevice, errno)
	}
	return nil
}
