package syzlang

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// file is a description as the fuzzer's compiler sees it, as far as this package
// writes the language: docs/syscall_descriptions_syntax.md of syzkaller.
type file struct {
	includes  []string
	resources map[string]string
	templates map[string]*body
	blocks    map[string]*body
	flags     map[string][]string
	calls     map[string]string // name to the struct
	used      map[string]bool
}

// body is a struct, a union or a template.
type body struct {
	params []string
	union  bool
	fields []fieldType
}

type fieldType struct {
	name, attr string
	typ        typeExpr
}

// typeExpr is a type with its arguments. A number or a range is one without.
type typeExpr struct {
	name string
	args []typeExpr
}

var (
	identifier = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	opening    = regexp.MustCompile(`^(?:type )?([a-zA-Z_]\w*)(?:\[([\w, ]+)\])? ([{\[])$`)
	fieldLine  = regexp.MustCompile(`^\t(\w+)\t+([^\t]+)(?:\t\((in|out)\))?$`)
	callLine   = regexp.MustCompile(`^(?:ioctl\$(\w+)\(fd fd_rdma, cmd const\[RDMA_VERBS_IOCTL\], arg ptr\[inout, (\w+)\]\)|` +
		`write\$(\w+)\(fd fd_rdma, buf ptr\[inout, (\w+)\], len bytesize\[buf\]\))$`)
)

// parse reads a description.
func parse(t *testing.T, text string) *file {
	t.Helper()
	f := &file{
		resources: map[string]string{}, templates: map[string]*body{}, blocks: map[string]*body{},
		flags: map[string][]string{}, calls: map[string]string{}, used: map[string]bool{},
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "include <"):
			f.includes = append(f.includes, line)
		case strings.HasPrefix(line, "resource "):
			name, base, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(line, "resource "), "]"), "[")
			require.True(t, ok && identifier.MatchString(name), line)
			f.define(t, name)
			f.resources[name] = base
		case opening.MatchString(line):
			m := opening.FindStringSubmatch(line)
			b := &body{union: m[3] == "["}
			f.define(t, m[1])
			end := map[bool]string{false: "}", true: "]"}[b.union]
			for i++; lines[i] != end; i++ {
				fm := fieldLine.FindStringSubmatch(lines[i])
				require.NotNil(t, fm, lines[i])
				b.fields = append(b.fields, fieldType{fm[1], fm[3], parseType(t, fm[2])})
			}
			require.NotEmpty(t, b.fields, line)
			if strings.HasPrefix(line, "type ") {
				b.params = strings.Split(m[2], ", ")
				f.templates[m[1]] = b
			} else {
				f.blocks[m[1]] = b
			}
		case strings.Contains(line, " = "):
			name, list, _ := strings.Cut(line, " = ")
			f.define(t, name)
			f.flags[name] = strings.Split(list, ", ")
			for _, e := range f.flags[name] {
				require.Regexp(t, identifier, e)
			}
		default:
			m := callLine.FindStringSubmatch(line)
			require.NotNil(t, m, line)
			f.define(t, "call "+m[1]+m[3])
			f.calls[m[1]+m[3]] = m[2] + m[4]
		}
	}
	return f
}

// define refuses what is defined twice.
func (f *file) define(t *testing.T, name string) {
	t.Helper()
	require.NotContains(t, f.used, name, "defined twice")
	f.used[name] = false
}

func parseType(t *testing.T, s string) typeExpr {
	e, rest := parseExpr(t, s)
	require.Empty(t, rest, s)
	return e
}

func parseExpr(t *testing.T, s string) (typeExpr, string) {
	n := strings.IndexAny(s, "[],")
	if n < 0 {
		n = len(s)
	}
	e := typeExpr{name: strings.TrimSpace(s[:n])}
	require.NotEmpty(t, e.name, s)
	s = s[n:]
	if !strings.HasPrefix(s, "[") {
		return e, s
	}
	for s = s[1:]; ; s = s[1:] {
		var arg typeExpr
		arg, s = parseExpr(t, s)
		e.args = append(e.args, arg)
		require.NotEmpty(t, s)
		if s[0] == ']' {
			return e, s[1:]
		}
		require.Equal(t, byte(','), s[0])
	}
}

// theirs are the resources and types of dev_infiniband_rdma.txt, and the
// language's own, with their sizes.
var theirs = map[string]int{
	"fd": 4, "fd_rdma": 4, "pd_handle": 4, "mr_handle": 4, "cq_handle": 4, "qp_handle": 4, "mw_handle": 4, "srq_handle": 4,
	"xrcd_handle": 4, "wq_handle": 4, "ind_tbl_handle": 4, "flow_handle": 4, "ah_handle": 4, "vcontext_handle": 4,
	"int8": 1, "int16": 2, "int32": 4, "int64": 8,
}

// variable is the size of what has none of its own.
const variable = -1

// sizeOf checks a type and returns its size.
func (f *file) sizeOf(t *testing.T, e typeExpr, env map[string]typeExpr) int {
	t.Helper()
	size, _ := f.layout(t, e, env)
	return size
}

