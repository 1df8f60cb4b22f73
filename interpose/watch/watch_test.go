package watch_test

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/rule"
	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

const (
	argAt = 0x10000
	bufAt = 0x20000 // what attributes lead to
)

// memory is a caller's memory: an argument with those attributes, and room of n
// bytes at bufAt that hold 1, 2, 3 and so on.
func memory(h spec.IoctlHdr, attrs []spec.IoctlAttr, n int) *copyuser.Bytes {
	b := make([]byte, bufAt-argAt+n)
	h.NumAttrs = max(h.NumAttrs, uint16(len(attrs)))
	copy(b, spec.EncodeIoctl(&h, attrs))
	for i := range n {
		b[bufAt-argAt+i] = byte(i + 1)
	}
	return copyuser.NewBytes(argAt, b)
}

// attrAt is the address of the n-th attribute.
func attrAt(n int) copyuser.Addr {
	return argAt + spec.IoctlHdrSize + copyuser.Addr(n*spec.IoctlAttrSize)
}

func createCQ(driver uint32) spec.IoctlHdr {
	return spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_CQ, MethodID: spec.UVERBS_METHOD_CQ_CREATE, DriverID: driver}
}

// TestPointers: what is an address, by the type of the attribute and by its
// length.
func TestPointers(t *testing.T) {
	cq, mlx5 := createCQ(spec.RDMA_DRIVER_MLX5), func(object, method uint16) spec.IoctlHdr {
		return spec.IoctlHdr{ObjectID: object, MethodID: method, DriverID: spec.RDMA_DRIVER_MLX5}
	}
	flow := mlx5(spec.UVERBS_OBJECT_FLOW, spec.MLX5_IB_METHOD_CREATE_FLOW)
	matcher := mlx5(spec.MLX5_IB_OBJECT_FLOW_MATCHER, spec.MLX5_IB_METHOD_FLOW_MATCHER_CREATE)
	for _, tt := range []struct {
		name  string
		hdr   spec.IoctlHdr
		attr  uint16
		len   uint16
		known bool
		want  bool
	}{
		{"input that has room", cq, spec.UVERBS_ATTR_CREATE_CQ_CQE, 4, true, false},
		{"input that just has room", cq, spec.UVERBS_ATTR_UHW_IN, 8, true, false},
		{"input that has none", cq, spec.UVERBS_ATTR_UHW_IN, 9, true, true},
		{"short output", cq, spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, true, true},
		{"handle of a strange length", cq, spec.UVERBS_ATTR_CREATE_CQ_HANDLE, 16, true, false},
		{"descriptor of a strange length", cq, spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 16, true, false},
		{"a driver's attribute", cq, spec.MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, 4, true, false},
		{"two handles", flow, spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, 8, true, false},
		{"three handles", flow, spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, 12, true, true},
		{"short choice", matcher, spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, 2, true, false},
		{"long choice", matcher, spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, 10, true, true},
		{"unknown attribute, short", cq, 0x77, 8, false, false},
		{"unknown attribute, long", cq, 0x77, 9, false, true},
		{"unknown method", mlx5(spec.UVERBS_OBJECT_CQ, 0x66), 0, 9, false, true},
		{"unknown object", mlx5(0x66, 0), 0, 9, false, true},
		{"a driver's attribute of another driver", createCQ(spec.RDMA_DRIVER_RXE), spec.MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, 4, false, false},
		{"a driver that there is not", createCQ(1 << 31), spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mem := memory(tt.hdr, []spec.IoctlAttr{{AttrID: tt.attr, Len: tt.len, Data: bufAt}}, 32)
			i := watch.TakeIoctl(mem, argAt, spec.RDMA_DRIVER_UNKNOWN)
			require.Len(t, i.Attrs, 1)
			a := &i.Attrs[0]
			require.Equal(t, tt.known, a.Spec != nil)
			require.Equal(t, tt.want, a.Pointer)
			if tt.want {
				require.Equal(t, []byte{1, 2, 3, 4}, a.In[:4])
				require.Len(t, a.In, int(tt.len))
			} else {
				require.Nil(t, a.In)
			}
		})
	}
}

