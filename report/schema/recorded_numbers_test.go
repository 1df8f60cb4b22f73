package schema_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/schema"
	"uverbsim/spec"
)

// TestRecordedNumbers holds what the numbers in structs stand for to the calls
// that were recorded: where one that succeeded had a buffer's address in a
// struct, or a handle or descriptor of an earlier call, the document says that
// there is one.
func TestRecordedNumbers(t *testing.T) {
	docs := map[string]*schema.Document{}
	addresses, handles := map[string]bool{}, map[string]bool{}
	for _, c := range corpus(t) {
		doc := document(t, docs, c)
		if doc == nil {
			continue
		}
		for i := range c.Steps {
			if got := c.Steps[i].Got; got == nil || got.Errno == nil || *got.Errno != "" {
				continue
			}
			for _, p := range partsOf(doc, c, c.Steps[i].Do) {
				for _, r := range p.relocs {
					name, m := memberAt(doc, p.structs, r.At-p.from)
					if m == nil {
						continue // in what follows the struct
					}
					role := ""
					if m.Is != nil {
						role = m.Is.Role
					}
					where := c.Name + ": " + name + "." + m.Name
					switch r.Value.Kind {
					case casefile.Ptr:
						require.Contains(t, []string{"user_address", "response_address", "device_address", "cookie"}, role, where)
						addresses[name+"."+m.Name] = true
					case casefile.Handle:
						require.Contains(t, []string{"handle", "fd"}, role, where)
						handles[name+"."+m.Name] = true
					}
				}
			}
		}
	}
	require.True(t, addresses["struct mlx5_ib_create_cq.buf_addr"] && addresses["struct ib_uverbs_reg_mr.start"])
	require.True(t, handles["struct ib_uverbs_create_qp.pd_handle"])
	require.Greater(t, len(addresses), 30)
	require.Greater(t, len(handles), 25)
}

// part is a struct in a call's bytes, with what stands in it that the case has
// names for.
type part struct {
	structs []string
	from    int // where it begins in the bytes
	relocs  []casefile.Reloc
}

// partsOf are the structs that a step hands in.
func partsOf(doc *schema.Document, c *casefile.Case, do casefile.Action) []part {
	switch call := do.(type) {
	case *casefile.Write:
		return writeParts(doc, call)
	case *casefile.Ioctl:
		return ioctlParts(doc, c, call)
	}
	return nil
}

func writeParts(doc *schema.Document, call *casefile.Write) []part {
	if len(call.Data) < spec.CmdHdrSize {
		return nil
	}
	word := binary.LittleEndian.Uint32(call.Data)
	w := writeOf(doc, word)
	if w == nil {
		return nil
	}
	at, request := spec.CmdHdrSize, doc.Structs[w.Request].Size
	if w.Ex {
		at += spec.ExCmdHdrSize
		request = 8 * int(binary.LittleEndian.Uint16(call.Data[4:]))
	}
	return []part{
		{[]string{w.Request}, at, within(call.Reloc, at, at+request)},
		{w.UdataIn, at + request, within(call.Reloc, at+request, len(call.Data))},
	}
}

// ioctlParts are the buffers that the attributes lead to.
func ioctlParts(doc *schema.Document, c *casefile.Case, call *casefile.Ioctl) []part {
	m := methodOf(doc, call.Hdr.ObjectID, call.Hdr.MethodID)
	if m == nil {
		return nil
	}
	var w *schema.Write
	if m.Name == "UVERBS_METHOD_INVOKE_WRITE" {
		for _, a := range call.Attrs {
			if a.ID == spec.UVERBS_ATTR_WRITE_CMD {
				w = writeOf(doc, uint32(a.Data.N))
			}
		}
	}
	var parts []part
	for _, a := range call.Attrs {
		x := attrOf(m, a.ID)
		if x == nil || a.Data.Kind != casefile.Ptr || x.Direction != "in" || c.Bufs[a.Data.Name] == nil {
			continue
		}
		structs := x.Structs
		switch {
		case w != nil && a.ID == spec.UVERBS_ATTR_CORE_IN:
			structs = []string{w.Request}
		case w != nil && a.ID == spec.UVERBS_ATTR_UHW_IN:
			structs = w.UdataIn
		}
		b := c.Bufs[a.Data.Name]
		parts = append(parts, part{structs, int(a.Data.Off), within(b.Reloc, int(a.Data.Off), b.Len)})
	}
	return parts
}

func within(relocs []casefile.Reloc, from, to int) []casefile.Reloc {
	return slices.DeleteFunc(slices.Clone(relocs), func(r casefile.Reloc) bool { return r.At < from || r.At >= to })
}

func writeOf(doc *schema.Document, word uint32) *schema.Write {
	for i := range doc.Objects {
		for j := range doc.Objects[i].Writes {
			if w := &doc.Objects[i].Writes[j]; w.Command == word {
				return w
			}
		}
	}
	return nil
}

// memberAt is the member at an offset of a struct, the first of several that has
// one there that is more than a number.
func memberAt(doc *schema.Document, structs []string, offset int) (string, *schema.Member) {
	var name string
	var found *schema.Member
	for _, s := range structs {
		for i := range doc.Structs[s].Members {
			m := &doc.Structs[s].Members[i]
			if offset < m.Offset || offset >= m.Offset+m.Size {
				continue
			}
			n, x := s, m
			if strings.HasPrefix(m.Type, "struct ") {
				n, x = memberAt(doc, []string{m.Type}, offset-m.Offset)
			}
			if found == nil || found.Is == nil {
				name, found = n, x
			}
		}
	}
	return name, found
}
