package strace_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/report/strace"
	"uverbsim/rule"
	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

const (
	argAt = 0x10000
	bufAt = 0x11000 // what attributes lead to
	end   = 0x12000
)

// memory is a caller's memory with an argument of those attributes at argAt.
func memory(h spec.IoctlHdr, attrs []spec.IoctlAttr, buf []byte) *copyuser.Bytes {
	b := make([]byte, end-argAt)
	if h.Length == 0 {
		h.Length = uint16(spec.IoctlHdrSize + len(attrs)*spec.IoctlAttrSize)
	}
	if h.NumAttrs == 0 {
		h.NumAttrs = uint16(len(attrs))
	}
	copy(b, spec.EncodeIoctl(&h, attrs))
	copy(b[bufAt-argAt:], buf)
	return copyuser.NewBytes(argAt, b)
}

// line prints one call; kernel, which may be nil, does what the kernel would.
func line(opts strace.Options, c *watch.Call, kernel func()) string {
	var b bytes.Buffer
	s := strace.New(&b, opts)
	s.Enter(c)
	if kernel != nil {
		kernel()
	}
	s.Leave(c)
	return strings.TrimSuffix(b.String(), "\n")
}

func ioctl(mem copyuser.Memory) *watch.Call {
	return &watch.Call{Name: "ioctl", FD: 3, Cmd: spec.RDMA_VERBS_IOCTL, Arg: argAt, Mem: mem}
}

