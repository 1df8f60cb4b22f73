package public

import (
	"bytes"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// attributes are section B: what a method takes, and what becomes of it.
var attributes = []problem{
	{
		id: "B1", name: "optional-attr-ignored",
		met: "An attribute that the kernel does not know or does not read goes by in silence. A patch that gave a warning was " +
			"dropped, since passing attributes over is how old kernels and new programs get along " +
			"(linux-rdma mails of May 2026, 7ea61c4e4, 68240251c and 3fa92eb97 in the archive).",
		answer: "An attribute that the method does not know is ignored as often as it comes, and nothing of it is looked at. With the " +
			"MANDATORY flag it is EPROTONOSUPPORT; an object in the making is given up, though its number was written back by then, and " +
			"the number is free again. A known attribute that comes twice is EINVAL (`uverbs_set_attr`).",
		shown: []shown{
			{"linux-6.12-public/public/B1-optional-ignored", "attr/unknown-mandatory"},
			{"linux-6.12-public/public/B1-optional-ignored", "attr/duplicate"},
			{"linux-6.12-rxe/attr/unknown-optional-not-checked", ""},
			{"linux-6.12-rxe/attr/unknown-optional-twice", ""},
		},
	},
	{
		id: "B2", name: "trailing-bytes",
		met: "A new program hands an old kernel a struct that has grown since (\"Safely extend existing attributes\", kernel commit c66db3111).",
		answer: "Where a struct may grow, what is longer than the kernel knows has to be zero: EOPNOTSUPP if not, before any other " +
			"look at the attribute, and memory that cannot be read counts as not zero. Data of up to 8 bytes lies in the " +
			"attribute, and so does its tail. Where a size is fixed, too long is EINVAL, zero or not; too short is EINVAL everywhere (`uverbs_process_attr`).",
		shown: []shown{
			{"linux-6.12-rxe/ptrin/struct-long-zero", ""},
			{"linux-6.12-rxe/ptrin/struct-long-nonzero", "attr/trailing-nonzero"},
			{"linux-6.12-rxe/ptrin/struct-long-tail-unmapped", "attr/trailing-nonzero"},
			{"linux-6.12-rxe/ptrin/struct-order-tail-reserved", "attr/trailing-nonzero"},
			{"linux-6.12-rxe/ptrin/const-len-16-pointer", "attr/too-long"},
			{"linux-6.12-rxe/ptrin/type-len-8-for-u32", "attr/too-long"},
			{"linux-6.12-rxe/qp/resp-cap-short", "attr/too-short"},
		},
		test: testTailInAttribute,
	},
	{
		id: "B4", name: "inline-vs-pointer",
		met: "Clients and proxies mix up which data lies in the attribute and which is pointed to (rdma-core commits 26a1cff51, " +
			"888c598db and a93098a32; schema.go of gVisor's proxy).",
		answer: "Input of up to 8 bytes is the field `data` itself, longer input is at the address there (`uverbs_attr_ptr_is_inline`). " +
			"Output is at an address however short it is (`uverbs_copy_to`): RESP_CQE of 4 bytes with 0 in `data` is EFAULT, and the " +
			"CQ, which was made by then, is destroyed again (`bundle_destroy`).",
		shown: []shown{
			{"linux-6.12-public/public/B4-inline-input-pointer-output", "attr/output-fault"},
			{"linux-6.12-stub-more/order/failed-create", "attr/output-fault"},
			{"linux-6.12-rxe/ptrin/len-beyond-8-inline", ""},
			{"linux-6.12-rxe/ptrin/inline-upper-garbage", ""},
		},
		test: testDirection,
	},
	{
		id: "B5", name: "valid-output-flag",
		met: "Outputs of a driver's part of a call were lost on the way back to its own block of attributes, so that their flags " +
			"could not be read (rdma-core commit 888c598db).",
		answer: "The kernel sets VALID_OUTPUT in the flags word of each output that it wrote, beside the flags that were there " +
			"(`uverbs_set_output`). UHW_OUT has it after every success, whether the driver wrote anything or not, and never after a " +
			"failure (`ib_uverbs_run_method`). Inputs and ignored attributes never have it.",
		shown: []shown{
			{"linux-6.12-public/public/B5-valid-output", ""},
			{"linux-6.12-rxe/attr/flags-unknown-bits", ""},
			{"linux-6.12-rxe/ctx/get-uhw-out-failure", "ucontext/twice"},
			{"linux-6.12-rxe/ctx/get-twice", "ucontext/twice"},
			{"linux-6.12-rxe/invoke/uhw-out-flagged", ""},
		},
		test: testValidOutputInLinks,
	},
	{
		id: "B6", name: "const-is-8-bytes",
		met: "Clients made by hand send a port or a command as the 4 bytes that its C type has (include/rdma/uverbs_ioctl.h).",
		answer: "A constant takes 8 bytes and nothing else: EINVAL (`UVERBS_ATTR_CONST_IN`). Flags take 4 to 8 bytes for the framework " +
			"and 4 or 8 for their reader: 5, 6 and 7 come as far as the handler and are EINVAL there, when the number of an object in " +
			"the making was written (`uverbs_get_flags64`). With 8 bytes the upper half counts, with 4 it does not.",
		shown: []shown{
			{"linux-6.12-public/public/B6-sizes", "attr/too-short"},
			{"linux-6.12-public/public/B6-sizes", "attr/too-long"},
			{"linux-6.12-public/public/B6-sizes", "flags/size"},
			{"linux-6.12-public/public/B6-sizes", "flags/unknown"},
		},
	},
	{
		id: "B8", name: "gid-query-efa",
		met: "A library that took to the ioctl for GIDs failed on efa, whose ports are neither InfiniBand nor RoCE: the query was " +
			"EOPNOTSUPP there (linux-rdma mails of October 2020, 81eac5e45 and 987440093 in the archive).",
		answer: "The kind of the port is not asked for: what stands in its table is served, and an empty table is no error of " +
			"QUERY_GID_TABLE. QUERY_GID_ENTRY looks at its flags first, then for a context, then at the port and the index, EINVAL " +
			"each; a place that holds no GID is ENODATA (handler of `UVERBS_METHOD_QUERY_GID_ENTRY`, `rdma_get_gid_attr`).",
		shown: []shown{
			{"linux-6.12-public-stub/public/B8-neither-ib-nor-roce", "gid/index"},
			{"linux-6.12-public/public/B8-gid-entry", "context/none"},
			{"linux-6.12-public/public/B8-gid-entry", "query-gid-entry/port"},
			{"linux-6.12-public/public/B8-gid-entry", "gid/empty"},
			{"linux-6.12-rxe/query/gid-entry-order-flags-port", "flags/unknown"},
			{"linux-6.12-rxe/query/gid-table", ""},
		},
		test: testGIDOfAnyPort,
	},
	{
		id: "B10", name: "user-index-unchecked",
		met: "A handle for hints about processors took any number of a processor, 2^31 as well (\"Validate cpu_id against nr_cpu_ids " +
			"in DMAH alloc\", linux-rdma mail of May 2026, 3d7a4b941 in the archive).",
		answer: "6.12 has no such object: both its methods are EPROTONOSUPPORT before any attribute is looked at (`ib_uverbs_cmd_verbs`). " +
			"A newer kernel with the check says EINVAL.",
		shown: []shown{{"linux-6.12-public/public/B10-dmah", "method/unknown"}},
		newer: []newer{{17, -1, -1, "UVERBS_OBJECT_DMAH"}},
	},
	{
		id: "B11", name: "uhw-missing-on-new-method",
		met: "The new method REG_MR was declared without the driver's part, so that drivers which read theirs got none and could " +
			"crash (\"Add UVERBS_ATTR_UHW to UVERBS_METHOD_REG_MR\", linux-rdma mail of July 2026, b2925a4d7 in the archive).",
		answer: "UHW_IN and UHW_OUT are attributes that a method has or lacks like any other. Where it lacks them, they are " +
			"EPROTONOSUPPORT with the MANDATORY flag, and else dropped without a word, and the driver finds a request of no bytes " +
			"(`uverbs_set_attr`, `ib_uverbs_run_method`). Of 6.12's own methods all that call a driver with such a request have them. REG_MR came later.",
		shown: []shown{
			{"linux-6.12-public/public/B11-uhw-on-a-method-without", "attr/unknown-mandatory"},
			{"linux-6.12-public/public/B11-uhw-on-a-method-without", "method/unknown"},
			{"linux-6.12-rxe/ctx/uhw-on-method-without", "attr/unknown-mandatory"},
		},
		newer: []newer{{spec.UVERBS_OBJECT_MR, 5, -1, "UVERBS_METHOD_REG_MR"}},
		test:  testUHWWhereADriverReadsIt,
	},
	{
		id: "B12", name: "output-too-small",
		met: "mlx5's method that tells a path in sysfs forgot to give its copy of the path back when the caller had too little room " +
			"(linux-rdma mail of January 2026, 149041bf5 in the archive).",
		answer: "Outputs are cut to the room that there is (`uverbs_copy_to`), but this handler compares first: ENOSPC for a path that " +
			"does not fit with its final zero, nothing written, nothing kept (handler of " +
			"`MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH`). A card without a second function for such access is ENODEV before that, " +
			"with any length.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/B12-path", "mlx5-data-direct/space"},
			{"linux-6.12-public-mlx5/public/B12-path", "attr/output-fault"},
			{"linux-6.12-mlx5/mlx5/data-direct/len-0", "mlx5-data-direct/none"},
			{"linux-6.12-mlx5/mlx5/data-direct/len-64", "mlx5-data-direct/none"},
		},
		test: testOutputTooSmall,
	},
	{
		id: "B13", name: "wrong-size-copy",
		met: "bnxt_re's GET_TOGGLE_MEM named the size of one variable when it copied out another (linux-rdma mail 81be246a0 in the " +
			"archive); its library had declared a block of four attributes and filled in six (rdma-core commit 240a4f7e5).",
		answer: "What is copied out is the smaller of the handler's size and the attribute's length, and no more is written than the " +
			"handler says (`uverbs_copy_to`): both variables have 4 bytes, the attribute takes exactly 4, and nothing went wrong. " +
			"The other fault is no call at all: the library finds it before the kernel is asked.",
		test: testWrongSize,
	},
}

