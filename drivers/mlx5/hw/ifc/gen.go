//go:build ignore

// Gen writes this package's tables from the kernel's mlx5_ifc.h.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// roots are the layouts that are wanted; what they contain comes with them.
var roots = strings.Fields(`
	cmd_hca_cap cmd_hca_cap_2 per_protocol_networking_offload_caps odp_cap atomic_caps roce_cap
	flow_table_nic_cap qos_cap device_mem_cap virtio_emulation_cap device_event_cap
	query_issi_out set_issi_in query_pages_out manage_pages_in manage_pages_out
	query_adapter_out query_special_contexts_out query_vport_state_out
	query_nic_vport_context_out modify_nic_vport_context_in
	access_register_in ptys_reg pmtu_reg paos_reg
	create_uctx_in create_uctx_out destroy_uctx_in
	create_eq_in create_eq_out query_eq_out
	create_cq_in create_cq_out query_cq_out modify_cq_in
	create_mkey_in create_mkey_out query_mkey_out
	create_qp_in create_qp_out rst2init_qp_in rst2init_qp_out init2rtr_qp_in rtr2rts_qp_in query_qp_out
	create_dct_in query_dct_out
	create_srq_in query_srq_out create_xrc_srq_in arm_xrc_srq_in query_xrc_srq_out create_xrq_in query_xrq_out
	create_rmp_in modify_rmp_in query_rmp_out arm_rq_in
	create_sq_in modify_sq_in query_sq_out create_rq_in modify_rq_in query_rq_out
	create_tis_in modify_tis_in query_tis_out create_tir_in modify_tir_in query_tir_out
	create_rqt_in modify_rqt_in query_rqt_out
	set_roce_address_in query_roce_address_in query_roce_address_out
	attach_to_mcg_in detach_from_mcg_in
	query_q_counter_in query_q_counter_out query_vport_counter_in query_vport_counter_out
	query_hca_vport_context_out query_hca_vport_pkey_in query_hca_vport_pkey_out
	fte_match_param create_flow_table_in destroy_flow_table_in modify_flow_table_in query_flow_table_in query_flow_table_out set_flow_table_root_in
	create_flow_group_in destroy_flow_group_in query_flow_group_in query_flow_group_out
	set_fte_in delete_fte_in query_fte_in query_fte_out
	alloc_flow_counter_in query_flow_counter_in query_flow_counter_out
	create_umem_in general_obj_in_cmd_hdr general_obj_out_cmd_hdr page_fault_resume_in
`)

// structs names the structures of commands that the header calls otherwise than
// their opcode.
var structs = map[string]string{
	"access_reg": "access_register", "2err_qp": "qp_2err", "2rst_qp": "qp_2rst",
	"set_flow_table_entry": "set_fte", "query_flow_table_entry": "query_fte", "delete_flow_table_entry": "delete_fte",
}

type member struct {
	name  string
	dims  []int
	of    string   // a named layout
	kind  string   // "struct" or "union" where inner is set
	inner []member // written in place
}

type decl struct {
	kind    string
	members []member
}

var (
	decls  = map[string]decl{}
	consts = map[string]int{}
	sizes  = map[string]int{}
)

func main() {
	log.SetFlags(0)
	layoutsFile := flag.String("out", "layouts.go", "where the layouts go")
	commandsFile := flag.String("commands", "commands.go", "where the commands go")
	flag.Parse()
	src, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	text := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(src), "")
	text = regexp.MustCompile(`DECLARE_FLEX_ARRAY\(\s*((?:struct\s+)?\w+)\s*,\s*(\w+)\)`).ReplaceAllString(text, "$1 $2[]")
	for _, m := range regexp.MustCompile(`\b(MLX5_\w+)\s*=\s*(0x[0-9a-fA-F]+|\d+)\b`).FindAllStringSubmatch(text, -1) {
		consts[m[1]] = number(m[2])
	}
	for _, m := range regexp.MustCompile(`#define\s+(MLX5_\w+)\s+(0x[0-9a-fA-F]+|\d+)\s`).FindAllStringSubmatch(text, -1) {
		consts[m[1]] = number(m[2])
	}
	for _, m := range regexp.MustCompile(`\b(struct|union)\s+mlx5_ifc_(\w+?)(?:_bits)?\s*\{`).FindAllStringSubmatchIndex(text, -1) {
		p := &parser{toks: regexp.MustCompile(`\w+|[{}\[\];()*+/-]`).FindAllString(block(text[m[1]:]), -1)}
		decls[text[m[4]:m[5]]] = decl{text[m[2]:m[3]], p.members()}
	}
	writeLayouts(*layoutsFile)
	writeCommands(*commandsFile, text)
}

func number(s string) int {
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		log.Fatal(err)
	}
	return int(n)
}

// block returns the text up to the brace that closes the one before it.
func block(s string) string {
	depth := 1
	for i, c := range s {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[:i]
			}
		}
	}
	log.Fatal("a brace is left open")
	return ""
}

type parser struct {
	toks []string
	pos  int
}

func (p *parser) next() string { p.pos++; return p.toks[p.pos-1] }

