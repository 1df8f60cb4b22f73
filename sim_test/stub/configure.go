package stub

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"uverbsim/casefile"
	"uverbsim/core"
	"uverbsim/spec"
)

// layout is what a configuration comes to.
type layout struct {
	ops                core.DeviceOps
	moreMask, lessMask uint64
	uar                bool
	refusals           map[string]int // of an operation: how often it refuses, always if below 0
	noteUdata          bool
}

// cmdOfOp are the write() commands that the core's default mask leaves out;
// they come with their operation.
var cmdOfOp = map[string]int{
	"post_send": spec.IB_USER_VERBS_CMD_POST_SEND, "post_recv": spec.IB_USER_VERBS_CMD_POST_RECV,
	"post_srq_recv": spec.IB_USER_VERBS_CMD_POST_SRQ_RECV, "poll_cq": spec.IB_USER_VERBS_CMD_POLL_CQ,
	"req_notify_cq": spec.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
}

// configure works out a configuration: the default operations, with what it
// names added, then taken away.
func (d *Driver) configure(c Config) (layout, error) {
	l := layout{refusals: map[string]int{}}
	known := map[string]operation{}
	sets := map[string]func(*core.DeviceOps){}
	for _, op := range d.operations() {
		known[op.name] = op
		sets[op.name] = op.dflt
	}
	for _, name := range c.Has {
		if l.special(name, true) {
			continue
		}
		op, ok := known[name]
		if !ok {
			return l, fmt.Errorf("stub: no operation %q", name)
		}
		sets[name] = op.with
		if cmd, ok := cmdOfOp[name]; ok {
			l.moreMask |= 1 << cmd
		}
	}
	for op := range l.refusals {
		if _, ok := known[op]; !ok {
			return l, fmt.Errorf("stub: no operation %q", op)
		}
	}
	for _, name := range c.Lacks {
		if l.special(name, false) {
			continue
		}
		if _, ok := known[name]; !ok {
			return l, fmt.Errorf("stub: no operation %q", name)
		}
		sets[name] = nil
	}
	l.ops.MmapFree = d.mmapFree
	for _, set := range sets {
		if set != nil {
			set(&l.ops)
		}
	}
	return l, nil
}

// Refuses says whether a device, nil for the default one, does not destroy something,
// once or always, when it is asked to.
func Refuses(d *casefile.Device) bool {
	return d != nil && slices.ContainsFunc(d.Has, func(name string) bool {
		return strings.HasPrefix(name, "refuse_") || strings.HasPrefix(name, "never_")
	})
}

// special takes a name that is no operation: uar, udata, mask<N>, refuse_<op> or
// never_<op>.
func (l *layout) special(name string, has bool) bool {
	switch name {
	case "uar":
		l.uar = has
		return true
	case "udata":
		l.noteUdata = has
		return true
	}
	if op, ok := strings.CutPrefix(name, "refuse_"); ok && has {
		l.refusals[op] = 1
		return true
	}
	if op, ok := strings.CutPrefix(name, "never_"); ok && has {
		l.refusals[op] = -1
		return true
	}
	digits, ok := strings.CutPrefix(name, "mask")
	n, err := strconv.ParseUint(digits, 10, 8)
	if !ok || err != nil || n >= 64 {
		return false
	}
	if has {
		l.moreMask |= 1 << n
	} else {
		l.lessMask |= 1 << n
	}
	return true
}
