package syzlang

import (
	"fmt"
	"strings"

	"uverbsim/report/schema"
)

// method makes the structs of a method's calls and returns the calls: one with
// what is mandatory and the driver's part, and one with all if there is more.
func (g *generator) method(o *schema.Object, m *schema.Method) []string {
	var mandatory, all []field
	for i := range m.Attrs {
		f := field{name(m.Attrs[i].Name), g.attr(&m.Attrs[i])}
		all = append(all, f)
		if a := &m.Attrs[i]; a.Mandatory || a.Udata && len(a.Structs) > 0 {
			mandatory = append(mandatory, f)
		}
	}
	call := callName(m.Name)
	calls := []string{g.command(o, m, call, mandatory)}
	if len(all) > len(mandatory) {
		calls = append(calls, g.command(o, m, call+"_all", all))
	}
	return calls
}

// callName is a call's name: "uverbs_CQ_CREATE", "uverbs_MLX5_CREATE_FLOW".
func callName(method string) string {
	driver, short, _ := strings.Cut(method, "_METHOD_")
	if driver == "UVERBS" {
		return "uverbs_" + short
	}
	return "uverbs_" + strings.TrimSuffix(driver, "_IB") + "_" + short
}

type field struct{ name, typ string }

// command makes the struct of a call: struct ib_uverbs_ioctl_hdr and the
// attributes.
func (g *generator) command(o *schema.Object, m *schema.Method, call string, attrs []field) string {
	driver := driverIDs[g.doc.Driver.Name]
	if driver == "" {
		driver = "RDMA_DRIVER_UNKNOWN"
	}
	fields := append([]field{
		{"length", "bytesize[parent, int16]"},
		{"object_id", "const[" + o.Name + ", int16]"},
		{"method_id", "const[" + m.Name + ", int16]"},
		{"num_attrs", fmt.Sprintf("const[%d, int16]", len(attrs))},
		{"reserved1", "const[0, int64]"},
		{"driver_id", "const[" + driver + ", int32]"},
		{"reserved2", "const[0, int32]"},
	}, attrs...)
	g.structs[call] = block(call, "{", "}", fields)
	return fmt.Sprintf("ioctl$%s(fd fd_rdma, cmd const[RDMA_VERBS_IOCTL], arg ptr[inout, %s])", call, call)
}

// driverIDs are the names of the drivers' ids, enum rdma_driver_id.
var driverIDs = map[string]string{
	"mlx5": "RDMA_DRIVER_MLX5", "rxe": "RDMA_DRIVER_RXE", "efa": "RDMA_DRIVER_EFA", "bnxt_re": "RDMA_DRIVER_BNXT_RE",
}

// tab is how wide a tab is: the types of a struct's fields stand in one column.
const tab = 8

func block(name, open, shut string, fields []field) string {
	column := 0
	for _, f := range fields {
		column = max(column, len(f.name)/tab+1)
	}
	lines := []string{name + " " + open}
	for _, f := range fields {
		lines = append(lines, "\t"+f.name+strings.Repeat("\t", column-len(f.name)/tab)+f.typ)
	}
	return strings.Join(append(lines, shut), "\n")
}

// name is an attribute's name as one of a field: "create_cq_handle", or
// "mlx5_create_cq_uar_index" for a driver's.
func name(attr string) string {
	prefix, short, ok := strings.Cut(attr, "_ATTR_")
	switch {
	case !ok:
		short = attr // bnxt_re's
	case prefix != "UVERBS":
		short = strings.TrimSuffix(prefix, "_IB") + "_" + short
	}
	return strings.ToLower(short)
}

// attr is the type of an attribute.
func (g *generator) attr(a *schema.Attribute) string {
	switch a.Type {
	case "IDR":
		return g.object(a, g.handle(a.Object))
	case "FD":
		return g.object(a, g.fd(a.Object))
	case "RAW_FD":
		return fmt.Sprintf("uverbs_attr_idr[%s, fd]", a.Name)
	case "IDRS_ARRAY":
		return g.handles(a)
	case "ENUM_IN":
		return g.choices(a)
	}
	if a.Direction == "out" {
		return fmt.Sprintf("uverbs_attr_out[%s, %s]", a.Name, g.bytes(a))
	}
	return g.input(a)
}

