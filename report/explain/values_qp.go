package explain

import (
	"fmt"
	"strings"

	"uverbsim/core"
	"uverbsim/spec"
)

// QP is a queue pair as it was when a call was refused.
type QP struct {
	Type  uint8 // enum ib_qp_type
	State uint8 // enum ib_qp_state
}

// step is a step that MODIFY_QP was asked for.
type step struct {
	cur, next, typ uint8
	mask           uint32
	said           bool // the state that it goes from is the one that the request says
}

// step reads it from the request; not ok without a queue pair or a mask.
func (r *request) step() (s step, ok bool) {
	handle, _ := among(r.core, "qp_handle")
	mask, _ := among(r.core, "attr_mask")
	if handle.kind != numeric || mask.kind != numeric {
		return s, false
	}
	qp, ok := r.call.QPs[handle.n.Int64()]
	if !ok {
		return s, false
	}
	s = step{cur: qp.State, typ: qp.Type, mask: uint32(mask.n.Uint64())}
	if v, _ := among(r.core, "cur_qp_state"); s.mask&spec.IB_QP_CUR_STATE != 0 && v.kind == numeric {
		s.cur, s.said = uint8(v.n.Uint64()), true
	}
	s.next = s.cur
	if v, _ := among(r.core, "qp_state"); s.mask&spec.IB_QP_STATE != 0 && v.kind == numeric {
		s.next = uint8(v.n.Uint64())
	}
	return s, s.cur <= spec.IB_QPS_ERR && s.next <= spec.IB_QPS_ERR
}

// dci says that the queue pair is of the driver's own type that takes steps by
// rules of its own.
func (s *step) dci() bool { return s.typ == spec.IB_QPT_DRIVER }

// stepValues are a step's states and its mask, what such a step wants, and what
// there is instead.
func stepValues(r *request, _ *item) []Value {
	s, ok := r.step()
	if !ok {
		return nil
	}
	for _, name := range []string{"attr_mask", "qp_state", "cur_qp_state"} {
		r.blamed[name] = name != "cur_qp_state" || s.said
	}
	from := stateName(s.cur)
	if s.said {
		from += ", as cur_qp_state says"
	}
	next := stateName(s.next)
	if s.mask&spec.IB_QP_STATE == 0 {
		next += ", as IB_QP_STATE is not in attr_mask"
	}
	out := []Value{
		text("cur_state", "%s", from), text("new_state", "%s", next), text("qp_type", "%s", enumName("enum ib_qp_type", s.typ)),
		text("attr_mask", "%s", qpAttrs(s.mask)),
	}
	if s.dci() {
		return out // a table of the driver's has what it wants
	}
	if !curStateIsOK(&s) {
		return append(out, text("cur_qp_state", "%s: only IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD and IB_QPS_SQE may be said with IB_QP_CUR_STATE", stateName(s.cur)))
	}
	required, opt, ok := core.QPStep(s.cur, s.next, s.typ)
	if !ok {
		return append(out, text("next steps", "%s", nextSteps(&s)))
	}
	out = append(out, text("the step wants", "%s", wants(required, opt)))
	if lacks := required &^ s.mask; lacks != 0 {
		out = append(out, text("attr_mask lacks", "%s", qpAttrs(lacks)))
	}
	if over := s.mask &^ (required | opt | spec.IB_QP_STATE); over != 0 {
		out = append(out, text("it does not take", "%s", qpAttrs(over)))
	}
	return out
}

func curStateIsOK(s *step) bool {
	if s.mask&spec.IB_QP_CUR_STATE == 0 {
		return true
	}
	switch s.cur {
	case spec.IB_QPS_RTR, spec.IB_QPS_RTS, spec.IB_QPS_SQD, spec.IB_QPS_SQE:
		return true
	}
	return false
}

// commandValues are a step's states, and to which others the firmware has a command
// from there: optab of __mlx5_ib_modify_qp.
func commandValues(r *request, it *item) []Value {
	s, ok := r.step()
	if !ok {
		return nil
	}
	to := []string{stateName(spec.IB_QPS_RESET), stateName(spec.IB_QPS_ERR)}
	for _, next := range firmwareSteps[s.cur] {
		to = append(to, stateName(next))
	}
	return append(stepValues(r, it)[:4], text("the firmware has commands", "from %s to %s", stateName(s.cur), strings.Join(to, ", ")))
}

// firmwareSteps are the steps that have a command, besides those to RESET and ERR.
var firmwareSteps = map[uint8][]uint8{
	spec.IB_QPS_RESET: {spec.IB_QPS_INIT},
	spec.IB_QPS_INIT:  {spec.IB_QPS_INIT, spec.IB_QPS_RTR},
	spec.IB_QPS_RTR:   {spec.IB_QPS_RTS},
	spec.IB_QPS_RTS:   {spec.IB_QPS_RTS},
	spec.IB_QPS_SQD:   {spec.IB_QPS_RTS},
	spec.IB_QPS_SQE:   {spec.IB_QPS_RTS},
}

// nextSteps are the steps that there are from a state, without those to RESET and
// to ERR, which nothing is wanted for.
func nextSteps(s *step) string {
	var list []string
	for next := uint8(spec.IB_QPS_RESET); next <= spec.IB_QPS_ERR; next++ {
		required, opt, ok := core.QPStep(s.cur, next, s.typ)
		switch {
		case !ok:
		case next == spec.IB_QPS_RESET || next == spec.IB_QPS_ERR:
			list = append(list, stateName(next))
		default:
			list = append(list, stateName(next)+" with "+wants(required, opt))
		}
	}
	return fmt.Sprintf("from %s to %s", stateName(s.cur), strings.Join(list, "; to "))
}

// wants says what a step must be given, and what it may be given besides.
func wants(required, opt uint32) string {
	text := "IB_QP_STATE"
	if required != 0 {
		text = qpAttrs(required | spec.IB_QP_STATE)
	}
	if opt != 0 {
		text += ", and takes " + qpAttrs(opt)
	}
	return text
}

func stateName(s uint8) string { return enumName("enum ib_qp_state", s) }

func enumName(ctype string, n uint8) string {
	if name := spec.EnumeratorName(ctype, uint64(n)); name != "" {
		return name
	}
	return fmt.Sprint(n)
}

// qpAttrs names the bits of an attr_mask.
func qpAttrs(mask uint32) string {
	return bitNames(spec.Enumerators("enum ib_qp_attr_mask"), uint64(mask))
}

// bitNames names bits, and has the rest as a number.
func bitNames(names []spec.Enumerator, bits uint64) string {
	var list []string
	rest := bits
	for _, e := range names {
		if e.Value != 0 && e.Value&(e.Value-1) == 0 && rest&e.Value != 0 {
			list = append(list, e.Name)
			rest &^= e.Value
		}
	}
	if rest != 0 || list == nil {
		list = append(list, fmt.Sprintf("%#x", rest))
	}
	return strings.Join(list, "|")
}
