package fuzz

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/spec"
)

// recorder plays a case on a life and notes the program that does the same: the
// names of the case become the numbers that they stand for there.
type recorder struct {
	*life
	c       *casefile.Case
	program []byte
	bufs    map[string]uint64
	next    uint64 // where the data has room
	syms    map[string]symbol
	names   map[string]int // of the mappings
	at      []int          // where in the program each step ends
}

type symbol struct {
	n  uint64
	fd bool
}

// cannot is a step that no program has.
type cannot struct{ what string }

func (c *cannot) Error() string { return "no program does that: " + c.what }

// programOf returns a case as a program, and where the end of each step is in it.
func (b *bed) programOf(c *casefile.Case) (program []byte, ends []int, err error) {
	_, fresh := b.fresh(func(l *life) {
		r := &recorder{life: l, c: c, bufs: map[string]uint64{}, syms: map[string]symbol{}, names: map[string]int{}}
		if err = r.record(); err == nil {
			program, ends = r.program, r.at
		}
	})
	if err == nil {
		err = fresh
	}
	return program, ends, err
}

func (r *recorder) record() error {
	for _, name := range slices.Sorted(maps.Keys(r.c.Bufs)) {
		n := uint64(r.c.Bufs[name].Len)
		align := uint64(64)
		if n >= copyuser.PageSize {
			align = copyuser.PageSize
		}
		r.next = (r.next + align - 1) &^ (align - 1)
		if r.next+n > dataSize {
			return &cannot{"more than the data has room for"}
		}
		r.bufs[name] = dataAt + r.next
		r.next += n
	}
	for _, name := range slices.Sorted(maps.Keys(r.c.Bufs)) {
		buf := r.c.Bufs[name]
		b := buf.Bytes()
		if err := new(casefile.Masks).Relocate(name, buf, b, r); err != nil {
			return err
		}
		if fill := buf.Fill; buf.Data == nil && len(buf.Reloc) == 0 {
			if fill != 0 {
				r.do(opFill, u24(r.bufs[name]-dataAt), u24(uint64(len(b))), []byte{fill})
			}
			continue
		}
		const most = 0x4000
		for at := r.bufs[name] - dataAt; len(b) > 0; at += most {
			n := min(len(b), most)
			if some := bytes.TrimRight(b[:n], "\x00"); len(some) > 0 { // it is zeros as it is
				r.do(opStore, u24(at), u16(len(some)), some)
			}
			b = b[n:]
		}
	}
	for i := range r.c.Steps {
		if err := r.action(&r.c.Steps[i]); err != nil {
			return fmt.Errorf("%s: step %d: %w", r.c.Name, i, err)
		}
		r.at = append(r.at, len(r.program))
	}
	return nil
}

func u16(n int) []byte    { return binary.LittleEndian.AppendUint16(nil, uint16(n)) }
func u24(n uint64) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n))[:3] }

// do notes an operation and does it. It says whether that was answered well.
func (r *recorder) do(op opcode, operands ...[]byte) bool {
	b := []byte{byte(op)}
	for _, o := range operands {
		b = append(b, o...)
	}
	r.program = append(r.program, b...)
	before := len(r.answers)
	r.step(&reader{b})
	return len(r.answers) > before && r.answers[len(r.answers)-1].what == ""
}

// ret is what the last call returned.
func (r *recorder) ret() uint64 { return uint64(r.answers[len(r.answers)-1].ret) }

func (r *recorder) fd(name string) ([]byte, error) {
	s, ok := r.syms[name]
	if !ok || !s.fd {
		return nil, fmt.Errorf("no descriptor %q", name)
	}
	return []byte{byte(s.n)}, nil
}

func (r *recorder) action(s *casefile.Step) error {
	if s.Bg != "" || s.Proc != "" {
		return &cannot{"a thread or a child"}
	}
	switch a := s.Do.(type) {
	case *casefile.Open:
		mode := map[string]byte{"r": 0, "w": 1, "rw": 2, "": 2}[a.Mode]
		if r.do(opOpen, []byte{mode}) {
			r.syms[a.FD] = symbol{r.ret(), true}
		}
		return nil
	case *casefile.Ioctl:
		return r.recordIoctl(a)
	case *casefile.Write:
		return r.recordWrite(a)
	case *casefile.Close:
		fd, err := r.fd(a.FD)
		if err == nil {
			r.do(opClose, fd)
		}
		return err
	case *casefile.Dup:
		fd, err := r.fd(a.FD)
		if err == nil && r.do(opDup, fd) {
			r.syms[a.As] = symbol{r.ret(), true}
		}
		return err
	case *casefile.Mmap:
		return r.recordMmap(a)
	case *casefile.Munmap:
		if n, ok := r.names[a.Map]; ok {
			r.do(opMunmap, []byte{byte(n)})
			return nil
		}
	case *casefile.Poke:
		off, err := a.Off.Resolve(r)
		if n, ok := r.names[a.Map]; ok && err == nil {
			r.do(opPoke, []byte{byte(n)}, u16(int(off.N)), []byte{byte(len(a.Data))}, a.Data)
			return nil
		}
	case *casefile.Peek:
		off, err := a.Off.Resolve(r)
		if n, ok := r.names[a.Map]; ok && err == nil {
			r.do(opPeek, []byte{byte(n)}, u16(int(off.N)), []byte{byte(a.Len)})
			return nil
		}
	case *casefile.ReadEvent:
		fd, err := r.fd(a.FD)
		if err == nil {
			r.do(opRead, fd, []byte{byte(a.Len)})
		}
		return err
	case *casefile.Poll:
		fd, err := r.fd(a.FD)
		if err == nil {
			r.do(opPoll, fd)
		}
		return err
	case *casefile.Remove:
		r.do(opRemove)
		return nil
	case *casefile.Add, *casefile.Bufs, *casefile.DriverLog, *casefile.FDs:
		return nil // what is looked at is not changed, and what was removed has come back
	}
	return &cannot{s.Op()}
}

