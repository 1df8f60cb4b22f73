package dissect_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/dissect"
	"uverbsim/report/request"
	"uverbsim/spec"
)

var (
	mlx5 = dissect.Device{Name: "mlx5", Driver: spec.RDMA_DRIVER_MLX5, Kernel: spec.Linux6_12}
	rxe  = dissect.Device{Name: "rxe", Driver: spec.RDMA_DRIVER_RXE, Kernel: spec.Linux6_12}
	old  = dissect.Device{Name: "mlx5", Driver: spec.RDMA_DRIVER_MLX5, Kernel: spec.Linux6_1}
)

const (
	requestAt = 0x7f0000001000
	bufferAt  = 0x7f0000009000
)

// ioctl is a request whose header fits its attributes, unless it says
// otherwise, with what lies at bufferAt.
func ioctl(t *testing.T, h spec.IoctlHdr, buf []byte, attrs ...spec.IoctlAttr) *request.Request {
	t.Helper()
	if h.Length == 0 {
		h.Length = uint16(spec.IoctlHdrSize + len(attrs)*spec.IoctlAttrSize)
	}
	h.NumAttrs = uint16(len(attrs))
	return shown(t, request.Ioctl, spec.EncodeIoctl(&h, attrs), buf)
}

func shown(t *testing.T, kind request.Kind, b, buf []byte) *request.Request {
	t.Helper()
	r := &request.Request{Kind: kind, Bytes: b, At: requestAt, Addressed: true, Count: -1}
	require.NoError(t, r.AddMemory(requestAt, b))
	require.NoError(t, r.AddMemory(bufferAt, buf))
	return r
}

// rules are the ids of what is wrong at sight.
func rules(d *dissect.Dump) []string {
	ids := []string{}
	for _, r := range d.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

func cqCreate() []spec.IoctlAttr {
	const must = spec.UVERBS_ATTR_F_MANDATORY
	return []spec.IoctlAttr{
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_HANDLE, Flags: must},
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_CQE, Len: 4, Flags: must, Data: 16},
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, Len: 8, Flags: must},
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, Len: 4, Flags: must},
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, Len: 4, Flags: must, Data: bufferAt},
	}
}

