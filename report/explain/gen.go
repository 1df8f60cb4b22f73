//go:build ignore

// gen writes checks_gen.go: the checks of the modelled kernel as its own source
// has them. Run it with "go generate ./report/explain" after a change to a
// function that refuses calls.
//
// For each function it keeps, in the order of the source, the places that answer
// a rule with the condition under which they do, the calls that lead to further
// ones, and the branches in between. Functions that lead to no rule are left out.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"log"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// sources are the packages whose functions refuse calls.
var sources = []string{
	"uverbsim/kernel", "uverbsim/methods", "uverbsim/core", "uverbsim/uobject", "uverbsim/copyuser", "uverbsim/process",
	"uverbsim/drivers/mlx5", "uverbsim/drivers/rxe", "uverbsim/sim_test/stub",
}

// function is what is kept of one.
type function struct {
	id    string
	enter string // the kernel function that it reports to be entered, "*" if that is known at run time only, several with | in between
	pre   []node // what it does before it enters
	body  []node
	keep  bool
}

// node is a step of a function: a check, a call, a branch or a loop.
type node struct {
	rules []string // a check: what it answers
	cond  string   // when it does
	defs  []string // what the names of the condition stand for: name, text, name, text

	calls []string // a call: the functions that it may lead to
	via   string   // how they are chosen, if there are several
	attr  string   // the attribute that it is about
	asks  bool     // the caller takes success alone: what refuses there refuses no call
	binds []string // the numbers that are handed over: parameter, text, parameter, text

	arms []arm // a branch
	loop []node
}

type arm struct {
	cond string
	body []node
	ends bool // it returns
}

type generator struct {
	pkgs   []*packages.Package
	ids    map[string]string   // rule variable, id
	tables map[string][]string // package variable, the ids of the rules in it
	fields map[string][]string // struct field or named function type, the functions that it may hold
	params map[string]string   // function, the condition under which it returns the rule that it is handed
	consts map[string]string   // constant, value
	caps   map[string]string   // variable that stands for a capability of the firmware, its field
	funcs  map[string]*function
	decls  map[string]*ast.FuncDecl
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	g := &generator{
		ids: map[string]string{}, tables: map[string][]string{}, fields: map[string][]string{},
		params: map[string]string{}, consts: map[string]string{}, caps: map[string]string{}, funcs: map[string]*function{},
		decls: map[string]*ast.FuncDecl{},
	}
	cfg := &packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
		packages.NeedTypesInfo | packages.NeedImports | packages.NeedExportFile}
	pkgs, err := packages.Load(cfg, append([]string{"uverbsim/rule"}, sources...)...)
	if err != nil {
		log.Fatal(err)
	}
	if packages.PrintErrors(pkgs) > 0 {
		os.Exit(1)
	}
	sort.Slice(pkgs, func(i, j int) bool { return pkgs[i].PkgPath < pkgs[j].PkgPath })
	g.pkgs = pkgs
	for _, p := range pkgs {
		g.declare(p)
	}
	for _, p := range pkgs {
		g.tabulate(p)
	}
	for _, p := range pkgs {
		g.collect(p)
	}
	for _, p := range pkgs {
		if p.Name != "rule" {
			g.walkAll(p)
		}
	}
	g.prune()
	src, err := format.Source(g.print())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("checks_gen.go", src, 0o644); err != nil {
		log.Fatal(err)
	}
}

// objects are known by path and name: one loaded from source and one from export
// data are not the same.
func key(o types.Object) string {
	if o == nil || o.Pkg() == nil {
		return ""
	}
	if f, ok := o.(*types.Func); ok {
		return short(f.FullName())
	}
	return short(o.Pkg().Path() + "." + o.Name())
}

// short takes the module's name out of a path.
func short(s string) string { return strings.ReplaceAll(s, "uverbsim/", "") }

const ruleType = "*uverbsim/rule.Rule"

