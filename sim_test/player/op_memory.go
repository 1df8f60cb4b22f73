package player

import (
	"fmt"
	"syscall"

	"uverbsim/casefile"
)

func (p *player) mmap(a *casefile.Mmap, g *casefile.Got) error {
	fd, err := p.fd(a.FD)
	if err != nil {
		return err
	}
	off, err := p.value(&a.Off)
	if err != nil {
		return err
	}
	n := uint64(a.Len)
	if a.Size.Kind != casefile.Absent {
		if n, err = p.value(&a.Size); err != nil {
			return err
		}
	}
	flags := syscall.MAP_SHARED
	if a.Flags == "private" {
		flags = syscall.MAP_PRIVATE
	}
	addr, err := p.task.Mmap(fd, n, protOfLetters(a.Prot), flags, off)
	if p.answerNew(g, err) {
		p.maps[a.As] = mapping{addr, (n + pageSize - 1) &^ (pageSize - 1)}
	}
	return nil
}

func (p *player) munmap(a *casefile.Munmap, g *casefile.Got) error {
	if a.Buf != "" {
		p.answer(g, 0, p.bufs[a.Buf].unmap(p.task))
		return nil
	}
	m, err := p.mapped(a.Map)
	if err != nil {
		return err
	}
	n := m.size
	if a.Len > 0 {
		n = uint64(a.Len)
	}
	p.answer(g, 0, p.task.Munmap(m.addr, n))
	return nil
}

func (p *player) mprotect(a *casefile.Mprotect, g *casefile.Got) error {
	if a.Buf != "" {
		p.answer(g, 0, p.bufs[a.Buf].protect(p.task, protOf(a.Prot)))
		return nil
	}
	m, err := p.mapped(a.Map)
	if err != nil {
		return err
	}
	p.answer(g, 0, p.task.Mprotect(m.addr, m.size, protOfLetters(a.Prot)))
	return nil
}

func (p *player) remap(a *casefile.Remap, g *casefile.Got) error {
	const mayMove = 1 // MREMAP_MAYMOVE
	m, err := p.mapped(a.Map)
	if err != nil {
		return err
	}
	addr, err := p.task.Mremap(m.addr, m.size, uint64(a.Len), mayMove)
	if p.answerNew(g, err) {
		p.maps[a.Map] = mapping{addr, uint64(a.Len)}
	}
	return nil
}

func (p *player) peek(a *casefile.Peek, g *casefile.Got, mask []casefile.Range) error {
	b := make([]byte, a.Len)
	if err := p.touch(a.Map, &a.Off, b, p.task.Load, g); err != nil {
		return err
	}
	if g.Ret != "-1" {
		text := casefile.MaskHex(b, mask)
		g.Hex = &text
	}
	return nil
}

func (p *player) poke(a *casefile.Poke, g *casefile.Got) error {
	return p.touch(a.Map, &a.Off, a.Data, p.task.Store, g)
}

// touch loads or stores a mapping's bytes one by one, up to the first that
// faults.
func (p *player) touch(name string, off *casefile.Value, b []byte, access func(uint64, []byte) int, g *casefile.Got) error {
	m, err := p.mapped(name)
	if err != nil {
		return err
	}
	o, err := p.value(off)
	if err != nil {
		return fmt.Errorf("off: %w", err)
	}
	errno := ""
	g.Ret, g.Errno = casefile.Int(int64(len(b))), &errno
	for i := range b {
		if access(m.addr+o+uint64(i), b[i:i+1]) == 0 {
			g.Ret, errno = "-1", "SIGBUS"
			break
		}
	}
	return nil
}