func (g *generator) object(a *schema.Attribute, resource string) string {
	form := "uverbs_attr_idr"
	if a.Access == "NEW" {
		form = "uverbs_attr_new"
	}
	return fmt.Sprintf("%s[%s, %s]", form, a.Name, resource)
}

// handles is an array of handles: of one or two in the attribute, of more behind
// an address.
func (g *generator) handles(a *schema.Attribute) string {
	h := g.handle(a.Object)
	one := fmt.Sprintf("uverbs_attr_value4[%s, %s]", a.Name, h)
	if a.MaxItems <= 2 {
		return one
	}
	many := fmt.Sprintf("uverbs_attr_ptr[%s, array[%s, 3:%d]]", a.Name, h, a.MaxItems)
	return g.union(a, []field{{"one", one}, {"many", many}})
}

func (g *generator) choices(a *schema.Attribute) string {
	var fields []field
	for _, c := range a.Choices {
		fields = append(fields, field{strings.ToLower(c.Name), fmt.Sprintf("uverbs_attr_enum[%s, %s, %d]", a.Name, c.Name, c.MaxLen)})
	}
	return g.union(a, fields)
}

func (g *generator) union(a *schema.Attribute, fields []field) string {
	u := "uverbs_" + name(a.Name)
	g.structs[u] = block(u, "[", "]", fields)
	return u
}

// input is a PTR_IN.
func (g *generator) input(a *schema.Attribute) string {
	switch {
	case a.Data != "value":
		return fmt.Sprintf("uverbs_attr_ptr[%s, %s]", a.Name, g.bytes(a))
	case *a.MaxLen == 4:
		return fmt.Sprintf("uverbs_attr_value4[%s, %s]", a.Name, g.value(a, 32))
	case *a.MaxLen == 8:
		return fmt.Sprintf("uverbs_attr_value[%s, 8, %s]", a.Name, g.value(a, 64))
	}
	return fmt.Sprintf("uverbs_attr_value[%s, %d, int64]", a.Name, *a.MaxLen)
}

// value is the type of a number.
func (g *generator) value(a *schema.Attribute, bits int) string {
	if a.Is != nil {
		if t := g.meaning(a.Is, bits); t != "" {
			return t
		}
	}
	if list := g.doc.Enums[a.CType]; len(list) > 0 {
		set := "uverbs_" + strings.TrimPrefix(a.CType, "enum ")
		var names []string
		for _, e := range list {
			names = append(names, e.Name)
		}
		g.flags[set] = strings.Join(names, ", ")
		return fmt.Sprintf("flags[%s, int%d]", set, bits)
	}
	return fmt.Sprintf("int%d", bits)
}

// meaning is the type of a number that stands for something, "" for one that is
// as good as any.
func (g *generator) meaning(m *schema.Meaning, bits int) string {
	switch m.Role {
	case "handle":
		if bits == 32 {
			return g.handle(m.Objects...)
		}
	case "fd":
		if bits == 32 {
			return g.fd(m.Objects...)
		}
	case "user_address":
		if bits == 64 {
			return "ptr64[in, array[int8, 4096]]"
		}
	}
	return ""
}

// maxBuffer is how long buffers without a greatest length are.
const maxBuffer = 4096

// bytes is the type of what a pointer attribute leads to.
func (g *generator) bytes(a *schema.Attribute) string {
	if a.Element != "" {
		return "array[" + g.ctype(a.Element) + "]"
	}
	if len(a.Structs) > 0 {
		return g.ctype(a.Structs[0])
	}
	least, most := *a.MinLen, maxBuffer
	if a.MaxLen != nil {
		most = *a.MaxLen
	}
	if least == most && (most == 1 || most == 2 || most == 4 || most == 8) {
		return fmt.Sprintf("int%d", 8*most)
	}
	if a.Type == "PTR_IN" {
		least = max(least, g.doc.Ioctl.InlineSize+1) // what is shorter lies in the attribute
	}
	if least == 0 {
		return "array[int8]"
	}
	return fmt.Sprintf("array[int8, %d:%d]", least, most)
}
