package demo

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// program is the process that a library runs in, watched: every system call is
// written down, and every load and store when the recorder wants that.
type program struct {
	p   *process.Process
	rec *recorder
	// tamper, when set, changes an ioctl before the kernel sees it, and returns
	// where it is now. It is how a program's mistake comes about.
	tamper func(p *program, hdr *spec.IoctlHdr, arg copyuser.Addr) copyuser.Addr
}

var _ verbs.System = (*program)(nil)

// end writes down what a system call returned.
func end[T any](a *Act, format string, v T, err error) (T, error) {
	a.Result = fmt.Sprintf(format, v)
	if err != nil {
		a.Result = "-1 " + rule.ErrnoName(rule.Errno(err))
		errors.As(err, &a.Rule)
	}
	return v, err
}

// Open implements verbs.System.
func (p *program) Open(path string, flags int) (int, error) {
	a := p.rec.act(fmt.Sprintf("open(%q, %s)", path, flagText(openFlags, flags)))
	fd, err := p.p.Open(path, flags)
	return end(a, "%d", fd, err)
}

// Close implements verbs.System.
func (p *program) Close(fd int) error {
	a := p.rec.act(fmt.Sprintf("close(%d)", fd))
	_, err := end(a, "%d", 0, p.p.Close(fd))
	return err
}

// Ioctl implements verbs.System.
func (p *program) Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error) {
	if p.tamper != nil {
		var hdr [spec.IoctlHdrSize]byte
		if p.p.Load(arg, hdr[:]) {
			h := spec.DecodeIoctlHdr(&hdr)
			arg = p.tamper(p, &h, arg)
		}
	}
	a := p.rec.act(fmt.Sprintf("ioctl(%d, RDMA_VERBS_IOCTL, %#x)", fd, uint64(arg)))
	a.Ioctl = decodeIoctl(p.p, arg)
	n, err := p.p.Ioctl(fd, cmd, arg)
	a.Ioctl.answered(p.p, err)
	return end(a, "%d", n, err)
}

// Read implements verbs.System.
func (p *program) Read(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	a := p.rec.act(fmt.Sprintf("read(%d, %#x, %d)", fd, uint64(buf), n))
	got, err := p.p.Read(fd, buf, n)
	return end(a, "%d", got, err)
}

// Write implements verbs.System.
func (p *program) Write(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	a := p.rec.act(fmt.Sprintf("write(%d, %#x, %d)", fd, uint64(buf), n))
	got, err := p.p.Write(fd, buf, n)
	return end(a, "%d", got, err)
}

// Poll implements verbs.System.
func (p *program) Poll(fd int, timeout time.Duration) (uint16, error) {
	a := p.rec.act(fmt.Sprintf("poll(%d, %v)", fd, timeout))
	revents, err := p.p.Poll(fd, timeout)
	return end(a, "%#x", revents, err)
}

// Mmap implements verbs.System.
func (p *program) Mmap(fd int, n uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	text := fmt.Sprintf("mmap(NULL, %#x, %s, %s", n, flagText(protFlags, prot), flagText(mapFlags, flags))
	if flags&syscall.MAP_ANONYMOUS == 0 {
		text += fmt.Sprintf(", %d, %#x", fd, off)
	}
	a := p.rec.act(text + ")")
	at, err := p.p.Mmap(fd, n, prot, flags, off)
	if err == nil && fd >= 0 && prot == syscall.PROT_WRITE {
		p.rec.places = append(p.rec.places, place{at, n, "the register page"})
	}
	return end(a, "%#x", at, err)
}

// Munmap implements verbs.System.
func (p *program) Munmap(at copyuser.Addr, n uint64) error {
	a := p.rec.act(fmt.Sprintf("munmap(%#x, %#x)", uint64(at), n))
	_, err := end(a, "%d", 0, p.p.Munmap(at, n))
	return err
}

// Load implements verbs.System.
func (p *program) Load(from copyuser.Addr, dst []byte) bool {
	where, named := p.where(from)
	if !p.rec.memory || !named {
		return p.p.Load(from, dst)
	}
	a := p.rec.act("")
	ok := p.p.Load(from, dst)
	a.Text = fmt.Sprintf("load %s from %s: %s", bytesText(len(dst)), where, hexText(dst))
	return ok
}

// Store implements verbs.System.
func (p *program) Store(to copyuser.Addr, src []byte) bool {
	if where, named := p.where(to); p.rec.memory && named {
		p.rec.act(fmt.Sprintf("store %s to %s: %s", bytesText(len(src)), where, hexText(src)))
	}
	return p.p.Store(to, src)
}

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// where names a place in the program's memory.
func (p *program) where(at copyuser.Addr) (string, bool) {
	for i := len(p.rec.places) - 1; i >= 0; i-- {
		if w := p.rec.places[i]; at >= w.at && uint64(at-w.at) < w.n {
			return fmt.Sprintf("%s + %#x", w.name, uint64(at-w.at)), true
		}
	}
	return "", false
}

// flag is a bit with its name.
type flag struct {
	bit  int
	name string
}

var (
	openFlags = []flag{{syscall.O_RDWR, "O_RDWR"}, {syscall.O_CLOEXEC, "O_CLOEXEC"}}
	protFlags = []flag{{syscall.PROT_READ, "PROT_READ"}, {syscall.PROT_WRITE, "PROT_WRITE"}}
	mapFlags  = []flag{{syscall.MAP_SHARED, "MAP_SHARED"}, {syscall.MAP_PRIVATE, "MAP_PRIVATE"}, {syscall.MAP_ANONYMOUS, "MAP_ANONYMOUS"}}
)

func flagText(flags []flag, v int) string {
	var names []string
	for _, f := range flags {
		if v&f.bit != 0 {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, "|")
}