// TestCrafted: arguments that no library makes.
func TestCrafted(t *testing.T) {
	le := binary.LittleEndian
	mlx5 := func(object, method uint16) spec.IoctlHdr {
		return spec.IoctlHdr{ObjectID: object, MethodID: method, DriverID: spec.RDMA_DRIVER_MLX5}
	}
	refused := syscall.EINVAL
	for _, tt := range []struct {
		name  string
		hdr   spec.IoctlHdr
		attrs []spec.IoctlAttr
		buf   []byte
		err   error
		want  string // of the argument
	}{
		{
			name: "unknown all over", err: refused,
			hdr: spec.IoctlHdr{ObjectID: 0x77, MethodID: 0x88, DriverID: 99, Length: 5, Reserved1: 1, Reserved2: 2},
			attrs: []spec.IoctlAttr{
				{AttrID: 0x99, Len: 4, Data: 5, Flags: 8, AttrData: 9},
				{AttrID: 0x9a, Len: 9, Data: bufAt},
				{AttrID: 0x9b, Len: 9, Data: 0xdead0000},
			},
			buf: []byte{1, 2, 3},
			want: "{length=5, reserved1=0x1, reserved2=0x2, object_id=0x77 /* ??? */, method_id=0x88 /* ??? */, " +
				"driver_id=0x63 /* ??? */, num_attrs=3, attrs=[{0x99 /* ??? */, 0x5, flags=0x8, reserved=0x9}, " +
				"{0x9a /* ??? */, <9 bytes: 010203000000000000>}, {0x9b /* ??? */, 0xdead0000 /* 9 of 9 bytes unreadable */}]}",
		},
		{
			name: "a method of another object", err: refused, hdr: mlx5(spec.UVERBS_OBJECT_PD, 0x55),
			want: "{object_id=UVERBS_OBJECT_PD, method_id=0x55 /* ??? */, driver_id=RDMA_DRIVER_MLX5, num_attrs=0, attrs=[]}",
		},
		{
			name: "more attributes than are kept", err: refused,
			hdr:   spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_PD, MethodID: spec.UVERBS_METHOD_PD_DESTROY, NumAttrs: 60000},
			attrs: []spec.IoctlAttr{{AttrID: spec.UVERBS_ATTR_DESTROY_PD_HANDLE, Data: 1 << 40, Len: 3}},
			want: "attrs=[{UVERBS_ATTR_DESTROY_PD_HANDLE, IDR 1099511627776, len=3}, " + strings.Repeat("{UVERBS_ATTR_DESTROY_PD_HANDLE, IDR 0}, ", watch.MaxAttrs-1) +
				"... /* 59746 more */]}",
		},
		{
			name: "flags, constants, and lengths that are no integer's", hdr: mlx5(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE), err: refused,
			attrs: []spec.IoctlAttr{
				{AttrID: spec.UVERBS_ATTR_CREATE_CQ_FLAGS, Len: 4, Data: 0x103},
				{AttrID: spec.UVERBS_ATTR_CREATE_CQ_CQE, Len: 3, Data: 0x030201},
				{AttrID: spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, Len: 8, Data: 0},
				{AttrID: spec.UVERBS_ATTR_UHW_IN, Len: 12, Data: bufAt},
			},
			buf: []byte{0, 16, 0, 0, 0, 0, 0, 0, 5},
			want: "attrs=[{UVERBS_ATTR_CREATE_CQ_FLAGS, IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION|IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN|0x100}, " +
				"{UVERBS_ATTR_CREATE_CQ_CQE, <3 bytes: 010203>}, {UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0}, " +
				"{UVERBS_ATTR_UHW_IN, {buf_addr=0x1000, db_addr=<4 bytes: 05000000>, /* 20 bytes short */}}]}",
		},
		{
			name: "an enum's choices", hdr: mlx5(spec.MLX5_IB_OBJECT_FLOW_MATCHER, spec.MLX5_IB_METHOD_FLOW_MATCHER_CREATE), err: refused,
			attrs: []spec.IoctlAttr{
				{AttrID: spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, AttrData: spec.MLX5_IB_FLOW_TYPE_NORMAL, Len: 2, Data: 7},
				{AttrID: spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, AttrData: 0x0109, Len: 0},
				{AttrID: spec.MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, Len: 8, Data: 1},
				{AttrID: spec.MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, Len: 64, Data: bufAt},
			},
			buf: bytes.Repeat([]byte{0xab}, 64),
			want: "attrs=[{MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, MLX5_IB_FLOW_TYPE_NORMAL 7}, " +
				"{MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, 0x9 /* ??? */, reserved=0x1}, " +
				"{MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX}, " +
				"{MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, <64 bytes: " + strings.Repeat("ab", 32) + "...>}]}",
		},
		{
			name: "arrays", hdr: mlx5(spec.UVERBS_OBJECT_FLOW, spec.MLX5_IB_METHOD_CREATE_FLOW), err: refused,
			attrs: []spec.IoctlAttr{
				{AttrID: spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, Len: 8, Data: 2<<32 | 1},
				{AttrID: spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, Len: 40, Data: bufAt},
				{AttrID: spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, Len: 6, Data: 0x000100000005},
			},
			buf: le.AppendUint32(le.AppendUint32(nil, 8), 9),
			want: "attrs=[{MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, [1, 2]}, " +
				"{MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, [8, 9, 0, 0, 0, 0, 0, 0, ... /* 2 more */]}, " +
				"{MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, [0x5, /* and */ <2 bytes: 0100>]}]}",
		},
		{
			name: "a request that is too long, and a command that there is not", hdr: mlx5(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE), err: refused,
			attrs: []spec.IoctlAttr{
				{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: spec.IB_USER_VERBS_CMD_DEALLOC_PD},
				{AttrID: spec.UVERBS_ATTR_CORE_IN, Len: 16, Data: bufAt},
				{AttrID: spec.UVERBS_ATTR_CORE_IN, Len: 12, Data: bufAt + 16},
				{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: 0x66},
			},
			buf: []byte{7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1},
			want: "attrs=[{UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_DEALLOC_PD}, {UVERBS_ATTR_CORE_IN, {pd_handle=7, /* and 12 bytes of zeros */}}, " +
				"{UVERBS_ATTR_CORE_IN, {pd_handle=8, /* and */ <8 bytes: 0100000000000000>}}, {UVERBS_ATTR_WRITE_CMD, 0x66 /* ??? */}]}",
		},
		{
			name: "an array of handles behind a request", hdr: mlx5(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE), err: refused,
			attrs: []spec.IoctlAttr{
				{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: spec.IB_USER_VERBS_CMD_FLAG_EXTENDED | spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL},
				{AttrID: spec.UVERBS_ATTR_CORE_IN, Len: 16, Data: bufAt},
			},
			buf:  []byte{0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 5},
			want: "{UVERBS_ATTR_CORE_IN, {comp_mask=0, log_ind_tbl_size=1, wq_handles=[4, 5]}}]}",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := ioctl(memory(tt.hdr, tt.attrs, tt.buf))
			c.Ret, c.Err = -1, tt.err
			got := line(strace.Options{}, c, nil)
			require.Contains(t, got, tt.want)
			require.True(t, strings.HasPrefix(got, "ioctl(3, RDMA_VERBS_IOCTL, {"), got)
			c.Ioctl = nil
			require.True(t, json.Valid([]byte(line(strace.Options{JSON: true, Raw: true}, c, nil))))
		})
	}
}

