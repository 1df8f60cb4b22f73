//go:build ignore

package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// walker goes through one function.
type walker struct {
	g    *generator
	info *types.Info
	f    *function
	decl *ast.FuncDecl
	last map[string]string // name, the text that was last assigned to it; "" if that cannot be told
}

func (w *walker) block(list []ast.Stmt) (out []node) {
	for _, s := range list {
		out = append(out, w.stmt(s)...)
	}
	return out
}

func (w *walker) stmt(s ast.Stmt) []node {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return w.block(s.List)
	case *ast.LabeledStmt:
		return w.stmt(s.Stmt)
	case *ast.ExprStmt:
		return w.exprs(s.X)
	case *ast.DeferStmt:
		w.entered(s.Call)
		return nil
	case *ast.DeclStmt:
		var out []node
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			for _, v := range d.Specs {
				if v, ok := v.(*ast.ValueSpec); ok {
					out = append(out, w.exprs(v.Values...)...)
				}
			}
		}
		return out
	case *ast.AssignStmt:
		out := w.exprs(s.Rhs...)
		w.assign(s)
		return out
	case *ast.ReturnStmt:
		return w.exprs(s.Results...)
	case *ast.IfStmt:
		return w.ifStmt(s)
	case *ast.SwitchStmt:
		return w.switchStmt(s)
	case *ast.TypeSwitchStmt:
		return w.typeSwitch(s)
	case *ast.ForStmt:
		var out []node
		if s.Init != nil {
			out = w.stmt(s.Init)
		}
		w.forget(s.Body)
		body := w.exprs(s.Cond)
		body = append(body, w.block(s.Body.List)...)
		return append(out, node{loop: orEmpty(body)})
	case *ast.RangeStmt:
		out := w.exprs(s.X)
		w.forget(s.Body)
		return append(out, node{loop: orEmpty(w.block(s.Body.List))})
	case *ast.SelectStmt:
		var out []node
		for _, c := range s.Body.List {
			c := c.(*ast.CommClause)
			out = append(out, node{arms: []arm{{cond: "", body: w.block(c.Body), ends: ends(c.Body)}}})
		}
		return out
	}
	return nil
}

func orEmpty(body []node) []node {
	if body == nil {
		return []node{}
	}
	return body
}

// entered notes the kernel function that t.Enter(module, name).Leave() names.
func (w *walker) entered(c *ast.CallExpr) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Leave" {
		return
	}
	enter, ok := sel.X.(*ast.CallExpr)
	if !ok {
		return
	}
	if f, ok := enter.Fun.(*ast.SelectorExpr); !ok || !strings.HasPrefix(f.Sel.Name, "Enter") || len(enter.Args) != 2 {
		return
	}
	if w.f.enter != "" {
		return // what it enters besides has no function of its own here
	}
	w.f.enter = w.strings(enter.Args[1])
	if v := w.info.Types[enter.Args[1]].Value; v != nil {
		w.f.enter = strings.Trim(v.ExactString(), `"`)
	}
}

// strings are the texts that a variable of the function is set to, with | in
// between; * if there are none.
func (w *walker) strings(e ast.Expr) string {
	id, ok := e.(*ast.Ident)
	if !ok || w.decl == nil {
		return "*"
	}
	var all []string
	ast.Inspect(w.decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, l := range a.Lhs {
			if name, ok := l.(*ast.Ident); ok && name.Name == id.Name && i < len(a.Rhs) {
				if v := w.info.Types[a.Rhs[i]].Value; v != nil {
					all = append(all, strings.Trim(v.ExactString(), `"`))
				}
			}
		}
		return true
	})
	if all == nil {
		return "*"
	}
	return strings.Join(all, "|")
}

// assign keeps what a name stands for from now on.
func (w *walker) assign(s *ast.AssignStmt) {
	for i, l := range s.Lhs {
		name := w.text(l)
		switch {
		case name == "_" || name == "err":
		case s.Tok != token.ASSIGN && s.Tok != token.DEFINE:
			w.last[name] = ""
		case len(s.Lhs) == len(s.Rhs):
			w.last[name] = w.text(s.Rhs[i])
		case (i == 0 || name == "ok") && len(s.Rhs) == 1:
			w.last[name] = w.text(s.Rhs[0])
		default:
			w.last[name] = ""
		}
		if w.last[name] == name {
			w.last[name] = ""
		}
	}
}

