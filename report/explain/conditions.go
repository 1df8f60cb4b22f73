package explain

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"sync"
)

// shown is a condition as a reader gets it, with the kernel's names for the parts
// of a request that its parser looks at.
func shown(function, cond string) string {
	key := [2]string{function, cond}
	if s, ok := shownAs.Load(key); ok {
		return s.(string)
	}
	s := show(function, cond)
	shownAs.Store(key, s)
	return s
}

// shownAs has what conditions are shown as.
var shownAs sync.Map

func show(function, cond string) string {
	cond = keyword.ReplaceAllString(cond, "$1")
	if strings.HasPrefix(function, "kernel.") || strings.HasPrefix(function, "(*kernel.") {
		cond = kernelNames.Replace(cond)
	}
	return arrow.ReplaceAllString(pointer.ReplaceAllString(cond, "NULL"), "$1->$2")
}

var (
	// keyword is a name that would be a keyword of Go.
	keyword = regexp.MustCompile(`\b(type|range|map|func|default|switch|var|import|case|select|chan|go|package|const|return|struct|interface)_\b`)
	pointer = regexp.MustCompile(`\bnil\b`)
	// arrow is a member of something that C has a pointer to.
	arrow = regexp.MustCompile(`\b(uattr|method_elm|spec|val_spec|attr|qp|cq|uobj|udata|f|o)\.([a-z])`)
)

// kernelNames are the names that ib_uverbs_ioctl and what it calls have for what
// the model calls otherwise.
var kernelNames = strings.NewReplacer(
	"u.attr_data()", "uattr.attr_data.reserved", "u.elem_id()", "uattr.attr_data.enum_data.elem_id",
	"u.enum_reserved()", "uattr.attr_data.enum_data.reserved", "u.len()", "uattr.len", "u.flags()", "uattr.flags",
	"u.data", "uattr.data", "val.len", "val_spec.u.ptr.len", "val.min_len", "val_spec.u.ptr.min_len",
	"val.zero_trailing", "val_spec.zero_trailing", "b.is_cleared(u, val_spec.u.ptr.len)", "uverbs_is_attr_cleared()",
	"b.is_cleared(u, val.len)", "uverbs_is_attr_cleared(uattr, val_spec.u.ptr.len)",
	"s.type", "spec.type", "spec.min_items", "spec.u2.objs_arr.min_len", "spec.max_items", "spec.u2.objs_arr.max_len",
	"len(s.enum)", "spec.u.enum_def.num_elems", "a == nil", "IS_ERR(attr)", "elm == nil", "!slot", "m.mandatory & ~b.present != 0", "!bitmap_subset(method_elm.attr_mandatory, attr_present)",
	"TYPE_PTR_OUT", "UVERBS_ATTR_TYPE_PTR_OUT", "TYPE_PTR_IN", "UVERBS_ATTR_TYPE_PTR_IN", "TYPE_ENUM_IN", "UVERBS_ATTR_TYPE_ENUM_IN",
	"TYPE_IDR", "UVERBS_ATTR_TYPE_IDR", "TYPE_FD", "UVERBS_ATTR_TYPE_FD", "TYPE_RAW_FD", "UVERBS_ATTR_TYPE_RAW_FD",
	"TYPE_ID_RS_ARRAY", "UVERBS_ATTR_TYPE_IDRS_ARRAY",
)

// names are the names that a condition speaks of, and the conditions that one of
// several must be, as texts.
func namesIn(cond string) (out []string) {
	e := parse(cond)
	if e == nil {
		return words(cond)
	}
	seen := map[string]bool{}
	add := func(s string) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	var walk func(x ast.Expr)
	walk = func(x ast.Expr) {
		switch x := x.(type) {
		case *ast.ParenExpr:
			walk(x.X)
		case *ast.UnaryExpr:
			walk(x.X)
		case *ast.BinaryExpr:
			walk(x.X)
			walk(x.Y)
		case *ast.Ident, *ast.SelectorExpr:
			add(cond[x.Pos()-1 : x.End()-1])
		case *ast.IndexExpr:
			walk(x.X)
			walk(x.Index)
		case *ast.CallExpr:
			add(cond[x.Pos()-1 : x.End()-1])
			for _, a := range x.Args {
				walk(a)
			}
		}
	}
	walk(e)
	return out
}

var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*`)

func words(s string) []string { return word.FindAllString(s, -1) }

// parts are the conditions of which one or more hold, as texts.
func parts(cond string) (out []string) {
	e := parse(cond)
	if e == nil {
		return []string{cond}
	}
	var walk func(x ast.Expr)
	walk = func(x ast.Expr) {
		if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.LOR {
			walk(b.X)
			walk(b.Y)
			return
		}
		out = append(out, cond[x.Pos()-1:x.End()-1])
	}
	walk(e)
	return out
}