// TestOutput: what the kernel wrote, by what it says that it wrote.
func TestOutput(t *testing.T) {
	attrs := []spec.IoctlAttr{
		{AttrID: spec.UVERBS_ATTR_READ_COUNTERS_HANDLE, Data: 4},
		{AttrID: spec.UVERBS_ATTR_READ_COUNTERS_BUFF, Len: 16, Data: bufAt},
	}
	mem := memory(spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_COUNTERS, MethodID: spec.UVERBS_METHOD_COUNTERS_READ}, attrs, nil)
	kernel := func() {
		mem.CopyOut(bufAt, []byte{3, 0, 0, 0, 0, 0, 0, 0, 4})
		mem.PutUint16(argAt+spec.IoctlHdrSize+spec.IoctlAttrSize+spec.IoctlAttrFlagsOffset, spec.UVERBS_ATTR_F_VALID_OUTPUT)
	}
	require.Equal(t, "ioctl(3, RDMA_VERBS_IOCTL, {object_id=UVERBS_OBJECT_COUNTERS, method_id=UVERBS_METHOD_COUNTERS_READ, "+
		"driver_id=RDMA_DRIVER_UNKNOWN, num_attrs=2, attrs=[{UVERBS_ATTR_READ_COUNTERS_HANDLE, IDR 4, raw=}, "+
		"{UVERBS_ATTR_READ_COUNTERS_BUFF => [3, 4], raw=0x11000:00000000000000000000000000000000 => 03000000000000000400000000000000}], "+
		"raw=38000f000200020000000000000000000000000000000000}) = 0",
		line(strace.Options{Raw: true}, ioctl(mem), kernel))

	// Of a call that was refused nothing is an answer, whatever lies there.
	c := ioctl(mem)
	c.Ret, c.Err = -1, syscall.EINVAL
	require.Contains(t, line(strace.Options{}, c, nil), "{UVERBS_ATTR_READ_COUNTERS_BUFF, room for 16 bytes at 0x11000}")
}