// TestIoctlAtSight: a mistake in each field that the parser looks at.
func TestIoctlAtSight(t *testing.T) {
	cq := spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_CQ, MethodID: spec.UVERBS_METHOD_CQ_CREATE, DriverID: spec.RDMA_DRIVER_MLX5}
	matcher := spec.IoctlHdr{ObjectID: spec.MLX5_IB_OBJECT_FLOW_MATCHER, MethodID: spec.MLX5_IB_METHOD_FLOW_MATCHER_CREATE, DriverID: spec.RDMA_DRIVER_MLX5}
	flow := spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_FLOW, MethodID: spec.MLX5_IB_METHOD_CREATE_FLOW, DriverID: spec.RDMA_DRIVER_MLX5}
	umem := spec.IoctlHdr{ObjectID: spec.MLX5_IB_OBJECT_DEVX_UMEM, MethodID: spec.MLX5_IB_METHOD_DEVX_UMEM_REG, DriverID: spec.RDMA_DRIVER_MLX5}
	qp := spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_QP, MethodID: spec.UVERBS_METHOD_QP_CREATE, DriverID: spec.RDMA_DRIVER_MLX5}
	with := func(h spec.IoctlHdr, f func(*spec.IoctlHdr)) spec.IoctlHdr { f(&h); return h }
	change := func(i int, f func(*spec.IoctlAttr)) []spec.IoctlAttr {
		attrs := cqCreate()
		f(&attrs[i])
		return attrs
	}
	tail := append(make([]byte, 20), 0, 0, 0, 1)
	for name, tt := range map[string]struct {
		hdr   spec.IoctlHdr
		attrs []spec.IoctlAttr
		buf   []byte
		dev   *dissect.Device
		want  []string // besides attr/missing where the attributes are not those of CQ_CREATE
	}{
		"nothing":      {hdr: cq, attrs: cqCreate()},
		"length":       {hdr: with(cq, func(h *spec.IoctlHdr) { h.Length = 103 }), attrs: cqCreate(), want: []string{"header/length"}},
		"reserved1":    {hdr: with(cq, func(h *spec.IoctlHdr) { h.Reserved1 = 1 << 63 }), attrs: cqCreate(), want: []string{"header/reserved"}},
		"reserved2":    {hdr: with(cq, func(h *spec.IoctlHdr) { h.Reserved2 = 1 }), attrs: cqCreate(), want: []string{"header/reserved"}},
		"driver":       {hdr: cq, attrs: cqCreate(), dev: &rxe, want: []string{"header/driver-id"}},
		"object":       {hdr: with(cq, func(h *spec.IoctlHdr) { h.ObjectID = 17 }), attrs: cqCreate(), want: []string{"method/unknown"}},
		"method":       {hdr: with(cq, func(h *spec.IoctlHdr) { h.MethodID = 9 }), attrs: cqCreate(), want: []string{"method/unknown"}},
		"missing":      {hdr: cq, attrs: cqCreate()[:4], want: []string{"attr/missing"}},
		"twice":        {hdr: cq, attrs: append(cqCreate(), cqCreate()[1]), want: []string{"attr/duplicate"}},
		"unknown":      {hdr: cq, attrs: append(cqCreate(), spec.IoctlAttr{AttrID: 0x30, Len: 4, Flags: 1}), want: []string{"attr/unknown-mandatory"}},
		"ignored":      {hdr: cq, attrs: append(cqCreate(), spec.IoctlAttr{AttrID: 0x30, Len: 4})},
		"short":        {hdr: cq, attrs: change(1, func(a *spec.IoctlAttr) { a.Len = 3 }), want: []string{"attr/too-short"}},
		"long":         {hdr: cq, attrs: change(1, func(a *spec.IoctlAttr) { a.Len = 5 }), want: []string{"attr/too-long"}},
		"reserved":     {hdr: cq, attrs: change(2, func(a *spec.IoctlAttr) { a.AttrData = 1 }), want: []string{"attr/reserved"}},
		"handle's len": {hdr: cq, attrs: change(0, func(a *spec.IoctlAttr) { a.Len = 4 }), want: []string{"attr/object-len"}},
		"handle's reserved": {hdr: cq, attrs: change(0, func(a *spec.IoctlAttr) { a.AttrData = 0x100 }),
			want: []string{"attr/object-reserved"}},
		"tail": {hdr: qp, attrs: []spec.IoctlAttr{{AttrID: spec.UVERBS_ATTR_CREATE_QP_CAP, Len: 24, Data: bufferAt}}, buf: tail,
			want: []string{"attr/trailing-nonzero", "attr/missing"}},
		"tail of zeros": {hdr: qp, attrs: []spec.IoctlAttr{{AttrID: spec.UVERBS_ATTR_CREATE_QP_CAP, Len: 24, Data: bufferAt}}, buf: make([]byte, 24),
			want: []string{"attr/missing"}},
		"tail that is not shown": {hdr: qp, attrs: []spec.IoctlAttr{{AttrID: spec.UVERBS_ATTR_CREATE_QP_CAP, Len: 24, Data: bufferAt}}, buf: make([]byte, 22),
			want: []string{"attr/missing"}},
		"choice": {hdr: matcher, attrs: []spec.IoctlAttr{{AttrID: spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, Len: 2, AttrData: 4}},
			want: []string{"attr/enum-range", "attr/missing"}},
		"choice's reserved": {hdr: matcher, attrs: []spec.IoctlAttr{{AttrID: spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, Len: 2, AttrData: 0x100}},
			want: []string{"attr/enum-reserved", "attr/missing"}},
		"choice's len": {hdr: matcher, attrs: []spec.IoctlAttr{{AttrID: spec.MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, Len: 1}},
			want: []string{"attr/too-short", "attr/missing"}},
		"array's size": {hdr: flow, attrs: []spec.IoctlAttr{{AttrID: spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, Len: 6}},
			want: []string{"array/size", "attr/missing"}},
		"array's count": {hdr: flow, attrs: []spec.IoctlAttr{{AttrID: spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, Len: 12, Data: bufferAt}},
			want: []string{"array/count", "attr/missing"}},
		"array's reserved": {hdr: flow, attrs: []spec.IoctlAttr{{AttrID: spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, Len: 4, AttrData: 1}},
			want: []string{"array/reserved", "attr/missing"}},
		"descriptor": {hdr: umem, attrs: []spec.IoctlAttr{{AttrID: spec.MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, Data: 1 << 31}},
			want: []string{"attr/raw-fd", "attr/missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			dev := mlx5
			if tt.dev != nil {
				dev = *tt.dev
			}
			d := dissect.Of(ioctl(t, tt.hdr, tt.buf, tt.attrs...), dev)
			if tt.want == nil {
				tt.want = []string{}
			}
			require.Equal(t, tt.want, rules(d))
			require.Len(t, d.Parts, 1+len(tt.attrs))
		})
	}
}

