package syzlang

import (
	"fmt"
	"strings"

	"uverbsim/report/schema"
)

// write makes the struct of a command and returns the call.
func (g *generator) write(w *schema.Write) string {
	call := "uverbs_" + w.Short
	out := "const[0, int64]"
	if w.Response != "" {
		out = "ptr64[out, " + g.ctype(w.Response) + "]"
	}
	fields := []field{
		{"command", fmt.Sprintf("const[%#x, int32]", w.Command)},
		{"in_words", "bytesize4[parent, int16]"},
		{"out_words", words("bytesize4", w)},
	}
	if w.Ex {
		fields[1].typ, fields[2].typ = "bytesize8[req, int16]", words("bytesize8", w)
		fields = append(fields, field{"response", out}, field{"provider_in_words", "const[0, int16]"},
			field{"provider_out_words", "const[0, int16]"}, field{"cmd_hdr_reserved", "const[0, int32]"}, field{"req", g.ctype(w.Request)})
	} else {
		for _, f := range g.members(w.Request) {
			if f.name == "response" {
				f.typ = out
			}
			fields = append(fields, f)
		}
	}
	g.structs[call] = block(call, "{", "}", fields)
	return fmt.Sprintf("write$%s(fd fd_rdma, buf ptr[inout, %s], len bytesize[buf])", call, call)
}

// words is the length of the response in words.
func words(size string, w *schema.Write) string {
	if w.Response == "" {
		return "const[0, int16]"
	}
	return size + "[response, int16]"
}

// ctype is the type of a C type; a struct is added to what is printed.
func (g *generator) ctype(c string) string {
	tag, ok := strings.CutPrefix(c, "struct ")
	if !ok {
		return "int" + strings.TrimLeft(c, "us")
	}
	n := "uverbs_c_" + strings.ReplaceAll(strings.TrimPrefix(tag, "ib_uverbs_"), ".", "_")
	if _, done := g.structs[n]; !done {
		g.structs[n] = "" // against recursion
		fields := g.members(c)
		for _, t := range g.doc.Structs[c].Tails {
			typ := g.ctype(t.Type)
			if t.Is != nil {
				typ = g.handle(t.Is.Objects...)
			}
			fields = append(fields, field{t.Name, "array[" + typ + "]"})
		}
		g.structs[n] = block(n, "{", "}", fields)
	}
	return n
}

// members are the members of a struct as fields.
func (g *generator) members(c string) []field {
	var fields []field
	for _, m := range g.doc.Structs[c].Members {
		typ := g.ctype(m.Type)
		if m.Is != nil {
			if t := g.meaning(m.Is, 8*m.Size); t != "" {
				typ = t
			}
		}
		if m.Count > 0 {
			typ = fmt.Sprintf("array[%s, %d]", typ, m.Count)
		}
		if strings.HasPrefix(m.Name, "reserved") && m.Count == 0 && strings.HasPrefix(typ, "int") {
			typ = "const[0, " + typ + "]"
		}
		fields = append(fields, field{m.Name, typ})
	}
	return fields
}
