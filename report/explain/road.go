package explain

import (
	"slices"
	"strings"
)

// item is a check on the road of a call: one that was made, or that would have
// been made later.
type item struct {
	check    *node
	function string // the function of the model
	root     string // the one that it is a part of, which was entered
	visit    *Visit // the kernel function that was entered and has it
	entered  bool   // false: the call did not come to that function
	at       int    // how many of the visit's children were entered before it
	user     int    // the user's attribute that is dealt with, -1 for none
	attr     string // the attribute that a handler asks for, "" for none
	asked    bool   // the handler takes success alone: what refuses here refuses no call
	env      *env   // what the names of the check stand for

	guards []guard
	over   []guard // if one of these holds it is not met
}

// guard is an arm of a branch that a check lies in.
type guard struct {
	branch   *branch
	arm      int
	function string
}

// branch is a branch as it was come by.
type branch struct {
	n      *node
	taken  int          // the arm that was seen to be taken, -1 if that was not seen
	passed bool         // it is looked at as if none had been
	known  map[int]bool // what the conditions came to, where that is known
}

// holds says whether an arm was taken, and whether that is known.
func (g guard) holds() (taken, known bool) {
	if g.branch.passed {
		return false, true
	}
	if g.branch.taken >= 0 {
		return g.arm == g.branch.taken, true
	}
	if v, ok := g.branch.known[g.arm]; ok {
		return v, true
	}
	for i, v := range g.branch.known {
		if v && i != g.arm {
			return false, true
		}
	}
	return false, false
}

func (g guard) cond() string { return g.branch.n.arms[g.arm].cond }

// road finds the checks that a call came by.
type road struct {
	request *request
	items   []*item
	stack   []string
}

// place is where the road is in a function.
type place struct {
	function string
	root     string
	visit    *Visit
	children []*Visit
	cursor   *int
	entered  bool
	user     int
	attr     string
	asked    bool // by a call of whose answers success alone is taken
	binds    []string
	caller   *env
	guards   []guard
	over     []guard
	before   int // how many of over are the callers'
}

// find walks the road from a function on.
func find(r *request, root string, v *Visit) []*item {
	w := &road{request: r}
	if functions[root] != nil {
		w.function(root, v, place{entered: true, user: -1})
	}
	return w.items
}

// function goes through a function that was entered.
func (w *road) function(id string, v *Visit, from place) {
	cursor := 0
	p := place{
		function: id, root: id, visit: v, children: relevant(v, w.reach(id)), cursor: &cursor, entered: from.entered,
		user: from.user, attr: from.attr, asked: from.asked, binds: from.binds, caller: from.caller, guards: from.guards, over: from.over,
	}
	if v != nil && v.User >= 0 {
		p.user = v.User
	}
	w.inside(id, &p, true)
}

// inside goes through the body of a function, without what it does before it
// enters, if that was gone through.
func (w *road) inside(id string, p *place, without bool) {
	if slices.Contains(w.stack, id) || len(w.stack) > 40 {
		return
	}
	w.stack = append(w.stack, id)
	outer, before := p.function, p.before
	p.function, p.before = id, len(p.over)
	if !without {
		w.body(functions[id].pre, p)
	}
	w.body(functions[id].body, p)
	p.function, p.before = outer, before
	w.stack = w.stack[:len(w.stack)-1]
}

func (w *road) body(body []node, p *place) {
	over := p.over
	for i := range body {
		n := &body[i]
		switch {
		case n.rules != nil:
			n := w.stated(n, p)
			it := &item{
				check: n, function: p.function, root: p.root, visit: p.visit, entered: p.entered, at: *p.cursor,
				user: p.user, attr: p.attr, asked: p.asked, env: w.env(p, n.defs), guards: p.guards, over: p.over,
			}
			if n.attr != "" {
				it.attr = n.attr
			}
			w.items = append(w.items, it)
		case n.calls != nil:
			w.call(n, p)
		case n.loop != nil && w.overAttrs(n):
			w.attrs(n, p)
		case n.loop != nil:
			for {
				before := *p.cursor
				w.body(n.loop, p)
				if *p.cursor == before || *p.cursor >= len(p.children) {
					break
				}
			}
		default:
			w.branch(n, p)
		}
	}
	p.over = over
}

