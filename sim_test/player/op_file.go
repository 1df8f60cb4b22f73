package player

import (
	"fmt"
	"syscall"
	"time"

	"uverbsim/casefile"
)

func (p *player) openNode(a *casefile.Open, g *casefile.Got) {
	flags := syscall.O_RDWR
	switch a.Mode {
	case "r":
		flags = syscall.O_RDONLY
	case "w":
		flags = syscall.O_WRONLY
	}
	if a.Cloexec == nil || *a.Cloexec {
		flags |= syscall.O_CLOEXEC
	}
	fd, err := p.task.Open(flags)
	if p.answerNew(g, err) {
		p.addFD(a.FD, fd)
	}
}

func (p *player) close(a *casefile.Close, g *casefile.Got) error {
	fd, err := p.fd(a.FD)
	if err != nil {
		return err
	}
	p.answer(g, 0, p.task.Close(fd))
	delete(p.open, a.FD)
	return nil
}

func (p *player) ioctl(a *casefile.Ioctl, g *casefile.Got, look *casefile.Look) error {
	fd, err := p.fd(a.FD)
	if err != nil {
		return err
	}
	cmd, err := a.Command(p)
	if err != nil {
		return err
	}
	b, data, err := a.Bytes(p.c.Driver, p)
	if err != nil {
		return err
	}
	for i := range data {
		p.names = append(p.names, data[i].Bufs...)
	}
	arg, reg, err := p.argument(b, &a.Arg, a.ArgEdge)
	if err != nil {
		return err
	}
	if reg != nil {
		defer reg.unmap(p.task) // nobody else knows it
		if err := reg.protect(p.task, protOf(a.ArgProt)); err != nil {
			return err
		}
	}
	ret, err := p.task.Ioctl(fd, cmd, arg)
	ok := p.answer(g, ret, err)
	var after []byte
	if reg != nil {
		after, _ = reg.contents(p.task)
	}
	g.Attrs = a.Report(after, data)
	g.Bufs = look.Report(p.names, p.contents)
	if !ok {
		return nil
	}
	return p.save(a.Save, a.SaveFD, after)
}

func (p *player) write(a *casefile.Write, g *casefile.Got, look *casefile.Look) error {
	fd, err := p.fd(a.FD)
	if err != nil {
		return err
	}
	b, names, err := a.Bytes(p)
	if err != nil {
		return err
	}
	p.names = names
	addr, reg, err := p.argument(b, &a.Arg, a.ArgEdge)
	if err != nil {
		return err
	}
	if reg != nil {
		defer reg.unmap(p.task) // nobody else knows it
	}
	ret, err := p.task.Write(fd, addr, uint64(len(b)))
	ok := p.answer(g, ret, err)
	g.Bufs = look.Report(p.names, p.contents)
	if !ok {
		return nil
	}
	return p.save(a.Save, a.SaveFD, nil)
}

// argument places the bytes that a call is handed and returns where: in a
// region of their own, of which only the first *edge bytes are mapped if edge
// is given; at the address at, without a region, if there is one.
func (p *player) argument(b []byte, at *casefile.Value, edge *int) (uint64, *region, error) {
	if at.Kind != casefile.Absent {
		addr, err := p.pointer(at)
		return addr, nil, err
	}
	if edge != nil {
		b = b[:min(*edge, len(b))]
	}
	r, err := newRegion(p.task, b, edge != nil)
	if err != nil {
		return 0, nil, err
	}
	return r.addr, r, nil
}

// save takes handles and descriptors out of the attributes after the call, or
// out of buffers.
func (p *player) save(handles, fds map[string]casefile.Ref, after []byte) error {
	for sym, ref := range handles {
		n, err := p.saved(sym, ref, after)
		if err != nil {
			return err
		}
		p.syms[sym] = symbol{n: n}
	}
	for sym, ref := range fds {
		n, err := p.saved(sym, ref, after)
		if err != nil {
			return err
		}
		p.addFD(sym, int(int32(n)))
	}
	return nil
}

func (p *player) saved(sym string, ref casefile.Ref, after []byte) (uint64, error) {
	if ref.Buf != "" {
		n, ok := p.BufNumber(ref.Buf, ref.Off, ref.Size)
		if !ok {
			return 0, fmt.Errorf("%s is to be saved from %d bytes at %d of buffer %q, which are not there", sym, ref.Size, ref.Off, ref.Buf)
		}
		return n, nil
	}
	at := casefile.HdrLen + casefile.AttrLen*ref.Attr + 8
	if at+8 > len(after) {
		return 0, fmt.Errorf("%s is to be saved from attribute %d, which is not mapped", sym, ref.Attr)
	}
	return number(after[at:], 8), nil
}

func (p *player) read(a *casefile.ReadEvent, g *casefile.Got, mask []casefile.Range) error {
	fd, err := p.fd(a.FD)
	if err != nil {
		return err
	}
	if a.Nonblock {
		if err := p.task.SetNonblock(fd); err != nil {
			p.answer(g, 0, err)
			return nil
		}
	}
	if a.Arg.Kind != casefile.Absent {
		addr, err := p.pointer(&a.Arg)
		if err != nil {
			return err
		}
		ret, err := p.task.Read(fd, addr, uint64(a.Len))
		p.answer(g, ret, err)
		return nil
	}
	r, err := newRegion(p.task, make([]byte, a.Len), false)
	if err != nil {
		return err
	}
	defer r.unmap(p.task) // nobody else knows it
	ret, err := p.task.Read(fd, r.addr, uint64(a.Len))
	if p.answer(g, ret, err) {
		b, _ := r.contents(p.task)
		text := casefile.MaskHex(b[:ret], mask)
		g.Hex = &text
	}
	return nil
}

func (p *player) poll(a *casefile.Poll, g *casefile.Got) error {
	fd, err := p.fd(a.FD)
	if err != nil {
		return err
	}
	revents, err := p.task.Poll(fd, time.Duration(a.Timeout)*time.Millisecond)
	ready := int64(0)
	if revents != 0 {
		ready = 1
	}
	if p.answer(g, ready, err) {
		n := casefile.Uint(uint64(revents))
		g.Revents = &n
	}
	return nil
}

func (p *player) dup(a *casefile.Dup, g *casefile.Got) error {
	fd, err := p.fd(a.FD)
	if err != nil {
		return err
	}
	to := -1
	if a.To != "" {
		if to, err = p.fd(a.To); err != nil {
			return err
		}
	}
	var n int
	switch a.How {
	case "", "dup":
		n, err = p.task.Dup(fd)
	case "dup2":
		n, err = p.task.Dup2(fd, to)
	case "dup3":
		n, err = p.task.Dup3(fd, to, syscall.O_CLOEXEC)
	default:
		n, err = p.task.FcntlDupFD(fd, a.N, a.How == "fdupfd_cloexec")
	}
	if p.answerNew(g, err) {
		p.addFD(a.As, n)
	}
	return nil
}
