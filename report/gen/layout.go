package gen

import (
	"reflect"
	"strings"

	"uverbsim/spec"
)

// field is a number or an array of bytes in a wire struct.
type field struct {
	name      string
	off, size int
}

// layout has the fields of a C struct, those of structs in it too; nil if it is not known.
func layout(ctype string) []field {
	v := spec.NewStruct(ctype)
	if v == nil {
		return nil
	}
	return fieldsOf(nil, reflect.TypeOf(v).Elem(), 0)
}

func fieldsOf(fields []field, t reflect.Type, at int) []field {
	for i := range t.NumField() {
		f := t.Field(i)
		off := at + int(f.Offset)
		switch {
		case f.Type.Size() == 0:
		case f.Type.Kind() == reflect.Struct:
			fields = fieldsOf(fields, f.Type, off)
		default:
			fields = append(fields, field{f.Name, off, int(f.Type.Size())})
		}
	}
	return fields
}

func sizeOf(ctype string) int {
	v := spec.NewStruct(ctype)
	if v == nil {
		return 0
	}
	return int(reflect.TypeOf(v).Elem().Size())
}

// The C structs of commands that are not named as their command is.
var (
	requests = map[string]string{
		"IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL":  "ib_uverbs_ex_create_rwq_ind_table",
		"IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL": "ib_uverbs_ex_destroy_rwq_ind_table",
		"IB_USER_VERBS_EX_CMD_CREATE_FLOW":         "ib_uverbs_create_flow",
		"IB_USER_VERBS_EX_CMD_DESTROY_FLOW":        "ib_uverbs_destroy_flow",
	}
	responses = map[string]string{
		"IB_USER_VERBS_CMD_CREATE_XSRQ":    "ib_uverbs_create_srq_resp",
		"IB_USER_VERBS_CMD_OPEN_QP":        "ib_uverbs_create_qp_resp",
		"IB_USER_VERBS_EX_CMD_CREATE_FLOW": "ib_uverbs_create_flow_resp",
	}
)

// requestOf is the C struct of a command's request.
func requestOf(w *spec.Write) string {
	if s := requests[w.Name]; s != "" {
		return s
	}
	name, ex := strings.CutPrefix(w.Name, "IB_USER_VERBS_EX_CMD_")
	name = "ib_uverbs_" + strings.ToLower(strings.TrimPrefix(name, "IB_USER_VERBS_CMD_"))
	if ex {
		name = strings.Replace(name, "ib_uverbs_", "ib_uverbs_ex_", 1)
	}
	return name
}

// responseOf is the C struct of a command's response.
func responseOf(w *spec.Write) string {
	if s := responses[w.Name]; s != "" {
		return s
	}
	return requestOf(w) + "_resp"
}

// driverPart is what rxe's part of a call is: C structs, "" for none.
type driverPart struct{ in, out string }

// rxeParts are rxe's parts of the calls that have one, by the object that they
// make or work on and what they do with it.
var rxeParts = map[key]driverPart{
	{spec.UVERBS_OBJECT_CQ, create}:  {"", "rxe_create_cq_resp"},
	{spec.UVERBS_OBJECT_CQ, resize}:  {"", "rxe_resize_cq_resp"},
	{spec.UVERBS_OBJECT_QP, create}:  {"", "rxe_create_qp_resp"},
	{spec.UVERBS_OBJECT_SRQ, create}: {"", "rxe_create_srq_resp"},
	{spec.UVERBS_OBJECT_SRQ, modify}: {"rxe_modify_srq_cmd", ""},
	{spec.UVERBS_OBJECT_AH, create}:  {"", "rxe_create_ah_resp"},
}

// varying are the members of responses whose values differ from run to run:
// keys, numbers of queues, and where a queue can be mapped.
var varying = map[string]bool{
	"Lkey": true, "Rkey": true, "QPN": true, "SRQN": true, "SRQNum": true, "AHNum": true, "Offset": true,
}