// stated gives a check that has no condition of its own the one of the arm that it
// lies in, or that none of the arms before it was taken.
func (w *road) stated(n *node, p *place) *node {
	if n.cond != "" {
		return n
	}
	c := *n
	if k := len(p.guards); k > 0 && p.guards[k-1].function == p.function {
		c.cond, c.defs = p.guards[k-1].cond(), p.guards[k-1].branch.n.defs
		return &c
	}
	var conds []string
	for _, g := range p.over[min(p.before, len(p.over)):] {
		conds = append(conds, g.cond())
		c.defs = append(c.defs[:len(c.defs):len(c.defs)], g.branch.n.defs...)
	}
	if conds == nil {
		return n
	}
	c.cond = "!(" + strings.Join(conds, " || ") + ")"
	return &c
}

// setAttr is the function that the parser calls for each of the user's attributes.
const setAttr = "(*kernel.Bundle).tracedSetAttr"

// overAttrs says whether a loop goes over the user's attributes.
func (w *road) overAttrs(n *node) bool {
	for i := range n.loop {
		if slices.Contains(n.loop[i].calls, setAttr) {
			return w.request.call.Ioctl != nil
		}
	}
	return false
}

// attrs goes over the user's attributes: those that the parser came to, and then
// the rest.
func (w *road) attrs(n *node, p *place) {
	user, entered := p.user, p.entered
	reached := 0
	for p.entered && *p.cursor < len(p.children) && functions[setAttr].entersAs(p.children[*p.cursor].Name) {
		w.body(n.loop, p)
		reached++
	}
	cursor := 0
	rest := *p
	rest.entered, rest.visit, rest.children, rest.cursor = false, nil, nil, &cursor
	for i := reached; i < len(w.request.call.Ioctl.Attrs); i++ {
		rest.user = i
		w.body(n.loop, &rest)
	}
	p.user, p.entered = user, entered
}

// inTurn says whether the arms of a branch are checks that are made one after the
// other: each of them refuses, or returns.
func inTurn(n *node) bool {
	for i := range n.arms {
		a := &n.arms[i]
		if !a.ends || len(a.body) > 1 || len(a.body) == 1 && a.body[0].rules == nil {
			return false
		}
	}
	return len(n.arms) > 1
}

func (w *road) branch(n *node, p *place) {
	if inTurn(n) {
		for i := range n.arms {
			w.branch(&node{arms: n.arms[i : i+1], defs: n.defs}, p)
		}
		return
	}
	b := &branch{n: n, taken: -1, known: map[int]bool{}}
	e := w.env(p, n.defs)
	b.decide(e)
	guards, over := p.guards, p.over
	var ending []guard
	for i := range n.arms {
		before := *p.cursor
		children := p.children
		if taken, known := (guard{b, i, p.function}).holds(); known && !taken {
			if !p.entered && len(n.arms) > 1 {
				continue
			}
			p.children = nil // nothing was entered from here
		}
		p.guards = append(slices.Clone(guards), guard{b, i, p.function})
		p.over = over
		w.body(n.arms[i].body, p)
		p.children = children
		if *p.cursor > before && b.taken < 0 {
			b.taken = i
		}
		if n.arms[i].ends {
			ending = append(ending, guard{b, i, p.function})
		}
	}
	p.guards, p.over = guards, append(slices.Clone(over), ending...)
}

// decide works out which arm is taken: the first whose condition holds, if that can
// be told of all before it.
func (b *branch) decide(e *env) {
	certain := true
	for i := range b.n.arms {
		v := e.eval(b.n.arms[i].cond)
		switch {
		case v.kind != truth:
			certain = false
		case !v.truth:
			b.known[i] = false
		case certain:
			b.known[i] = true
			for j := i + 1; j < len(b.n.arms); j++ {
				b.known[j] = false
			}
			return
		}
	}
}