// TestKernel: what a kernel does not have is unknown to it, and said by name
// where newer ones have it.
func TestKernel(t *testing.T) {
	h := spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_CQ, MethodID: spec.UVERBS_METHOD_CQ_CREATE, DriverID: spec.RDMA_DRIVER_MLX5}
	attrs := append(cqCreate(), spec.IoctlAttr{AttrID: 8, Len: 8, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: 1})
	var b strings.Builder
	require.NoError(t, dissect.Text(&b, dissect.Of(ioctl(t, h, nil, attrs...), mlx5)))
	require.Contains(t, strings.Join(strings.Fields(b.String()), " "), "in newer kernels it is UVERBS_ATTR_CREATE_CQ_BUFFER_VA")

	h = spec.IoctlHdr{ObjectID: spec.MLX5_IB_OBJECT_DEVX, MethodID: spec.MLX5_IB_METHOD_DEVX_OTHER, DriverID: spec.RDMA_DRIVER_MLX5}
	require.Equal(t, []string{"attr/missing"}, rules(dissect.Of(ioctl(t, h, nil), old)))
	require.ElementsMatch(t, []string{"header/driver-id", "method/unknown"}, rules(dissect.Of(ioctl(t, h, nil), rxe)))
}

// command is a command of write() that is not extended.
func command(number uint32, inWords, outWords uint16, body ...uint64) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(le.AppendUint16(le.AppendUint32(nil, number), inWords), outWords)
	for _, n := range body {
		b = le.AppendUint64(b, n)
	}
	return b
}

func TestWriteAtSight(t *testing.T) {
	const ex = spec.IB_USER_VERBS_CMD_FLAG_EXTENDED
	for name, tt := range map[string]struct {
		b    []byte
		want []string
	}{
		"nothing":       {command(spec.IB_USER_VERBS_CMD_ALLOC_PD, 4, 2, bufferAt), []string{}},
		"one byte":      {[]byte{3}, []string{"write/too-short"}},
		"flags":         {command(0x100|spec.IB_USER_VERBS_CMD_ALLOC_PD, 4, 2, bufferAt), []string{"write/command-flags"}},
		"words":         {command(spec.IB_USER_VERBS_CMD_ALLOC_PD, 3, 2, bufferAt), []string{"write/words"}},
		"request":       {command(spec.IB_USER_VERBS_CMD_REG_MR, 4, 3, bufferAt), []string{"write/request-short"}},
		"response":      {command(spec.IB_USER_VERBS_CMD_ALLOC_PD, 4, 0, bufferAt), []string{"write/response-short"}},
		"destroy CQ":    {command(spec.IB_USER_VERBS_CMD_DESTROY_CQ, 4, 2, bufferAt), []string{}},
		"ex header":     {command(ex|spec.IB_USER_VERBS_EX_CMD_CREATE_CQ, 0, 0), []string{"write/ex-too-short"}},
		"ex words":      {command(ex|spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ, 2, 0, 0, 0, 0), []string{"write/ex-words"}},
		"ex reserved":   {command(ex|spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ, 1, 0, 0, 1<<32, 0), []string{"write/ex-reserved"}},
		"ex address":    {command(ex|spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ, 1, 1, 0, 0, 0), []string{"write/ex-no-response"}},
		"ex no address": {command(ex|spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ, 1, 0, bufferAt, 0, 0), []string{"write/ex-no-out-words"}},
		"ex nothing":    {command(ex|spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ, 1, 1, bufferAt, 0, 0), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, rules(dissect.Of(shown(t, request.Write, tt.b, nil), mlx5)))
		})
	}
}

