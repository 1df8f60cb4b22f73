package gen

import (
	"slices"
	"strings"

	"uverbsim/spec"
)

// deed is what a call does with an object.
type deed uint8

const (
	other deed = iota
	create
	destroy
	modify
	resize
	query
)

// key is a deed done to objects of a type.
type key struct {
	object uint16
	deed   deed
}

// call is a method or a write() command.
type call struct {
	object uint16
	deed   deed
	method *spec.Method // with the attributes of all definitions
	write  *spec.Write
}

// words are how names say what a call does.
var words = []struct {
	word string
	deed deed
}{
	{"DEALLOC", destroy}, {"DESTROY", destroy}, {"DEREG", destroy}, {"CLOSE", destroy},
	{"ALLOC", create}, {"CREATE", create}, {"REREG", modify}, {"REG", create}, {"OPEN", create},
	{"RESIZE", resize}, {"MODIFY", modify}, {"QUERY", query},
}

func deedOf(name string) deed {
	for _, w := range words {
		if strings.Contains(name, w.word) {
			return w.deed
		}
	}
	return other
}

// weights say how often calls that do something with an object are made, all
// together.
var weights = map[key]int{
	{spec.UVERBS_OBJECT_PD, create}: 30, {spec.UVERBS_OBJECT_CQ, create}: 30, {spec.UVERBS_OBJECT_QP, create}: 36,
	{spec.UVERBS_OBJECT_SRQ, create}: 24, {spec.UVERBS_OBJECT_MR, create}: 30, {spec.UVERBS_OBJECT_MW, create}: 18,
	{spec.UVERBS_OBJECT_AH, create}: 18, {spec.UVERBS_OBJECT_COMP_CHANNEL, create}: 6, {spec.UVERBS_OBJECT_ASYNC_EVENT, create}: 6,

	{spec.UVERBS_OBJECT_PD, destroy}: 9, {spec.UVERBS_OBJECT_CQ, destroy}: 12, {spec.UVERBS_OBJECT_QP, destroy}: 12,
	{spec.UVERBS_OBJECT_SRQ, destroy}: 12, {spec.UVERBS_OBJECT_MR, destroy}: 12, {spec.UVERBS_OBJECT_MW, destroy}: 9,
	{spec.UVERBS_OBJECT_AH, destroy}: 9,

	{spec.UVERBS_OBJECT_QP, modify}: 48, {spec.UVERBS_OBJECT_QP, query}: 15, {spec.UVERBS_OBJECT_QP, other}: 12,
	{spec.UVERBS_OBJECT_SRQ, modify}: 15, {spec.UVERBS_OBJECT_SRQ, query}: 9, {spec.UVERBS_OBJECT_SRQ, other}: 3,
	{spec.UVERBS_OBJECT_CQ, resize}: 15, {spec.UVERBS_OBJECT_CQ, other}: 12, {spec.UVERBS_OBJECT_CQ, modify}: 3,
	{spec.UVERBS_OBJECT_MR, modify}: 15, {spec.UVERBS_OBJECT_MR, query}: 12, {spec.UVERBS_OBJECT_MR, other}: 3,
	{spec.UVERBS_OBJECT_DEVICE, query}: 24, {spec.UVERBS_OBJECT_DEVICE, other}: 9,
}

// seldom is the weight of what is not in weights.
const seldom = 1

// callsOf are all calls that the definitions have.
func callsOf(defs []spec.Definition) []call {
	var calls []call
	for i := range defs {
		o := &defs[i].Object
		for j := range o.Methods {
			if o.Methods[j].Extends {
				continue
			}
			_, m := spec.FindMethod(defs, o.ID, o.Methods[j].ID)
			calls = append(calls, call{o.ID, deedOf(m.Name), m, nil})
		}
		for j := range defs[i].Writes {
			w := &defs[i].Writes[j]
			calls = append(calls, call{w.Object, deedOf(w.Name), nil, w})
		}
	}
	return calls
}

// bunch are the calls that do the same, by ioctl and by write().
type bunch struct {
	key    key
	weight int
	calls  []*call
}

// bunchesOf sorts the calls.
func bunchesOf(calls []call) []bunch {
	var l []bunch
	for i := range calls {
		c := &calls[i]
		k := key{c.object, c.deed}
		at := slices.IndexFunc(l, func(b bunch) bool { return b.key == k })
		if at < 0 {
			at = len(l)
			l = append(l, bunch{key: k, weight: max(weights[k], seldom)})
		}
		l[at].calls = append(l[at].calls, c)
	}
	return l
}

// method returns a method that is there.
func (m *maker) method(object, id uint16) *call {
	for i := range m.calls {
		if c := &m.calls[i]; c.object == object && c.method != nil && c.method.ID == id {
			return c
		}
	}
	panic("gen: no such method")
}
