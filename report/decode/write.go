package decode

import (
	"encoding/binary"
	"reflect"
	"sync"

	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

// Buffers has the C types of the parts of a write() command. Of several, the
// length tells which it is.
type Buffers struct {
	Request, Response []string
	Udata             spec.Udata
}

// core has the core's definitions, by which commands are read.
var core = sync.OnceValue(spec.Core)

// BuffersOf returns the types of a command of that command word on a device of
// that driver.
func BuffersOf(driver, word uint32) Buffers {
	w := spec.FindWrite(core(), uint8(word), word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0)
	if w == nil || Command(word).Text == "" {
		return Buffers{}
	}
	b := Buffers{Request: []string{w.ReqType}, Udata: spec.UdataOf(driver, w.Command)}
	if w.RespType != "" {
		b.Response = []string{w.RespType}
	}
	return b
}

// pick chooses among types, which are in the order of their size: the first
// that has room for n bytes, else the last; "" if there is none.
func pick(types []string, n int) string {
	for _, c := range types {
		if s := spec.NewStruct(c); s != nil && int(reflect.TypeOf(s).Elem().Size()) >= n {
			return c
		}
	}
	if len(types) == 0 {
		return ""
	}
	return types[len(types)-1]
}

// Write is a command of write() on a device file in names.
type Write struct {
	Readable bool // the header could be read
	Command  Value
	Header   Value

	Request, UdataIn   *Value // nil if there is none
	Response, UdataOut *Value // nil if there is none, or the call was refused

	// RequestAt and UdataAt are where the parts of the request lie in what was
	// written.
	RequestAt, UdataAt int
}

// WriteCall reads a write() on a device file and its answer; c has both (see
// watch.Call.TakeArgument and TakeAnswer). A command that no kernel has is not an
// extended one, as uapi_get_method, drivers/infiniband/core/rdma_core.h, sees it.
func WriteCall(c *watch.Call) *Write {
	b := c.Data.Bytes
	if len(b) < spec.CmdHdrSize {
		return &Write{}
	}
	word := binary.LittleEndian.Uint32(b)
	w := &Write{Readable: true, Command: Command(word), Header: StructOf("struct ib_uverbs_cmd_hdr", b[:spec.CmdHdrSize])}
	w.Header.Fields[0].Value = w.Command
	types := BuffersOf(c.Driver, word)
	in, out := size(types.Request), size(types.Response)
	b = b[spec.CmdHdrSize:]
	if ex := word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0; ex && w.Command.Text != "" && len(b) >= spec.ExCmdHdrSize {
		ex := StructOf("struct ib_uverbs_ex_cmd_hdr", b[:spec.ExCmdHdrSize])
		w.Header.Fields = append(w.Header.Fields, ex.Fields...)
		b = b[spec.ExCmdHdrSize:]
		in = 8 * int(w.Header.Field("in_words").Num)
		out = 8 * int(w.Header.Field("out_words").Num)
	} else if len(types.Udata.In) == 0 {
		in = len(b) // what follows is the core's
	}
	w.RequestAt = len(c.Data.Bytes) - len(b)
	w.UdataAt = w.RequestAt + min(in, len(b))
	w.Request, w.UdataIn = parts(b, in, types.Request, types.Udata.In)
	if c.Err == nil {
		if len(types.Udata.Out) == 0 {
			out = len(c.Data.Out)
		}
		w.Response, w.UdataOut = parts(c.Data.Out, out, types.Response, types.Udata.Out)
	}
	return w
}

// size returns that of the one type, 0 if there is none.
func size(types []string) int {
	for _, c := range types {
		return int(reflect.TypeOf(spec.NewStruct(c)).Elem().Size())
	}
	return 0
}

// parts reads the core's part of a buffer, n bytes, and the driver's behind it.
func parts(b []byte, n int, coreTypes, driverTypes []string) (ofCore, ofDriver *Value) {
	n = min(n, len(b))
	read := func(types []string, b []byte) *Value {
		if len(b) == 0 {
			return nil
		}
		v := StructOf(pick(types, len(b)), b)
		return &v
	}
	return read(coreTypes, b[:n]), read(driverTypes, b[n:])
}

// eventTypes has what is read from an event file of that name, by its size.
var eventTypes = map[string]map[int]string{
	"[infinibandevent]": {
		spec.CompEventDescSize:  "struct ib_uverbs_comp_event_desc",
		spec.AsyncEventDescSize: "struct ib_uverbs_async_event_desc",
	},
}

// Event reads what a read of an event file has got. Each read gets one event.
func Event(path string, b []byte) Value {
	if c := eventTypes[path][len(b)]; c != "" {
		return StructOf(c, b)
	}
	return Value{Kind: Bytes, Bytes: b}
}