// TestHoles: where a device lacks a command, the kernel's table has one that is not
// extended and has no sizes (uapi_finalize), and a number behind the table's end is
// refused before any length is looked at (uapi_get_method).
func TestHoles(t *testing.T) {
	const (
		ex     = spec.IB_USER_VERBS_CMD_FLAG_EXTENDED
		lacks  = "write/not-supported"
		beyond = "write/command-range"
	)
	for name, tt := range map[string]struct {
		dev  dissect.Device
		b    []byte
		want []string
	}{
		"no extended command, words of 4 bytes": {mlx5, command(ex|spec.IB_USER_VERBS_CMD_ALLOC_PD, 4, 3, 0), []string{lacks}},
		"no extended command, words of 8 bytes": {mlx5, command(ex|spec.IB_USER_VERBS_CMD_ALLOC_PD, 1, 1, bufferAt, 1<<32, 0), []string{lacks, "write/words"}},
		"a command that the driver lacks":       {rxe, command(spec.IB_USER_VERBS_CMD_OPEN_XRCD, 2, 0), []string{lacks}},
		"and of other words":                    {rxe, command(spec.IB_USER_VERBS_CMD_OPEN_XRCD, 3, 0), []string{lacks, "write/words"}},
		"an extended one that the driver lacks": {rxe, command(ex|spec.IB_USER_VERBS_EX_CMD_MODIFY_CQ, 1, 0, 0, 1<<32, 0), []string{beyond}},
		"that mlx5 has":                         {mlx5, command(ex|spec.IB_USER_VERBS_EX_CMD_MODIFY_CQ, 1, 0, 0, 1<<32, 0), []string{"write/ex-reserved"}},
		"behind rxe's last extended one":        {rxe, command(ex|spec.IB_USER_VERBS_EX_CMD_DESTROY_FLOW, 9, 9, 0, 1<<32, 0), []string{beyond}},
		"behind the last":                       {mlx5, command(0xff, 9, 9), []string{beyond}},
		"other flags":                           {mlx5, command(ex|1<<30|spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ, 9, 9), []string{"write/command-flags"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, rules(dissect.Of(shown(t, request.Write, tt.b, nil), tt.dev)))
		})
	}
}

// TestInvokedCommand: the command of INVOKE_WRITE is a constant of 32 bits
// (uverbs_get_const) before it is a command word (uapi_get_method).
func TestInvokedCommand(t *testing.T) {
	h := spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_DEVICE, MethodID: spec.UVERBS_METHOD_INVOKE_WRITE, DriverID: spec.RDMA_DRIVER_MLX5}
	for word, want := range map[uint64][]string{
		spec.IB_USER_VERBS_CMD_ALLOC_PD:         {},
		1<<8 | spec.IB_USER_VERBS_CMD_ALLOC_PD:  {"write/command-flags"},
		1<<32 | spec.IB_USER_VERBS_CMD_ALLOC_PD: {"const/range"},
		1<<63 | 1<<8:                            {"const/range"},
		0xffffffff:                              {"write/command-flags"},
		0xff:                                    {"write/command-range"},
		spec.IB_USER_VERBS_CMD_FLAG_EXTENDED | spec.IB_USER_VERBS_CMD_ALLOC_PD: {"write/not-supported"},
	} {
		d := dissect.Of(ioctl(t, h, nil, spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: word}), mlx5)
		require.Equal(t, want, rules(d), "%#x", word)
		named := strings.Contains(d.Parts[0].Fields[2].Says, " of ")
		require.Equal(t, word <= math.MaxUint32, named, "the header names a command: %#x", word)
	}
}

// TestTooManyAttributes: of a header that says more attributes than a request can
// have, those are told that the dump has, and how many they are.
func TestTooManyAttributes(t *testing.T) {
	h := spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_CQ, MethodID: spec.UVERBS_METHOD_CQ_CREATE, DriverID: spec.RDMA_DRIVER_MLX5}
	for attrs, want := range map[int]string{
		0:   "a request has 254 attributes at most, and the header says 65535: the dump has 0",
		254: "a request has 254 attributes at most, and the header says 65535: the dump has 254",
		300: "a request has 254 attributes at most, and the header says 65535: the dump has 300, of which the first 254 are shown",
	} {
		r := ioctl(t, h, nil, make([]spec.IoctlAttr, attrs)...)
		binary.LittleEndian.PutUint16(r.Bytes[6:], 65535)
		r = shown(t, request.Ioctl, r.Bytes, nil)
		d := dissect.Of(r, mlx5)
		require.Len(t, d.Parts, 1+min(attrs, 254))
		require.Equal(t, want, d.Flaws[len(d.Flaws)-1].Text)
		require.Contains(t, rules(d), "header/length")
	}
}