// TestOtherCalls: the calls that are not RDMA_VERBS_IOCTL.
func TestOtherCalls(t *testing.T) {
	const node, events = "/dev/infiniband/uverbs0", "[infinibandevent]"
	mem := copyuser.NewBytes(argAt, append([]byte{7, 0, 0, 0, 0, 0, 0, 0, spec.IB_EVENT_CQ_ERR, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 64)...))
	for _, tt := range []struct {
		c    watch.Call
		want string
	}{
		{watch.Call{Name: "open", Path: node, OpenFlags: syscall.O_RDWR | syscall.O_NONBLOCK, Ret: -1, Err: syscall.EACCES},
			`open("/dev/infiniband/uverbs0", O_RDWR|O_NONBLOCK) = -1 EACCES (Permission denied)`},
		{watch.Call{Name: "mmap", FD: 3, Path: node, Length: 4096, Prot: 3, Flags: syscall.MAP_SHARED | 1<<30, Offset: 0x1000, Ret: 0x7000},
			"mmap(0, 4096, PROT_READ|PROT_WRITE, MAP_SHARED|0x40000000, 3</dev/infiniband/uverbs0>, 0x1000) = 0x7000"},
		{watch.Call{Name: "mmap", FD: 3, Driver: spec.RDMA_DRIVER_MLX5, Length: 4096, Prot: 1, Flags: 1, Offset: 0x500000, Ret: 0x7000},
			"mmap(0, 4096, PROT_READ, MAP_SHARED, 3, 0x500000 /* MLX5_IB_MMAP_CORE_CLOCK */) = 0x7000"},
		{watch.Call{Name: "mmap", FD: 3, Driver: spec.RDMA_DRIVER_MLX5, Length: 4096, Prot: 2, Flags: 1, Offset: 0x921000, Ret: 0x7000},
			"mmap(0, 4096, PROT_WRITE, MAP_SHARED, 3, 0x921000) = 0x7000"},
		{watch.Call{Name: "mmap", FD: 3, Path: node, Length: 4096, Prot: 3, Flags: 1, Offset: 0x1000},
			"mmap(0, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3</dev/infiniband/uverbs0>, 0x1000) = ? /* mapped, where the kernel chose */"},
		{watch.Call{Name: "mmap", FD: 3, Path: node, Addr: 0x7000, Length: 4096, Prot: 3, Flags: syscall.MAP_SHARED | syscall.MAP_FIXED, Offset: 0x1000},
			"mmap(0x7000, 4096, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_FIXED, 3</dev/infiniband/uverbs0>, 0x1000) = 0x7000"},
		{watch.Call{Name: "mmap", FD: 3, Ret: -1, Err: errors.New("lost")}, "mmap(0, 0, 0, 0, 3, 0) = -1 (lost)"},
		{watch.Call{Name: "munmap", Addr: 0x7000, Length: 4096}, "munmap(0x7000, 4096) = 0"},
		{watch.Call{Name: "close", FD: 3, Path: node}, "close(3</dev/infiniband/uverbs0>) = 0"},
		{watch.Call{Name: "ioctl", FD: 3, Cmd: 0x5421, Arg: 0x1000, Mem: mem}, "ioctl(3, 0x5421, 0x1000) = 0"},
		{watch.Call{Name: "ioctl", FD: 3, Cmd: spec.RDMA_VERBS_IOCTL, Arg: 0x10, Mem: mem, Ret: -1, Err: rule.HeaderFault},
			"ioctl(3, RDMA_VERBS_IOCTL, 0x10) = -1 EFAULT (Bad address) [" + rule.HeaderFault.ID + ": " + rule.HeaderFault.Why +
				" (ib_uverbs_ioctl in drivers/infiniband/core/uverbs_ioctl.c)]"},
		{watch.Call{Name: "read", FD: 4, Path: events, Addr: argAt, Length: 8, Ret: 8, Mem: mem}, "read(4<[infinibandevent]>, {cq_handle=7}, 8) = 8"},
		{watch.Call{Name: "read", FD: 4, Path: events, Addr: argAt, Length: 100, Ret: 16, Mem: mem},
			"read(4<[infinibandevent]>, {element=0x7, event_type=IB_EVENT_CQ_ERR}, 100) = 16"},
		{watch.Call{Name: "read", FD: 4, Path: "[devx_async_event]", Addr: argAt, Length: 8, Ret: 2, Mem: mem},
			"read(4<[devx_async_event]>, <2 bytes: 0700>, 8) = 2"},
		{watch.Call{Name: "read", FD: 4, Path: events, Addr: argAt, Length: 8, Ret: -1, Err: syscall.EAGAIN, Mem: mem},
			"read(4<[infinibandevent]>, 0x10000, 8) = -1 EAGAIN (Resource temporarily unavailable)"},
		{watch.Call{Name: "close", FD: -1, Path: node}, "+++ the last descriptor of /dev/infiniband/uverbs0 is closed +++"},
		{watch.Call{Name: "exit", Ret: 3}, "+++ exited with 3 +++"},
		{watch.Call{Name: "exit", Ret: watch.Unknown}, "+++ exited +++"},
		{watch.Call{Name: "exit", Ret: -9}, "+++ killed by signal 9 (killed) +++"},
	} {
		c := tt.c
		require.Equal(t, tt.want, line(strace.Options{}, &c, nil))
		c = tt.c
		require.True(t, json.Valid([]byte(line(strace.Options{JSON: true, Times: true, Durations: true}, &c, nil))))
	}
}