// pattern are bytes that tell where they were read from.
func pattern(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

// testTailInAttribute: a tail of data that lies in the attribute. No method of
// 6.12 has a struct below 8 bytes that may grow, so the test brings one of 4.
func testTailInAttribute(t *testing.T) {
	var got []byte
	grows := spec.Attr{ID: 0, Name: "GROWS", Type: spec.TypePtrIn, Len: 4, MinLen: 4, ZeroTrailing: true}
	fixed := spec.Attr{ID: 1, Name: "FIXED", Type: spec.TypePtrIn, Len: 4, MinLen: 4}
	h := newHost(t, methods.Core(), own(func(b *kernel.Bundle) error {
		got = make([]byte, 4)
		if b.IsValid(0) {
			return b.CopyFromOrZero(got, 0)
		}
		return b.CopyFrom(got, 1)
	}, grows, fixed), core.DeviceOps{})
	require.True(t, h.p.Store(h.data(), []byte{1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}))
	require.True(t, h.p.Store(h.data()+16, []byte{1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 9}))

	for _, tt := range []struct {
		id, n uint16
		data  uint64
		want  error
	}{
		{0, 3, 0x030201, syscall.EINVAL},
		{0, 4, 0xff00000004030201, nil}, // what lies behind the length is no tail
		{0, 5, 0x0004030201, nil},
		{0, 5, 0x0104030201, syscall.EOPNOTSUPP},
		{0, 7, 0xff00000004030201, nil},
		{0, 8, 0x0000000004030201, nil},
		{0, 8, 0x0100000004030201, syscall.EOPNOTSUPP},
		{0, 12, uint64(h.data()), nil},
		{0, 11, uint64(h.data()) + 16, nil},
		{0, 12, uint64(h.data()) + 16, syscall.EOPNOTSUPP},
		{0, 12, 0x04030201, syscall.EOPNOTSUPP}, // an address now, and nothing is there
		{1, 4, 0xff00000004030201, nil},
		{1, 5, 0x0004030201, syscall.EINVAL},
		{1, 8, 0x0004030201, syscall.EINVAL},
		{1, 3, 0x030201, syscall.EINVAL},
	} {
		err := h.callOwn(spec.IoctlAttr{AttrID: tt.id, Len: tt.n, Data: tt.data})
		if tt.want == nil {
			require.NoErrorf(t, err, "%+v", tt)
			require.Equalf(t, []byte{1, 2, 3, 4}, got, "%+v", tt)
			continue
		}
		require.ErrorIsf(t, err, tt.want, "%+v", tt)
	}
}

// testDirection: where the kernel reads and writes data of each length, if the
// field data holds an address at which other bytes are.
func testDirection(t *testing.T) {
	const most = 16
	var n int
	got := make([]byte, most)
	h := newHost(t, methods.Core(), own(func(b *kernel.Bundle) error {
		if b.IsValid(0) {
			return b.CopyFromOrZero(got, 0)
		}
		return b.CopyTo(1, pattern(0xc0, n))
	},
		spec.Attr{ID: 0, Name: "IN", Type: spec.TypePtrIn, Len: spec.MaxLen},
		spec.Attr{ID: 1, Name: "OUT", Type: spec.TypePtrOut, Len: spec.MaxLen},
	), core.DeviceOps{})
	address := make([]byte, 8)
	for i := range address {
		address[i] = byte(uint64(h.data()) >> (8 * i))
	}
	for n = range most + 1 {
		require.True(t, h.p.Store(h.data(), pattern(1, most)))
		require.NoError(t, h.callOwn(spec.IoctlAttr{AttrID: 0, Len: uint16(n), Data: uint64(h.data())}))
		want := pattern(1, most)
		if n <= 8 {
			want = slices.Concat(address, make([]byte, most-8))
		}
		clear(want[n:])
		require.Equalf(t, want, got, "input of %d bytes", n)

		require.NoError(t, h.callOwn(spec.IoctlAttr{AttrID: 1, Len: uint16(n), Data: uint64(h.data())}))
		require.Equal(t, uint64(h.data()), h.attr(0).Data, "an output never lies in the attribute")
		mem := make([]byte, most)
		require.True(t, h.p.Load(h.data(), mem))
		require.Equalf(t, slices.Concat(pattern(0xc0, n), pattern(1, most)[n:]), mem, "output of %d bytes", n)
	}
}

// testValidOutputInLinks: the flag comes back to the block that an output
// belongs to, when the library sends several as one call.
func testValidOutputInLinks(t *testing.T) {
	out := func(id uint16) spec.Attr {
		return spec.Attr{ID: id, Name: "OUT", Type: spec.TypePtrOut, Len: 4, MinLen: 4}
	}
	h := newHost(t, methods.Core(), own(func(b *kernel.Bundle) error {
		if err := b.CopyToUint32(0, 10); err != nil {
			return err
		}
		return b.CopyToUint32(2, 12)
	}, out(0), out(1), out(2)), core.DeviceOps{})

	c := verbs.InitContext(h.client(), h.fd, hostDriver)
	f := c.Frame()
	defer f.Leave()
	var v [3]uint32
	var attr [3]*spec.IoctlAttr
	link := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.NSFlag, 2, nil)
	attr[1] = verbs.FillAttrOutPtr(link, 1, &v[1])
	attr[2] = verbs.FillAttrOutPtr(link, 2, &v[2])
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.NSFlag, 1, link)
	attr[0] = verbs.FillAttrOutPtr(cmd, 0, &v[0])
	require.NoError(t, c.ExecuteIoctl(cmd))

	var written []bool
	for _, a := range attr {
		written = append(written, a.Flags&spec.UVERBS_ATTR_F_VALID_OUTPUT != 0)
	}
	require.Equal(t, []bool{true, false, true}, written)
	require.Equal(t, []uint32{10, 12}, []uint32{v[0], v[2]})
}

