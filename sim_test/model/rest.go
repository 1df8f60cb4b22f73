package model

import (
	"fmt"
	"slices"
	"strings"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// Locked says whether somebody holds a lock, for which who makes the next call may
// wait for ever. No call may be under way.
func (m *Machine) Locked() bool {
	if d := m.Driver.Device(); d != nil && len(d.Held()) > 0 {
		return true
	}
	for f := range m.files() {
		if len(f.Held()) > 0 {
			return true
		}
	}
	return false
}

// isHeld ends what Unrest says of a lock.
const isHeld = " is held"

// Locked says whether the books have a lock that somebody holds.
func (b *Books) Locked() bool {
	return slices.ContainsFunc(b.Unrest, func(s string) bool { return strings.HasSuffix(s, isHeld) })
}

// hold notes locks that somebody holds, and says whether there are any.
func (b *Books) hold(locks []string) bool {
	for _, name := range locks {
		b.Unrest = append(b.Unrest, name+isHeld)
	}
	return len(locks) > 0
}

// miscounted says what a driver counts in several places that do not agree: rxe has the
// queue pairs in multicast groups in the groups' lists, and the device and the queue
// pairs count them.
func miscounted(hardware map[string]int) (unrest []string) {
	have := hardware["mca"]
	for _, count := range []string{"mcg_attach", "mcg_num"} {
		if n := hardware[count]; n != have {
			unrest = append(unrest, fmt.Sprintf("%s is %d, and groups have %d queue pairs", count, n, have))
		}
	}
	return unrest
}

// throughXRCD is the Ext of a queue that may have been made through an XRC domain.
type throughXRCD interface{ XRCDExt() any }

// madeOf counts the queues of a file that were made through each XRC domain, by its Ext.
func madeOf(f *kernel.File) map[any]int32 {
	made := map[any]int32{}
	for o := range f.Objects.Objects(nil) {
		if q, ok := o.Ext.(throughXRCD); ok {
			made[q.XRCDExt()]++
		}
	}
	return made
}

// unrestOf says which objects of a file somebody has locked, which have other
// references than those of who is known to hold them, and which XRC domains count other
// queues than there are.
func unrestOf(f *kernel.File) (unrest []string) {
	holders, made := holdersOf(f), madeOf(f)
	for o := range f.Objects.Objects(nil) {
		if n := o.Usecnt(); n != 0 {
			unrest = append(unrest, fmt.Sprintf("%s %d has the use count %d", o.Type().Name, o.ID(), n))
		}
		if have, want := int(o.Refs()), holders[o]; have != want {
			unrest = append(unrest, fmt.Sprintf("%s %d has %d references and %d holders", o.Type().Name, o.ID(), have, want))
		}
		if d, ok := o.Ext.(xrcDomain); ok && d.Made() != made[o.Ext] {
			unrest = append(unrest, fmt.Sprintf("%s %d counts %d queues and has %d", o.Type().Name, o.ID(), d.Made(), made[o.Ext]))
		}
	}
	return unrest
}

// eventful is the Ext of an object that has events.
type eventful interface {
	EventFile(t *trace.Task) *kernel.AsyncEventFile
}

// subscribed is the Ext of a descriptor that holds itself once for each subscription.
type subscribed interface{ Subscriptions() int }

// holdersOf counts who has a reference on each object of a file while no call is
// under way: the list of objects; the handle, or the open file of the descriptor; and
// of event files the uverbs file whose default one it is, the objects whose events go
// there, and subscriptions.
func holdersOf(f *kernel.File) map[*uobject.Object]int {
	holders := map[*uobject.Object]int{}
	if a := f.DefaultAsync(nil); a != nil {
		holders[a.Object]++
	}
	for o := range f.Objects.Objects(nil) {
		holders[o] += 2
		switch ext := o.Ext.(type) {
		case eventful:
			if a := ext.EventFile(nil); a != nil {
				holders[a.Object]++
			}
		case subscribed:
			holders[o] += ext.Subscriptions()
		}
		if cq, ok := o.HW.(*core.CQ); ok {
			if channel, ok := cq.Context.(*kernel.CompletionEventFile); ok {
				holders[channel.Object]++
			}
		}
	}
	return holders
}
