package spec

import (
	"reflect"
	"strconv"
	"strings"
)

// Member is one member of a C struct, where it lies and what it is.
type Member struct {
	Name   string
	Offset int
	Size   int    // in bytes, of all its elements
	Type   string // "u32", "s32", or "struct ib_uverbs_qp_dest"
	Count  int    // elements of an array, 0 if it is none
}

// CType writes the member's type with its count: "u8[16]".
func (m Member) CType() string {
	if m.Count == 0 {
		return m.Type
	}
	return m.Type + "[" + strconv.Itoa(m.Count) + "]"
}

// unions has the structs inside of unions, which have no name of their own in C,
// by the name of the struct around the union and their own.
var unions = map[string]any{
	"ib_uverbs_send_wr.rdma":   SendWRRDMA{},
	"ib_uverbs_send_wr.atomic": SendWRAtomic{},
	"ib_uverbs_send_wr.ud":     SendWRUD{},
	"rxe_send_wr.flush":        RxeSendWRFlush{},
	"rxe_send_wr.rdma":         RxeSendWRRDMA{},
	"rxe_send_wr.atomic":       RxeSendWRAtomic{},
	"rxe_send_wr.mw":           RxeSendWRMW{},
	"rxe_send_wr.ud":           RxeSendWRUD{},
}

// Layout returns the members of a C struct in the headers of the kernel, by the
// name that an attribute's CType has, and the struct's size. The size is 0 if
// those headers have no such struct. "struct ib_uverbs_send_wr.rdma" is a member
// of a struct's union.
func (k *Kernel) Layout(ctype string) (members []Member, size int) {
	name := trimStruct(ctype)
	v := NewStruct(name)
	if u, ok := unions[name]; ok {
		v = reflect.New(reflect.TypeOf(u)).Interface()
	}
	if v == nil {
		return nil, 0
	}
	t := reflect.TypeOf(v).Elem()
	names := Members(name)
	for i := range t.NumField() {
		if f := t.Field(i); f.Name != "_" {
			members = append(members, memberOf(names[0], f))
			names = names[1:]
		}
	}
	return k.cut(name, members, int(t.Size()))
}

func memberOf(name string, f reflect.StructField) Member {
	m := Member{Name: name, Offset: int(f.Offset), Size: int(f.Type.Size())}
	t := f.Type
	for t.Kind() == reflect.Array {
		m.Count, t = max(m.Count, 1)*t.Len(), t.Elem()
	}
	if m.Type = StructName(t); m.Type == "" {
		if t.Kind() == reflect.Struct { // without a name in C, of numbers of one size
			t = t.Field(t.NumField() - 1).Type
			m.Count = m.Size / int(t.Size())
		}
		sign := "u"
		if t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 {
			sign = "s"
		}
		m.Type = sign + strconv.Itoa(8*int(t.Size()))
	}
	return m
}

// grown are the structs that have grown, or came, with a feature. What a kernel
// without it has of them ends before the member at End, and is Size bytes long;
// a size of 0 is no struct at all.
var grown = []struct {
	Feature   Feature
	Struct    string
	End, Size int
}{
	{BNXTObjects, "bnxt_re_cq_resp", 16, 16},
	{BNXTObjects, "bnxt_re_qp_req", 24, 24},
	{BNXTObjects, "bnxt_re_srq_resp", 4, 4},
	{BNXTObjects, "bnxt_re_uctx_req", 0, 0},
	{BNXTObjects, "bnxt_re_resize_cq_req", 0, 0},
	{EFAQueryMR, "efa_ibv_create_qp", 16, 16},
	{MLX5QueryDeviceRegC0, "mlx5_ib_query_device_resp", 104, 104},
	{RxeFlush, "rxe_send_wr.flush", 0, 0},
	{QueryPortSpeedEx, "ib_uverbs_query_port_resp_ex", 44, 48},
}

// cut takes from a struct what the kernel does not have of it.
func (k *Kernel) cut(name string, members []Member, size int) ([]Member, int) {
	for _, g := range grown {
		if g.Struct != name || k.Has(g.Feature) {
			continue
		}
		n := 0
		for n < len(members) && members[n].Offset < g.End {
			n++
		}
		members, size = members[:n], g.Size
		if g.Size > g.End && n > 0 {
			last := &members[n-1]
			last.Size = g.Size - last.Offset
			last.Count = last.Size / elementSize(last.Type)
		}
	}
	return members, size
}

// elementSize is the size of an integer type.
func elementSize(ctype string) int {
	bits, _ := strconv.Atoi(strings.TrimLeft(ctype, "us"))
	return max(bits/8, 1)
}

func trimStruct(ctype string) string { return strings.TrimPrefix(ctype, "struct ") }