// TestWrite: commands of write(), with what follows the core's part and where
// the answer goes.
func TestWrite(t *testing.T) {
	le := binary.LittleEndian
	// A command with a driver's part on both sides.
	req := spec.ResizeCQ{Response: bufAt, CQHandle: 5, CQE: 63}
	drv := spec.Mlx5ResizeCQ{BufAddr: 0x4000, CQESize: 64}
	b := le.AppendUint32(nil, spec.IB_USER_VERBS_CMD_RESIZE_CQ)
	n := spec.CmdHdrSize + spec.ResizeCQSize + spec.Mlx5ResizeCQSize
	b = le.AppendUint16(le.AppendUint16(b, uint16(n/4)), spec.ResizeCQRespSize/4)
	b = append(append(b, spec.Bytes(&req)...), spec.Bytes(&drv)...)
	raw := make([]byte, end-argAt)
	copy(raw, b)
	mem := copyuser.NewBytes(argAt, raw)
	c := &watch.Call{Name: "write", FD: 3, Addr: argAt, Length: uint64(n), Ret: int64(n), Mem: mem, Driver: spec.RDMA_DRIVER_MLX5}
	require.Equal(t, "write(3, {{command=IB_USER_VERBS_CMD_RESIZE_CQ, in_words=10, out_words=2}, {response=0x11000, cq_handle=5, cqe=63}, "+
		"udata={buf_addr=0x4000, cqe_size=64}, => {cqe=127}}, 40) = 40",
		line(strace.Options{}, c, func() { mem.CopyOut(bufAt, []byte{127}) }))

	// An extended one, whose headers say where what begins.
	ex := spec.ExQueryDevice{}
	b = le.AppendUint32(nil, spec.IB_USER_VERBS_CMD_FLAG_EXTENDED|spec.IB_USER_VERBS_EX_CMD_QUERY_DEVICE)
	b = le.AppendUint16(le.AppendUint16(b, 1), spec.ExQueryDeviceRespSize/8)
	b = le.AppendUint64(b, bufAt)
	b = le.AppendUint32(le.AppendUint16(le.AppendUint16(b, 0), 1), 0)
	b = append(b, spec.Bytes(&ex)...)
	clear(raw)
	copy(raw, b)
	mem = copyuser.NewBytes(argAt, raw)
	c = &watch.Call{Name: "write", FD: 3, Addr: argAt, Length: uint64(len(b)), Ret: int64(len(b)), Mem: mem, Driver: spec.RDMA_DRIVER_MLX5}
	got := line(strace.Options{}, c, func() {
		resp := spec.ExQueryDeviceResp{ResponseLength: 304}
		resp.Base.MaxSGE = 30
		mem.CopyOut(bufAt, append(bytes.Clone(spec.Bytes(&resp)), 1, 0, 0, 0, 8, 0, 0, 0))
	})
	require.Contains(t, got, "write(3, {{command=IB_USER_VERBS_EX_CMD_QUERY_DEVICE, in_words=1, out_words=38, response=0x11000, "+
		"provider_in_words=0, provider_out_words=1, cmd_hdr_reserved=0}, {comp_mask=0}, => {base={max_sge=30, ...}, comp_mask=0, response_length=304, ")
	require.Contains(t, got, "udata => {comp_mask=0x1, response_length=8, ")
	require.Contains(t, got, "}, 32) = 32")

	// Nothing that can be read.
	c = &watch.Call{Name: "write", FD: 3, Addr: 0x10, Length: 8, Ret: -1, Err: syscall.EFAULT, Mem: mem}
	require.Equal(t, "write(3, 0x10, 8) = -1 EFAULT (Bad address)", line(strace.Options{}, c, nil))
}

// TestPrefix: the thread is shown from the second one on, and the time and the
// duration where asked for.
func TestPrefix(t *testing.T) {
	var b bytes.Buffer
	s := strace.New(&b, strace.Options{Times: true, Durations: true})
	at := time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, tid := range []int{5, 5, 6, 5} {
		c := &watch.Call{Name: "close", FD: 3, TID: tid, Begun: at, Took: 12 * time.Microsecond}
		s.Enter(c)
		s.Leave(c)
	}
	require.Equal(t, `03:04:05.000006 close(3) = 0 <0.000012>
03:04:05.000006 close(3) = 0 <0.000012>
[pid 6] 03:04:05.000006 close(3) = 0 <0.000012>
[pid 5] 03:04:05.000006 close(3) = 0 <0.000012>
`, b.String())
}