// declare notes rules and capabilities.
func (g *generator) declare(p *packages.Package) {
	each(p, func(spec *ast.ValueSpec) {
		for i, name := range spec.Names {
			obj := p.TypesInfo.Defs[name]
			if i >= len(spec.Values) || obj == nil || obj.Parent() != p.Types.Scope() {
				continue
			}
			switch obj.Type().String() {
			case ruleType:
				g.ids[key(obj)] = ruleID(spec.Values[i])
			case "uverbsim/drivers/mlx5.capability":
				g.caps[key(obj)] = ruleID(spec.Values[i])
			}
		}
	})
}

// tabulate notes the variables that hold rules.
func (g *generator) tabulate(p *packages.Package) {
	if p.Name == "rule" {
		return
	}
	each(p, func(spec *ast.ValueSpec) {
		for i, name := range spec.Names {
			obj := p.TypesInfo.Defs[name]
			if i >= len(spec.Values) || obj == nil || obj.Parent() != p.Types.Scope() || g.ids[key(obj)] != "" {
				continue
			}
			ast.Inspect(spec.Values[i], func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					if id := g.rule(p.TypesInfo, e); id != "" {
						g.tables[key(obj)] = append(g.tables[key(obj)], id)
						return false
					}
				}
				_, f := n.(*ast.FuncLit)
				return !f
			})
		}
	})
}

// ruleID is the id in a rule's literal.
func ruleID(e ast.Expr) (id string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && id == "" && l.Kind == token.STRING {
			id, _ = strconv.Unquote(l.Value)
		}
		return id == ""
	})
	return id
}

func each[N ast.Node](p *packages.Package, f func(N)) {
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			if n, ok := n.(N); ok {
				f(n)
			}
			return true
		})
	}
}

// rule returns the id of the rule that an expression names, "" if it names none.
func (g *generator) rule(info *types.Info, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return g.ids[key(info.Uses[e])]
	case *ast.SelectorExpr:
		return g.ids[key(info.Uses[e.Sel])]
	}
	return ""
}

func (g *generator) walkAll(p *packages.Package) {
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Body == nil {
				continue
			}
			id := key(p.TypesInfo.Defs[d.Name])
			w := &walker{g: g, info: p.TypesInfo, f: &function{id: id}, decl: d, last: map[string]string{}}
			for _, s := range d.Body.List {
				entered := w.f.enter
				if e, ok := s.(*ast.ExprStmt); ok {
					if c, ok := e.X.(*ast.CallExpr); ok {
						w.entered(c) // entered and left at once
					}
				}
				nodes := w.stmt(s)
				if entered == "" && w.f.enter != "" {
					w.f.pre, w.f.body = w.f.body, nil
				}
				w.f.body = append(w.f.body, nodes...)
			}
			g.funcs[id] = w.f
		}
	}
}

// prune leaves the functions that lead to a rule.
func (g *generator) prune() {
	for changed := true; changed; {
		changed = false
		for _, f := range g.funcs {
			if !f.keep && (g.leads(f.pre) || g.leads(f.body)) {
				f.keep, changed = true, true
			}
		}
	}
	for id, f := range g.funcs {
		if !f.keep {
			delete(g.funcs, id)
			continue
		}
	}
	for _, f := range g.funcs {
		f.pre, f.body = g.trim(f.pre), g.trim(f.body)
	}
}

func (g *generator) leads(body []node) bool {
	for _, n := range body {
		if len(n.rules) > 0 || g.leads(n.loop) || slices.Contains(n.calls, "kernel.Handler") {
			return true
		}
		for _, c := range n.calls {
			if f := g.funcs[c]; f != nil && f.keep {
				return true
			}
		}
		for _, a := range n.arms {
			if g.leads(a.body) {
				return true
			}
		}
	}
	return false
}

// trim takes out what leads to no rule. An arm that only returns stays: what
// follows it is then not met.
func (g *generator) trim(body []node) (out []node) {
	for _, n := range body {
		switch {
		case n.calls != nil:
			var kept []string
			for _, c := range n.calls {
				if g.funcs[c] != nil || c == "kernel.Handler" {
					kept = append(kept, c)
				}
			}
			if n.calls = kept; len(kept) == 0 {
				continue
			}
		case n.loop != nil:
			if n.loop = g.trim(n.loop); len(n.loop) == 0 {
				continue
			}
		case n.arms != nil:
			some := false
			for i := range n.arms {
				n.arms[i].body = g.trim(n.arms[i].body)
				some = some || len(n.arms[i].body) > 0 || n.arms[i].ends
			}
			if !some {
				continue
			}
			if check, ok := nested(n); ok {
				out = append(out, check)
				if !n.arms[0].ends {
					continue
				}
				n.arms[0].body = nil
			}
		}
		out = append(out, n)
	}
	for len(out) > 0 && !g.leads(out[len(out)-1:]) {
		out = out[:len(out)-1]
	}
	return out
}