// forget drops what names stand for that are assigned to in a loop, which may go
// round.
func (w *walker) forget(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.AssignStmt); ok && s.Tok != token.DEFINE {
			for _, l := range s.Lhs {
				delete(w.last, w.text(l))
			}
		}
		return true
	})
}

// ends says whether statements return, or leave a loop, in every case.
func ends(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.BlockStmt:
		return ends(s.List)
	case *ast.IfStmt:
		if s.Else == nil {
			return false
		}
		return ends(s.Body.List) && ends([]ast.Stmt{s.Else})
	}
	return false
}

func (w *walker) ifStmt(s *ast.IfStmt) []node {
	var out []node
	if s.Init != nil {
		out = w.stmt(s.Init)
		for i := range out {
			out[i].asks = out[i].calls != nil && asks(s)
		}
	}
	out = append(out, w.exprs(s.Cond)...)
	cond := w.text(s.Cond)
	if call := failed(s); call != nil {
		cond = w.text(call) + " fails"
	}
	saved := w.save()
	body := w.block(s.Body.List)
	w.restore(saved, s.Body)
	a := arm{cond: cond, body: body, ends: ends(s.Body.List)}
	if w.isErr(s.Cond) {
		a.body = only(a.body) // what is called there cleans up
	}
	var rest []node
	if s.Else != nil {
		saved := w.save()
		rest = w.stmt(s.Else)
		w.restore(saved, s.Else)
	}
	if n, ok := w.check(a); ok {
		return append(append(out, n), rest...)
	}
	switch {
	case len(rest) > 0:
		other := arm{cond: not(cond), body: rest, ends: ends([]ast.Stmt{s.Else})}
		return append(out, node{arms: []arm{a, other}, defs: w.defs(cond)})
	case w.isErr(s.Cond) && len(a.body) == 0:
		return out
	}
	return append(out, node{arms: []arm{a}, defs: w.defs(cond)})
}

// side puts a side of && that needs it into parentheses.
func side(cond string) string {
	if strings.Contains(cond, "||") {
		return operand(cond)
	}
	return cond
}

func (w *walker) save() map[string]string {
	saved := map[string]string{}
	for k, v := range w.last {
		saved[k] = v
	}
	return saved
}

// restore undoes what an arm has assigned: names that it changed are not known
// behind it.
func (w *walker) restore(saved map[string]string, arm ast.Node) {
	changed := w.last
	w.last = saved
	for k, v := range changed {
		if saved[k] != v {
			w.last[k] = ""
		}
	}
}

// isErr says whether a condition is that of an error.
func (w *walker) isErr(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ {
		return false
	}
	id, ok := b.Y.(*ast.Ident)
	if !ok || id.Name != "nil" {
		return false
	}
	t := w.info.TypeOf(b.X)
	return t != nil && t.String() == "error"
}

// failed is the call of if err := call; err != nil.
func failed(s *ast.IfStmt) *ast.CallExpr {
	a, ok := s.Init.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return nil
	}
	c, _ := a.Rhs[0].(*ast.CallExpr)
	b, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ {
		return nil
	}
	if id, ok := b.X.(*ast.Ident); !ok || id.Name != "err" {
		return nil
	}
	return c
}

// only leaves the checks of statements.
func only(body []node) (out []node) {
	for _, n := range body {
		if n.rules != nil {
			out = append(out, n)
		}
		for _, a := range n.arms {
			if rest := only(a.body); len(rest) > 0 {
				out = append(out, node{arms: []arm{{a.cond, rest, a.ends}}, defs: n.defs})
			}
		}
	}
	return out
}

// check makes a check of an arm that does nothing but answer a rule, and clean
// up before.
func (w *walker) check(a arm) (node, bool) {
	if !a.ends || len(a.body) == 0 {
		return node{}, false
	}
	n := a.body[len(a.body)-1]
	if n.rules == nil || n.cond != "" {
		return node{}, false
	}
	for _, before := range a.body[:len(a.body)-1] {
		if before.calls == nil {
			return node{}, false
		}
	}
	n.cond = a.cond
	n.defs = w.defs(a.cond)
	return n, true
}

