//go:build ignore

package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"log"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"uverbsim/spec"
)

// A condition is written with the names that C has for them: members of structs,
// constants and functions in the spelling of the kernel. It is still an
// expression that a parser of Go takes.

// text writes an expression.
func (w *walker) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		if _, ok := e.X.(*ast.BinaryExpr); ok {
			return "(" + w.text(e.X) + ")"
		}
		return w.text(e.X)
	case *ast.Ident:
		return w.ident(e)
	case *ast.BasicLit:
		return e.Value
	case *ast.SelectorExpr:
		return w.selector(e)
	case *ast.StarExpr:
		return w.text(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return w.text(e.X)
		}
		op := e.Op.String()
		if op == "^" {
			op = "~"
		}
		return op + operand(w.text(e.X))
	case *ast.BinaryExpr:
		if e.Op == token.AND_NOT {
			return operand(w.text(e.X)) + " & ~" + operand(w.text(e.Y))
		}
		return w.text(e.X) + " " + e.Op.String() + " " + w.text(e.Y)
	case *ast.IndexExpr:
		if t := w.info.Types[e.Index]; t.IsType() {
			return w.text(e.X)
		}
		return w.text(e.X) + "[" + w.text(e.Index) + "]"
	case *ast.CallExpr:
		return w.callText(e)
	case *ast.TypeAssertExpr:
		return w.text(e.X)
	case *ast.SliceExpr:
		return w.text(e.X)
	case *ast.CompositeLit:
		return w.literalText(e)
	case *ast.KeyValueExpr:
		return w.text(e.Value)
	}
	return "_" // what no name can be given to
}

// literalText writes the literal of a struct or of an array.
func (w *walker) literalText(e *ast.CompositeLit) string {
	if len(e.Elts) == 0 {
		return "ZERO"
	}
	var elts []string
	for _, x := range e.Elts {
		elts = append(elts, w.text(x))
	}
	return "of(" + strings.Join(elts, ", ") + ")"
}

// operand puts an operand that needs it into parentheses.
func operand(s string) string {
	e, err := parser.ParseExpr(s)
	if err != nil {
		return s
	}
	if _, ok := e.(*ast.BinaryExpr); ok {
		return "(" + s + ")"
	}
	return s
}

func not(cond string) string {
	if rest, ok := strings.CutPrefix(cond, "!"); ok && operand(rest) == rest {
		return rest
	}
	return "!" + operand(cond)
}

// none is that no condition holds.
func none(conds []string) string {
	if len(conds) == 0 {
		return ""
	}
	return "!(" + strings.Join(conds, " || ") + ")"
}

func (w *walker) ident(e *ast.Ident) string {
	if c, ok := w.info.Uses[e].(*types.Const); ok {
		return w.constant(c)
	}
	if name := w.g.caps[key(w.info.Uses[e])]; name != "" {
		return name
	}
	return snake(e.Name)
}

func (w *walker) constant(c *types.Const) string {
	name := c.Name()
	if c.Val().Kind() != constant.Int {
		return name
	}
	v := c.Val().ExactString()
	if strings.HasPrefix(v, "-") {
		return v
	}
	if name != strings.ToUpper(name) {
		name = strings.ToUpper(snake(name))
	}
	switch old, ok := w.g.consts[name]; {
	case !ok:
		w.g.consts[name] = v
	case old != v:
		return v
	}
	return name
}

func (w *walker) selector(e *ast.SelectorExpr) string {
	if c, ok := w.info.Uses[e.Sel].(*types.Const); ok {
		return w.constant(c)
	}
	if id, ok := e.X.(*ast.Ident); ok {
		if _, ok := w.info.Uses[id].(*types.PkgName); ok {
			return snake(e.Sel.Name)
		}
	}
	member := snake(e.Sel.Name)
	if t := w.info.TypeOf(e.X); t != nil {
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if t.String() == "uverbsim/core.DeviceAttr" {
			return "device_attr." + member
		}
		if m := members[strings.TrimPrefix(t.String(), "uverbsim/spec.")][e.Sel.Name]; m != "" {
			member = m
		}
	}
	if token.IsKeyword(member) {
		member += "_" // for the parser; see shown
	}
	return w.base(e.X) + "." + member
}