// TestNamed: the objects that requests name, by ioctl and by write().
func TestNamed(t *testing.T) {
	h := spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_QP, MethodID: spec.UVERBS_METHOD_QP_CREATE, DriverID: spec.RDMA_DRIVER_MLX5}
	d := dissect.Of(ioctl(t, h, nil, spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_QP_HANDLE},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE, Data: 3},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_QP_EVENT_FD, Data: 7}), mlx5)
	require.Equal(t, []dissect.Object{
		{Number: 3, Type: spec.UVERBS_OBJECT_PD, Where: "UVERBS_ATTR_CREATE_QP_PD_HANDLE", Attr: 1},
		{Number: 7, FD: true, Type: spec.UVERBS_OBJECT_ASYNC_EVENT, Where: "UVERBS_ATTR_CREATE_QP_EVENT_FD", Attr: 2},
	}, d.Objects)

	body := []uint64{bufferAt, 0, 4096, 0, spec.IB_UVERBS_ACCESS_LOCAL_WRITE<<32 | 5}
	want := []dissect.Object{{Number: 5, Type: spec.UVERBS_OBJECT_PD, Where: "pd_handle", Attr: -1}}
	d = dissect.Of(shown(t, request.Write, command(spec.IB_USER_VERBS_CMD_REG_MR, 12, 3, body...), nil), mlx5)
	require.Equal(t, want, d.Objects)

	h = spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_DEVICE, MethodID: spec.UVERBS_METHOD_INVOKE_WRITE, DriverID: spec.RDMA_DRIVER_MLX5}
	req := command(spec.IB_USER_VERBS_CMD_REG_MR, 12, 3, body...)[spec.CmdHdrSize:]
	d = dissect.Of(ioctl(t, h, req, spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: spec.IB_USER_VERBS_CMD_REG_MR},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CORE_IN, Len: uint16(len(req)), Data: bufferAt}), mlx5)
	require.Equal(t, want, d.Objects)
	require.Empty(t, d.Memory)
}

// TestNamedByMeaning: which member is a handle, and of what, can hang on another member
// (ib_uverbs_create_qp and create_qp, ib_uverbs_open_qp, ib_uverbs_rereg_mr, __uverbs_create_xsrq
// in drivers/infiniband/core/uverbs_cmd.c).
func TestNamedByMeaning(t *testing.T) {
	named := func(command uint32, body []byte) map[string]uint16 {
		size := spec.CmdHdrSize + len(body)
		b := binary.LittleEndian.AppendUint32(nil, command)
		b = binary.LittleEndian.AppendUint16(b, uint16(size/4))
		b = append(binary.LittleEndian.AppendUint16(b, 0), body...)
		m := map[string]uint16{}
		for _, o := range dissect.Of(shown(t, request.Write, b, nil), mlx5).Objects {
			m[o.Where] = o.Type
		}
		return m
	}
	const pd, xrcd, cq, srq, mr = spec.UVERBS_OBJECT_PD, spec.UVERBS_OBJECT_XRCD, spec.UVERBS_OBJECT_CQ, spec.UVERBS_OBJECT_SRQ, spec.UVERBS_OBJECT_MR
	rc := spec.CreateQP{QPType: spec.IB_UVERBS_QPT_RC}
	require.Equal(t, map[string]uint16{"pd_handle": pd, "send_cq_handle": cq, "recv_cq_handle": cq}, named(spec.IB_USER_VERBS_CMD_CREATE_QP, spec.Bytes(&rc)))
	rc.IsSRQ = 1
	require.Equal(t, uint16(srq), named(spec.IB_USER_VERBS_CMD_CREATE_QP, spec.Bytes(&rc))["srq_handle"])
	target := spec.CreateQP{QPType: spec.IB_QPT_XRC_TGT}
	require.Equal(t, uint16(xrcd), named(spec.IB_USER_VERBS_CMD_CREATE_QP, spec.Bytes(&target))["pd_handle"])
	require.Equal(t, map[string]uint16{"pd_handle": xrcd}, named(spec.IB_USER_VERBS_CMD_OPEN_QP, spec.Bytes(&spec.OpenQP{})))
	require.Equal(t, map[string]uint16{"mr_handle": mr}, named(spec.IB_USER_VERBS_CMD_REREG_MR, spec.Bytes(&spec.ReregMR{})))
	require.Equal(t, map[string]uint16{"mr_handle": mr, "pd_handle": pd},
		named(spec.IB_USER_VERBS_CMD_REREG_MR, spec.Bytes(&spec.ReregMR{Flags: spec.IB_MR_REREG_PD})))
	for typ, want := range map[uint32]map[string]uint16{
		spec.IB_UVERBS_SRQT_BASIC: {"pd_handle": pd},
		spec.IB_UVERBS_SRQT_TM:    {"pd_handle": pd, "cq_handle": cq},
		spec.IB_UVERBS_SRQT_XRC:   {"pd_handle": pd, "cq_handle": cq, "xrcd_handle": xrcd},
	} {
		require.Equal(t, want, named(spec.IB_USER_VERBS_CMD_CREATE_XSRQ, spec.Bytes(&spec.CreateXSRQ{SRQType: typ})))
	}
	require.Empty(t, named(spec.IB_USER_VERBS_CMD_CREATE_CQ, spec.Bytes(&spec.CreateCQ{CompChannel: -1})))
	require.Equal(t, map[string]uint16{"comp_channel": spec.UVERBS_OBJECT_COMP_CHANNEL},
		named(spec.IB_USER_VERBS_CMD_CREATE_CQ, spec.Bytes(&spec.CreateCQ{CompChannel: 7})))
}