// TestDriver: the device's driver says what its ids mean, whatever the header
// says.
func TestDriver(t *testing.T) {
	attrs := []spec.IoctlAttr{{AttrID: spec.MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, Len: 4}}
	mem := memory(createCQ(spec.RDMA_DRIVER_RXE), attrs, 0)
	require.Equal(t, "MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX", watch.TakeIoctl(mem, argAt, spec.RDMA_DRIVER_MLX5).Attrs[0].Spec.Name)
	require.Nil(t, watch.TakeIoctl(mem, argAt, spec.RDMA_DRIVER_RXE).Attrs[0].Spec)
}

// TestBeforeAndAfter: the kernel writes a handle and an output.
func TestBeforeAndAfter(t *testing.T) {
	mem := memory(createCQ(spec.RDMA_DRIVER_MLX5), []spec.IoctlAttr{
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_HANDLE, Data: 99},
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, Len: 4, Data: bufAt},
	}, 8)
	c := &watch.Call{Name: "ioctl", Cmd: spec.RDMA_VERBS_IOCTL, Arg: argAt, Mem: mem}
	c.TakeArgument()
	first := c.Ioctl
	require.True(t, first.Readable)
	require.Equal(t, "UVERBS_OBJECT_CQ", first.ObjectName)
	require.Equal(t, "UVERBS_METHOD_CQ_CREATE", first.Method.Name)
	require.Equal(t, uint16(2), first.Header.NumAttrs)
	raw := make([]byte, spec.IoctlHdrSize)
	mem.CopyIn(raw, argAt)
	require.Equal(t, raw, first.Raw[:])

	mem.PutUint64(attrAt(0)+spec.IoctlAttrDataOffset, 3)
	mem.PutUint16(attrAt(1)+spec.IoctlAttrFlagsOffset, spec.UVERBS_ATTR_F_VALID_OUTPUT)
	mem.CopyOut(bufAt, []byte{255, 0, 0, 0})
	c.TakeArgument() // another watcher's: the first counts
	require.Same(t, first, c.Ioctl)
	c.TakeAnswer()
	mem.CopyOut(bufAt, []byte{0, 0, 0, 0})
	c.TakeAnswer()

	handle, cqe := first.Attr(spec.UVERBS_ATTR_CREATE_CQ_HANDLE), first.Attr(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE)
	require.Equal(t, uint64(99), handle.Data)
	require.Equal(t, uint64(3), handle.After.Data)
	require.False(t, handle.Written())
	require.True(t, cqe.Written())
	require.Equal(t, []byte{1, 2, 3, 4}, cqe.In)
	require.Equal(t, []byte{255, 0, 0, 0}, cqe.Out)
	require.Nil(t, first.Attr(77))
}

func TestInvokeWrite(t *testing.T) {
	h := spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_DEVICE, MethodID: spec.UVERBS_METHOD_INVOKE_WRITE}
	const word = spec.IB_USER_VERBS_CMD_FLAG_EXTENDED | spec.IB_USER_VERBS_EX_CMD_CREATE_CQ
	attrs := []spec.IoctlAttr{{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: word}}
	got, ok := watch.TakeIoctl(memory(h, attrs, 0), argAt, 0).InvokeWrite()
	require.True(t, ok)
	require.Equal(t, uint32(word), got)
	_, ok = watch.TakeIoctl(memory(h, nil, 0), argAt, 0).InvokeWrite()
	require.False(t, ok)
	h.MethodID = spec.UVERBS_METHOD_QUERY_PORT
	_, ok = watch.TakeIoctl(memory(h, attrs, 0), argAt, 0).InvokeWrite()
	require.False(t, ok)
}