// call goes into the function that was called.
func (w *road) call(n *node, p *place) {
	attr, asked := p.attr, p.asked
	if n.attr != "" {
		p.attr = n.attr
	}
	p.asked = asked || n.asks
	binds, caller := p.binds, p.caller
	p.caller, p.binds = w.env(p, n.defs), n.binds
	defer func() { p.attr, p.asked, p.binds, p.caller = attr, asked, binds, caller }()
	id := w.choose(n, p)
	if id == "" {
		return
	}
	f := functions[id]
	if f.enter == "" {
		w.inside(id, p, false)
		return
	}
	w.before(id, p)
	if p.entered && *p.cursor < len(p.children) {
		if c := p.children[*p.cursor]; f.entersAs(c.Name) {
			*p.cursor++
			w.function(id, c, *p)
			return
		}
	}
	cursor := 0
	inner := *p
	inner.entered, inner.visit, inner.children, inner.cursor = false, nil, nil, &cursor
	w.inside(id, &inner, true)
}

// before goes through what a function does before it shows as entered.
func (w *road) before(id string, p *place) {
	if len(functions[id].pre) == 0 || slices.Contains(w.stack, id) {
		return
	}
	outer, over := p.function, p.before
	p.function, p.before = id, len(p.over)
	w.body(functions[id].pre, p)
	p.function, p.before = outer, over
}

// env has what the names of a condition stand for at a place.
func (w *road) env(p *place, defs []string) *env {
	e := w.request.env(p.function, p.user, p.attr, defs)
	e.binds, e.caller = p.binds, p.caller
	return e
}

// choose chooses among the functions that a call may lead to.
func (w *road) choose(n *node, p *place) string {
	ids := n.calls
	if n.via == "handler" {
		if ids = handlers[w.request.handler(p)]; w.request.handler(p) == noCommand {
			ids = []string{"kernel.notsuppHandler"}
		}
	}
	var fit []string
	for _, id := range ids {
		if functions[id] != nil && w.request.mayRun(id) {
			fit = append(fit, id)
		}
	}
	if len(fit) <= 1 {
		return first(fit)
	}
	if p.entered && *p.cursor < len(p.children) {
		name := p.children[*p.cursor].Name
		for _, id := range fit {
			if functions[id].entersAs(name) {
				return id
			}
		}
		for _, id := range fit {
			if functions[id].enter == "" && w.reach(id)[name] {
				return id
			}
		}
	}
	return w.request.prefer(fit, p)
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// reaches has the kernel functions that each function may enter, not counting
// those that these enter in turn.
var reaches = func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for id := range functions {
		all[id] = map[string]bool{}
	}
	for changed := true; changed; {
		changed = false
		for id, f := range functions {
			before := len(all[id])
			eachCall(slices.Concat(f.pre, f.body), func(n *node) {
				if n.via == "handler" {
					all[id]["*"] = true
				}
				for _, c := range n.calls {
					switch called := functions[c]; {
					case called == nil:
					case called.enter != "":
						for _, name := range strings.Split(called.enter, "|") {
							all[id][name] = true
						}
					default:
						for name := range all[c] {
							all[id][name] = true
						}
					}
				}
			})
			changed = changed || len(all[id]) > before
		}
	}
	return all
}()

// reach are the kernel functions that a function may enter; of one that runs a
// handler, those of this call's.
func (w *road) reach(id string) map[string]bool { return w.request.reach(id) }

func (r *request) reach(id string) map[string]bool {
	if functions[id].enter == "*" {
		for _, h := range handlers[r.handler(&place{function: id})] {
			if r.mayRun(h) {
				return reaches[h]
			}
		}
	}
	return reaches[id]
}

func eachCall(body []node, f func(*node)) {
	for i := range body {
		n := &body[i]
		if n.calls != nil {
			f(n)
		}
		eachCall(n.loop, f)
		for j := range n.arms {
			eachCall(n.arms[j].body, f)
		}
	}
}

// relevant are the functions that were entered from a visit and that its function
// may enter. What lies in others is taken for the visit's own.
func relevant(v *Visit, names map[string]bool) (out []*Visit) {
	if v == nil {
		return nil
	}
	for _, c := range v.Children {
		if names[c.Name] || names["*"] && isHandler(c.Name) {
			out = append(out, c)
			continue
		}
		out = append(out, relevant(c, names)...)
	}
	return out
}

// isHandler says whether a function is the handler of a method or of a command.
func isHandler(name string) bool {
	return strings.Contains(name, "_handler") || strings.HasPrefix(name, "ib_uverbs_")
}
