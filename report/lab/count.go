package lab

import "uverbsim/trace"

// Counts are what a piece of work took. All are exact.
type Counts struct {
	Crossings int // system calls that the program made

	CopiesIn, BytesIn   int // from the user's memory
	CopiesOut, BytesOut int // to it, put_user and clear_user among them

	Attrs   int // attributes that were looked at
	Slots   int // of these, found by an index into the method's node of the tree
	Lookups int // walks through the tree from its root

	Allocs   int // places where the kernel asked for memory; see counter.Fail
	Firmware int // firmware commands
	Refs     int // reference and use counts that were changed

	User Accesses
}

// Accesses are what the program itself did to its memory for its calls.
type Accesses struct {
	Stores, StoredBytes int
	Loads, LoadedBytes  int
}

// add adds what other work took.
func (c *Counts) add(o *Counts) {
	c.Crossings += o.Crossings
	c.CopiesIn += o.CopiesIn
	c.BytesIn += o.BytesIn
	c.CopiesOut += o.CopiesOut
	c.BytesOut += o.BytesOut
	c.Attrs += o.Attrs
	c.Slots += o.Slots
	c.Lookups += o.Lookups
	c.Allocs += o.Allocs
	c.Firmware += o.Firmware
	c.Refs += o.Refs
}

// counter counts what it is told. It is the trace.Sink and the trace.Injector of
// one task.
type counter struct{ Counts }

// Event implements trace.Sink.
func (c *counter) Event(_ *trace.Task, e *trace.Event) {
	switch e.Kind {
	case trace.CopyIn:
		c.CopiesIn++
		c.BytesIn += int(e.C)
	case trace.CopyOut, trace.Clear:
		c.CopiesOut++
		c.BytesOut += int(e.C)
	case trace.Attr:
		c.Attrs++
		if e.Name == unknownAttr {
			c.Lookups++ // its place in the method's node is empty: the whole walk is made
		} else {
			c.Slots++
		}
	case trace.Node:
		if e.Name == "method" && e.B == 0 {
			c.Lookups++ // the leaf, where a walk ends
		}
	case trace.Firmware:
		c.Firmware++
	case trace.Ref, trace.Usecnt:
		c.Refs++
	}
}

// unknownAttr is the name of an attribute that the method does not have.
const unknownAttr = "unknown"

// Fail implements trace.Injector: nothing fails. An allocation is counted unless
// it is one of the call's own, which the kernel serves from the bundle that it
// has on its stack as long as that has room.
func (c *counter) Fail(_ *trace.Task, s trace.Step, what string) bool {
	if s == trace.Alloc && what != "_uverbs_alloc" {
		c.Allocs++
	}
	return false
}
