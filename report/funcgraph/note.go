package funcgraph

import (
	"fmt"

	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// noteText has the text of each kind of note; kinds without one are not
// printed.
var noteText = map[trace.Kind]func(*trace.Event) string{
	trace.CopyIn:  func(e *trace.Event) string { return copyText("from the user", e) },
	trace.CopyOut: func(e *trace.Event) string { return copyText("to the user", e) },
	trace.Clear:   func(e *trace.Event) string { return copyText("cleared for the user", e) },
	trace.Node: func(e *trace.Event) string {
		return fmt.Sprintf("tree: %s key %#06x (%s), shift %d: slot %d", e.Name, e.A, spec.FormatKey(uint32(e.A)), e.B, e.C)
	},
	trace.Attr: func(e *trace.Event) string {
		return fmt.Sprintf("attribute %d: %s, id %#x, %d bytes", e.C, e.Name, e.A, e.B)
	},
	trace.Handle: func(e *trace.Event) string {
		if e.B == 1 {
			return fmt.Sprintf("%s: number %d taken", e.Name, e.A)
		}
		return fmt.Sprintf("%s: number %d free", e.Name, e.A)
	},
	trace.Firmware: func(e *trace.Event) string {
		return fmt.Sprintf("firmware: %s (%#x): status %d, syndrome %#x", e.Name, e.A, e.B, e.C)
	},
	trace.DMA:    func(e *trace.Event) string { return fmt.Sprintf("DMA: %s, %d bytes at %#x", e.Name, e.B, e.A) },
	trace.Refuse: func(e *trace.Event) string { return "refused: " + refusal(e.Name) },
	trace.Warn:   func(e *trace.Event) string { return "WARN in " + e.Name },
}

// lockText is the same for the kinds that Options.Locks adds.
var lockText = map[trace.Kind]func(*trace.Event) string{
	trace.Lock:   func(e *trace.Event) string { return "lock " + e.Name },
	trace.Unlock: func(e *trace.Event) string { return "unlock " + e.Name },
	trace.Ref:    func(e *trace.Event) string { return fmt.Sprintf("%s %d: references %+d", e.Name, e.A, int64(e.B)) },
	trace.Usecnt: func(e *trace.Event) string { return fmt.Sprintf("%s %d: use count %d", e.Name, e.A, int64(e.B)) },
}

func copyText(what string, e *trace.Event) string {
	s := fmt.Sprintf("%d bytes %s at %#x", e.B, what, e.A)
	if e.C != e.B {
		s += fmt.Sprintf(": fault after %d", e.C)
	}
	return s
}

func refusal(id string) string {
	if r := rule.Find(id); r != nil {
		return id + ", " + rule.ErrnoName(r.Errno)
	}
	return id
}

// note returns the text of an event, "" if it is not to be printed.
func (p *Printer) note(e *trace.Event) string {
	if f := noteText[e.Kind]; f != nil && p.opts.Notes {
		return f(e)
	}
	if f := lockText[e.Kind]; f != nil && p.opts.Notes && p.opts.Locks {
		return f(e)
	}
	return ""
}