// TestShort: a dump of every length shorter than the request is taken to pieces
// as far as it goes, and says that it ends.
func TestShort(t *testing.T) {
	h := spec.IoctlHdr{ObjectID: spec.UVERBS_OBJECT_CQ, MethodID: spec.UVERBS_METHOD_CQ_CREATE, DriverID: spec.RDMA_DRIVER_MLX5}
	whole := ioctl(t, h, nil, cqCreate()...)
	write := command(spec.IB_USER_VERBS_CMD_REG_MR, 12, 3, bufferAt, 0, 4096, 0, 5)
	for n := 1; n < len(whole.Bytes); n++ {
		d := dissect.Of(shown(t, request.Ioctl, whole.Bytes[:n], nil), mlx5)
		texts(t, d, n)
		r := shown(t, request.Write, write[:min(n, len(write)-1)], nil)
		r.Count = len(write)
		texts(t, dissect.Of(r, mlx5), n)
	}
}

// texts checks that a dump can be written, and says that it is short.
func texts(t *testing.T, d *dissect.Dump, n int) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, dissect.Text(&b, d))
	require.Contains(t, b.String(), "the dump ends", n)
	b.Reset()
	require.NoError(t, dissect.JSON(&b, d))
	require.True(t, json.Valid(b.Bytes()))
}

var errFull = errors.New("no space")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErrorOfWriter(t *testing.T) {
	d := dissect.Of(shown(t, request.Write, command(spec.IB_USER_VERBS_CMD_ALLOC_PD, 4, 2, bufferAt), nil), mlx5)
	require.ErrorIs(t, dissect.Text(fullDisk{}, d), errFull)
	require.ErrorIs(t, dissect.JSON(fullDisk{}, d), errFull)
}

func ExampleText() {
	r, err := request.Parse("03 00 00 00 05 00 02 00  00 c0 c7 8e fd 7f 00 00")
	if err != nil {
		panic(err)
	}
	r.Kind = request.Write
	_ = dissect.Text(os.Stdout, dissect.Of(r.Placed(), dissect.Device{
		Name: "rxe", Driver: spec.RDMA_DRIVER_RXE, Kernel: spec.Linux6_12}))
	// Output:
	// write() IB_USER_VERBS_CMD_ALLOC_PD, read for rxe on Linux 6.12
	//
	// struct ib_uverbs_cmd_hdr
	//      0  03 00 00 00              command    0x3  IB_USER_VERBS_CMD_ALLOC_PD
	//      4  05 00                    in_words   5  20 bytes
	//      ^  EINVAL write/words: The field in_words, in units of 4 bytes, is not the length of the write. (16 bytes
	//         are written)
	//      6  02 00                    out_words  2  8 bytes
	//
	// the core's part: struct ib_uverbs_alloc_pd
	//      8  00 c0 c7 8e fd 7f 00 00  response  0x7ffd8ec7c000  where 8 bytes of answer go
}
