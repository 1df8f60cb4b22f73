package guest

import (
	"fmt"
	"io"
)

// cpioWriter writes an archive of the kind that the kernel unpacks as its first
// file system: the "newc" format of
// Documentation/driver-api/early-userspace/buffer-format.rst.
type cpioWriter struct {
	w   io.Writer
	ino int
	err error
}

// The types of files in their modes.
const (
	cpioDir  = 0o040000
	cpioFile = 0o100000
)

func (c *cpioWriter) dir(name string) { c.entry(name, cpioDir|0o755, nil) }

func (c *cpioWriter) file(name string, perm int, data []byte) { c.entry(name, cpioFile|perm, data) }

// end writes what ends an archive, and returns the first error.
func (c *cpioWriter) end() error {
	c.entry("TRAILER!!!", 0, nil)
	return c.err
}

func (c *cpioWriter) entry(name string, mode int, data []byte) {
	c.ino++
	const links, owner, time, device, check = 1, 0, 0, 0, 0
	head := "070701"
	for _, n := range []int{c.ino, mode, owner, owner, links, time, len(data), device, device, device, device, len(name) + 1, check} {
		head += fmt.Sprintf("%08X", n)
	}
	head += name + "\x00"
	c.put([]byte(head))
	c.put(data)
}

// put writes bytes and zeros up to a multiple of 4.
func (c *cpioWriter) put(b []byte) {
	for _, part := range [][]byte{b, make([]byte, -len(b)&3)} {
		if c.err == nil {
			_, c.err = c.w.Write(part)
		}
	}
}