func (p *parser) members() (ms []member) {
	for p.pos < len(p.toks) && p.toks[p.pos] != "}" {
		var m member
		switch kind := p.next(); {
		case kind == "u8":
			m.name = p.next()
		case p.toks[p.pos] == "{":
			p.next()
			m.kind, m.inner = kind, p.members()
			p.next()
			if p.toks[p.pos] != ";" {
				m.name = p.next()
			}
		default:
			of := p.next()
			m.of = strings.TrimSuffix(strings.TrimPrefix(of, "mlx5_ifc_"), "_bits")
			m.name = p.next()
		}
		for p.toks[p.pos] == "[" {
			p.next()
			var expr []string
			for p.toks[p.pos] != "]" {
				expr = append(expr, p.next())
			}
			p.next()
			m.dims = append(m.dims, eval(expr))
		}
		if t := p.next(); t != ";" {
			log.Fatalf("%q where a semicolon belongs, after %s", t, m.name)
		}
		ms = append(ms, m)
	}
	return ms
}

// eval reckons an array bound: a number, a constant, or a product of them.
func eval(expr []string) int {
	n, op := 0, "+"
	for _, t := range expr {
		v, isConst := consts[t]
		switch {
		case strings.ContainsAny(t, "+*/-()"):
			op = t
			continue
		case !isConst && t[0] >= '0' && t[0] <= '9':
			v = number(t)
		case !isConst:
			v = 1
		}
		switch op {
		case "*":
			n *= v
		case "/":
			n /= v
		default:
			n += v
		}
	}
	return n
}

func product(ds []int) int {
	n := 1
	for _, d := range ds {
		n *= d
	}
	return n
}

// width returns the bits of one element and the number of elements.
func (m member) width() (bits, count int) {
	switch {
	case m.of != "":
		return size(m.of), product(m.dims)
	case m.inner != nil:
		return extent(m.kind, m.inner), product(m.dims)
	}
	last := len(m.dims) - 1
	return m.dims[last], product(m.dims[:last])
}

func extent(kind string, ms []member) (bits int) {
	for _, m := range ms {
		w, n := m.width()
		if kind == "union" {
			bits = max(bits, w*n)
		} else {
			bits += w * n
		}
	}
	return bits
}

func size(name string) int {
	if n, ok := sizes[name]; ok {
		return n
	}
	sizes[name] = 0
	sizes[name] = extent(decls[name].kind, decls[name].members)
	return sizes[name]
}

func writeLayouts(file string) {
	var b bytes.Buffer
	b.WriteString("// Code generated by gen.go from mlx5_ifc.h; DO NOT EDIT.\n\npackage ifc\n\nvar layouts = map[string]*Layout{\n")
	done := map[string]bool{}
	todo := append([]string(nil), roots...)
	var names []string
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		if done[n] {
			continue
		}
		done[n] = true
		names = append(names, n)
		var visit func(ms []member)
		visit = func(ms []member) {
			for _, m := range ms {
				if m.of != "" {
					todo = append(todo, m.of)
				}
				visit(m.inner)
			}
		}
		visit(decls[n].members)
	}
	sort.Strings(names)
	for _, n := range names {
		if _, ok := decls[n]; !ok {
			log.Fatal("no layout ", n)
		}
		fmt.Fprintf(&b, "%q: {Name: %q, Bits: %#x, Fields: []Field{\n", n, n, size(n))
		writeFields(&b, decls[n].kind, decls[n].members, 0)
		b.WriteString("}},\n")
	}
	b.WriteString("}\n")
	save(file, b.Bytes())
}

func writeFields(b *bytes.Buffer, kind string, ms []member, off int) {
	for _, m := range ms {
		w, n := m.width()
		switch {
		case strings.HasPrefix(m.name, "reserved"):
		case m.inner != nil:
			writeFields(b, m.kind, m.inner, off)
		default:
			of := ""
			if m.of != "" {
				of = fmt.Sprintf(", Of: %q", m.of)
			}
			fmt.Fprintf(b, "{Name: %q, Off: %#x, Width: %d, Count: %d%s},\n", m.name, off, w, n, of)
		}
		if kind != "union" {
			off += w * n
		}
	}
}

func writeCommands(file, text string) {
	type command struct {
		op    int
		macro string
		name  string
	}
	var cs []command
	for _, m := range regexp.MustCompile(`\b(MLX5_CMD_OP(?:CODE)?_([A-Z0-9_]+))\s*= (0x[0-9a-f]+)`).FindAllStringSubmatch(text, -1) {
		if op := number(m[3]); !strings.HasPrefix(m[2], "GENERAL_") && !strings.HasPrefix(m[2], "MOD_") {
			cs = append(cs, command{op, m[1], m[2]})
		}
	}
	sort.Slice(cs, func(i, j int) bool { return cs[i].op < cs[j].op })
	var b bytes.Buffer
	b.WriteString("// Code generated by gen.go from mlx5_ifc.h; DO NOT EDIT.\n\npackage ifc\n\n// The opcodes of firmware commands, enum MLX5_CMD_OP_* in mlx5_ifc.h.\nconst (\n")
	for _, c := range cs {
		fmt.Fprintf(&b, "%s = %#x\n", c.macro, c.op)
	}
	b.WriteString(")\n\n// commands has every command of the header, by opcode.\nvar commands = []Command{\n")
	for _, c := range cs {
		n := strings.ToLower(c.name)
		if s, ok := structs[n]; ok {
			n = s
		}
		fmt.Fprintf(&b, "{%s, %q, %d, %d},\n", c.macro, c.name, size(n+"_in")/8, size(n+"_out")/8)
	}
	b.WriteString("}\n")
	save(file, b.Bytes())
}

func save(file string, src []byte) {
	out, err := format.Source(src)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, out, 0o644); err != nil {
		log.Fatal(err)
	}
}