// TestFaults: what cannot be read is left out.
func TestFaults(t *testing.T) {
	require.False(t, watch.TakeIoctl(copyuser.NewBytes(argAt, make([]byte, 23)), argAt, 0).Readable)

	h := createCQ(0)
	h.NumAttrs = 3
	var b [spec.IoctlHdrSize + 2*spec.IoctlAttrSize + 15]byte
	h.Encode((*[spec.IoctlHdrSize]byte)(b[:]))
	i := watch.TakeIoctl(copyuser.NewBytes(argAt, b[:]), argAt, 0)
	require.True(t, i.Readable)
	require.Len(t, i.Attrs, 2, "the third ends behind the memory")

	mem := memory(createCQ(0), []spec.IoctlAttr{
		{AttrID: spec.UVERBS_ATTR_UHW_IN, Len: 32, Data: bufAt + 4},
		{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 32, Data: 1 << 63},
		{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 32, Data: 1<<64 - 1},
	}, 10)
	i = watch.TakeIoctl(mem, argAt, 0)
	i.Finish(mem)
	require.Equal(t, []byte{5, 6, 7, 8, 9, 10}, i.Attrs[0].In)
	require.Equal(t, i.Attrs[0].In, i.Attrs[0].Out)
	require.False(t, i.Attrs[0].Cut)
	require.Nil(t, i.Attrs[1].In)
	require.Nil(t, i.Attrs[2].Out)
}

// TestLimits: a call may lead to 254 times 64 KiB.
func TestLimits(t *testing.T) {
	attrs := make([]spec.IoctlAttr, 300)
	for n := range attrs {
		attrs[n] = spec.IoctlAttr{AttrID: 0x77, Len: 65535, Data: bufAt}
	}
	mem := memory(createCQ(0), attrs, 65535)
	i := watch.TakeIoctl(mem, argAt, 0)
	i.Finish(mem)
	require.Len(t, i.Attrs, watch.MaxAttrs)
	in, out := 0, 0
	for n := range i.Attrs {
		in, out = in+len(i.Attrs[n].In), out+len(i.Attrs[n].Out)
		require.Equal(t, n >= 4, i.Attrs[n].Cut)
	}
	require.Equal(t, watch.MaxBytes, in)
	require.Equal(t, watch.MaxBytes, out)
}

// TestGone: a caller whose memory is gone when the call ends.
func TestGone(t *testing.T) {
	c := &watch.Call{Name: "ioctl", Cmd: spec.RDMA_VERBS_IOCTL, Arg: argAt, Mem: memory(createCQ(0), nil, 0)}
	c.TakeArgument()
	c.Mem = nil
	c.TakeAnswer()
	require.True(t, c.Ioctl.Readable)
}

