package guest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	cpioLink = 0o120000
)

func (c *cpioWriter) dir(name string) { c.entry(name, cpioDir|0o755, nil) }

func (c *cpioWriter) file(name string, perm int, data []byte) { c.entry(name, cpioFile|perm, data) }

// link makes a symbolic link.
func (c *cpioWriter) link(name, target string) { c.entry(name, cpioLink|0o777, []byte(target)) }

// tree writes all that is in a directory, under the same names.
func (c *cpioWriter) tree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch d.Type() {
		case fs.ModeDir:
			c.dir(name)
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			c.link(name, target)
		case 0:
			return c.copy(name, int(info.Mode().Perm()), path)
		}
		return c.err
	})
}

// copy writes a file as it is.
func (c *cpioWriter) copy(name string, perm int, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	c.file(name, perm, b)
	return c.err
}

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
