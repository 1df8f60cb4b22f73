package transcript

import (
	"reflect"

	"uverbsim/spec"
)

// Kind says why a part of an attribute is not, or need not be, compared.
type Kind uint8

// The kinds. The first three are never compared.
const (
	Address    Kind = iota // of the program's memory, or a word of its own that stands for an object
	Descriptor             // the number of a descriptor
	Random                 // what the program has drawn by lot, or heard from another program

	Number  // of the device's: of a queue, a key, a register page
	Traffic // how many events were reported
)

// field is a part of an attribute.
type field struct {
	attr  uint16
	at, n int
	kind  Kind
	space space // of a Number
}

// space says what a device's number is one of.
type space uint8

const (
	uarPage space = iota + 1
	domain
	key
	completionQueue
	queuePair
	sharedQueue
	peer // a queue pair at the other end
)

// in says of what a number is one.
func (f field) in(s space) field {
	f.space = s
	return f
}

// method names what an ioctl does: a method or, as one that invokes a write()
// command, that command's word.
type method struct {
	object, method uint16
	command        uint32
}

func command(n uint32) method {
	return method{spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE, n}
}

// member is a member of struct T in an attribute.
func member[T any](attr uint16, name string, kind Kind) field {
	m, ok := reflect.TypeFor[T]().FieldByName(name)
	if !ok {
		panic("transcript: no member " + name)
	}
	return field{attr: attr, at: int(m.Offset), n: int(m.Type.Size()), kind: kind}
}

// whole is an attribute of up to 8 bytes.
func whole(attr uint16, kind Kind) field { return field{attr: attr, n: 8, kind: kind} }

const (
	coreIn  = spec.UVERBS_ATTR_CORE_IN
	coreOut = spec.UVERBS_ATTR_CORE_OUT
	uhwIn   = spec.UVERBS_ATTR_UHW_IN
	uhwOut  = spec.UVERBS_ATTR_UHW_OUT
)

// fields are the parts that are not compared. Attributes that the definitions
// call descriptors are not among them, nor the addresses of answers that requests
// begin with.
var fields = map[method][]field{
	command(spec.IB_USER_VERBS_CMD_ALLOC_PD):            {member[spec.Mlx5AllocPDResp](uhwOut, "PDN", Number).in(domain)},
	command(spec.IB_USER_VERBS_CMD_CREATE_AH):           {member[spec.CreateAH](coreIn, "UserHandle", Address)},
	command(spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL): {member[spec.CreateCompChannelResp](coreOut, "FD", Descriptor)},
	command(spec.IB_USER_VERBS_CMD_REG_MR): {
		member[spec.RegMR](coreIn, "Start", Address), member[spec.RegMR](coreIn, "HcaVA", Address),
		member[spec.RegMRResp](coreOut, "Lkey", Number).in(key), member[spec.RegMRResp](coreOut, "Rkey", Number).in(key),
	},
	command(spec.IB_USER_VERBS_CMD_OPEN_XRCD): {member[spec.OpenXRCD](coreIn, "FD", Descriptor)},
	command(spec.IB_USER_VERBS_CMD_CREATE_XSRQ): {
		member[spec.CreateXSRQ](coreIn, "UserHandle", Address),
		member[spec.Mlx5CreateSRQ](uhwIn, "BufAddr", Address), member[spec.Mlx5CreateSRQ](uhwIn, "DBAddr", Address),
		member[spec.CreateSRQResp](coreOut, "SRQN", Number).in(sharedQueue), member[spec.Mlx5CreateSRQResp](uhwOut, "SRQN", Number).in(sharedQueue),
	},
	command(spec.IB_USER_VERBS_CMD_MODIFY_QP): {
		member[spec.ModifyQP](coreIn, "RQPSN", Random), member[spec.ModifyQP](coreIn, "SQPSN", Random),
		member[spec.ModifyQP](coreIn, "DestQPNum", Number).in(peer),
	},
	{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 0}: {
		whole(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, Address),
		member[spec.Mlx5CreateCQ](uhwIn, "BufAddr", Address), member[spec.Mlx5CreateCQ](uhwIn, "DBAddr", Address),
		member[spec.Mlx5CreateCQ](uhwIn, "UARPageIndex", Number).in(uarPage), member[spec.Mlx5CreateCQResp](uhwOut, "CQN", Number).in(completionQueue),
	},
	{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY, 0}: {whole(spec.UVERBS_ATTR_DESTROY_CQ_RESP, Traffic)},
	{spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, 0}: {
		whole(spec.UVERBS_ATTR_CREATE_QP_USER_HANDLE, Address), whole(spec.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, Number).in(queuePair),
		member[spec.Mlx5CreateQP](uhwIn, "BufAddr", Address), member[spec.Mlx5CreateQP](uhwIn, "DBAddr", Address),
		member[spec.Mlx5CreateQP](uhwIn, "SQBufAddr", Address), member[spec.Mlx5CreateQP](uhwIn, "BfregIndex", Number).in(uarPage),
	},
	{spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_DESTROY, 0}: {whole(spec.UVERBS_ATTR_DESTROY_QP_RESP, Traffic)},
	{spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_CREATE, 0}: {
		whole(spec.UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, Address), whole(spec.UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, Number).in(sharedQueue),
		member[spec.Mlx5CreateSRQ](uhwIn, "BufAddr", Address), member[spec.Mlx5CreateSRQ](uhwIn, "DBAddr", Address),
		member[spec.Mlx5CreateSRQResp](uhwOut, "SRQN", Number).in(sharedQueue),
	},
	{spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_DESTROY, 0}: {whole(spec.UVERBS_ATTR_DESTROY_SRQ_RESP, Traffic)},
	{spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC, 0}: {
		whole(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, Number).in(uarPage),
	},
}

// known is what the definitions say of an ioctl and what is not compared of it.
type known struct {
	method *spec.Method
	fields []field
}

func about(i *Ioctl) known {
	defs := spec.Linux6_12.Definitions(i.Driver)
	_, m := spec.FindMethod(defs, i.Object, i.Method)
	word := i.Command()
	k := known{m, fields[method{i.Object, i.Method, word}]}
	if word != 0 && word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED == 0 {
		if w := spec.FindWrite(defs, uint8(word), false); w != nil && w.HasResp {
			k.fields = append(k.fields[:len(k.fields):len(k.fields)], field{attr: coreIn, n: 8, kind: Address})
		}
	}
	return k
}

// attr is what the definitions say of an attribute, nil for nothing.
func (k *known) attr(id uint16) *spec.Attr {
	if k.method == nil {
		return nil
	}
	return k.method.Attr(id)
}