// nested makes one check of a branch in which there is nothing but one: both
// conditions have to hold.
func nested(branch node) (node, bool) {
	if len(branch.arms) != 1 || len(branch.arms[0].body) != 1 {
		return node{}, false
	}
	n := branch.arms[0].body[0]
	if n.rules == nil || n.cond == "" {
		return node{}, false
	}
	n.defs = append(n.defs[:len(n.defs):len(n.defs)], branch.defs...)
	n.cond = side(branch.arms[0].cond) + " && " + side(n.cond)
	return n, true
}

func (g *generator) print() []byte {
	var b bytes.Buffer
	b.WriteString("// Code generated by gen.go; DO NOT EDIT.\n\npackage explain\n\n")
	b.WriteString("var functions = map[string]*function{\n")
	for _, id := range sorted(g.funcs) {
		f := g.funcs[id]
		fmt.Fprintf(&b, "%q: {enter: %q, ", id, f.enter)
		if len(f.pre) > 0 {
			b.WriteString("pre: []node{\n")
			printNodes(&b, f.pre)
			b.WriteString("}, ")
		}
		b.WriteString("body: []node{\n")
		printNodes(&b, f.body)
		b.WriteString("}},\n")
	}
	b.WriteString("}\n\n// handlers are those of methods and write() commands, by the name of the method.\nvar handlers = map[string][]string{\n")
	for _, what := range sorted(g.fields) {
		name, ok := strings.CutPrefix(what, "kernel.Handler ")
		var kept []string
		for _, f := range g.fields[what] {
			if g.funcs[f] != nil {
				kept = append(kept, f)
			}
		}
		if ok && kept != nil {
			fmt.Fprintf(&b, "%q: %#v,\n", name, kept)
		}
	}
	b.WriteString("}\n\n// constants are those that conditions name.\nvar constants = map[string]uint64{\n")
	for _, name := range sorted(g.consts) {
		fmt.Fprintf(&b, "%q: %s,\n", name, g.consts[name])
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func printNodes(b *bytes.Buffer, body []node) {
	for _, n := range body {
		switch {
		case n.rules != nil:
			fmt.Fprintf(b, "{rules: %#v, cond: %q", n.rules, n.cond)
			if n.defs != nil {
				fmt.Fprintf(b, ", defs: %#v", n.defs)
			}
			if n.attr != "" {
				fmt.Fprintf(b, ", attr: %q", n.attr)
			}
			b.WriteString("},\n")
		case n.calls != nil:
			fmt.Fprintf(b, "{calls: %#v", n.calls)
			if n.via != "" {
				fmt.Fprintf(b, ", via: %q", n.via)
			}
			if n.attr != "" {
				fmt.Fprintf(b, ", attr: %q", n.attr)
			}
			if n.asks {
				b.WriteString(", asks: true")
			}
			if n.binds != nil {
				fmt.Fprintf(b, ", binds: %#v", n.binds)
			}
			if n.defs != nil {
				fmt.Fprintf(b, ", defs: %#v", n.defs)
			}
			b.WriteString("},\n")
		case n.loop != nil:
			b.WriteString("{loop: []node{\n")
			printNodes(b, n.loop)
			b.WriteString("}},\n")
		default:
			b.WriteString("{arms: []arm{\n")
			for _, a := range n.arms {
				fmt.Fprintf(b, "{cond: %q, ends: %v, body: []node{\n", a.cond, a.ends)
				printNodes(b, a.body)
				b.WriteString("}},\n")
			}
			b.WriteString("}")
			if n.defs != nil {
				fmt.Fprintf(b, ", defs: %#v", n.defs)
			}
			b.WriteString("},\n")
		}
	}
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
