package explain

import (
	"strconv"
	"syscall"

	"uverbsim/rule"
)

// fault is the copy by which the call failed, nil if it was none.
func (r *request) fault() (last *Copy) {
	for v := range r.call.Trace.all() {
		if v.Fault != nil {
			last = v.Fault
		}
	}
	return last
}

// faulted is what of the request points to the memory that could not be copied, and
// which address that was.
func (r *request) faulted(refused *rule.Rule) []Value {
	c := r.fault()
	if c == nil || refused.Errno != syscall.EFAULT {
		return nil
	}
	at := func(addr, size uint64) bool { return addr <= c.Addr && c.Addr-addr < max(size, 1) }
	// Where an accessible beginning hides it, the address is told besides.
	told := func(v Value, begin uint64) []Value {
		if c.Addr+c.Done == begin {
			return []Value{v}
		}
		return []Value{v, {Name: "not accessible", Value: "0x" + strconv.FormatUint(c.Addr+c.Done, 16)}}
	}
	if r.ioctl != nil {
		for i := range r.ioctl.Attrs {
			a := &r.ioctl.Attrs[i]
			if a.Pointer && a.Name.Text != "" && at(a.Addr, uint64(a.Len)) {
				return told(Value{Name: a.Name.Text, Value: pointsTo(a.Len, a.Addr)}, a.Addr)
			}
		}
	}
	for _, part := range [][]Value{r.core, r.driver} {
		for _, m := range part {
			if m.known && m.n == c.Addr && m.n != 0 {
				return told(m, m.n)
			}
		}
	}
	return nil
}
