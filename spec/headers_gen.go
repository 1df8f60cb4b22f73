//go:build ignore

// headers_gen writes testdata/constants-V.json and testdata/layout-V.json for
// each kernel V that Debian 12 has the headers of: the enumerators and macros
// of the headers with their values, and the structs with the offset and size
// of each member, as gcc for x86-64 sees them. The tests of this package hold
// its constants and structs to these files. Run it with "go generate ./spec".
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source is where the headers of a kernel are.
type source struct {
	kernel  string
	glob    string // the folder that has include/; the last match counts
	version string // what linux/version.h there must say; "" if the folder's name does
	install string // how to get them

	uapi  string // the folder of the UAPI's headers, below that folder
	verbs string // the kernel's own header with the enums that users see, "" if it is not there
}

var sources = []source{
	{
		kernel:  "6.12",
		glob:    "/usr/src/linux-headers-6.12.*-common",
		install: "apt-get install the newest package that\n\tapt-cache search --names-only '^linux-headers-6\\.12\\.[0-9]+.*-common$'\nlists",
		uapi:    "include/uapi", verbs: "include/rdma/ib_verbs.h",
	},
	{
		kernel: "6.1", glob: "/usr", version: "#define LINUX_VERSION_MAJOR 6\n#define LINUX_VERSION_PATCHLEVEL 1\n",
		install: "apt-get install linux-libc-dev on Debian 12",
		uapi:    "include",
	},
}

// headers are those of the UAPI, in the folder rdma.
var headers = []string{
	"rdma_user_ioctl_cmds.h", "ib_user_ioctl_cmds.h", "ib_user_ioctl_verbs.h", "ib_user_verbs.h",
	"mlx5_user_ioctl_cmds.h", "mlx5_user_ioctl_verbs.h", "mlx5-abi.h", "rdma_user_rxe.h", "efa-abi.h", "bnxt_re-abi.h",
}

// verbsEnums are the enums of ib_verbs.h whose values users see, though no
// header tells them.
var verbsEnums = []string{
	"ib_atomic_cap", "ib_cq_attr_mask", "ib_mtu", "ib_port_state", "ib_port_phys_state", "ib_port_width", "ib_port_speed",
	"rdma_link_layer", "ib_event_type", "ib_ah_flags", "ib_wc_status", "ib_wc_opcode", "ib_wc_flags", "ib_srq_attr_mask",
	"ib_qp_type", "ib_qp_create_flags", "ib_qp_attr_mask", "ib_qp_state", "ib_mig_state", "ib_mw_type", "ib_send_flags",
	"ib_access_flags", "ib_mr_rereg_flags", "ib_wq_type", "ib_wq_state", "ib_wq_flags", "ib_wq_attr_mask",
	"ib_flow_attr_type", "ib_flow_spec_type", "ib_flow_flags", "ib_counters_description", "ib_flow_action_type",
	"rdma_transport_type", "rdma_remove_reason",
}

// notStructs are those that package spec reads and writes by code.
var notStructs = []string{"ib_uverbs_attr", "ib_uverbs_ioctl_hdr"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("headers_gen: ")
	for _, s := range sources {
		if err := s.generate(); err != nil {
			log.Fatalf("Linux %s: %v", s.kernel, err)
		}
	}
}