// testGIDOfAnyPort: a port whose link is of no known kind and has one GID.
func testGIDOfAnyPort(t *testing.T) {
	gid := [16]byte{0xfe, 0x80, 15: 7}
	h := newHostOf(t, methods.Core(), kernel.Definitions{}, &core.Device{Name: "host0", DriverID: hostDriver, PhysPorts: 1,
		LinkLayer: spec.IB_LINK_LAYER_UNSPECIFIED, GIDTblLen: 2, GIDs: []core.GIDAttr{{GID: gid, Port: 1}}})
	require.False(t, h.device.IBDevice().IsRoCE())
	in := func(id, n uint16, v uint64) spec.IoctlAttr { return spec.IoctlAttr{AttrID: id, Len: n, Data: v} }
	query := func(port, index uint64) error {
		return h.call(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_GID_ENTRY,
			in(spec.UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 8, port), in(spec.UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 8, index),
			in(spec.UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4, 0), in(spec.UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, 32, uint64(h.data())))
	}
	require.NoError(t, query(1, 0))
	var got [16]byte
	require.True(t, h.p.Load(h.data(), got[:]))
	require.Equal(t, gid, got)
	require.ErrorIs(t, query(1, 1), syscall.ENODATA)
	require.ErrorIs(t, query(1, 2), syscall.EINVAL)
	require.ErrorIs(t, query(2, 0), syscall.EINVAL)
}