func (w *walker) switchStmt(s *ast.SwitchStmt) []node {
	var out []node
	if s.Init != nil {
		out = w.stmt(s.Init)
	}
	tag := ""
	if s.Tag != nil {
		out = append(out, w.exprs(s.Tag)...)
		tag = w.text(s.Tag)
	}
	var arms []arm
	var conds []string
	allChecks := true
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		var texts []string
		for _, e := range c.List {
			out = append(out, w.exprs(e)...)
			t := w.text(e)
			if tag != "" {
				t = operand(tag) + " == " + operand(t)
			}
			texts = append(texts, t)
		}
		cond := strings.Join(texts, " || ")
		if c.List == nil {
			cond = "" // see below
		} else {
			conds = append(conds, cond)
		}
		saved := w.save()
		body := w.block(c.Body)
		w.restore(saved, c)
		a := arm{cond: cond, body: body, ends: ends(c.Body)}
		arms = append(arms, a)
		if _, ok := w.check(a); !ok {
			allChecks = false
		}
	}
	for i := range arms {
		if arms[i].cond == "" {
			arms[i].cond = none(conds)
		}
	}
	if tag == "" && allChecks {
		for _, a := range arms {
			n, _ := w.check(a)
			out = append(out, n)
		}
		return out
	}
	for i, a := range arms {
		if n, ok := w.check(a); ok {
			arms[i].body = []node{n}
		}
	}
	if len(arms) == 0 {
		return out
	}
	return append(out, node{arms: arms, defs: w.defs(strings.Join(conds, " || "))})
}

func (w *walker) typeSwitch(s *ast.TypeSwitchStmt) []node {
	var arms []arm
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		var texts []string
		for _, e := range c.List {
			texts = append(texts, "it is a "+w.text(e))
		}
		saved := w.save()
		arms = append(arms, arm{cond: strings.Join(texts, " or "), body: w.block(c.Body), ends: ends(c.Body)})
		w.restore(saved, c)
	}
	return []node{{arms: arms}}
}

// literal goes through a function literal as if it were called where it stands.
func (w *walker) literal(e *ast.FuncLit) []node {
	enter := w.f.enter
	out := w.block(e.Body.List)
	w.f.enter = enter
	return out
}

// exprs are the checks and calls of expressions, in the order of evaluation.
func (w *walker) exprs(list ...ast.Expr) (out []node) {
	for _, e := range list {
		if e != nil {
			out = append(out, w.expr(e)...)
		}
	}
	return out
}

func (w *walker) expr(e ast.Expr) (out []node) {
	if id := w.g.rule(w.info, e); id != "" {
		return []node{{rules: []string{id}}}
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return w.expr(e.X)
	case *ast.StarExpr:
		return w.expr(e.X)
	case *ast.UnaryExpr:
		return w.expr(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.EQL || e.Op == token.NEQ {
			// A comparison with a rule answers none.
			if w.g.rule(w.info, e.Y) != "" {
				return w.expr(e.X)
			}
			if sel, ok := e.Y.(*ast.SelectorExpr); ok && w.g.rule(w.info, sel.X) != "" {
				return w.expr(e.X)
			}
		}
		return append(w.expr(e.X), w.expr(e.Y)...)
	case *ast.SelectorExpr:
		if w.g.rule(w.info, e.X) != "" {
			return nil // a member of a rule
		}
		if ids := w.g.tables[key(w.info.Uses[e.Sel])]; ids != nil {
			return []node{{rules: ids}}
		}
		return w.expr(e.X)
	case *ast.Ident:
		if ids := w.g.tables[key(w.info.Uses[e])]; ids != nil {
			return []node{{rules: ids}}
		}
	case *ast.IndexExpr:
		return append(w.expr(e.X), w.expr(e.Index)...)
	case *ast.SliceExpr:
		return w.exprs(e.X, e.Low, e.High, e.Max)
	case *ast.TypeAssertExpr:
		return w.expr(e.X)
	case *ast.KeyValueExpr:
		return w.expr(e.Value)
	case *ast.CompositeLit:
		return w.exprs(e.Elts...)
	case *ast.FuncLit:
		return w.literal(e)
	case *ast.CallExpr:
		return w.call(e)
	}
	return nil
}

// asks says that an error is seen by nobody but the condition err == nil.
func asks(s *ast.IfStmt) bool {
	a, ok := s.Init.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return false
	}
	b, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL {
		return false
	}
	id, ok := b.X.(*ast.Ident)
	return ok && id.Name == "err"
}
