//go:build ignore

package main

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// collect notes which functions the fields of structs, and values of named
// function types, may hold; and which functions return a rule that they are
// handed.
func (g *generator) collect(p *packages.Package) {
	info := p.TypesInfo
	hold := func(what string, e ast.Expr) {
		if f := function_(info, e); f != "" && what != "" && !slices.Contains(g.fields[what], f) {
			g.fields[what] = append(g.fields[what], f)
		}
	}
	each(p, func(l *ast.CompositeLit) {
		t := types.Unalias(info.TypeOf(l))
		if ptr, ok := t.(*types.Pointer); ok {
			t = ptr.Elem()
		}
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for i, e := range l.Elts {
				name, value := "", e
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if id, ok := kv.Key.(*ast.Ident); ok {
						name, value = id.Name, kv.Value
					}
				} else if i < u.NumFields() {
					name = u.Field(i).Name()
				}
				if vt := info.TypeOf(value); name != "" && vt != nil && fieldType(u, name) == "kernel.Handler" {
					hold("kernel.Handler "+methodOf(info, l.Elts, i), value)
				}
				hold(short(t.String())+"."+name, value)
			}
		case *types.Map:
			for _, e := range l.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					hold(handlerKey(info, u.Elem(), kv.Key), kv.Value)
				}
			}
		}
	})
	each(p, func(a *ast.AssignStmt) {
		for i, l := range a.Lhs {
			if i >= len(a.Rhs) {
				continue
			}
			switch l := l.(type) {
			case *ast.SelectorExpr:
				hold(fieldOf(info, l), a.Rhs[i])
			case *ast.IndexExpr:
				if m, ok := info.TypeOf(l.X).Underlying().(*types.Map); ok && short(m.Elem().String()) == "kernel.Handler" {
					hold(handlerKey(info, m.Elem(), l.Index), a.Rhs[i])
				}
			}
		}
	})
	each(p, func(d *ast.FuncDecl) {
		if d.Body != nil {
			g.decls[key(info.Defs[d.Name])] = d
			g.handsBack(info, d)
		}
	})
}

// fieldType is the type of a struct's field.
func fieldType(s *types.Struct, name string) string {
	for i := range s.NumFields() {
		if s.Field(i).Name() == name {
			return short(s.Field(i).Type().String())
		}
	}
	return ""
}

// methodOf is the method that a literal names beside the handler, which is its
// element i.
func methodOf(info *types.Info, elts []ast.Expr, i int) (name string) {
	for j, e := range elts {
		if n := lastConst(info, e); j != i && n != "" {
			name = n
		}
	}
	return name
}

// handlerKey is where handlers are kept: by their named type, and by the key of
// the map that has them.
func handlerKey(info *types.Info, elem types.Type, k ast.Expr) string {
	name := short(elem.String())
	if name != "kernel.Handler" {
		return name
	}
	return name + " " + lastConst(info, k)
}

// lastConst is the name of the last constant in an expression: the method in
// {object, method}.
func lastConst(info *types.Info, e ast.Expr) (name string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if c, ok := info.Uses[id].(*types.Const); ok && strings.ToUpper(c.Name()) == c.Name() {
				name = c.Name()
				if c.Name() == "true" {
					name += " ex"
				}
			}
		}
		return true
	})
	return name
}

// function_ is the function that an expression is, "" if it is none.
func function_(info *types.Info, e ast.Expr) string {
	var id *ast.Ident
	switch e := e.(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	case *ast.IndexExpr: // an instance of a generic function
		return function_(info, e.X)
	case *ast.CallExpr: // a function that makes one
		return function_(info, e.Fun)
	default:
		return ""
	}
	if f, ok := info.Uses[id].(*types.Func); ok {
		return key(f.Origin())
	}
	return ""
}

// fieldOf names a struct's field.
func fieldOf(info *types.Info, sel *ast.SelectorExpr) string {
	s := info.Selections[sel]
	if s == nil || s.Kind() != types.FieldVal {
		return ""
	}
	t := types.Unalias(s.Recv())
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	return short(t.String()) + "." + sel.Sel.Name
}