// driverOps are the driver operations that the core's methods call, read in
// uverbs_std_types_*.c, and what REG_MR of newer kernels calls: members of
// core.DeviceOps.
var driverOps = map[kernel.MethodID]string{
	{Object: spec.UVERBS_OBJECT_DEVICE, Method: spec.UVERBS_METHOD_GET_CONTEXT}:     "AllocUcontext",
	{Object: spec.UVERBS_OBJECT_DEVICE, Method: spec.UVERBS_METHOD_QUERY_CONTEXT}:   "QueryUcontext",
	{Object: spec.UVERBS_OBJECT_DEVICE, Method: spec.UVERBS_METHOD_QUERY_PORT}:      "QueryPort",
	{Object: spec.UVERBS_OBJECT_CQ, Method: spec.UVERBS_METHOD_CQ_CREATE}:           "CreateCQ",
	{Object: spec.UVERBS_OBJECT_QP, Method: spec.UVERBS_METHOD_QP_CREATE}:           "CreateQP",
	{Object: spec.UVERBS_OBJECT_SRQ, Method: spec.UVERBS_METHOD_SRQ_CREATE}:         "CreateSRQ",
	{Object: spec.UVERBS_OBJECT_WQ, Method: spec.UVERBS_METHOD_WQ_CREATE}:           "CreateWQ",
	{Object: spec.UVERBS_OBJECT_DM, Method: spec.UVERBS_METHOD_DM_ALLOC}:            "AllocDM",
	{Object: spec.UVERBS_OBJECT_MR, Method: spec.UVERBS_METHOD_DM_MR_REG}:           "RegDMMR",
	{Object: spec.UVERBS_OBJECT_MR, Method: spec.UVERBS_METHOD_ADVISE_MR}:           "AdviseMR",
	{Object: spec.UVERBS_OBJECT_MR, Method: spec.UVERBS_METHOD_REG_DMABUF_MR}:       "RegUserMRDmabuf",
	{Object: spec.UVERBS_OBJECT_COUNTERS, Method: spec.UVERBS_METHOD_COUNTERS_READ}: "ReadCounters",
	{Object: spec.UVERBS_OBJECT_MR, Method: regMR}:                                  "RegUserMR",
}

