package explain

import (
	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

// names are what the parser of ioctls and of write() commands calls the parts of
// a request.
var names = map[string]func(r *request) value{
	"t":                    func(*request) value { return value{kind: object} }, // the trace that is being made
	"hdr.length":           header(func(h *spec.IoctlHdr) uint64 { return uint64(h.Length) }),
	"hdr.num_attrs":        header(func(h *spec.IoctlHdr) uint64 { return uint64(h.NumAttrs) }),
	"hdr.reserved1":        header(func(h *spec.IoctlHdr) uint64 { return h.Reserved1 }),
	"hdr.reserved2":        header(func(h *spec.IoctlHdr) uint64 { return uint64(h.Reserved2) }),
	"hdr.driver_id":        header(func(h *spec.IoctlHdr) uint64 { return uint64(h.DriverID) }),
	"api.driver_id":        func(r *request) value { return num(uint64(r.call.Driver)) },
	"cmd":                  func(r *request) value { return num(uint64(r.call.Cmd)) },
	"m.is_ex":              func(r *request) value { return r.extended() },
	"m.has_resp":           func(r *request) value { return r.hasResponse() },
	"m.destroy_bkey":       func(r *request) value { return r.destroyBkey() },
	"m.has_udata":          func(r *request) value { return r.hasUdata() },
	"count":                func(r *request) value { return num(r.call.Length) },
	"m.req_size":           command(func(w *spec.Write) uint64 { return uint64(w.ReqSize) }),
	"m.resp_size":          command(func(w *spec.Write) uint64 { return uint64(w.RespSize) }),
	"h.in_words":           member4("in_words"),
	"h.out_words":          member4("out_words"),
	"h.provider_in_words":  member4("provider_in_words"),
	"h.provider_out_words": member4("provider_out_words"),
	"h.reserved":           member4("cmd_hdr_reserved"),
	"h.response":           member4("response"),
	"u_core.in_len":        func(r *request) value { return r.length("UVERBS_ATTR_CORE_IN") },
	"u_core.out_len":       func(r *request) value { return r.length("UVERBS_ATTR_CORE_OUT") },
}

func header(f func(*spec.IoctlHdr) uint64) func(*request) value {
	return func(r *request) value {
		if r.call.Ioctl == nil || !r.call.Ioctl.Readable {
			return value{}
		}
		return num(f(&r.call.Ioctl.Header))
	}
}

func command(f func(*spec.Write) uint64) func(*request) value {
	return func(r *request) value {
		if r.command == nil {
			return value{}
		}
		return num(f(r.command))
	}
}

// member4 is a member of the headers of a write() command.
func member4(name string) func(*request) value {
	return func(r *request) value {
		if r.write == nil {
			return value{}
		}
		if v := r.write.Header.Field(name); v != nil {
			return num(v.Num)
		}
		return value{}
	}
}

func (r *request) extended() value {
	if r.write == nil || !r.write.Readable {
		return value{}
	}
	return is(r.word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0)
}

// length is how much a driver or a command is handed in an attribute; 0 without.
func (r *request) length(name string) value {
	if r.call.Ioctl == nil {
		return value{}
	}
	if a := r.sent(name); a != nil {
		return num(uint64(a.Len))
	}
	return num(0)
}

// destroyBkey is not 63 for a method that destroys an object.
func (r *request) destroyBkey() value {
	if r.method == nil {
		return value{}
	}
	for i := range r.method.Attrs {
		if a := &r.method.Attrs[i]; a.IsObject() && a.Access == spec.AccessDestroy {
			return num(uint64(i))
		}
	}
	return num(spec.BkeyLen)
}

func (r *request) hasResponse() value {
	if r.command == nil {
		return value{}
	}
	return is(r.command.HasResp)
}

func (r *request) hasUdata() value {
	switch {
	case r.method != nil:
		return is(r.method.Attr(spec.UVERBS_ATTR_UHW_IN) != nil)
	case r.command != nil:
		return is(r.command.HasUdata)
	}
	return value{}
}

// sent returns the attribute of that name, nil if the user sent none.
func (r *request) sent(name string) *watch.Attr {
	if r.call.Ioctl == nil {
		return nil
	}
	for i := range r.call.Ioctl.Attrs {
		if a := &r.call.Ioctl.Attrs[i]; a.Spec != nil && a.Spec.Name == name {
			return a
		}
	}
	return nil
}

// ofAttr are what the parser calls the parts of the attribute that it is at.
var ofAttr = map[string]func(a *watch.Attr) value{
	"elm": func(a *watch.Attr) value {
		if a.Spec == nil {
			return value{kind: null}
		}
		return value{kind: object}
	},
	"u.len()":            func(a *watch.Attr) value { return num(uint64(a.Len)) },
	"u.flags()":          func(a *watch.Attr) value { return num(uint64(a.Flags)) },
	"u.data":             func(a *watch.Attr) value { return num(a.Data) },
	"u.attr_data()":      func(a *watch.Attr) value { return num(uint64(a.AttrData)) },
	"u.elem_id()":        func(a *watch.Attr) value { return num(uint64(a.ElemID())) },
	"u.enum_reserved()":  func(a *watch.Attr) value { return num(uint64(a.EnumReserved())) },
	"e.is_inline()":      func(a *watch.Attr) value { return is(a.Len <= 8) },
	"s.type_":            ofSpec(func(s *spec.Attr) value { return num(uint64(s.Type)) }),
	"object":             ofSpec(func(s *spec.Attr) value { return num(uint64(s.Object)) }),
	"access":             ofSpec(func(s *spec.Attr) value { return num(uint64(s.Access)) }),
	"len(s.enum)":        ofSpec(func(s *spec.Attr) value { return num(uint64(len(s.Enum))) }),
	"spec.min_items":     ofSpec(func(s *spec.Attr) value { return num(uint64(s.MinItems)) }),
	"spec.max_items":     ofSpec(func(s *spec.Attr) value { return num(uint64(s.MaxItems)) }),
	"spec.access":        ofSpec(func(s *spec.Attr) value { return num(uint64(s.Access)) }),
	"val.len":            ofData(func(s *spec.Attr) value { return num(uint64(s.Len)) }),
	"val.min_len":        ofData(func(s *spec.Attr) value { return num(uint64(s.MinLen)) }),
	"val.zero_trailing":  ofData(func(s *spec.Attr) value { return is(s.ZeroTrailing) }),
	"val.alloc_and_copy": ofData(func(s *spec.Attr) value { return is(s.AllocAndCopy) }),
	"member.type_":       ofData(func(s *spec.Attr) value { return num(uint64(s.Type)) }),
}

func ofSpec(f func(*spec.Attr) value) func(*watch.Attr) value {
	return func(a *watch.Attr) value {
		if a.Spec == nil {
			return value{}
		}
		return f(a.Spec)
	}
}

// ofData is ofSpec of the element that an ENUM_IN selects.
func ofData(f func(*spec.Attr) value) func(*watch.Attr) value {
	return func(a *watch.Attr) value {
		s := dataSpec(a)
		if s == nil {
			return value{}
		}
		return f(s)
	}
}

// dataSpec is the spec that an attribute's data is checked against, nil if it has
// none.
func dataSpec(a *watch.Attr) *spec.Attr {
	switch {
	case a.Spec == nil:
		return nil
	case a.Spec.Type != spec.TypeEnumIn:
		return a.Spec
	case int(a.ElemID()) < len(a.Spec.Enum):
		return &a.Spec.Enum[a.ElemID()]
	}
	return nil
}

// parserName finds a name of the parser, of the attribute that it is at, or of the
// attribute that a handler asks for.
func (r *request) parserName(user int, attr, name string) value {
	if user >= 0 && r.call.Ioctl != nil && user < len(r.call.Ioctl.Attrs) {
		if f := ofAttr[name]; f != nil {
			return f(&r.call.Ioctl.Attrs[user])
		}
	}
	if attr != "" {
		a := r.sent(attr)
		switch name {
		case "a":
			if a == nil {
				return value{kind: null}
			}
			return value{kind: object}
		case "a.len":
			if a != nil {
				return num(uint64(a.Len))
			}
		case "a.data":
			if a != nil && !a.Pointer {
				return num(a.Data)
			}
		}
	}
	if f := names[name]; f != nil {
		return f(r)
	}
	switch name {
	case "udata.in_len":
		return r.driverLength("UVERBS_ATTR_UHW_IN", "in_words", func(w *spec.Write) uint8 { return w.ReqSize })
	case "udata.out_len":
		return r.driverLength("UVERBS_ATTR_UHW_OUT", "out_words", func(w *spec.Write) uint8 { return w.RespSize })
	}
	return value{}
}

// driverLength is how long the driver's part of a request or of its response is:
// the attribute's, or what a write() command has beyond the core's part.
func (r *request) driverLength(attr, words string, core func(*spec.Write) uint8) value {
	if r.write == nil {
		return r.length(attr)
	}
	if r.command == nil || !r.write.Readable {
		return value{}
	}
	if r.command.Ex {
		if v := r.write.Header.Field("provider_" + words); v != nil {
			return num(8 * v.Num)
		}
		return value{}
	}
	v := r.write.Header.Field(words)
	if v == nil || !r.command.HasUdata {
		return value{}
	}
	n := int64(4*v.Num) - int64(core(r.command))
	if words == "in_words" {
		n -= spec.CmdHdrSize
	}
	return signed(n)
}