// layout checks a type and returns its size and alignment. env has the arguments
// of the template that it is in.
func (f *file) layout(t *testing.T, e typeExpr, env map[string]typeExpr) (size, align int) {
	t.Helper()
	if v, ok := env[e.name]; ok {
		require.Empty(t, e.args)
		return f.layout(t, v, nil)
	}
	arg := func(i int) typeExpr {
		if v, ok := env[e.args[i].name]; ok {
			return v
		}
		return e.args[i]
	}
	if n, ok := theirs[e.name]; ok {
		require.Empty(t, e.args, e.name)
		return n, n
	}
	if base, ok := f.resources[e.name]; ok {
		require.Empty(t, e.args)
		f.used[e.name] = true
		return theirs[base], theirs[base]
	}
	switch e.name {
	case "const":
		require.Len(t, e.args, 2)
		require.True(t, identifier.MatchString(arg(0).name) || number(arg(0).name), "%v", e)
		require.Contains(t, arg(1).name, "int")
		return f.layout(t, arg(1), nil)
	case "flags":
		require.Len(t, e.args, 2)
		require.Contains(t, f.flags, arg(0).name)
		f.used[arg(0).name] = true
		return f.layout(t, arg(1), nil)
	case "bytesize", "bytesize4", "bytesize8":
		require.Len(t, e.args, 2)
		return f.layout(t, arg(1), nil)
	case "ptr64":
		require.Len(t, e.args, 2)
		require.Contains(t, []string{"in", "out"}, e.args[0].name)
		f.layout(t, arg(1), nil)
		return 8, 8
	case "array":
		n, align := f.layout(t, arg(0), nil)
		if len(e.args) == 1 {
			return variable, align
		}
		require.Len(t, e.args, 2)
		low, high, ranged := strings.Cut(e.args[1].name, ":")
		require.True(t, number(low) && (!ranged || number(high)), "%v", e)
		if ranged {
			return variable, align
		}
		count, err := strconv.Atoi(low)
		require.NoError(t, err)
		return n * count, align
	}
	if b, ok := f.templates[e.name]; ok {
		f.used[e.name] = true
		require.Len(t, e.args, len(b.params), e.name)
		inner := map[string]typeExpr{}
		for i, p := range b.params {
			inner[p] = e.args[i]
		}
		return f.block(t, b, inner)
	}
	b, ok := f.blocks[e.name]
	require.True(t, ok, "unknown type %s", e.name)
	f.used[e.name] = true
	return f.block(t, b, nil)
}

// block is the layout of a struct or a union, whose fields have different names.
func (f *file) block(t *testing.T, b *body, env map[string]typeExpr) (size, align int) {
	seen := map[string]bool{}
	align = 1
	for i, x := range b.fields {
		require.False(t, seen[x.name], x.name)
		seen[x.name] = true
		n, a := f.layout(t, x.typ, env)
		align = max(align, a)
		if size == variable {
			continue
		}
		switch {
		case n == variable:
			require.True(t, i == len(b.fields)-1 || b.fields[i+1].typ.name == "array", "%s is in the middle", x.name)
			size = variable
		case b.union:
			size = max(size, n)
		default:
			size = (size+a-1)/a*a + n
		}
		if x.typ.name == "bytesize" && x.typ.args[0].name != "parent" {
			require.True(t, hasField(b, x.typ.args[0].name), "%v", x.typ)
		}
	}
	if size != variable {
		size = (size + align - 1) / align * align
	}
	return size, align
}

func hasField(b *body, name string) bool {
	for _, x := range b.fields {
		if x.name == name {
			return true
		}
	}
	return false
}

func number(s string) bool {
	_, err := strconv.ParseUint(s, 0, 64)
	return err == nil
}

// TestGrammar: the reader of this test reads each part of a description, and works out its size.
func TestGrammar(t *testing.T) {
	good := "resource r[int32]\n\ntype pair[A, B] {\n\tx\tconst[A, int32]\n\ty\tB\t(in)\n}\n\nset = ONE, TWO\n\n" +
		"cmd {\n\ta\tpair[1, r]\n\tb\tflags[set, int64]\n}\n\nioctl$x(fd fd_rdma, cmd const[RDMA_VERBS_IOCTL], arg ptr[inout, cmd])\n"
	f := parse(t, good)
	require.Equal(t, 16, f.sizeOf(t, typeExpr{name: "cmd"}, nil))
	require.Equal(t, map[string]string{"x": "cmd"}, f.calls)
	require.Equal(t, "array[array[int8, 2], 3:4]", fmt.Sprint(show(parseType(t, "array[array[int8, 2], 3:4]"))))
}

func show(e typeExpr) string {
	if len(e.args) == 0 {
		return e.name
	}
	var args []string
	for _, a := range e.args {
		args = append(args, show(a))
	}
	return e.name + "[" + strings.Join(args, ", ") + "]"
}
