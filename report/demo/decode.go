package demo

import (
	"encoding/hex"
	"fmt"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/process"
	"uverbsim/report/decode"
	"uverbsim/report/strace"
	"uverbsim/spec"
)

// decodeIoctl reads the argument of an ioctl, as far as it can be read.
func decodeIoctl(p *process.Process, arg copyuser.Addr) *Ioctl {
	i := &Ioctl{call: watch.Call{Driver: spec.RDMA_DRIVER_MLX5, Ioctl: watch.TakeIoctl(p.Mem, arg, spec.RDMA_DRIVER_MLX5)}}
	w := i.call.Ioctl
	if !w.Readable {
		return i
	}
	i.Header, i.Object = w.Header, w.ObjectName
	if w.Method != nil {
		i.Method = w.Method.Name
	}
	d := decode.Call(&i.call)
	if d.Command != nil {
		i.Command = d.Command.Text
	}
	for n := range d.Attrs {
		i.Attrs = append(i.Attrs, Attr{Name: orNumber(&d.Attrs[n].Name), Attr: w.Attrs[n].IoctlAttr, Value: sent(&d.Attrs[n])})
	}
	return i
}

// loadAttr reads the n-th attribute of an ioctl's argument.
func loadAttr(p *process.Process, arg copyuser.Addr, n int) (spec.IoctlAttr, bool) {
	var raw [spec.IoctlAttrSize]byte
	ok := p.Load(arg+spec.IoctlHdrSize+copyuser.Addr(n*spec.IoctlAttrSize), raw[:])
	return spec.DecodeIoctlAttr(&raw), ok
}

// orNumber is the name of an attribute, or its number if it has none.
func orNumber(v *decode.Value) string {
	if v.Text != "" {
		return v.Text
	}
	return fmt.Sprintf("attribute %#x", v.Num)
}

// sent says what the program sends in an attribute.
func sent(a *decode.Attr) string {
	switch {
	case a.New:
		return "a new object"
	case a.Type == spec.TypeIDR:
		return "handle " + valueText(a.In)
	case a.Type == spec.TypeFD:
		return "descriptor " + valueText(a.In)
	case a.Type == spec.TypePtrOut:
		return fmt.Sprintf("room for %d bytes at %#x", a.Len, a.Addr)
	case a.In == nil:
		return fmt.Sprintf("%d bytes at %#x, which cannot be read", a.Len, a.Addr)
	}
	return valueText(a.In)
}

func valueText(v *decode.Value) string { return strace.Value(v, strace.Options{}) }

// answered reads what the kernel made of the argument; err is what it answered.
func (i *Ioctl) answered(p *process.Process, err error) {
	w := i.call.Ioctl
	if !w.Readable {
		return
	}
	w.Finish(p.Mem)
	i.call.Err = err
	d := decode.Call(&i.call)
	for n := range i.Attrs {
		i.Attrs[n].After = w.Attrs[n].After
		if out := d.Attrs[n].Out; out != nil {
			i.Attrs[n].Answer = valueText(out)
		}
	}
}

// Name is what the call is, for a reader who knows the user ABI.
func (i *Ioctl) Name() string {
	switch {
	case i.Method == "":
		return fmt.Sprintf("object %#x, method %#x", i.Header.ObjectID, i.Header.MethodID)
	case i.Command != "":
		return i.Method + " of " + i.Command
	}
	return i.Method
}

// mostBytes is how many bytes are shown of longer data.
const mostBytes = 64

func hexText(b []byte) string {
	if len(b) <= mostBytes {
		return hex.EncodeToString(b)
	}
	return fmt.Sprintf("%s... (%d bytes)", hex.EncodeToString(b[:mostBytes]), len(b))
}