// folder returns where the headers are.
func (s *source) folder() (string, error) {
	missing := fmt.Errorf("its headers are not installed: %s", s.install)
	found, err := filepath.Glob(s.glob)
	if err != nil || len(found) == 0 {
		return "", missing
	}
	dir := found[len(found)-1]
	if s.version == "" {
		return dir, nil
	}
	b, err := os.ReadFile(filepath.Join(dir, s.uapi, "linux/version.h"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !strings.Contains(string(b), s.version) {
		return "", missing
	}
	return dir, err
}

func (s *source) generate() error {
	dir, err := s.folder()
	if err != nil {
		return err
	}
	p := program{uapi: filepath.Join(dir, s.uapi), constants: map[string][]string{}}
	for _, h := range headers {
		if err := p.header(filepath.Join(p.uapi, "rdma", h)); err != nil {
			return err
		}
	}
	if s.verbs != "" {
		if err := p.verbs(filepath.Join(dir, s.verbs)); err != nil {
			return err
		}
	}
	constants, layout, err := p.run()
	if err != nil {
		return err
	}
	if err := write("constants", s.kernel, constants, json.MarshalIndent); err != nil {
		return err
	}
	return write("layout", s.kernel, layout, onePerLine)
}

func write[V any](what, kernel string, v map[string]V, marshal func(any, string, string) ([]byte, error)) error {
	b, err := marshal(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(fmt.Sprintf("testdata/%s-%s.json", what, kernel), append(b, '\n'), 0o644)
}

// onePerLine writes each value of a map on a line of its own.
func onePerLine(v any, _, _ string) ([]byte, error) {
	all := v.(map[string]layout)
	var b bytes.Buffer
	b.WriteByte('{')
	sep := "\n"
	for _, name := range slices.Sorted(maps.Keys(all)) {
		line, err := json.Marshal(all[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%q: %s", sep, name, line)
		sep = ",\n"
	}
	b.WriteString("\n}")
	return b.Bytes(), nil
}

// program is the C program that tells the values.
type program struct {
	uapi      string
	enums     string              // text of enums that no UAPI header has
	constants map[string][]string // by enum, "" for those without
	structs   []cStruct
}

// cStruct is a struct, or one without a name inside a union of another.
type cStruct struct {
	name string // "rxe_send_wr", "rxe_send_wr.flush"
	of   string // the struct with a name: "rxe_send_wr"
	base string // where the inner one lies: "wr.flush."

	members []member
}

type member struct {
	name string
	open bool // an array without a length
}

// layout is what is written of a struct.
type layout struct {
	Size    uint64   `json:"size"`
	Members [][3]any `json:"members"` // name, offset, size
}

var (
	comment    = regexp.MustCompile(`(?s)/\*.*?\*/`)
	kernelOnly = regexp.MustCompile(`(?s)#ifdef __KERNEL__.*?#endif`)
	item       = regexp.MustCompile(`(?ms)^#define\s+(\w+)[ \t]+([\w ()<>]+)$|^enum\s*(\w*)\s*\{(.*?)\};|^struct\s+(\w+)\s*\{`)
	enumerator = regexp.MustCompile(`^\s*([A-Za-z_]\w*)`)
	reserved   = regexp.MustCompile(`_RESERVED(\d+|_START|_END)$`) // nobody's
)

func read(file string) (string, error) {
	b, err := os.ReadFile(file)
	return kernelOnly.ReplaceAllString(comment.ReplaceAllString(string(b), ""), ""), err
}

// header takes in what a header of the UAPI declares.
func (p *program) header(file string) error {
	text, err := read(file)
	if err != nil {
		return err
	}
	for {
		m := item.FindStringSubmatchIndex(text)
		if m == nil {
			return nil
		}
		group := func(i int) string { return text[max(m[2*i], 0):max(m[2*i+1], 0)] }
		end := m[1]
		switch {
		case m[2] >= 0:
			p.constants[""] = append(p.constants[""], group(1))
		case m[8] >= 0:
			p.enum(group(3), group(4))
		default:
			body := braces(text[m[1]:])
			end += len(body)
			p.structure(group(5), body)
		}
		text = text[end:]
	}
}

// verbs takes the chosen enums out of ib_verbs.h, which as a whole is not for
// programs.
func (p *program) verbs(file string) error {
	text, err := read(file)
	if err != nil {
		return err
	}
	for _, name := range verbsEnums {
		m := regexp.MustCompile(`(?s)enum ` + name + ` \{(.*?)\};`).FindStringSubmatch(text)
		if m == nil {
			return fmt.Errorf("%s has no enum %s", file, name)
		}
		p.enum(name, m[1])
		p.enums += m[0] + "\n"
	}
	return nil
}

func (p *program) enum(name, body string) {
	key := ""
	if name != "" {
		key = "enum " + name
	}
	for _, e := range strings.Split(body, ",") {
		if n := enumerator.FindStringSubmatch(e); n != nil && !reserved.MatchString(n[1]) {
			p.constants[key] = append(p.constants[key], n[1])
		}
	}
}

// braces returns the text up to the brace that closes what was opened before.
func braces(text string) string {
	depth := 1
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

func (p *program) structure(name, body string) {
	if slices.Contains(notStructs, name) {
		return
	}
	s := cStruct{name: name, of: name}
	for _, d := range declarations(body) {
		s.members = append(s.members, d.members()...)
		if d.kind != "union" || d.name == "" {
			continue
		}
		for _, in := range declarations(d.body) {
			if in.kind == "struct" && in.name != "" {
				inner := cStruct{name: name + "." + in.name, of: name, base: d.name + "." + in.name + "."}
				for _, m := range declarations(in.body) {
					inner.members = append(inner.members, m.members()...)
				}
				p.structs = append(p.structs, inner)
			}
		}
	}
	p.structs = append(p.structs, s)
}

// declaration is a member of a struct as it is written.
type declaration struct {
	kind, body string   // of a struct or union in place
	name       string   // "" if it has none
	more       []string // others of the same type
	open       bool
}

var (
	inPlace    = regexp.MustCompile(`^\s*(struct|union)\s*\{`)
	uapiPtr    = regexp.MustCompile(`RDMA_UAPI_PTR\(.*,\s*(\w+)\)$`)
	declarator = regexp.MustCompile(`(\w+)\s*(\[.*\])?$`)
)

func declarations(body string) (all []declaration) {
	for {
		var d declaration
		rest := body
		if m := inPlace.FindStringSubmatch(body); m != nil {
			d.kind = m[1]
			d.body = braces(body[len(m[0]):])
			rest = body[len(m[0])+len(d.body)+1:]
		}
		text, after, more := strings.Cut(rest, ";")
		if !more {
			return all
		}
		text = strings.TrimSpace(text)
		if m := uapiPtr.FindStringSubmatch(text); m != nil {
			d.name = m[1]
		} else if first, others, _ := strings.Cut(text, ","); others != "" && !strings.Contains(text, "(") {
			d.name, d.more = declarator.FindString(first), strings.Split(strings.ReplaceAll(others, " ", ""), ",")
		} else if m := declarator.FindStringSubmatch(text); m != nil {
			d.name, d.open = m[1], m[2] == "[]" || m[2] == "[0]"
		}
		all = append(all, d)
		body = after
	}
}

// members returns the members by which the declaration is known. Of a union
// without a name that is its first one.
func (d declaration) members() []member {
	switch {
	case d.name != "":
		all := []member{{d.name, d.open}}
		for _, n := range d.more {
			all = append(all, member{name: n})
		}
		return all
	case d.kind == "union":
		for _, in := range declarations(d.body) {
			if in.name != "" {
				return in.members()
			}
		}
	}
	return nil
}

// run compiles the program and returns what it prints.
func (p *program) run() (constants map[string]map[string]int64, layouts map[string]layout, err error) {
	var b bytes.Buffer
	b.WriteString("#include <stdio.h>\n#include <stddef.h>\n")
	for _, h := range headers {
		fmt.Fprintf(&b, "#include <rdma/%s>\n", h)
	}
	b.WriteString("#define GENMASK(h, l) (((1ULL << ((h) - (l) + 1)) - 1) << (l))\n") // include/linux/bits.h
	b.WriteString(p.enums)
	b.WriteString("int main(void) {\n")
	for _, enum := range slices.Sorted(maps.Keys(p.constants)) {
		for _, c := range p.constants[enum] {
			fmt.Fprintf(&b, "printf(\"c %s\\t%s\\t%%lld\\n\", (long long)(%s));\n", enum, c, c)
		}
	}
	for _, s := range p.structs {
		one := "((struct " + s.of + " *)0)"
		whole, base := "*"+one, "0"
		if s.base != "" {
			path := strings.TrimSuffix(s.base, ".")
			whole, base = one+"->"+path, "offsetof(struct "+s.of+", "+path+")"
		}
		fmt.Fprintf(&b, "printf(\"s %s\\t\\t%%zu\\n\", sizeof(%s));\n", s.name, whole)
		for _, m := range s.members {
			size := "(size_t)0"
			if !m.open {
				size = "sizeof(" + one + "->" + s.base + m.name + ")"
			}
			fmt.Fprintf(&b, "printf(\"m %s\\t%s\\t%%zu %%zu\\n\", offsetof(struct %s, %s%s) - %s, %s);\n",
				s.name, m.name, s.of, s.base, m.name, base, size)
		}
	}
	b.WriteString("return 0; }\n")
	out, err := compile(b.Bytes(), p.uapi)
	if err != nil {
		return nil, nil, err
	}
	constants, layouts = map[string]map[string]int64{}, map[string]layout{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line[2:], "\n"), "\t")
		var n, size uint64
		switch line[0] {
		case 'c':
			if constants[f[0]] == nil {
				constants[f[0]] = map[string]int64{}
			}
			var v int64
			_, err = fmt.Sscan(f[2], &v)
			constants[f[0]][f[1]] = v
		case 's':
			_, err = fmt.Sscan(f[2], &n)
			layouts[f[0]] = layout{Size: n, Members: [][3]any{}}
		case 'm':
			_, err = fmt.Sscan(f[2], &n, &size)
			l := layouts[f[0]]
			l.Members = append(l.Members, [3]any{f[1], n, size})
			layouts[f[0]] = l
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return constants, layouts, nil
}

// compile runs a C program that has the headers of uapi/rdma, and all others as
// the system has them.
func compile(src []byte, uapi string) (string, error) {
	dir, err := os.MkdirTemp("", "headers_gen")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	// Of the kernel's own tree, only these headers are fit for programs.
	if err := os.Symlink(filepath.Join(uapi, "rdma"), filepath.Join(dir, "rdma")); err != nil {
		return "", err
	}
	c, exe := filepath.Join(dir, "main.c"), filepath.Join(dir, "main")
	if err := os.WriteFile(c, src, 0o644); err != nil {
		return "", err
	}
	gcc := exec.Command("gcc", "-m64", "-w", "-I", dir, c, "-o", exe)
	gcc.Stderr = os.Stderr
	if err := gcc.Run(); err != nil {
		return "", fmt.Errorf("gcc, which apt-get install gcc libc6-dev brings: %w", err)
	}
	out, err := exec.Command(exe).Output()
	return string(out), err
}
