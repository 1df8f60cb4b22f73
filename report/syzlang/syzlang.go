package syzlang

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"uverbsim/report/schema"
)

// Lacks says whether syzkaller's own file has no description of a method or a
// command, by the kernel's name.
func Lacks(name string) bool { return !known[name] }

// Print prints descriptions of what syzkaller lacks of a document; nothing that
// the device prunes is among it.
func Print(w io.Writer, d *schema.Document) error {
	return print(w, d, func(name, pruned string) bool { return pruned == "" && Lacks(name) })
}

// PrintSelection prints descriptions of an object's methods and commands, or of
// the one that is selected, whether syzkaller has some or not.
func PrintSelection(w io.Writer, d *schema.Document, s schema.Selection) error {
	return print(w, d.Only(s), func(string, string) bool { return true })
}

func print(w io.Writer, d *schema.Document, want func(name, pruned string) bool) error {
	g := &generator{doc: d, made: map[string]string{}, structs: map[string]string{}, flags: map[string]string{}, used: map[string]bool{}}
	g.resources(want)
	var calls []string
	for i := range d.Objects {
		o := &d.Objects[i]
		for j := range o.Methods {
			if m := &o.Methods[j]; want(m.Name, m.Pruned) {
				calls = append(calls, g.method(o, m)...)
			}
		}
		for j := range o.Writes {
			if x := &o.Writes[j]; want(x.Name, x.Pruned) {
				calls = append(calls, g.write(x))
			}
		}
	}
	return g.print(w, calls)
}

// generator collects what the calls need.
type generator struct {
	doc     *schema.Document
	made    map[string]string // resources that the calls make, by the object
	structs map[string]string // the text of each struct and union, by its name
	flags   map[string]string // of each set of flags
	used    map[string]bool   // resources that are used
}

// print prints all that was collected, in sections with an empty line between.
func (g *generator) print(w io.Writer, calls []string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# For sys/linux of syzkaller, beside dev_infiniband_rdma.txt, whose resources this uses.\n")
	fmt.Fprintf(out, "# %s on %s.\n", g.doc.Driver.Name, g.doc.Kernel.Name)
	section := func(separator string, parts []string) {
		if len(parts) > 0 {
			fmt.Fprintf(out, "\n%s\n", strings.Join(parts, separator))
		}
	}
	section("\n", g.includes())
	section("\n", g.resourceLines())
	structs := sortedValues(g.structs)
	body := strings.Join(slices.Concat(calls, structs), "\n")
	var used []string
	for _, t := range templates {
		if strings.Contains(body, t.name+"[") {
			used = append(used, t.text)
		}
	}
	section("\n\n", used)
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(g.flags)) {
		flags = append(flags, name+" = "+g.flags[name])
	}
	section("\n", flags)
	section("\n\n", structs)
	section("\n", calls)
	return out.Flush()
}

func sortedValues(m map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[name])
	}
	return list
}

// resourceLines declare the resources that are used and that syzkaller's file
// does not have.
func (g *generator) resourceLines() []string {
	var list []string
	for _, object := range slices.Sorted(maps.Keys(g.made)) {
		if name := g.made[object]; g.used[name] {
			list = append(list, "resource "+name+"["+base(name)+"]")
		}
	}
	return list
}

// base is what a resource is made of.
func base(name string) string {
	if strings.HasPrefix(name, "fd_") {
		return "fd"
	}
	return "int32"
}

// includes are the headers that have the names.
func (g *generator) includes() []string {
	list := []string{
		"rdma/ib_verbs.h", "rdma/rdma_user_ioctl.h", "uapi/rdma/ib_user_ioctl_cmds.h", "uapi/rdma/ib_user_ioctl_verbs.h",
		"uapi/rdma/ib_user_verbs.h",
	}
	list = append(list, map[string][]string{
		"mlx5":    {"rdma/mlx5-abi.h", "uapi/rdma/mlx5_user_ioctl_cmds.h", "uapi/rdma/mlx5_user_ioctl_verbs.h"},
		"efa":     {"uapi/rdma/efa-abi.h"},
		"bnxt_re": {"uapi/rdma/bnxt_re-abi.h"},
	}[g.doc.Driver.Name]...)
	for i, h := range list {
		list[i] = "include <" + h + ">"
	}
	return list
}

// resources finds out which objects the calls make that syzkaller's file has no
// resource for.
func (g *generator) resources(want func(name, pruned string) bool) {
	for i := range g.doc.Objects {
		for _, m := range g.doc.Objects[i].Methods {
			if want(m.Name, m.Pruned) && m.Creates != "" && resources[m.Creates] == "" {
				prefix := "uverbs_"
				if m.ReturnsFD {
					prefix = "fd_uverbs_"
				}
				_, short, _ := strings.Cut(m.Creates, "_OBJECT_")
				g.made[m.Creates] = prefix + strings.ToLower(short)
			}
		}
	}
}

// handle is the type of a handle of one of those objects: the resource of the
// one that there is one of, or a number.
func (g *generator) handle(objects ...string) string {
	for _, o := range objects {
		if r := resources[o]; r != "" {
			return r
		}
		if r := g.made[o]; r != "" {
			g.used[r] = true
			return r
		}
	}
	return "int32"
}

// fd is the type of a descriptor of one of those objects.
func (g *generator) fd(objects ...string) string {
	if t := g.handle(objects...); t != "int32" {
		return t
	}
	return "fd"
}

// template is a type with parameters.
type template struct{ name, text string }

// templates are the forms of an attribute: struct ib_uverbs_attr,
// include/uapi/rdma/rdma_user_ioctl_cmds.h.
var templates = []template{
	attribute("uverbs_attr_idr", "HANDLE", "const[0, int16]", field{"data", "HANDLE\t(in)"}, pad),
	attribute("uverbs_attr_new", "HANDLE", "const[0, int16]", field{"data", "HANDLE\t(out)"}, pad),
	attribute("uverbs_attr_value", "SIZE, DATA", "const[SIZE, int16]", field{"data", "DATA"}),
	attribute("uverbs_attr_value4", "DATA", "const[4, int16]", field{"data", "DATA"}, pad),
	attribute("uverbs_attr_ptr", "DATA", "bytesize[data, int16]", field{"data", "ptr64[in, DATA]"}),
	attribute("uverbs_attr_out", "DATA", "bytesize[data, int16]", field{"data", "ptr64[out, DATA]"}),
	{"uverbs_attr_enum", block("type uverbs_attr_enum[ID, ELEM, SIZE]", "{", "}", []field{
		{"attr_id", "const[ID, int16]"}, {"len", "const[SIZE, int16]"}, mandatoryFlag,
		{"elem_id", "const[ELEM, int8]"}, {"reserved", "const[0, int8]"}, {"data", "int64"},
	})},
}

var (
	pad           = field{"data_hi", "const[0, int32]"}
	mandatoryFlag = field{"flags", "const[UVERBS_ATTR_F_MANDATORY, int16]"}
)

func attribute(name, parameters, size string, data ...field) template {
	fields := append([]field{
		{"attr_id", "const[ID, int16]"}, {"len", size}, mandatoryFlag, {"reserved", "const[0, int16]"},
	}, data...)
	return template{name, block("type "+name+"[ID, "+parameters+"]", "{", "}", fields)}
}
