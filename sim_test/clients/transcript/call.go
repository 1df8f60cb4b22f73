package transcript

import (
	"fmt"
	"io"
	"strings"
	"syscall"

	"uverbsim/spec"
)

// Program is what one program did.
type Program struct {
	Name   string // its command line
	Calls  []Call
	Output []string // what it printed, by line
}

// Call is a system call on the device.
type Call struct {
	Ioctl *Ioctl
	Mmap  *Mmap
	Errno syscall.Errno
	Line  int // where the transcript has it; 0 of a live call
}

// Mmap is an mmap of the device.
type Mmap struct {
	Length, Offset uint64
	Prot, FD       int
}

// Ioctl is an RDMA_VERBS_IOCTL.
type Ioctl struct {
	Object, Method uint16
	Driver         uint32
	Attrs          []Attr
}

// Attr is an attribute, before and after the call.
type Attr struct {
	ID, Len, Flags, Reserved uint16
	AfterFlags               uint16
	Before, After            Value
}

// Value is the data of an attribute: a number, or where that is an address the
// bytes there.
type Value struct {
	Number  uint64
	Pointer bool
	Bytes   []byte // at most maxBytes; nil if they cannot be read
}

// maxBytes is how many bytes the transcript has of an attribute at most.
const maxBytes = 512

// least is the least number that the transcript takes for an address.
const least = 1 << 32

// Command is the write() command of an ioctl that invokes one, 0 otherwise.
func (i *Ioctl) Command() uint32 {
	if i.Object != spec.UVERBS_OBJECT_DEVICE || i.Method != spec.UVERBS_METHOD_INVOKE_WRITE {
		return 0
	}
	for n := range i.Attrs {
		if a := &i.Attrs[n]; a.ID == spec.UVERBS_ATTR_WRITE_CMD {
			return uint32(a.Before.Number)
		}
	}
	return 0
}

// String names the call.
func (c *Call) String() string {
	if c.Mmap != nil {
		return fmt.Sprintf("mmap at %#x", c.Mmap.Offset)
	}
	i := c.Ioctl
	defs := spec.Linux6_12.Definitions(i.Driver)
	if n := i.Command(); n != 0 {
		ex := n&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0
		if w := spec.FindWrite(defs, uint8(n), ex); w != nil {
			return w.Name
		}
	}
	if _, m := spec.FindMethod(defs, i.Object, i.Method); m != nil {
		return m.Name
	}
	return fmt.Sprintf("ioctl obj=%#x method=%#x", i.Object, i.Method)
}

// WriteTo writes the program as the transcript has it: its calls, then what it
// printed.
func (p *Program) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "== %s\n", p.Name)
	for i := range p.Calls {
		p.Calls[i].write(&b)
	}
	for _, line := range p.Output {
		b.WriteString(line + "\n")
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (c *Call) write(b *strings.Builder) {
	if m := c.Mmap; m != nil {
		how := "ok"
		if c.Errno != 0 {
			how = message(c.Errno)
		}
		fmt.Fprintf(b, "mmap len=%s prot=%d fd=%d off=%s = %s\n", sharp(m.Length), m.Prot, m.FD, sharp(m.Offset), how)
		return
	}
	i := c.Ioctl
	fmt.Fprintf(b, "ioctl obj=%s method=%s drv=%d\n", sharp(uint64(i.Object)), sharp(uint64(i.Method)), i.Driver)
	for n := range i.Attrs {
		a := &i.Attrs[n]
		fmt.Fprintf(b, "  {id=%s len=%d fl=%d u=%s data=%s}\n", sharp(uint64(a.ID)), a.Len, a.Flags, sharp(uint64(a.Reserved)), a.Before)
	}
	if c.Errno == 0 {
		b.WriteString("  = 0 \n")
	} else {
		fmt.Fprintf(b, "  = -1 %s\n", message(c.Errno))
	}
	for n := range i.Attrs {
		a := &i.Attrs[n]
		fmt.Fprintf(b, "  after id=%s fl=%d %s\n", sharp(uint64(a.ID)), a.AfterFlags, a.After)
	}
}

// String is the value as the transcript has it.
func (v Value) String() string {
	switch {
	case !v.Pointer:
		return sharp(v.Number)
	case v.Bytes == nil:
		return "-> ?"
	}
	return fmt.Sprintf("-> %x", v.Bytes)
}

// sharp is a number as printf("%#x") writes it: 0 without 0x.
func sharp(n uint64) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%#x", n)
}

// message is strerror of an errno: Go's text with a capital.
func message(e syscall.Errno) string {
	text := e.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// errnoOf is the errno with that message.
func errnoOf(text string) (syscall.Errno, bool) {
	const last = 133 // EHWPOISON, include/uapi/asm-generic/errno.h
	for e := syscall.Errno(1); e <= last; e++ {
		if message(e) == text {
			return e, true
		}
	}
	return 0, false
}