// handsBack notes a function that returns a parameter which is a rule.
func (g *generator) handsBack(info *types.Info, d *ast.FuncDecl) {
	w := &walker{g: g, info: info, f: &function{}, last: map[string]string{}}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		for _, st := range s.Body.List {
			r, ok := st.(*ast.ReturnStmt)
			if !ok {
				continue
			}
			for _, e := range r.Results {
				if id, ok := e.(*ast.Ident); ok {
					if v, ok := info.Uses[id].(*types.Var); ok && v.Type().String() == ruleType && v.Parent() != v.Pkg().Scope() {
						g.params[key(info.Defs[d.Name])] = w.text(s.Cond)
					}
				}
			}
		}
		return true
	})
}

// call is a call: first its arguments, then itself.
func (w *walker) call(c *ast.CallExpr) []node {
	if w.info.Types[c.Fun].IsType() {
		return w.exprs(c.Args...)
	}
	var out []node
	if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
		out = w.expr(sel.X)
	}
	if lit, ok := c.Fun.(*ast.FuncLit); ok {
		return append(w.exprs(c.Args...), w.literal(lit)...)
	}
	callees, via := w.callees(c.Fun)
	attr := w.attrOf(c)
	var handed []node
	for _, a := range c.Args {
		if id := w.g.rule(w.info, a); id != "" {
			n := node{rules: []string{id}, attr: attr}
			for _, f := range callees {
				n.cond = w.g.params[f]
			}
			handed = append(handed, n)
			continue
		}
		if f := function_(w.info, a); f != "" && w.info.TypeOf(a) != nil {
			if _, ok := w.info.TypeOf(a).Underlying().(*types.Signature); ok {
				if _, isCall := a.(*ast.CallExpr); !isCall {
					handed = append(handed, node{calls: []string{f}}) // it is called by the callee
					continue
				}
			}
		}
		out = append(out, w.expr(a)...)
	}
	if len(callees) > 0 {
		n := node{calls: callees, via: via, attr: attr}
		n.binds, n.defs = w.binds(callees[0], c)
		out = append(out, n)
	}
	return append(out, handed...)
}

// binds are the numbers that a call hands over: those that are arguments, and the members of a
// struct of the user ABI that is made for the call. Such a struct that is handed on is bound by its
// own name.
func (w *walker) binds(callee string, c *ast.CallExpr) (binds, defs []string) {
	d := w.g.decls[callee]
	if d == nil || c.Ellipsis.IsValid() {
		return nil, nil
	}
	bind := func(name, text string) {
		if unnamed(text) {
			return
		}
		binds = append(binds, name, text)
		for j, more := 0, w.defs(text); j < len(more); j += 2 {
			if !slices.Contains(defs, more[j]) {
				defs = append(defs, more[j], more[j+1])
			}
		}
	}
	i := 0
	for _, field := range d.Type.Params.List {
		for _, name := range field.Names {
			if i >= len(c.Args) {
				return binds, defs
			}
			arg := c.Args[i]
			i++
			t := w.info.TypeOf(arg)
			if t == nil || name.Name == "_" {
				continue
			}
			param := snake(name.Name)
			if s := wireStruct(t); s != nil {
				w.bindStruct(param, arg, s, bind)
			} else if isNumber(t) {
				bind(param, w.text(arg))
			}
		}
	}
	return binds, defs
}

// isNumber says whether a type is one of numbers, or of truth values.
func isNumber(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsBoolean) != 0
}

// wireStruct is the struct of the user ABI that a type is, or points to, nil if it is none, or one of
// answers. Package spec has a constant for the size of each.
func wireStruct(t types.Type) *types.Struct {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != "uverbsim/spec" {
		return nil
	}
	name := named.Obj().Name()
	if named.Obj().Pkg().Scope().Lookup(name+"Size") == nil || strings.HasSuffix(name, "Resp") {
		return nil
	}
	s, _ := named.Underlying().(*types.Struct)
	return s
}

