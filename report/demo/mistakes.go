package demo

import (
	"iter"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// Mistake is one that programs make, and what becomes of it.
type Mistake struct {
	N     int // from 1
	Title string
	Text  string // what the program does
	// Act is the call that is refused.
	Act *Act
	// Rule is what refused it.
	Rule *rule.Rule
	// Path are the functions that lead to the check, the one that makes it last.
	Path []string
	// Then are the ioctls that the library went on with.
	Then []*Act
}

// mistake is a mistake to be made: the trip up to the creation of the queue, in
// which do goes wrong.
type mistake struct {
	title, text string
	do          func(*machine) error
	// in is the last function of the model on the way to the check, where the
	// check is deeper in the kernel.
	in string
}

// mistakes are those from the field.
var mistakes = []mistake{
	{title: "hdr.length is one attribute short",
		text: `A wrapper adds an attribute and counts it in num_attrs, but not in length.`,
		do: inCreate(func(p *program, h *spec.IoctlHdr, arg copyuser.Addr) copyuser.Addr {
			h.Length -= spec.IoctlAttrSize
			p.putHeader(arg, h)
			return arg
		})},
	{title: "A reserved field is left uninitialised",
		text: `The header lies on the stack and is filled in member by member, but for
reserved2. The answer is the one for a method that the kernel does not have, so
libibverbs goes on with the older command, and nobody notices.`,
		do: inCreate(func(p *program, h *spec.IoctlHdr, arg copyuser.Addr) copyuser.Addr {
			h.Reserved2 = 0x7ffd
			p.putHeader(arg, h)
			return arg
		})},
	{title: "The completion vector is out of range",
		text: `The program spreads its queues over eight vectors; this machine has one.`,
		do:   func(m *machine) error { return m.createCQWith(7) }},
	{title: "The completion channel is of another file",
		text: `The program has opened the device twice and mixes the two up.`,
		do: func(m *machine) error {
			other, err := libmlx5.OpenDevice(m.prog, node)
			if err != nil {
				return err
			}
			if m.channel, err = other.CreateCompChannel(); err != nil {
				return err
			}
			return m.createCQ()
		}},
	{title: "UHW_IN has a cqe_size that the device does not know",
		text: `A library of its own puts the size of its own struct there.`,
		do: inCreate(func(p *program, h *spec.IoctlHdr, arg copyuser.Addr) copyuser.Addr {
			p.editUHW(h, arg, func(u *spec.Mlx5CreateCQ) { u.CQESize = 96 })
			return arg
		})},
	{title: "The buffer is gone",
		text: `Another thread has unmapped the memory that the entries are to lie in.`,
		do: inCreate(func(p *program, h *spec.IoctlHdr, arg copyuser.Addr) copyuser.Addr {
			p.editUHW(h, arg, func(u *spec.Mlx5CreateCQ) {
				// That there is nothing to unmap would show in the answer.
				_ = p.p.Munmap(copyuser.Addr(u.BufAddr), entries*uint64(u.CQESize))
			})
			return arg
		}),
		in: "ib_umem_get"},
	{title: "An attribute is sent twice",
		text: `Two layers of a library both add the number of entries.`,
		do: inCreate(func(p *program, h *spec.IoctlHdr, arg copyuser.Addr) copyuser.Addr {
			return p.repeatAttr(h, arg, spec.UVERBS_ATTR_CREATE_CQ_CQE)
		})},
}

// inCreate makes a mistake of what is wrong with the argument of the ioctl that
// creates the queue.
func inCreate(tamper func(p *program, h *spec.IoctlHdr, arg copyuser.Addr) copyuser.Addr) func(*machine) error {
	return func(m *machine) error {
		m.prog.tamper = func(p *program, h *spec.IoctlHdr, arg copyuser.Addr) copyuser.Addr {
			if h.ObjectID != spec.UVERBS_OBJECT_CQ || h.MethodID != spec.UVERBS_METHOD_CQ_CREATE {
				return arg
			}
			return tamper(p, h, arg)
		}
		return m.createCQ()
	}
}

// Mistakes makes one mistake after the other, each on a machine of its own. A
// pair with an error is the last.
func Mistakes() iter.Seq2[*Mistake, error] {
	return func(yield func(*Mistake, error) bool) {
		for i := range mistakes {
			m, err := makeMistake(i)
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

func makeMistake(i int) (*Mistake, error) {
	w := &mistakes[i]
	m, err := boot()
	if err != nil {
		return nil, err
	}
	for _, before := range []func() error{m.open, m.createChannel} {
		if err := before(); err != nil {
			return nil, err
		}
	}
	m.rec.take()
	// What the library makes of the refusal is its own matter.
	_ = w.do(m)
	act, then := refused(m.rec.take())
	if act == nil {
		return nil, notPlayed("%q was not refused", w.title)
	}
	out := &Mistake{N: i + 1, Title: w.title, Text: w.text, Act: act, Rule: act.Rule, Then: then}
	if w.in == "" {
		out.Path = act.path(out.Rule.Func)
	} else {
		out.Path = append(act.path(w.in), out.Rule.Func)
	}
	return out, nil
}

// refused is the call that created no queue, with the ioctls behind it.
func refused(acts []*Act) (act *Act, then []*Act) {
	for _, a := range acts {
		switch {
		case a.Ioctl == nil:
		case act != nil:
			then = append(then, a)
		case a.Ioctl.Header.ObjectID == spec.UVERBS_OBJECT_CQ && a.Rule != nil:
			act = a
		}
	}
	return act, then
}

// putHeader stores the header of an ioctl. The library has just written there.
func (p *program) putHeader(arg copyuser.Addr, h *spec.IoctlHdr) {
	var b [spec.IoctlHdrSize]byte
	h.Encode(&b)
	p.p.Store(arg, b[:])
}

// editUHW changes the driver's part of the creation of a queue.
func (p *program) editUHW(h *spec.IoctlHdr, arg copyuser.Addr, edit func(*spec.Mlx5CreateCQ)) {
	for n := range int(h.NumAttrs) {
		a, ok := loadAttr(p.p, arg, n)
		if !ok || a.AttrID != spec.UVERBS_ATTR_UHW_IN {
			continue
		}
		var u spec.Mlx5CreateCQ
		p.p.Load(copyuser.Addr(a.Data), spec.Bytes(&u))
		edit(&u)
		p.p.Store(copyuser.Addr(a.Data), spec.Bytes(&u))
	}
}

// repeatAttr puts a copy of an attribute behind the last, in memory of its own,
// and returns where the whole is now.
func (p *program) repeatAttr(h *spec.IoctlHdr, arg copyuser.Addr, id uint16) copyuser.Addr {
	whole := make([]byte, h.Length, h.Length+spec.IoctlAttrSize)
	p.p.Load(arg, whole)
	for n := range int(h.NumAttrs) {
		if a, _ := loadAttr(p.p, arg, n); a.AttrID == id {
			at := spec.IoctlHdrSize + n*spec.IoctlAttrSize
			whole = append(whole, whole[at:at+spec.IoctlAttrSize]...)
		}
	}
	h.NumAttrs++
	h.Length += spec.IoctlAttrSize
	h.Encode((*[spec.IoctlHdrSize]byte)(whole))
	to, err := verbs.Alloc(p.p, uint64(len(whole)))
	if err != nil {
		return arg
	}
	p.p.Store(to, whole)
	return to
}
