package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"strconv"
	"strings"
	"sync"
)

// value is what an expression of a condition has come to.
type value struct {
	n     *big.Int // a number
	truth bool     // a condition
	kind  valueKind
}

type valueKind uint8

const (
	unknown valueKind = iota
	numeric
	truth
	null   // NULL
	object // a pointer that is not NULL
)

func num(n uint64) value   { return value{kind: numeric, n: new(big.Int).SetUint64(n)} }
func signed(n int64) value { return value{kind: numeric, n: big.NewInt(n)} }
func is(b bool) value      { return value{kind: truth, truth: b} }

// env knows what names stand for in a function.
type env struct {
	lookup func(name string) value
	defs   []string // what the function assigned: name, text, name, text
	binds  []string // what its parameters are in the caller
	caller *env
	depth  int
}

// maxDepth is how far names are followed.
const maxDepth = 8

// eval works out an expression, as far as its names are known.
func (e *env) eval(text string) value {
	x := parse(text)
	if x == nil {
		return value{}
	}
	return e.expr(x, text)
}

// parsed has the expressions that were parsed, nil for what is none.
var parsed sync.Map

func parse(text string) ast.Expr {
	if x, ok := parsed.Load(text); ok {
		x, _ := x.(ast.Expr)
		return x
	}
	x, err := parser.ParseExpr(text)
	if err != nil {
		parsed.Store(text, nil)
		return nil
	}
	parsed.Store(text, x)
	return x
}

// def is what a name stands for in the function of the condition.
func (e *env) def(name string) value {
	for i := 0; i+1 < len(e.defs); i += 2 {
		if e.defs[i] == name && e.depth < maxDepth {
			inner := *e
			inner.depth++
			return inner.eval(e.defs[i+1])
		}
	}
	if e.caller == nil || e.depth >= maxDepth {
		return value{}
	}
	outer := *e.caller
	outer.depth = e.depth + 1
	if bound := setTo(e.binds, name); bound != "" {
		return outer.eval(bound)
	}
	if base, member, ok := strings.Cut(name, "."); ok { // of a struct that was handed on
		if bound := setTo(e.binds, base); bound != "" {
			return outer.eval(bound + "." + member)
		}
	}
	return value{}
}

func (e *env) name(text string) value {
	if v := e.def(text); v.kind != unknown {
		return v
	}
	if v := e.lookup(text); v.kind != unknown {
		return v
	}
	if n, ok := constants[text]; ok {
		return num(n)
	}
	return value{}
}

func (e *env) expr(x ast.Expr, text string) value {
	source := func(x ast.Expr) string { return text[x.Pos()-1 : x.End()-1] }
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.expr(x.X, text)
	case *ast.BasicLit:
		if x.Kind == token.INT {
			if n, ok := new(big.Int).SetString(x.Value, 0); ok {
				return value{kind: numeric, n: n}
			}
		}
		if x.Kind == token.CHAR {
			if s, err := strconv.Unquote(x.Value); err == nil && len(s) == 1 {
				return num(uint64(s[0]))
			}
		}
	case *ast.Ident:
		switch x.Name {
		case "nil":
			return value{kind: null}
		case "true", "false":
			return is(x.Name == "true")
		}
		return e.name(x.Name)
	case *ast.SelectorExpr:
		return e.name(source(x))
	case *ast.UnaryExpr:
		return unary(x.Op, e.expr(x.X, text))
	case *ast.BinaryExpr:
		return e.binary(x, text)
	case *ast.CallExpr:
		if v := e.name(source(x)); v.kind != unknown {
			return v
		}
		return e.call(x, text)
	}
	return value{}
}

func unary(op token.Token, v value) value {
	switch {
	case op == token.NOT && v.kind == truth:
		return is(!v.truth)
	case op == token.SUB && v.kind == numeric:
		return value{kind: numeric, n: new(big.Int).Neg(v.n)}
	case op == token.TILDE && v.kind == numeric:
		return value{kind: numeric, n: new(big.Int).Not(v.n)}
	}
	return value{}
}