// bindStruct binds a struct: the members of a literal one by one, those that it leaves out to 0;
// another one as a whole.
func (w *walker) bindStruct(param string, arg ast.Expr, s *types.Struct, bind func(name, text string)) {
	if p, ok := arg.(*ast.UnaryExpr); ok {
		arg = p.X
	}
	lit, ok := arg.(*ast.CompositeLit)
	if !ok {
		bind(param, w.text(arg))
		return
	}
	given := map[string]ast.Expr{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			given[w.text(kv.Key)] = kv.Value
		}
	}
	for i := range s.NumFields() {
		f := s.Field(i)
		if f.Name() == "_" || !isNumber(f.Type()) {
			continue
		}
		name := snake(f.Name())
		text := "0"
		if e := given[name]; e != nil {
			text = w.text(e)
		}
		bind(param+"."+name, text)
	}
}

// unnamed says that a part of an expression has no name.
func unnamed(text string) bool {
	return text == "_" || strings.Contains(text, "(_") || strings.Contains(text, " _")
}

// attrOf is the attribute that a call names, "" if it names none or several.
func (w *walker) attrOf(c *ast.CallExpr) string {
	name := ""
	for _, a := range c.Args {
		sel, ok := a.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		k, ok := w.info.Uses[sel.Sel].(*types.Const)
		if !ok || !strings.Contains(k.Name(), "_ATTR_") || k.Val().Kind() != constant.Int {
			continue
		}
		if name != "" {
			return ""
		}
		name = k.Name()
	}
	return name
}

// callees are the functions that a call may lead to.
func (w *walker) callees(fun ast.Expr) (ids []string, via string) {
	switch e := fun.(type) {
	case *ast.ParenExpr:
		return w.callees(e.X)
	case *ast.IndexExpr:
		return w.callees(e.X)
	case *ast.IndexListExpr:
		return w.callees(e.X)
	case *ast.Ident:
		return w.named(w.info.Uses[e])
	case *ast.SelectorExpr:
		if s := w.info.Selections[e]; s != nil {
			switch {
			case s.Kind() == types.FieldVal:
				if t := w.info.TypeOf(e); t != nil && short(t.String()) == "kernel.Handler" {
					return w.byType(t)
				}
				f := fieldOf(w.info, e)
				if ids := w.g.fields[f]; ids != nil {
					return ids, "field " + f
				}
				return w.byType(w.info.TypeOf(e))
			case types.IsInterface(s.Recv()):
				return w.implementations(e.Sel.Name), "interface"
			}
		}
		return w.named(w.info.Uses[e.Sel])
	}
	return nil, ""
}

func (w *walker) named(o types.Object) ([]string, string) {
	switch o := o.(type) {
	case *types.Func:
		if o.Pkg() == nil || !strings.HasPrefix(o.Pkg().Path(), "uverbsim/") {
			return nil, ""
		}
		if recv := o.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			return w.implementations(o.Name()), "interface"
		}
		return []string{key(o.Origin())}, ""
	case *types.Var:
		return w.byType(o.Type())
	}
	return nil, ""
}

// byType are the functions of a named function type: those that maps of it have.
func (w *walker) byType(t types.Type) ([]string, string) {
	if t == nil {
		return nil, ""
	}
	name := short(types.Unalias(t).String())
	if name != "kernel.Handler" {
		if ids := w.g.fields[name]; ids != nil {
			return ids, name
		}
		return nil, ""
	}
	return []string{"kernel.Handler"}, "handler"
}

// implementations are the methods of that name. Which type is meant, is not
// looked at: names are what tells operations apart here.
func (w *walker) implementations(name string) (ids []string) {
	for _, id := range sorted(w.g.decls) {
		if d := w.g.decls[id]; d.Recv != nil && d.Name.Name == name {
			ids = append(ids, id)
		}
	}
	return ids
}
