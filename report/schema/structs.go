package schema

import (
	"slices"
	"strings"

	"uverbsim/spec"
)

// The buffers of a call.
const (
	partDataIn   = "data_in" // what an attribute leads to
	partDataOut  = "data_out"
	partRequest  = "request"
	partResponse = "response"
	partUdataIn  = "udata_in"
	partUdataOut = "udata_out"
)

// addStruct adds a struct's layout to the document, and those of the structs in
// it. It says whether the kernel has the struct.
func (b *builder) addStruct(ctype string) bool {
	if _, ok := b.doc.Structs[ctype]; ok {
		return true
	}
	if !strings.HasPrefix(ctype, "struct ") {
		return false
	}
	members, size := b.kernel.Layout(ctype)
	if size == 0 {
		return false
	}
	s := Struct{Size: size, Members: []Member{}}
	for _, m := range members {
		is, _ := spec.MeaningOf(ctype, m.Name)
		s.Members = append(s.Members, Member{
			Name: m.Name, Offset: m.Offset, Size: m.Size, Type: m.Type, Count: m.Count, Is: meaning(is, b.objectName),
		})
		b.addStruct(m.Type)
	}
	for _, t := range spec.TailsOf(ctype) {
		s.Tails = append(s.Tails, Tail{
			Name: t.Name, Type: t.Type, Count: t.Count, Stride: t.Stride, Is: meaning(t.Is, b.objectName), Variants: t.Variants,
		})
		b.addStruct(t.Type)
		for _, v := range t.Variants {
			b.addStruct(v)
		}
	}
	b.doc.Structs[ctype] = s
	return true
}

// refs are the members of a struct, and of the structs in it and behind it, that
// are more than numbers. each says that the struct is repeated.
func (b *builder) refs(part, ctype string, each bool) []Ref {
	refs := b.refsAt(part, ctype, "", 0, each)
	for _, t := range b.doc.Structs[ctype].Tails {
		if t.Is != nil {
			refs = append(refs, Ref{
				Part: part, Struct: ctype, Member: t.Name, Offset: b.doc.Structs[ctype].Size, Size: 4, Each: true, Meaning: *t.Is,
			})
		}
		refs = append(refs, b.refsAt(part, t.Type, "", 0, true)...)
		for _, v := range t.Variants {
			refs = append(refs, b.refsAt(part, v, "", 0, true)...)
		}
	}
	return refs
}

func (b *builder) refsAt(part, ctype, path string, offset int, each bool) []Ref {
	var refs []Ref
	for _, m := range b.doc.Structs[ctype].Members {
		if m.Is != nil {
			refs = append(refs, Ref{
				Part: part, Struct: ctype, Member: path + m.Name, Offset: offset + m.Offset, Size: m.Size, Each: each, Meaning: *m.Is,
			})
		}
		if m.Count == 0 && strings.HasPrefix(m.Type, "struct ") {
			refs = append(refs, b.refsAt(part, m.Type, path+m.Name+".", offset+m.Offset, each)...)
		}
	}
	if ctype == "struct ib_uverbs_send_wr" {
		refs = append(refs, b.unionRefs(part, ctype, offset)...)
	}
	return refs
}

// unionRefs are those of the members of a work request's union.
func (b *builder) unionRefs(part, ctype string, offset int) []Ref {
	var refs []Ref
	for _, m := range b.doc.Structs[ctype].Members {
		if m.Name != "wr" {
			continue
		}
		for _, u := range []string{"rdma", "atomic", "ud"} {
			name := ctype + "." + u
			b.addStruct(name)
			for _, r := range b.refsAt(part, name, "wr."+u+".", offset+m.Offset, true) {
				r.Struct = ctype
				refs = append(refs, r)
			}
		}
	}
	return refs
}

// wholeRequests are the extended commands with arrays behind their struct, whose
// handlers want all of it (uverbs_request_start). The others fill up a request
// that is shorter (uverbs_request); both are in
// drivers/infiniband/core/uverbs_cmd.c.
var wholeRequests = map[uint8]bool{
	spec.IB_USER_VERBS_EX_CMD_CREATE_FLOW:        true,
	spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL: true,
}

// write describes a command.
func (b *builder) write(o *Object, w *spec.Write) Write {
	key := spec.KeyWriteMethod(uint32(w.Command))
	if w.Ex {
		key = spec.KeyWriteExMethod(uint32(w.Command))
	}
	x := Write{
		Command: word(w), Name: w.Name, Short: shortWrite(w), Ex: w.Ex, Key: o.Key | key,
		Since:   b.since[place{int(o.ID), none, none, int(word(w))}],
		Request: w.ReqType, Response: w.RespType,
		HasResp: w.HasResp, HasUdata: w.HasUdata || w.Ex, Needs: opNames(w.Needs),
	}
	if !w.Ex { // what uapi_create_write keeps
		x.ReqMin, x.RespMin = int(w.ReqSize), int(w.RespSize)
	}
	u := spec.UdataOf(b.driver.ID, w.Command)
	parts := []struct {
		name    string
		structs []string
		to      *[]string
	}{
		{partRequest, []string{w.ReqType}, nil},
		{partResponse, []string{w.RespType}, nil},
		{partUdataIn, u.In, &x.UdataIn},
		{partUdataOut, u.Out, &x.UdataOut},
	}
	for _, p := range parts {
		if !x.HasUdata && p.to != nil {
			continue
		}
		for _, s := range p.structs {
			if !b.addStruct(s) {
				continue
			}
			if p.to != nil {
				*p.to = append(*p.to, s)
			}
			x.Refs = append(x.Refs, b.refs(p.name, s, false)...)
		}
	}
	if w.Ex && wholeRequests[w.Command] {
		x.ReqMin = b.doc.Structs[w.ReqType].Size
	}
	x.Fills = w.Ex && x.ReqMin == 0
	x.TakesFD, x.GivesFD = fds(x.Refs)
	x.Pointer = carriesPointer(x.Refs)
	return x
}

func (b *builder) whyNoWrite(o *Object, w *Write) string {
	if o.Pruned != "" {
		return o.Pruned
	}
	if lack := b.lackOf(w.Needs); lack != "" {
		return lack
	}
	return b.driver.Name + "'s uverbs_cmd_mask lacks it"
}

// shortWrite is a command's name without what all have: "CREATE_CQ",
// "EX_CREATE_CQ".
func shortWrite(w *spec.Write) string {
	if name, ok := strings.CutPrefix(w.Name, "IB_USER_VERBS_EX_CMD_"); ok {
		return "EX_" + name
	}
	return strings.TrimPrefix(w.Name, "IB_USER_VERBS_CMD_")
}

// fds says whether descriptors are taken, and returned.
func fds(refs []Ref) (takes, gives bool) {
	for _, r := range refs {
		if r.Role == spec.RoleFD.String() {
			back := r.Part == partResponse || r.Part == partUdataOut || r.Part == partDataOut
			takes, gives = takes || !back, gives || back
		}
	}
	return takes, gives
}

// carriesPointer says whether an address of the caller's memory is among them
// that is not that of a response.
func carriesPointer(refs []Ref) bool {
	return slices.ContainsFunc(refs, func(r Ref) bool { return r.Role == spec.RoleUserAddr.String() })
}
