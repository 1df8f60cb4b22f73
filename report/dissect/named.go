package dissect

import (
	"slices"

	"uverbsim/report/decode"
	"uverbsim/spec"
)

// named notes the objects that a request of the core's names, by what package spec has decided
// of its members.
func (d *Dump) named(v *decode.Value) {
	if v == nil {
		return
	}
	for i := range v.Fields {
		f := &v.Fields[i]
		m, _ := spec.MeaningOf(v.Type, f.Name)
		switch {
		case m.Role == spec.RoleFD && int32(f.Value.Num) >= 0: // less than 0 is none
			d.Objects = append(d.Objects, Object{f.Value.Num, true, objectOf(v, f.Name, m), f.Name, -1})
		case m.Role == spec.RoleHandle && isNamed(v, f.Name):
			d.Objects = append(d.Objects, Object{f.Value.Num, false, objectOf(v, f.Name, m), f.Name, -1})
		}
	}
}

// objectOf is the type of the object that a member names. Of an XRC target QP pd_handle is that
// of an XRC domain.
func objectOf(v *decode.Value, member string, m spec.Meaning) uint16 {
	switch {
	case len(m.Objects) == 0:
		return spec.IDRAnyObject
	case len(m.Objects) > 1 && member == "pd_handle" && numberOf(v, "qp_type") == spec.IB_QPT_XRC_TGT:
		return spec.UVERBS_OBJECT_XRCD
	}
	return m.Objects[0]
}

// asked says of members that are handles only if another member says so when that is.
var asked = []struct {
	structs []string
	member  string
	other   string
	is      func(other uint64) bool
}{
	{[]string{"struct ib_uverbs_create_qp", "struct ib_uverbs_ex_create_qp"}, "srq_handle", "is_srq", func(n uint64) bool { return n != 0 }},
	{[]string{"struct ib_uverbs_ex_create_qp"}, "rwq_ind_tbl_handle", "comp_mask", has(spec.IB_UVERBS_CREATE_QP_MASK_IND_TABLE)},
	{[]string{"struct ib_uverbs_rereg_mr"}, "pd_handle", "flags", has(spec.IB_MR_REREG_PD)},
	{[]string{"struct ib_uverbs_create_xsrq"}, "xrcd_handle", "srq_type", oneOf(spec.IB_UVERBS_SRQT_XRC)},
	{[]string{"struct ib_uverbs_create_xsrq"}, "cq_handle", "srq_type", oneOf(spec.IB_UVERBS_SRQT_XRC, spec.IB_UVERBS_SRQT_TM)},
}

func has(bit uint64) func(uint64) bool { return func(n uint64) bool { return n&bit != 0 } }

func oneOf(list ...uint64) func(uint64) bool {
	return func(n uint64) bool { return slices.Contains(list, n) }
}

// isNamed says whether a member that may be a handle is one in this request.
func isNamed(v *decode.Value, member string) bool {
	for _, a := range asked {
		if a.member == member && slices.Contains(a.structs, v.Type) {
			return a.is(numberOf(v, a.other))
		}
	}
	return true
}

// numberOf is the number of a member, 0 for one that is not there.
func numberOf(v *decode.Value, member string) uint64 {
	if f := v.Field(member); f != nil {
		return f.Num
	}
	return 0
}