func (e *env) binary(x *ast.BinaryExpr, text string) value {
	a := e.expr(x.X, text)
	if x.Op == token.LAND || x.Op == token.LOR {
		b := e.expr(x.Y, text)
		decides := x.Op == token.LOR // this truth of one side settles it
		switch {
		case a.kind == truth && a.truth == decides, b.kind == truth && b.truth == decides:
			return is(decides)
		case a.kind == truth && b.kind == truth:
			return is(!decides)
		}
		return value{}
	}
	b := e.expr(x.Y, text)
	if a.kind == null && b.kind == null && (x.Op == token.EQL || x.Op == token.NEQ) {
		return is(x.Op == token.EQL)
	}
	if (a.kind == null && b.kind == object || a.kind == object && b.kind == null) && (x.Op == token.EQL || x.Op == token.NEQ) {
		return is(x.Op == token.NEQ)
	}
	if a.kind != numeric || b.kind != numeric {
		return value{}
	}
	return arithmetic(x.Op, a.n, b.n)
}

func arithmetic(op token.Token, a, b *big.Int) value {
	n := new(big.Int)
	switch op {
	case token.ADD:
		n.Add(a, b)
	case token.SUB:
		n.Sub(a, b)
	case token.MUL:
		n.Mul(a, b)
	case token.QUO, token.REM:
		if b.Sign() == 0 {
			return value{}
		}
		if op == token.QUO {
			n.Quo(a, b)
		} else {
			n.Rem(a, b)
		}
	case token.AND:
		n.And(a, b)
	case token.OR:
		n.Or(a, b)
	case token.XOR:
		n.Xor(a, b)
	case token.SHL, token.SHR:
		if !b.IsUint64() || b.Uint64() > 64 {
			return value{}
		}
		if op == token.SHL {
			n.Lsh(a, uint(b.Uint64()))
		} else {
			n.Rsh(a, uint(b.Uint64()))
		}
	default:
		return compare(op, a.Cmp(b))
	}
	if n.Cmp(wrap) >= 0 {
		n.Mod(n, wrap)
	}
	return value{kind: numeric, n: n}
}

// wrap is where numbers of 64 bits begin again.
var wrap = new(big.Int).Lsh(big.NewInt(1), 64)

func compare(op token.Token, c int) value {
	switch op {
	case token.EQL:
		return is(c == 0)
	case token.NEQ:
		return is(c != 0)
	case token.LSS:
		return is(c < 0)
	case token.LEQ:
		return is(c <= 0)
	case token.GTR:
		return is(c > 0)
	case token.GEQ:
		return is(c >= 0)
	}
	return value{}
}

// widths are the conversions that change a number.
var widths = map[string]struct {
	bits   uint
	signed bool
}{
	"int8": {8, true}, "uint8": {8, false}, "int16": {16, true}, "uint16": {16, false},
	"int32": {32, true}, "uint32": {32, false}, "int64": {64, true},
}

func (e *env) call(x *ast.CallExpr, text string) value {
	f, ok := x.Fun.(*ast.Ident)
	if !ok {
		return e.accessor(x)
	}
	var args []value
	for _, a := range x.Args {
		v := e.expr(a, text)
		if v.kind != numeric {
			return value{}
		}
		args = append(args, v)
	}
	if w, ok := widths[f.Name]; ok && len(args) == 1 {
		n := new(big.Int).And(args[0].n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), w.bits), big.NewInt(1)))
		if w.signed && n.Bit(int(w.bits-1)) == 1 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), w.bits))
		}
		return value{kind: numeric, n: n}
	}
	if len(args) == 1 && f.Name == "round_up_pow2" {
		return roundUp(args[0])
	}
	if len(args) == 2 && (f.Name == "min" || f.Name == "max") {
		if (args[0].n.Cmp(args[1].n) < 0) == (f.Name == "min") {
			return args[0]
		}
		return args[1]
	}
	return value{}
}

// accessor is a call by which a handler reads an attribute: b.uint32(ATTR).
func (e *env) accessor(x *ast.CallExpr) value {
	f, ok := x.Fun.(*ast.SelectorExpr)
	if !ok || len(x.Args) == 0 || !accessors[f.Sel.Name] {
		return value{}
	}
	a, ok := x.Args[0].(*ast.Ident)
	if !ok || !strings.Contains(a.Name, "_ATTR_") {
		return value{}
	}
	return e.lookup(ofAttribute + a.Name)
}

// ofAttribute stands before the name of an attribute whose number is asked for.
const ofAttribute = "attribute "

// accessors are the functions that read a number.
var accessors = map[string]bool{
	"uint32": true, "uint64": true, "flags32": true, "flags64": true, "const_": true, "const_signed": true, "raw_fd": true,
	"enum": true,
}
