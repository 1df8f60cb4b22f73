package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"uverbsim/spec"
)

// program is one that makes the calls: it has the device open, with a context and,
// in another file, without.
type program struct {
	Task
	driver    uint32 // rdma_driver_id
	fd, bare  int
	next, end uint64 // free memory
	err       error  // the first one in preparing calls
}

// newProgram opens the device of a driver.
func newProgram(t Task, driver uint32) (_ *program, err error) {
	p := &program{Task: t, driver: driver, fd: -1, bare: -1}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	for _, fd := range []*int{&p.fd, &p.bare} {
		if *fd, err = t.Open(syscall.O_RDWR | syscall.O_CLOEXEC); err != nil {
			return nil, fmt.Errorf("opening the device: %w", err)
		}
	}
	if err := p.try(p.getContext(p.fd)); err != nil {
		return nil, fmt.Errorf("GET_CONTEXT: %w", err)
	}
	return p, nil
}

// close ends the program's use of the device.
func (p *program) close() (err error) {
	for _, fd := range []int{p.fd, p.bare} {
		if fd >= 0 {
			err = errors.Join(err, p.Close(fd))
		}
	}
	return err
}

// keep keeps the first error.
func (p *program) keep(err error) {
	if p.err == nil {
		p.err = err
	}
}

const (
	cacheLine = 64
	pageSize  = 4096
)

// alloc returns memory of n bytes that are there and touched: in cache lines of its
// own, and in pages of its own if it is a page or more.
func (p *program) alloc(n int) uint64 {
	const chunk = 64 * pageSize
	unit := uint64(cacheLine)
	if n >= pageSize {
		unit = pageSize
	}
	at := (p.next + unit - 1) &^ (unit - 1)
	size := (uint64(n) + unit - 1) &^ (unit - 1)
	if at+size > p.end {
		var err error
		if at, err = p.Map(max(chunk, size)); err != nil {
			p.keep(fmt.Errorf("mapping memory: %w", err))
			return 0
		}
		p.end = at + max(chunk, size)
	}
	p.next = at + size
	p.put(at, make([]byte, n))
	return at
}

// put stores into the program's memory, take loads a number of 4 bytes from it.
func (p *program) put(at uint64, b []byte) {
	if p.err == nil && p.Store(at, b) < len(b) {
		p.keep(fmt.Errorf("the program's memory at %#x is not mapped", at))
	}
}

func (p *program) take(at uint64) uint32 {
	var b [4]byte
	if p.err == nil && p.Load(at, b[:]) < len(b) {
		p.keep(fmt.Errorf("the program's memory at %#x is not mapped", at))
	}
	return binary.LittleEndian.Uint32(b[:])
}

// input is memory with those bytes.
func (p *program) input(b []byte) uint64 {
	at := p.alloc(len(b))
	p.put(at, b)
	return at
}

// The attributes of an ioctl; all are mandatory, as libibverbs sends them.

// number is input of up to 8 bytes.
func number(id, n uint16, v uint64) spec.IoctlAttr {
	return spec.IoctlAttr{AttrID: id, Len: n, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: v}
}

// handle is an object, or a new one.
func handle(id uint16, h uint32) spec.IoctlAttr { return number(id, 0, uint64(h)) }

// in is input of more than 8 bytes, out room for n bytes of output.
func (p *program) in(id uint16, b []byte) spec.IoctlAttr {
	return number(id, uint16(len(b)), p.input(b))
}

func (p *program) out(id, n uint16) spec.IoctlAttr { return number(id, n, p.alloc(int(n))) }

// ioctl puts an ioctl into memory.
func (p *program) ioctl(object, method uint16, attrs ...spec.IoctlAttr) step {
	b := spec.EncodeMethod(p.driver, object, method, attrs...)
	return step{op: opIoctl, fd: p.fd, cmd: spec.RDMA_VERBS_IOCTL, addr: p.input(b)}
}

// dataAt is where attribute i of an ioctl has its data: the handle of a new object.
func (s step) dataAt(i int) uint64 {
	return s.addr + spec.IoctlHdrSize + uint64(i)*spec.IoctlAttrSize + spec.IoctlAttrDataOffset
}

// command puts a write() command into memory that answers with up to n bytes.
func (p *program) command(cmd uint32, n int, request ...[]byte) step {
	b := make([]byte, spec.CmdHdrSize)
	for _, part := range request {
		b = append(b, part...)
	}
	copy(b, spec.Bytes(&spec.CmdHdr{Command: cmd, InWords: uint16(len(b) / 4), OutWords: uint16(n / 4)}))
	return step{op: opWrite, fd: p.fd, addr: p.input(b), n: uint64(len(b))}
}