// base is what stands in front of a member: the last name of it.
func (w *walker) base(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		s := w.selector(e)
		return s[strings.LastIndex(s, ".")+1:]
	case *ast.CallExpr:
		return w.base(e.Fun)
	case *ast.ParenExpr:
		return w.base(e.X)
	case *ast.TypeAssertExpr:
		return w.base(e.X)
	}
	return w.text(e)
}

// kept are conversions that change a value.
var kept = map[string]bool{"int32": true, "uint32": true, "int64": true, "uint8": true, "int8": true, "uint16": true, "int16": true}

func (w *walker) callText(c *ast.CallExpr) string {
	var args []string
	for _, a := range c.Args {
		if t := w.info.TypeOf(a); t != nil && leftOut[short(t.String())] {
			continue
		}
		args = append(args, w.text(a))
	}
	list := "(" + strings.Join(args, ", ") + ")"
	if w.info.Types[c.Fun].IsType() {
		t := w.info.TypeOf(c.Fun)
		if !kept[t.String()] {
			if len(args) == 1 {
				return operand(args[0])
			}
			return list
		}
		return t.String() + list
	}
	if sel, ok := c.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Load" && atomicType(w.info.TypeOf(sel.X)) {
		return w.text(sel.X) // that nobody else may write meanwhile is the model's affair
	}
	return w.text(c.Fun) + list
}

// atomicType says whether t is a number or a pointer of sync/atomic.
func atomicType(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "sync/atomic"
}

// leftOut are the types of arguments that say nothing.
var leftOut = map[string]bool{"*trace.Task": true, "copyuser.Memory": true, "*copyuser.Space": true, "*process.Task": true}

// members has the C name of each member of a struct of package spec.
var members = func() map[string]map[string]string {
	m := map[string]map[string]string{}
	for _, c := range structNames() {
		t := reflect.TypeOf(spec.NewStruct(c)).Elem()
		names := spec.Members(c)
		of := map[string]string{}
		for i := range t.NumField() {
			if t.Field(i).Name == "_" || len(names) == 0 {
				continue
			}
			of[t.Field(i).Name], names = names[0], names[1:]
		}
		m[t.Name()] = of
	}
	return m
}()

// structNames are the structs that package spec has, as its table of members
// lists them.
func structNames() (names []string) {
	f, err := parser.ParseFile(token.NewFileSet(), "../../spec/members_gen.go", nil, 0)
	if err != nil {
		log.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			name, _ := strconv.Unquote(kv.Key.(*ast.BasicLit).Value)
			names = append(names, name)
			return false
		}
		return true
	})
	return names
}

// snake writes a Go name as C would.
func snake(name string) string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if unicode.IsUpper(c) {
			word := i > 0 && (unicode.IsLower(r[i-1]) || unicode.IsDigit(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1]) && unicode.IsUpper(r[i-1]))
			if word && r[i-1] != '_' {
				b.WriteByte('_')
			}
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	if token.IsKeyword(b.String()) {
		b.WriteByte('_')
	}
	return b.String()
}

// defs says what the names of a condition stand for, and the names of that in
// turn.
func (w *walker) defs(cond string) (out []string) {
	seen := map[string]bool{}
	var add func(text string, depth int)
	add = func(text string, depth int) {
		e, err := parser.ParseExpr(text)
		if err != nil || depth > 4 {
			return
		}
		ast.Inspect(e, func(n ast.Node) bool {
			var name string
			switch n := n.(type) {
			case *ast.Ident:
				name = n.Name
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok {
					name = id.Name + "." + n.Sel.Name
				}
			default:
				return true
			}
			def := w.last[name]
			if def == "" || seen[name] {
				return true
			}
			seen[name] = true
			out = append(out, name, def)
			add(def, depth+1)
			return true
		})
	}
	add(cond, 0)
	return out
}