// TestData: what is read and what is written.
func TestData(t *testing.T) {
	mem := copyuser.NewBytes(argAt, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	c := &watch.Call{Name: "read", Addr: argAt, Length: 8, Mem: mem}
	c.TakeArgument()
	require.Nil(t, c.Data.Bytes)
	mem.CopyOut(argAt, []byte{9})
	c.Ret = 3
	c.TakeAnswer()
	require.Equal(t, []byte{9, 2, 3}, c.Data.Bytes)

	c = &watch.Call{Name: "read", Addr: argAt, Length: 8, Mem: mem}
	c.TakeArgument()
	c.Ret, c.Err = -1, syscall.EAGAIN
	c.TakeAnswer()
	require.Nil(t, c.Data.Bytes)

	c = &watch.Call{Name: "write", Addr: argAt, Length: 6, Mem: mem}
	c.TakeArgument()
	c.TakeAnswer()
	require.Equal(t, []byte{9, 2, 3, 4, 5, 6}, c.Data.Bytes)
	require.Zero(t, c.Data.Response)

	for _, c := range []*watch.Call{{Name: "close", Mem: mem}, {Name: "read"}, {Name: "ioctl", Cmd: 1, Mem: mem}} {
		c.TakeArgument()
		c.TakeAnswer()
		require.Nil(t, c.Data)
		require.Nil(t, c.Ioctl)
	}
}

// TestResponse: where the answer of a command of write() is.
func TestResponse(t *testing.T) {
	raw := make([]byte, 256)
	req := spec.QueryDevice{Response: argAt + 128}
	copy(raw, spec.Bytes(&spec.CmdHdr{Command: spec.IB_USER_VERBS_CMD_QUERY_DEVICE, InWords: 4, OutWords: 4}))
	copy(raw[spec.CmdHdrSize:], spec.Bytes(&req))
	mem := copyuser.NewBytes(argAt, raw)
	c := &watch.Call{Name: "write", Addr: argAt, Length: 16, Mem: mem}
	c.TakeArgument()
	require.Equal(t, copyuser.Addr(argAt+128), c.Data.Response)
	require.Equal(t, 16, c.Data.Room)
	mem.CopyOut(argAt+128, []byte{1, 2})
	c.TakeAnswer()
	require.Equal(t, append([]byte{1, 2}, make([]byte, 14)...), c.Data.Out)

	// The answer of an extended command has the core's part and the driver's.
	copy(raw, spec.Bytes(&spec.CmdHdr{Command: spec.IB_USER_VERBS_CMD_FLAG_EXTENDED | spec.IB_USER_VERBS_EX_CMD_QUERY_DEVICE, InWords: 1, OutWords: 2}))
	copy(raw[spec.CmdHdrSize:], spec.Bytes(&spec.ExCmdHdr{Response: argAt + 64, ProviderOutWords: 3}))
	for length, room := range map[uint64]int{32: 40, spec.CmdHdrSize + spec.ExCmdHdrSize - 1: 0} {
		c = &watch.Call{Name: "write", Addr: argAt, Length: length, Mem: copyuser.NewBytes(argAt, raw)}
		c.TakeArgument()
		require.Equal(t, room, c.Data.Room)
		require.Equal(t, room != 0, c.Data.Response == argAt+64)
	}
}

type recorder struct{ got *bytes.Buffer }

func (r recorder) Enter(c *watch.Call) { r.got.WriteString("enter " + c.Name + "\n") }
func (r recorder) Leave(c *watch.Call) { r.got.WriteString("leave " + c.Name + "\n") }

func TestWatchers(t *testing.T) {
	var b bytes.Buffer
	w := watch.Watchers{recorder{&b}, recorder{&b}}
	c := &watch.Call{Name: "close"}
	w.Enter(c)
	w.Leave(c)
	require.Equal(t, "enter close\nenter close\nleave close\nleave close\n", b.String())
}

func TestRule(t *testing.T) {
	require.Same(t, rule.HeaderFault, (&watch.Call{Err: rule.HeaderFault}).Rule())
	require.Nil(t, (&watch.Call{Err: syscall.EIO}).Rule())
	require.Nil(t, (&watch.Call{Err: errors.New("lost")}).Rule())
	require.Nil(t, (&watch.Call{}).Rule())
}

// FuzzTake: whatever lies in memory, what is kept is bounded, and no more than
// the header says.
func FuzzTake(f *testing.F) {
	var seed [spec.IoctlHdrSize + spec.IoctlAttrSize]byte
	h := createCQ(spec.RDMA_DRIVER_MLX5)
	h.NumAttrs = 1
	h.Encode((*[spec.IoctlHdrSize]byte)(seed[:]))
	a := spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_IN, Len: 32, Data: argAt}
	a.Encode((*[spec.IoctlAttrSize]byte)(seed[spec.IoctlHdrSize:]))
	f.Add(uint32(spec.RDMA_DRIVER_MLX5), seed[:])
	f.Fuzz(func(t *testing.T, driver uint32, raw []byte) {
		watchdog.On(t)
		mem := copyuser.NewBytes(argAt, raw)
		for _, name := range []string{"ioctl", "read", "write"} {
			c := &watch.Call{Name: name, Cmd: spec.RDMA_VERBS_IOCTL, Arg: argAt, Addr: argAt, Length: 1 << 40, Ret: 1 << 40, Driver: driver, Mem: mem}
			c.TakeArgument()
			c.TakeAnswer()
			kept := 0
			if c.Ioctl != nil {
				require.LessOrEqual(t, len(c.Ioctl.Attrs), int(c.Ioctl.Header.NumAttrs))
				require.LessOrEqual(t, len(c.Ioctl.Attrs), watch.MaxAttrs)
				for i := range c.Ioctl.Attrs {
					kept += len(c.Ioctl.Attrs[i].In)
				}
			} else {
				kept = max(len(c.Data.Bytes), len(c.Data.Out))
			}
			require.LessOrEqual(t, kept, watch.MaxBytes)
		}
	})
}
