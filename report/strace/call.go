package strace

import (
	"syscall"

	"uverbsim/interpose/watch"
	"uverbsim/report/decode"
	"uverbsim/rule"
	"uverbsim/spec"
)

// calls write a call with its arguments, by its name; others are written with
// their descriptor alone.
var calls = map[string]func(p *printer, c *watch.Call){
	"open":   (*printer).open,
	"ioctl":  (*printer).ioctl,
	"mmap":   (*printer).mmap,
	"munmap": (*printer).munmap,
	"read":   (*printer).read,
	"write":  (*printer).write,
}

// call writes a whole call.
func (p *printer) call(c *watch.Call) {
	switch {
	case c.Name == "exit":
		p.exit(c)
		return
	case c.Name == "close" && c.FD < 0:
		p.format("+++ the last descriptor of %s is closed +++", c.Path)
		return
	}
	p.text(c.Name + "(")
	if f := calls[c.Name]; f != nil {
		f(p, c)
	} else {
		p.fd(c)
	}
	p.text(") = ")
	p.result(c)
	if p.opts.Durations {
		p.seconds(c.Took)
	}
}

func (p *printer) exit(c *watch.Call) {
	switch {
	case c.Ret == watch.Unknown:
		p.text("+++ exited +++")
	case c.Ret < 0:
		p.format("+++ killed by signal %d (%s) +++", -c.Ret, syscall.Signal(-c.Ret))
	default:
		p.format("+++ exited with %d +++", c.Ret)
	}
}

// fd writes the descriptor with what it leads to.
func (p *printer) fd(c *watch.Call) {
	p.format("%d", c.FD)
	if c.Path != "" {
		p.text("<" + c.Path + ">")
	}
}

func (p *printer) open(c *watch.Call) {
	p.quoted(c.Path)
	p.text(", ")
	p.set(accessModes[c.OpenFlags&syscall.O_ACCMODE], openFlags, uint64(c.OpenFlags&^syscall.O_ACCMODE))
}

func (p *printer) ioctl(c *watch.Call) {
	p.fd(c)
	if c.Cmd != spec.RDMA_VERBS_IOCTL {
		p.format(", %#x, ", c.Cmd)
		p.hex(uint64(c.Arg))
		return
	}
	p.text(", RDMA_VERBS_IOCTL, ")
	if c.Ioctl == nil || !c.Ioctl.Readable {
		p.hex(uint64(c.Arg))
		return
	}
	p.argument(c, decode.Call(c))
}

func (p *printer) mmap(c *watch.Call) {
	p.hex(c.Addr)
	p.format(", %d, ", c.Length)
	p.set("", protections, uint64(c.Prot))
	p.text(", ")
	p.set(mapTypes[c.Flags&mapType], mapFlags, uint64(c.Flags&^mapType))
	p.text(", ")
	p.fd(c)
	p.text(", ")
	p.offset(c.Driver, c.Offset)
}

func (p *printer) munmap(c *watch.Call) {
	p.hex(c.Addr)
	p.format(", %d", c.Length)
}

func (p *printer) read(c *watch.Call) {
	p.fd(c)
	p.text(", ")
	if c.Err == nil && c.Data != nil && len(c.Data.Bytes) > 0 {
		v := decode.Event(c.Path, c.Data.Bytes)
		p.value(&v)
	} else {
		p.hex(c.Addr)
	}
	p.format(", %d", c.Length)
}

func (p *printer) write(c *watch.Call) {
	p.fd(c)
	p.text(", ")
	var w decode.Write
	if c.Data != nil {
		w = *decode.WriteCall(c)
	}
	if w.Readable {
		p.command(&w)
	} else {
		p.hex(c.Addr)
	}
	p.format(", %d", c.Length)
}

// command writes a command of write().
func (p *printer) command(w *decode.Write) {
	p.text("{")
	p.value(&w.Header)
	for _, part := range []struct {
		name string
		v    *decode.Value
	}{{"", w.Request}, {"udata=", w.UdataIn}, {"=> ", w.Response}, {"udata => ", w.UdataOut}} {
		if part.v != nil {
			p.text(", " + part.name)
			p.value(part.v)
		}
	}
	p.text("}")
}

// result writes what the call returned, and why it was refused.
func (p *printer) result(c *watch.Call) {
	if c.Err == nil {
		p.returned(c)
		return
	}
	e, known := errno(c.Err)
	if !known {
		p.text("-1 (" + c.Err.Error() + ")")
		return
	}
	p.text("-1 " + rule.ErrnoName(e) + " (" + message(e) + ")")
	if r := c.Rule(); r != nil {
		p.text(" [" + r.ID + ": " + r.Why + " (" + r.Func + " in " + r.File + ")]")
	}
}

func (p *printer) returned(c *watch.Call) {
	switch c.Name {
	case "mmap":
		p.mapped(c)
	case "open":
		p.format("%d<%s>", c.Ret, c.Path)
	default:
		p.format("%d", c.Ret)
	}
}

// errno returns the one that an error stands for.
func errno(err error) (syscall.Errno, bool) {
	switch e := err.(type) {
	case *rule.Rule:
		return e.Errno, true
	case syscall.Errno:
		return e, true
	}
	return 0, false
}

// message is what strerror says: Go's text begins with a small letter.
func message(e syscall.Errno) string {
	s := e.Error()
	if c := s[0]; 'a' <= c && c <= 'z' {
		return string(c-'a'+'A') + s[1:]
	}
	return s
}
