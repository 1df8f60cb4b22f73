package dissect

import (
	"uverbsim/report/decode"
	"uverbsim/spec"
)

// handles are the members of requests that are handles, and of what; names mean
// the same in all structs of include/uapi/rdma/ib_user_verbs.h.
var handles = map[string]uint16{
	"pd_handle": spec.UVERBS_OBJECT_PD, "cq_handle": spec.UVERBS_OBJECT_CQ,
	"send_cq_handle": spec.UVERBS_OBJECT_CQ, "recv_cq_handle": spec.UVERBS_OBJECT_CQ,
	"qp_handle": spec.UVERBS_OBJECT_QP, "srq_handle": spec.UVERBS_OBJECT_SRQ, "mr_handle": spec.UVERBS_OBJECT_MR,
	"mw_handle": spec.UVERBS_OBJECT_MW, "ah_handle": spec.UVERBS_OBJECT_AH, "ah": spec.UVERBS_OBJECT_AH,
	"xrcd_handle": spec.UVERBS_OBJECT_XRCD, "flow_handle": spec.UVERBS_OBJECT_FLOW, "wq_handle": spec.UVERBS_OBJECT_WQ,
	"ind_tbl_handle": spec.UVERBS_OBJECT_RWQ_IND_TBL, "rwq_ind_tbl_handle": spec.UVERBS_OBJECT_RWQ_IND_TBL,
}

// unless says which member, by the name of a handle, has to be set for it to
// mean anything.
var unless = map[string]string{"srq_handle": "is_srq", "rwq_ind_tbl_handle": "comp_mask"}

// named notes the objects that a request of the core's names.
func (d *Dump) named(v *decode.Value) {
	if v == nil {
		return
	}
	for i := range v.Fields {
		f := &v.Fields[i]
		if f.Name == "comp_channel" && int64(f.Value.Num) >= 0 { // less than 0 is none
			d.Objects = append(d.Objects, Object{f.Value.Num, true, spec.UVERBS_OBJECT_COMP_CHANNEL, f.Name, -1})
			continue
		}
		typ, ok := handles[f.Name]
		if !ok || f.Value.Kind != decode.Number {
			continue
		}
		if other := v.Field(unless[f.Name]); other != nil && other.Num == 0 {
			continue
		}
		d.Objects = append(d.Objects, Object{f.Value.Num, false, typ, f.Name, -1})
	}
}
