package explain

import (
	"strconv"

	"uverbsim/spec"
)

// special are the values of checks on the parts of a request that have no names
// in its structs.
var special = map[string]func(r *request, it *item) []Value{
	"cmd/unknown": func(r *request, _ *item) []Value {
		return []Value{hexNumber("cmd", uint64(r.call.Cmd)), hexNumber("RDMA_VERBS_IOCTL", spec.RDMA_VERBS_IOCTL)}
	},
	"ioctl/unknown": func(r *request, _ *item) []Value {
		return []Value{hexNumber("cmd", uint64(r.call.Cmd)), hexNumber("RDMA_VERBS_IOCTL", spec.RDMA_VERBS_IOCTL)}
	},
	"header/fault": func(r *request, _ *item) []Value {
		return []Value{text("arg", "%#x, of which %d bytes are read", r.call.Arg, spec.IoctlHdrSize)}
	},
	"header/length": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		return []Value{
			number("length", uint64(h.Length)), number("num_attrs", uint64(h.NumAttrs)),
			text("24 + 16 * num_attrs", "%d", spec.IoctlHdrSize+int(h.NumAttrs)*spec.IoctlAttrSize),
		}
	},
	"header/reserved": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		return []Value{hexNumber("reserved1", h.Reserved1), hexNumber("reserved2", uint64(h.Reserved2))}
	},
	"header/driver-id": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		return []Value{
			text("driver_id", "%s", driverName(h.DriverID)), text("the device's", "%s", driverName(r.call.Driver)),
		}
	},
	"method/unknown": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		object := r.call.Ioctl.ObjectName
		method := "which it does not have"
		if r.method != nil {
			method = r.method.Name + ", which this device lacks"
		}
		if object == "" {
			object, method = "which no driver here has", ""
		}
		out := []Value{text("object_id", "%#x, %s", h.ObjectID, object), text("method_id", "%#x, %s", h.MethodID, method)}
		if method == "" {
			out[1].Value = "0x" + strconv.FormatUint(uint64(h.MethodID), 16)
		}
		return out
	},
	"attrs/fault": func(r *request, _ *item) []Value {
		h := &r.call.Ioctl.Header
		return []Value{
			number("num_attrs", uint64(h.NumAttrs)),
			text("attributes", "%d bytes at %#x, of which %d are readable", int(h.NumAttrs)*spec.IoctlAttrSize,
				uint64(r.call.Arg)+spec.IoctlHdrSize, len(r.call.Ioctl.Attrs)*spec.IoctlAttrSize),
		}
	},
	"attr/missing": func(r *request, _ *item) (out []Value) {
		for _, a := range r.missing() {
			out = append(out, text(a.Name, "not sent"))
		}
		return out
	},
	"attr/duplicate": func(r *request, it *item) []Value {
		if it == nil {
			return nil
		}
		id := r.call.Ioctl.Attrs[it.user].AttrID
		for i := range it.user {
			if r.call.Ioctl.Attrs[i].AttrID == id {
				return []Value{text(orUnknown(r.attrName(i)), "attributes %d and %d of the call", i, it.user)}
			}
		}
		return nil
	},
	"attr/unknown-mandatory": func(r *request, it *item) []Value {
		if it == nil {
			return nil
		}
		a := &r.call.Ioctl.Attrs[it.user]
		return []Value{
			text("attribute", "%d of the call, id %d, which %s does not have", it.user, a.AttrID, r.methodName()),
			text("flags", "UVERBS_ATTR_F_MANDATORY"),
		}
	},
	"mlx5-modify-qp/step":        stepValues,
	"mlx5-modify-qp/transition":  commandValues,
	"mlx5-modify-dct/mask":       stepValues,
	"mlx5-modify-dct/transition": stepValues,
	"cgroup/exceeded":            cgroupResource,
	"write/command-flags": func(r *request, _ *item) []Value {
		return []Value{hexNumber("command", uint64(r.word))}
	},
	"rxe/qp-transition":  stepValues,
	"mlx5-qp/flags":      qpFlags,
	"umem/memlock-limit": locked,
	"umem/no-mlock":      locked,
	"context/none":       noContext,
	"fd/bad":             descriptor,
	"write/access":       who,
	"write/header-fault": writeBuffer,
	"write/request-short": func(r *request, _ *item) []Value {
		return append([]Value{number("count", r.call.Length)}, r.commandSizes(true)...)
	},
	"write/response-short": func(r *request, _ *item) []Value { return r.commandSizes(false) },
	"write/words": func(r *request, _ *item) []Value {
		return append([]Value{number("count", r.call.Length)}, r.headerWords("in_words", 4)...)
	},
	"write/ex-words": func(r *request, _ *item) []Value {
		vs := append([]Value{number("count", r.call.Length)}, r.headerWords("in_words", 8)...)
		return append(vs, r.headerWords("provider_in_words", 8)...)
	},
	"write/not-supported": func(r *request, _ *item) []Value {
		if !r.commanded {
			return nil
		}
		name := spec.WriteName(uint8(r.word), r.word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0)
		return []Value{text("command", "%#x %s", r.word, name)}
	},
}