func (r *recorder) recordIoctl(a *casefile.Ioctl) error {
	fd, err := r.fd(a.FD)
	if err != nil {
		return err
	}
	cmd, err := a.Command(r)
	if err != nil {
		return err
	}
	b, _, err := a.Bytes(r.c.Driver, r)
	if err != nil {
		return err
	}
	if a.Arg.Kind != casefile.Absent || cmd != spec.RDMA_VERBS_IOCTL {
		arg, err := a.Arg.Resolve(r)
		if err != nil {
			return err
		}
		r.do(opAt, fd, binary.LittleEndian.AppendUint32(nil, cmd), binary.LittleEndian.AppendUint32(nil, uint32(arg.N)))
		return nil
	}
	if !r.do(opIoctl, fd, u16(len(b)), b) {
		return nil
	}
	after := make([]byte, len(b))
	r.task.Mem.CopyIn(after, callAt)
	return r.save(a.Save, a.SaveFD, after)
}

func (r *recorder) recordWrite(a *casefile.Write) error {
	fd, err := r.fd(a.FD)
	if err != nil {
		return err
	}
	b, _, err := a.Bytes(r)
	if err != nil {
		return err
	}
	if a.Arg.Kind != casefile.Absent {
		return &cannot{"a write() of another address"}
	}
	if !r.do(opWrite, fd, u16(len(b)), b) {
		return nil
	}
	return r.save(a.Save, a.SaveFD, nil)
}

func (r *recorder) recordMmap(a *casefile.Mmap) error {
	fd, err := r.fd(a.FD)
	if err != nil {
		return err
	}
	off, err := a.Off.Resolve(r)
	if err != nil {
		return err
	}
	n := uint64(a.Len)
	if a.Size.Kind != casefile.Absent {
		v, err := a.Size.Resolve(r)
		if err != nil {
			return err
		}
		n = v.N
	}
	var prot byte
	for i, letter := range "rwx" {
		for _, l := range a.Prot {
			if l == letter && a.Prot != "none" {
				prot |= 1 << i
			}
		}
	}
	if a.Flags == "private" {
		prot |= 0x80
	}
	pages := (n + copyuser.PageSize - 1) / copyuser.PageSize
	if pages > 255 || off.N/copyuser.PageSize>>32 != 0 {
		return &cannot{"a mapping of so many pages, or so far"}
	}
	if at := r.bufs[a.Off.Name] - dataAt + uint64(a.Off.Off); a.Off.Kind == casefile.Content {
		if r.do(opMapOf, fd, []byte{byte(pages), prot}, u24(at)) {
			r.names[a.As] = len(r.maps) - 1
		}
		return nil
	}
	if r.do(opMmap, fd, []byte{byte(pages), prot}, binary.LittleEndian.AppendUint32(nil, uint32(off.N/copyuser.PageSize))) {
		r.names[a.As] = len(r.maps) - 1
	}
	return nil
}

// save takes handles and descriptors out of a call that was made, or of buffers.
func (r *recorder) save(handles, fds map[string]casefile.Ref, after []byte) error {
	for i, list := range []map[string]casefile.Ref{handles, fds} {
		for sym, ref := range list {
			var n uint64
			if ref.Buf != "" {
				v, ok := r.BufNumber(ref.Buf, ref.Off, ref.Size)
				if !ok {
					return fmt.Errorf("%s is not where it is to be saved from", sym)
				}
				n = v
			} else if at := casefile.HdrLen + casefile.AttrLen*ref.Attr + 8; at+8 <= len(after) {
				n = binary.LittleEndian.Uint64(after[at:])
			}
			r.syms[sym] = symbol{n, i == 1}
		}
	}
	return nil
}

// The recorder is the casefile.Env of its case.

// BufAddr implements casefile.Env.
func (r *recorder) BufAddr(name string) (uint64, bool) {
	at, ok := r.bufs[name]
	return at, ok
}

// BufNumber implements casefile.Env.
func (r *recorder) BufNumber(name string, off, size int) (uint64, bool) {
	var b [8]byte
	at, ok := r.bufs[name]
	n := r.task.Mem.CopyIn(b[:size], copyuser.Addr(at+uint64(off)))
	return binary.LittleEndian.Uint64(b[:]), ok && n == size
}

// Symbol implements casefile.Env.
func (r *recorder) Symbol(name string) (uint64, bool, bool) {
	s, ok := r.syms[name]
	return s.n, s.fd, ok
}

// MapAddr implements casefile.Env.
func (r *recorder) MapAddr(name string) (uint64, bool) {
	n, ok := r.names[name]
	if !ok {
		return 0, false
	}
	return r.maps[n].at, true
}