// regMR is the id of REG_MR in newer kernels.
const regMR = 5

// withoutUHW lists the methods that call a driver operation which takes a
// struct ib_udata, and have no UHW attributes to fill it.
func withoutUHW(defs []spec.Definition) (names []string) {
	for i := range defs {
		for _, m := range defs[i].Object.Methods {
			op, ok := reflect.TypeFor[core.DeviceOps]().FieldByName(driverOps[kernel.MethodID{Object: defs[i].Object.ID, Method: m.ID}])
			if !ok || !slices.ContainsFunc(parameters(op.Type), func(p reflect.Type) bool { return p == reflect.TypeFor[*core.Udata]() }) {
				continue
			}
			if m.Attr(spec.UVERBS_ATTR_UHW_IN) == nil || m.Attr(spec.UVERBS_ATTR_UHW_OUT) == nil {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

func parameters(f reflect.Type) (types []reflect.Type) {
	for i := range f.NumIn() {
		types = append(types, f.In(i))
	}
	return types
}

// testUHWWhereADriverReadsIt: which methods have the driver's part, what the
// check above says of 6.12 and of the newer method as it was first declared,
// and what a driver gets from a method without.
func testUHWWhereADriverReadsIt(t *testing.T) {
	var has []string
	for _, d := range spec.Core() {
		for _, m := range d.Object.Methods {
			if m.Attr(spec.UVERBS_ATTR_UHW_IN) != nil && m.Attr(spec.UVERBS_ATTR_UHW_OUT) != nil {
				has = append(has, m.Name)
			}
		}
	}
	require.ElementsMatch(t, []string{
		"UVERBS_METHOD_INVOKE_WRITE", "UVERBS_METHOD_GET_CONTEXT", "UVERBS_METHOD_CQ_CREATE", "UVERBS_METHOD_QP_CREATE",
		"UVERBS_METHOD_SRQ_CREATE", "UVERBS_METHOD_WQ_CREATE"}, has)
	require.Empty(t, withoutUHW(spec.Core()))
	first := spec.Definition{Object: spec.Object{ID: spec.UVERBS_OBJECT_MR, Methods: []spec.Method{{ID: regMR, Name: "REG_MR"}}}}
	require.Equal(t, []string{"REG_MR"}, withoutUHW(append(spec.Core(), first)))
	first.Object.Methods[0].Attrs = spec.UHW()
	require.Empty(t, withoutUHW(append(spec.Core(), first)))

	for _, attrs := range [][]spec.Attr{nil, spec.UHW()} {
		var got core.Udata
		h := newHost(t, methods.Core(), own(func(b *kernel.Bundle) error {
			got = *b.Udata()
			return nil
		}, attrs...), core.DeviceOps{})
		uhw := []spec.IoctlAttr{
			{AttrID: spec.UVERBS_ATTR_UHW_IN, Len: 16, Data: uint64(h.data())},
			{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 24, Data: uint64(h.data())},
		}
		require.NoError(t, h.callOwn(uhw...))
		uhw[0].Flags = spec.UVERBS_ATTR_F_MANDATORY
		if attrs == nil {
			require.Zero(t, got.InLen)
			require.Zero(t, got.OutLen)
			require.Zero(t, h.attr(1).Flags)
			require.ErrorIs(t, h.callOwn(uhw...), syscall.EPROTONOSUPPORT)
			continue
		}
		require.Equal(t, []uint64{16, 24}, []uint64{got.InLen, got.OutLen})
		require.EqualValues(t, spec.UVERBS_ATTR_F_VALID_OUTPUT, h.attr(1).Flags)
		require.NoError(t, h.callOwn(uhw...))
	}
}

// untouched is a byte that nobody wrote.
const untouched = 0xa5

// output calls the host's own method, whose one attribute is an output, and
// returns what is in memory afterwards and whether it was flagged.
func (h *host) output(t *testing.T, n uint16) (mem []byte, written bool, err error) {
	t.Helper()
	mem = bytes.Repeat([]byte{untouched}, 64)
	require.True(t, h.p.Store(h.data(), mem))
	err = h.callOwn(spec.IoctlAttr{AttrID: 0, Len: n, Data: uint64(h.data())})
	require.True(t, h.p.Load(h.data(), mem))
	return mem, h.attr(0).Flags&spec.UVERBS_ATTR_F_VALID_OUTPUT != 0, err
}

// wrote is what is in memory after so many bytes of src were written.
func wrote(src []byte, n int) []byte {
	return slices.Concat(src[:n], bytes.Repeat([]byte{untouched}, 64-n))
}

// testOutputTooSmall: a handler that leaves it to the framework to cut, and one
// that compares first, as the method for the path does.
func testOutputTooSmall(t *testing.T) {
	path := append([]byte("/devices/pci0000:00/0000:00:01.0"), 0)
	out := spec.Attr{ID: 0, Name: "OUT", Type: spec.TypePtrOut, Len: spec.MaxLen}
	cut := newHost(t, methods.Core(), own(func(b *kernel.Bundle) error { return b.CopyTo(0, path) }, out), core.DeviceOps{})
	whole := newHost(t, methods.Core(), own(func(b *kernel.Bundle) error {
		n, err := b.Len(0)
		if err != nil {
			return err
		}
		if len(path) > n {
			return syscall.ENOSPC
		}
		return b.CopyTo(0, path)
	}, out), core.DeviceOps{})
	for _, n := range []int{0, 8, len(path) - 1, len(path), 64} {
		mem, written, err := cut.output(t, uint16(n))
		require.NoError(t, err)
		require.True(t, written)
		require.Equal(t, wrote(path, min(n, len(path))), mem)

		mem, written, err = whole.output(t, uint16(n))
		if n < len(path) {
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.False(t, written)
			require.Equal(t, wrote(nil, 0), mem)
			continue
		}
		require.NoError(t, err)
		require.True(t, written)
		require.Equal(t, wrote(path, len(path)), mem)
	}
}

// testWrongSize: a handler whose size is not the attribute's, and the two ways
// in which a block of attributes is wrong before the kernel sees it.
func testWrongSize(t *testing.T) {
	value := pattern(1, 8)
	for _, handler := range []int{2, 4, 8} {
		h := newHost(t, methods.Core(), own(func(b *kernel.Bundle) error { return b.CopyTo(0, value[:handler]) },
			spec.Attr{ID: 0, Name: "OUT", Type: spec.TypePtrOut, Len: 8, MinLen: 2}), core.DeviceOps{})
		for _, user := range []int{2, 4, 8} {
			mem, written, err := h.output(t, uint16(user))
			require.NoError(t, err)
			require.True(t, written)
			require.Equalf(t, wrote(value, min(handler, user)), mem, "%d of %d bytes", handler, user)
		}
	}
	_, m := spec.FindMethod(spec.BNXT(), spec.BNXT_RE_OBJECT_GET_TOGGLE_MEM, spec.BNXT_RE_METHOD_GET_TOGGLE_MEM)
	require.Len(t, m.Attrs, 6)
	for _, id := range []uint16{spec.BNXT_RE_TOGGLE_MEM_MMAP_OFFSET, spec.BNXT_RE_TOGGLE_MEM_MMAP_LENGTH} {
		require.Equal(t, []uint16{4, 4}, []uint16{m.Attr(id).MinLen, m.Attr(id).Len})
	}

	h := newHost(t, methods.Core(), kernel.Definitions{}, core.DeviceOps{})
	sys := h.client()
	c := verbs.InitContext(sys, h.fd, hostDriver)
	sys.ioctls = 0
	f := c.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT, 4, nil)
	for id := range uint16(4) {
		cmd.FillAttrInUint32(id, 0)
	}
	require.Panics(t, func() { cmd.FillAttrInUint32(4, 0) }, "libibverbs asserts it")
	long := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT, 1, nil)
	long.FillAttrIn(0, make([]byte, 1<<16))
	require.ErrorIs(t, c.ExecuteIoctl(long), verbs.ErrBuffer)
	require.Zero(t, sys.ioctls, "the kernel was not asked")
}