// TestInterleaved: calls of several threads are lines of their own.
func TestInterleaved(t *testing.T) {
	var b bytes.Buffer
	s := strace.New(&b, strace.Options{JSON: true})
	var wg sync.WaitGroup
	for tid := range 4 {
		wg.Go(func() {
			attrs := []spec.IoctlAttr{{AttrID: spec.UVERBS_ATTR_DESTROY_PD_HANDLE, Data: uint64(tid)}}
			for range 50 {
				c := ioctl(memory(spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_PD, MethodID: spec.UVERBS_METHOD_PD_DESTROY}, attrs, nil))
				c.TID = tid + 1
				s.Enter(c)
				s.Leave(c)
			}
		})
	}
	wg.Wait()
	count := map[int]int{}
	for l := range strings.Lines(b.String()) {
		var o struct {
			TID   int
			Attrs []struct{ In int }
		}
		require.NoError(t, json.Unmarshal([]byte(l), &o), l)
		require.Equal(t, o.TID-1, o.Attrs[0].In)
		count[o.TID]++
	}
	require.Equal(t, map[int]int{1: 50, 2: 50, 3: 50, 4: 50}, count)
}

// failing is a writer whose disk is full.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	f.n++
	return 0, syscall.ENOSPC
}

func TestWriterFails(t *testing.T) {
	f := new(failing)
	s := strace.New(f, strace.Options{})
	for range 3 {
		s.Leave(&watch.Call{Name: "close"})
	}
	require.ErrorIs(t, s.Err(), syscall.ENOSPC)
	require.Equal(t, 1, f.n)
}

// FuzzLine: whatever the argument, a line is printed that is not much longer
// than what was kept of the call, and the JSON is JSON.
func FuzzLine(f *testing.F) {
	f.Add(uint32(1), []byte{0x38, 0, 3, 0, 0, 0, 2, 0}, true)
	f.Fuzz(func(t *testing.T, driver uint32, argument []byte, write bool) {
		watchdog.On(t)
		for _, opts := range []strace.Options{{}, {Verbose: true, Raw: true}, {JSON: true, Raw: true}} {
			c := ioctl(copyuser.NewBytes(argAt, argument))
			if write {
				c.Name, c.Addr, c.Length = "write", argAt, uint64(len(argument))
			}
			c.Driver = driver
			got := line(opts, c, nil)
			require.Less(t, len(got), 64*watch.MaxBytes)
			require.NotContains(t, got, "\n")
			if opts.JSON {
				require.True(t, json.Valid([]byte(got)), got)
			}
		}
	})
}

// TestHostile: every method of a driver, with every attribute, of random length
// and data, whether in memory or not.
func TestHostile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, end-bufAt)
	for i := range buf {
		buf[i] = byte(rnd.Uint32())
	}
	data := func() uint64 {
		return [...]uint64{0, rnd.Uint64(), bufAt + rnd.Uint64N(0x1000), end - rnd.Uint64N(64)}[rnd.IntN(4)]
	}
	lens := func(a *spec.Attr) uint16 {
		return [...]uint16{a.Len, a.MinLen, uint16(rnd.Uint32()), uint16(rnd.IntN(100))}[rnd.IntN(4)]
	}
	for _, driver := range []uint32{spec.RDMA_DRIVER_MLX5, spec.RDMA_DRIVER_RXE, spec.RDMA_DRIVER_EFA, spec.RDMA_DRIVER_BNXT_RE} {
		defs := spec.Linux6_12.Definitions(driver)
		for _, d := range defs {
			for _, m := range d.Object.Methods {
				_, method := spec.FindMethod(defs, d.Object.ID, m.ID)
				for range 4 {
					attrs := []spec.IoctlAttr{{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: uint64(rnd.IntN(60)) | uint64(rnd.IntN(2))<<31}}
					for i := range method.Attrs {
						a := &method.Attrs[i]
						attrs = append(attrs, spec.IoctlAttr{AttrID: a.ID, Len: lens(a), Data: data(), AttrData: uint16(rnd.IntN(6)), Flags: uint16(rnd.IntN(4))})
					}
					mem := memory(spec.IoctlHdr{ObjectID: d.Object.ID, MethodID: m.ID, DriverID: driver}, attrs, buf)
					text := line(strace.Options{Verbose: true}, ioctl(mem), nil)
					require.Contains(t, text, "object_id="+d.Object.Name+", method_id="+method.Name)
					got := line(strace.Options{JSON: true}, ioctl(mem), nil)
					require.True(t, json.Valid([]byte(got)), got)
				}
			}
		}
	}
}
