package stub

import (
	"slices"
	"strconv"
	"sync"
	"syscall"

	"uverbsim/core"
	"uverbsim/trace"
)

// lists are the live objects that events can be raised for, in the order in
// which they were made.
type lists struct {
	mu   sync.Mutex
	cqs  []*core.CQ
	qps  []*core.QP
	srqs []*core.SRQ
}

func add[T any](l *lists, list *[]*T, o *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*list = append(*list, o)
}

func drop[T any](l *lists, list *[]*T, o *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(*list, o); i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
}

func (l *lists) addCQ(cq *core.CQ)     { add(l, &l.cqs, cq) }
func (l *lists) dropCQ(cq *core.CQ)    { drop(l, &l.cqs, cq) }
func (l *lists) addQP(qp *core.QP)     { add(l, &l.qps, qp) }
func (l *lists) dropQP(qp *core.QP)    { drop(l, &l.qps, qp) }
func (l *lists) addSRQ(srq *core.SRQ)  { add(l, &l.srqs, srq) }
func (l *lists) dropSRQ(srq *core.SRQ) { drop(l, &l.srqs, srq) }

// Completion as the type of an event of a CQ is a completion that was asked
// for.
const Completion = "comp"

// Event raises an event: object is cq, qp or srq, of which index counts the
// live ones from 0 in the order of their making, or port, of which index is the
// number; typ is Completion or the number of an enum ib_event_type.
//
// Errors: ENODEV without a device, ENOENT for an object that there is not,
// EINVAL for what is no object or no type.
func (d *Driver) Event(t *trace.Task, object string, index int, typ string) error {
	r := d.dev.Load()
	if r == nil {
		return syscall.ENODEV
	}
	e := &core.Event{}
	if typ != Completion {
		n, err := strconv.ParseUint(typ, 0, 32)
		if err != nil {
			return syscall.EINVAL
		}
		e.Type = uint32(n)
	}
	if object == "port" {
		e.Port = uint32(index)
		r.ib.DispatchEvent(t, e)
		return nil
	}
	l := &d.objects
	l.mu.Lock()
	defer l.mu.Unlock()
	switch object {
	case "cq":
		return at(l.cqs, index, func(cq *core.CQ) { raiseCQ(t, cq, e, typ == Completion) })
	case "qp":
		return at(l.qps, index, func(qp *core.QP) {
			if e.QP = qp; qp.EventHandler != nil {
				qp.EventHandler(t, e)
			}
		})
	case "srq":
		return at(l.srqs, index, func(srq *core.SRQ) {
			if e.SRQ = srq; srq.EventHandler != nil {
				srq.EventHandler(t, e)
			}
		})
	}
	return syscall.EINVAL
}

func at[T any](list []*T, i int, do func(*T)) error {
	if i < 0 || i >= len(list) {
		return syscall.ENOENT
	}
	do(list[i])
	return nil
}

func raiseCQ(t *trace.Task, cq *core.CQ, e *core.Event, completion bool) {
	e.CQ = cq
	switch {
	case completion:
		cq.CompHandler(t, cq)
	case cq.EventHandler != nil:
		cq.EventHandler(t, e)
	}
}