// headerWords is a length in the header of a write() command.
func (r *request) headerWords(name string, size uint64) []Value {
	if r.write == nil || !r.write.Readable {
		return nil
	}
	v := r.write.Header.Field(name)
	if v == nil {
		return nil
	}
	return []Value{text(name, "%d, which is %d bytes", v.Num, size*v.Num)}
}

// commandSizes are how long the request of a command, or its response, is and has
// to be.
func (r *request) commandSizes(request bool) []Value {
	if r.command == nil {
		return nil
	}
	words, least, size := "out_words", r.command.RespSize, uint64(4)
	if request {
		words, least = "in_words", r.command.ReqSize
	}
	if r.command.Ex {
		size = 8
	}
	return append(r.headerWords(words, size), number("least", uint64(least)))
}

// cgroupResource is the one of a control group's resources that there is no more of.
func cgroupResource(_ *request, it *item) []Value {
	if it == nil {
		return nil
	}
	switch v := it.env.eval("r"); {
	case v.kind != numeric:
		return nil
	case v.n.Sign() == 0:
		return []Value{text("rdma.max", "hca_handle")}
	}
	return []Value{text("rdma.max", "hca_object")}
}

func noContext(r *request, _ *item) []Value {
	return []Value{text("ufile->ucontext", "NULL: no GET_CONTEXT has succeeded on fd %d", r.call.FD)}
}

// locked is what the process has pinned, and what it may.
func locked(r *request, it *item) []Value {
	var out []Value
	if it != nil {
		out = r.handed(it)
	}
	if out == nil {
		out = r.addresses()
	}
	return append(out, text("RLIMIT_MEMLOCK", "%d bytes", r.call.Memlock), text("pinned before", "%d pages", r.call.Pinned))
}

func descriptor(r *request, _ *item) []Value { return []Value{number("fd", uint64(uint32(r.call.FD)))} }

func who(r *request, _ *item) []Value {
	return []Value{text("credentials", "the caller's are not those that fd %d was opened with", r.call.FD)}
}

func writeBuffer(r *request, _ *item) []Value {
	return []Value{text("buf", "%#x", r.call.Addr), number("count", r.call.Length)}
}

func driverName(id uint32) string {
	if name := spec.EnumeratorName("enum rdma_driver_id", uint64(id)); name != "" {
		return strconv.FormatUint(uint64(id), 10) + " " + name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// missing are the mandatory attributes that the call does not have.
func (r *request) missing() (out []*spec.Attr) {
	if r.method == nil {
		return nil
	}
	for i := range r.method.Attrs {
		if a := &r.method.Attrs[i]; a.Mandatory && r.call.Ioctl.Attr(a.ID) == nil {
			out = append(out, a)
		}
	}
	return out
}

func (r *request) methodName() string {
	if r.method == nil {
		return "the method"
	}
	return r.method.Name
}
