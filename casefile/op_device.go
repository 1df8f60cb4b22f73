package casefile

import "strconv"

// The operations on the device itself, and what its driver is made to do.

// Remove takes the device away and returns when it is gone.
type Remove struct{}

func (*Remove) members(*object) {}

// Add brings the device back; Open opens the new one from then on.
type Add struct{}

func (*Add) members(*object) {}

// Event has the stub's driver raise an event.
type Event struct {
	Object string // cq, qp, srq or port
	Index  int    // of objects in the order in which they were made, from 0; of a port its number
	Type   string // comp, or the number of an enum ib_event_type
}

func (a *Event) members(o *object) {
	o.text("object", &a.Object, must, "cq", "qp", "srq", "port")
	lengthMember(o, "index", &a.Index, must)
	o.text("type", &a.Type, must)
	if _, err := strconv.ParseUint(a.Type, 10, 32); o.c.reading && err != nil && a.Type != "comp" {
		o.fail("type %q is neither comp nor the number of an event", shorten(a.Type))
	}
}

// Hold makes callers of one of the stub's driver operations wait in it until
// Release.
type Hold struct {
	Type string // as DriverLog names it
}

func (a *Hold) members(o *object) { o.text("type", &a.Type, must) }

// Release lets those go whom Hold stopped.
type Release struct{}

func (*Release) members(*object) {}

// DriverLog reports in the answer's text which of the stub's driver operations
// were called since the last look.
type DriverLog struct{}

func (*DriverLog) members(*object) {}

// Netdev takes rxe's network device up or down.
type Netdev struct {
	Type string // up or down
}

func (a *Netdev) members(o *object) { o.text("type", &a.Type, must, "up", "down") }
