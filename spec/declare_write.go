package spec

import "reflect"

// Desc is what a write() command says of its request and response:
// UAPI_DEF_WRITE_I and the macros around it, drivers/infiniband/core/uverbs_cmd.c.
type Desc struct {
	req, resp         uint8
	reqType, respType string
	udata, hasRsp     bool
}

// desc has the sizes and the types of a request and a response.
func desc[Req, Resp any]() Desc {
	return Desc{
		req: sizeOf[Req](), reqType: StructName(reflect.TypeFor[Req]()),
		resp: sizeOf[Resp](), respType: StructName(reflect.TypeFor[Resp]()),
	}
}

func (d Desc) withUdata() Desc    { d.udata = true; return d }
func (d Desc) withResponse() Desc { d.hasRsp = true; return d }

// noResponse stands for the response of a command that has none.
type noResponse struct{}

func sizeOf[T any]() uint8 { return uint8(reflect.TypeFor[T]().Size()) }

// WriteI is UAPI_DEF_WRITE_I: a request without a response.
func WriteI[Req any]() Desc { return desc[Req, noResponse]() }

// WriteUdataI is UAPI_DEF_WRITE_UDATA_I: a request that ends with the driver's
// part, without a response.
func WriteUdataI[Req any]() Desc { return desc[Req, noResponse]().withUdata() }

// WriteIO is UAPI_DEF_WRITE_IO: a request that begins with the response's
// address.
func WriteIO[Req, Resp any]() Desc { return desc[Req, Resp]().withResponse() }

// WriteUdataIO is UAPI_DEF_WRITE_UDATA_IO: as WriteIO, and both end with the
// driver's part.
func WriteUdataIO[Req, Resp any]() Desc { return desc[Req, Resp]().withResponse().withUdata() }

// WriteIEx is UAPI_DEF_WRITE_I_EX: a request that is declared to reach at least
// to the end of its member last, which nothing checks.
func WriteIEx[Req any](last string) Desc {
	d := desc[Req, noResponse]()
	d.req = uint8(offsetOfEnd(reflect.TypeFor[Req](), last))
	return d
}

// WriteIOEx is UAPI_DEF_WRITE_IO_EX: a request and a response that are each
// declared to reach at least to the end of the member named, which nothing
// checks.
func WriteIOEx[Req, Resp any](reqLast, respLast string) Desc {
	d := desc[Req, Resp]().withResponse()
	d.req = uint8(offsetOfEnd(reflect.TypeFor[Req](), reqLast))
	d.resp = uint8(offsetOfEnd(reflect.TypeFor[Resp](), respLast))
	return d
}

// WriteCmd is DECLARE_UVERBS_WRITE; needs are its UAPI_DEF_METHOD_NEEDS_FN.
func WriteCmd(command uint8, d Desc, needs ...Op) Write {
	return Write{
		Command: command, Name: writeNames[command],
		ReqSize: d.req, RespSize: d.resp, ReqType: d.reqType, RespType: d.respType, HasUdata: d.udata, HasResp: d.hasRsp,
		Needs: needs,
	}
}

// WriteExCmd is DECLARE_UVERBS_WRITE_EX; needs are its
// UAPI_DEF_METHOD_NEEDS_FN.
func WriteExCmd(command uint8, d Desc, needs ...Op) Write {
	w := WriteCmd(command, d, needs...)
	w.Name, w.Ex = writeExNames[command], true
	return w
}

// Writes is DECLARE_UVERBS_OBJECT with the write() commands of an object;
// needs are its UAPI_DEF_OBJ_NEEDS_FN.
func Writes(object uint16, commands []Write, needs ...Op) Definition {
	for i := range commands {
		commands[i].Object = object
	}
	return Definition{Object: Object{ID: object, Needs: needs}, Writes: commands}
}
