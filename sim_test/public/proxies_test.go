package public

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// proxies are section K: what a process that stands between programs and the
// kernel has to know, and where gVisor's rdmaproxy answers otherwise than the
// kernel would.
var proxies = []problem{
	{
		id: "K1", name: "invoke-write-opaque",
		met: "gVisor's proxy passes the commands of INVOKE_WRITE on unseen, among them some that hold descriptors and addresses, " +
			"which mean something else in another process (google/gvisor PR 14858 of September 2026, ioctl.go). A list is wanted of what each command holds.",
		answer: "GET_CONTEXT and CREATE_COMP_CHANNEL answer with a new descriptor; CREATE_CQ, plain and extended, and OPEN_XRCD are " +
			"given one. Addresses of memory are in REG_MR and REREG_MR and, in the pieces behind the work requests, in POST_SEND, " +
			"POST_RECV and POST_SRQ_RECV. The address of the response at the start of a plain request is not used by INVOKE_WRITE, whose " +
			"answer goes to CORE_OUT (handler of `UVERBS_METHOD_INVOKE_WRITE`). Buffers of queues are in the driver's part (K5). The " +
			"test has the list for all commands.",
		shown: []shown{
			{"linux-6.12-public/public/K3-channel", "object/fd-foreign"},
			{"linux-6.12-rxe/invoke/get-context", "ucontext/twice"},
			{"linux-6.12-more/limit/nofile-comp-invoke", "fd/none-free"},
			{"linux-6.12-public-stub/public/K1-xrcd-takes-a-descriptor", "cmd-xrcd/bad-fd"},
			{"linux-6.12-rxe/invoke/core-in-first-word-ignored", ""},
			{"linux-6.12-rxe/raw/reg-mr-by-invoke", ""},
			{"linux-6.12-rxe/mr/reg-by-invoke-null", "pin/unmapped"},
		},
		test: testWhatCommandsHold,
	},
	{
		id: "K2", name: "unknown-method-errno",
		met: "gVisor's proxy says EINVAL of an object or method that it does not know, of an attribute that it does not know, and of " +
			"one that it cannot pass on (schema.go, ioctl.go).",
		answer: "The kernel says EPROTONOSUPPORT of an unknown object or method (`ib_uverbs_cmd_verbs`) and of an unknown attribute " +
			"that is mandatory, and ignores one that is not (`uverbs_set_attr`). It matters: the library falls back to a write() command " +
			"after EPROTONOSUPPORT (A3) and gives up after EINVAL.",
		shown: []shown{
			{"linux-6.12-public/public/K2-kernel-answers", "method/unknown"},
			{"linux-6.12-public/public/K2-kernel-answers", "attr/unknown-mandatory"},
		},
		test: testProxyEndsFallback,
	},
	{
		id: "K3", name: "comp-channel-attr",
		met: "gVisor's proxy takes every descriptor in an attribute for one of its own event files, of which it makes asynchronous ones " +
			"only: a CQ with a completion channel is EINVAL (translateInputFD).",
		answer: "CQ_CREATE takes two descriptors: COMP_CHANNEL, which CREATE_COMP_CHANNEL made by write() or INVOKE_WRITE, and EVENT_FD, " +
			"which ASYNC_EVENT_ALLOC made. One in the place of the other is EBADF, as is that of another open file (`lookup_get_fd_uobject`).",
		shown: []shown{
			{"linux-6.12-public/public/K3-channel", "object/fd-foreign"},
			{"linux-6.12-rxe/fd/comp-is-async-fd", "object/fd-foreign"},
			{"linux-6.12-rxe/fd/event-is-comp-fd", "object/fd-foreign"},
			{"linux-6.12-rxe/fd/comp-other-file", "object/fd-foreign"},
		},
	},
	{
		id: "K4", name: "direction-by-abi",
		met: "Drafts of gVisor's proxy looked at a program's memory to guess whether an attribute's data is a value or an address, and " +
			"which way it goes (google/gvisor PR 12806, 13125 and 13731); what was merged takes both from a table (commit 54b1c837e).",
		answer: "Nothing has to be guessed: what an attribute is stands in the method's declaration, and of input the length decides, " +
			"up to 8 bytes in the attribute, more at the address (`uverbs_attr_ptr_is_inline`); output is at the address at any " +
			"length (`uverbs_copy_to`). A value that looks like an address stays a value.",
		shown: []shown{
			{"linux-6.12-public/public/B4-inline-input-pointer-output", "attr/output-fault"},
			{"linux-6.12-rxe/ctx/get-uhw-in-unmapped-inline", ""},
			{"linux-6.12-rxe/ptrin/len-beyond-8-inline", ""},
		},
		test: testDirection,
	},
	{
		id: "K5", name: "uhw-pointers",
		met: "gVisor's proxy finds the addresses of buffers and doorbell records in mlx5's part of a call, which tells no length, " +
			"and pins to the end of the mapping; SRQs, WQs and RESIZE_CQ, which have addresses there too, are left out (cxproxy.go).",
		answer: "The length follows from what else the call says: of a CQ the entries, rounded up, times their size, and no byte more " +
			"is wanted (`create_cq_user`). The page of a doorbell record is pinned beside (`mlx5_ib_db_map_user`). SRQ, WQ and " +
			"RESIZE_CQ pin the buffer in their part as well (`create_srq_user`, `create_user_rq`, `resize_user`).",
		shown: []shown{
			{"linux-6.12-mlx5/mlx5/cq/buf-exact", ""},
			{"linux-6.12-mlx5/mlx5/cq/buf-short", "pin/unmapped"},
			{"linux-6.12-mlx5/mlx5/cq/db-unmapped", "pin/unmapped"},
			{"linux-6.12-mlx5/mlx5/srq/in-none", "pin/unmapped"},
			{"linux-6.12-mlx5/mlx5/wq/buf-unmapped", "pin/unmapped"},
			{"linux-6.12-mlx5/mlx5/resize/buf-kernel", "pin/range"},
			{"linux-6.12-mlx5/mlx5/resize/size-4096", "pin/unmapped"},
		},
	},
	{
		id: "K6", name: "newer-attrs",
		met: "The descriptor of REG_MR and the attributes of newer kernels for buffers are unsupported in gVisor's proxy, and each " +
			"release of the kernel asks for the schemas to be compared again (schema.go).",
		answer: "6.12 has none of them: objects and methods are EPROTONOSUPPORT, attributes too if they are mandatory and else ignored " +
			"(`ib_uverbs_cmd_verbs`, `uverbs_set_attr`), so that a program which marks them optional gets an object without the buffer " +
			"that it named. The test compares the declarations of two kernels.",
		shown: []shown{
			{"linux-6.12-public/public/K6-newer-attributes", "attr/unknown-mandatory"},
			{"linux-6.12-public/public/K6-newer-attributes", "method/unknown"},
		},
		newer: []newer{
			{spec.UVERBS_OBJECT_MR, 5, -1, "UVERBS_METHOD_REG_MR"},
			{18, -1, -1, "UVERBS_OBJECT_DMABUF"},
			{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 8, "UVERBS_ATTR_CREATE_CQ_BUFFER_VA"},
			{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 10, "UVERBS_ATTR_CREATE_CQ_BUFFER_FD"},
			{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 12, "UVERBS_ATTR_CREATE_CQ_BUF_UMEM"},
			{spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, 15, "UVERBS_ATTR_CREATE_QP_BUF_UMEM"},
			{spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, 16, "UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM"},
			{spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, 17, "UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM"},
		},
		test: testCompareSchemas,
	},
	{
		id: "K7", name: "discovery",
		met: "Inside gVisor there is no netlink for RDMA, and cards whose PCI id the library does not know are not found (google/gvisor PR 14021).",
		answer: "Netlink tells the id of the driver (`RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID`), sysfs does not. uverbs wants that id in each " +
			"call and tells it to nobody: a wrong one is EINVAL (`ib_uverbs_cmd_verbs`).",
		shown: []shown{{"linux-6.12-public/public/A5-other-driver", "header/driver-id"}},
		not:   "How a library finds devices in netlink and sysfs happens before the device is open.",
	},
	{
		id: "K8", name: "fork",
		met: "A library asks netlink whether the kernel copies pinned memory at a fork; gVisor does not answer that, and efa's library " +
			"aborts when the program forks (google/gvisor PR 14042; see F8).",
		answer: "6.12 always says yes (`nldev_sys_get_doit`). What uverbs has to do with a fork: a child has the parent's descriptors, " +
			"and its ioctls are served, on the same objects; memory that it registers is its own; its write() is EACCES, since its " +
			"credentials are other ones than those of the open (`ib_safe_file_access`).",
		shown: []shown{
			{"linux-6.12-more/proc/fork-ioctl", "object/not-found"},
			{"linux-6.12-more/proc/fork-mr-in-child", ""},
			{"linux-6.12-more/proc/fork-write", "write/access"},
		},
		not: "The question is put to netlink, which is no part of uverbs.",
	},
	{
		id: "K9", name: "limits",
		met: "gVisor's proxy takes 64 attributes at most. It compares the length with the number of attributes as the kernel does, but does " +
			"not look at the reserved members, and passes them on (ioctl.go).",
		answer: "The kernel takes as many as fit in a page with the header, 254, and looks at the last as at the first; 255 are EINVAL. " +
			"Reserved members that are not 0 are EPROTONOSUPPORT (`ib_uverbs_ioctl`).",
		shown: []shown{
			{"linux-6.12-public/public/K9-beyond-64", "attr/unknown-mandatory"},
			{"linux-6.12-public/public/K9-beyond-64", "header/length"},
			{"linux-6.12-rxe/hdr/length-254-attrs", ""},
			{"linux-6.12-rxe/hdr/length-255-attrs", "header/length"},
			{"linux-6.12-rxe/attr/254-unknown-mandatory-last", "attr/unknown-mandatory"},
			{"linux-6.12-public/public/A4-reserved-first", "header/reserved"},
		},
	},
	{
		id: "K10", name: "write-refused",
		met: "gVisor's proxy refuses write() with EINVAL (ioctl.go), which ends a program whose library falls back to it.",
		answer: "The kernel serves write() on the descriptor that the ioctls go to, and the objects are the same (`ib_uverbs_write`), " +
			"as long as the caller is the one that opened it, with credentials that never changed (`ib_safe_file_access`).",
		shown: []shown{
			{"linux-6.12-public/public/K10-write-is-served", "header/reserved"},
			{"linux-6.12-rxe/handle/ioctl-write-shared", ""},
			{"linux-6.12-rxe/write/alloc-pd", ""},
		},
	},
	{
		id: "K11", name: "sub-container",
		met: "A container that is started inside a gVisor pod does not get the device (user guide of gVisor's proxy).",
		answer: "To the kernel a container is a process like any other: to one that is handed the open descriptor it answers ioctls, on " +
			"the context that was made before, and refuses write() with EACCES (`ib_safe_file_access`).",
		shown: []shown{{"linux-6.12-public/public/K11-passed-on", "write/access"}},
		not:   "Which container gets which device node is decided by what starts it.",
	},
}

// held is what a command's core part holds that means something else in another
// process: members of its structs, by their names in package spec.
type held struct {
	fdsOut, fdsIn []string
	addresses     []string
	driver        bool // a driver's part can follow, with addresses of its own
}

// commandStructs are the structs of a command in package spec whose names do not
// follow from the command's: of the request, of the response.
var commandStructs = map[string][2]string{
	"CREATE_XSRQ":            {"create_xsrq", "create_srq_resp"},
	"OPEN_QP":                {"open_qp", "create_qp_resp"},
	"EX_CREATE_FLOW":         {"create_flow", "create_flow_resp"},
	"EX_DESTROY_FLOW":        {"destroy_flow", ""},
	"EX_CREATE_RWQ_IND_TBL":  {"ex_create_rwq_ind_table", "ex_create_rwq_ind_table_resp"},
	"EX_DESTROY_RWQ_IND_TBL": {"ex_destroy_rwq_ind_table", ""},
}

// shortName is a command's name without the prefix that all have.
func shortName(w *spec.Write) string {
	return strings.NewReplacer("IB_USER_VERBS_EX_CMD_", "EX_", "IB_USER_VERBS_CMD_", "").Replace(w.Name)
}

// commandStruct returns a command's request and response, nil for a response
// that there is not.
func commandStruct(t *testing.T, w *spec.Write) (req, resp reflect.Type) {
	name := shortName(w)
	of, ok := commandStructs[name]
	if !ok {
		of[0] = strings.ToLower(name)
		of[1] = of[0] + "_resp"
	}
	find := func(name string) reflect.Type {
		if v := spec.NewStruct("ib_uverbs_" + name); v != nil {
			return reflect.TypeOf(v).Elem()
		}
		return nil
	}
	if req = find(of[0]); w.HasResp {
		resp = find(of[1])
		require.NotNil(t, resp, name)
	}
	require.NotNil(t, req, name)
	return req, resp
}

// holds finds out what a command holds.
func holds(t *testing.T, w *spec.Write) held {
	req, resp := commandStruct(t, w)
	if !w.Ex {
		require.EqualValues(t, req.Size(), w.ReqSize, w.Name)
		if resp != nil {
			require.EqualValues(t, resp.Size(), w.RespSize, w.Name)
		}
	}
	isFD := func(name string) bool { return slices.Contains([]string{"FD", "AsyncFD", "CompChannel"}, name) }
	isAddress := func(name string) bool { return slices.Contains([]string{"Response", "Start"}, name) }
	h := held{driver: w.HasUdata || w.Ex, fdsIn: members(req, isFD), addresses: members(req, isAddress)}
	if resp != nil {
		h.fdsOut = members(resp, isFD)
		require.Empty(t, members(resp, isAddress), w.Name)
	}
	// Work requests are followed by the pieces of memory that they name.
	if _, posts := req.FieldByName("SGECount"); posts {
		h.addresses = append(h.addresses, members(reflect.TypeFor[spec.SGE](), func(name string) bool { return name == "Addr" })...)
	}
	return h
}

// members are those of a struct, and of structs inside, whose names pass.
func members(s reflect.Type, is func(name string) bool) (names []string) {
	for i := range s.NumField() {
		switch f := s.Field(i); {
		case f.Type.Kind() == reflect.Struct:
			names = append(names, members(f.Type, is)...)
		case is(f.Name):
			names = append(names, f.Name)
		}
	}
	return names
}

// testWhatCommandsHold: what is found in the structs of all commands is what
// reading include/uapi/rdma/ib_user_verbs.h gives.
func testWhatCommandsHold(t *testing.T) {
	response := []string{"Response"}
	memory := []string{"Response", "Start"}
	pieces := []string{"Response", "Addr"}
	want := map[string]held{
		"GET_CONTEXT":         {addresses: response, fdsOut: []string{"AsyncFD"}, driver: true},
		"QUERY_DEVICE":        {addresses: response},
		"QUERY_PORT":          {addresses: response},
		"ALLOC_PD":            {addresses: response, driver: true},
		"DEALLOC_PD":          {},
		"CREATE_AH":           {addresses: response, driver: true},
		"DESTROY_AH":          {},
		"REG_MR":              {addresses: memory, driver: true},
		"REREG_MR":            {addresses: memory, driver: true},
		"DEREG_MR":            {},
		"ALLOC_MW":            {addresses: response, driver: true},
		"DEALLOC_MW":          {},
		"CREATE_COMP_CHANNEL": {addresses: response, fdsOut: []string{"FD"}},
		"CREATE_CQ":           {addresses: response, fdsIn: []string{"CompChannel"}, driver: true},
		"RESIZE_CQ":           {addresses: response, driver: true},
		"DESTROY_CQ":          {addresses: response},
		"POLL_CQ":             {addresses: response},
		"REQ_NOTIFY_CQ":       {},
		"CREATE_QP":           {addresses: response, driver: true},
		"QUERY_QP":            {addresses: response},
		"MODIFY_QP":           {},
		"DESTROY_QP":          {addresses: response},
		"POST_SEND":           {addresses: pieces},
		"POST_RECV":           {addresses: pieces},
		"ATTACH_MCAST":        {},
		"DETACH_MCAST":        {},
		"CREATE_SRQ":          {addresses: response, driver: true},
		"MODIFY_SRQ":          {driver: true},
		"QUERY_SRQ":           {addresses: response},
		"DESTROY_SRQ":         {addresses: response},
		"POST_SRQ_RECV":       {addresses: pieces},
		"OPEN_XRCD":           {addresses: response, fdsIn: []string{"FD"}, driver: true},
		"CLOSE_XRCD":          {},
		"CREATE_XSRQ":         {addresses: response, driver: true},
		"OPEN_QP":             {addresses: response, driver: true},

		// The address of an extended command's response is in the header.
		"EX_QUERY_DEVICE":        {driver: true},
		"EX_CREATE_CQ":           {fdsIn: []string{"CompChannel"}, driver: true},
		"EX_MODIFY_CQ":           {driver: true},
		"EX_CREATE_QP":           {driver: true},
		"EX_MODIFY_QP":           {driver: true},
		"EX_CREATE_FLOW":         {driver: true},
		"EX_DESTROY_FLOW":        {driver: true},
		"EX_CREATE_WQ":           {driver: true},
		"EX_MODIFY_WQ":           {driver: true},
		"EX_DESTROY_WQ":          {driver: true},
		"EX_CREATE_RWQ_IND_TBL":  {driver: true},
		"EX_DESTROY_RWQ_IND_TBL": {driver: true},
	}
	got := map[string]held{}
	for _, d := range spec.Core() {
		for i := range d.Writes {
			got[shortName(&d.Writes[i])] = holds(t, &d.Writes[i])
		}
	}
	require.Equal(t, want, got)
}

// testProxyEndsFallback: the library on a kernel that has CREATE_CQ as a write()
// command alone, and on the same kernel behind a proxy that says EINVAL where
// the kernel says EPROTONOSUPPORT.
func testProxyEndsFallback(t *testing.T) {
	for _, proxied := range []bool{false, true} {
		h := newHost(t, without(methods.Core(), spec.UVERBS_OBJECT_CQ, cqMethods...), kernel.Definitions{}, cqOps())
		sys := h.client()
		if proxied {
			sys.refused = func(err error) error {
				if errors.Is(err, syscall.EPROTONOSUPPORT) {
					return syscall.EINVAL
				}
				return err
			}
		}
		cq := new(verbs.CQ)
		err := verbs.InitContext(sys, h.fd, hostDriver).CmdCreateCQ(cq, &verbs.CQInitAttr{CQE: 5}, verbs.UHW{}, false)
		if proxied {
			require.ErrorIs(t, err, syscall.EINVAL)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, uint32(5), cq.CQE)
	}
}

// schema are all objects, methods and attributes that a driver's device has on
// a kernel, each with what it takes.
func schema(k *spec.Kernel, driver uint32) map[string]string {
	all := map[string]string{}
	for _, d := range k.Definitions(driver) {
		if d.Object.Class != spec.ClassNone {
			all[d.Object.Name] = ""
		}
		object := spec.ObjectName(d.Object.ID)
		if object == "" {
			object = d.Object.Name
		}
		for _, m := range d.Object.Methods {
			if !m.Extends {
				all[object+" "+m.Name] = ""
			}
			for _, a := range m.Attrs {
				all[object+" "+m.Name+" "+a.Name] = a.String()
			}
		}
	}
	return all
}

// testCompareSchemas: what 6.12 has that 6.1 does not, driver by driver; nothing
// is gone, and nothing takes anything else than before.
func testCompareSchemas(t *testing.T) {
	for driver, want := range map[uint32][]string{
		spec.RDMA_DRIVER_RXE: nil,
		spec.RDMA_DRIVER_MLX5: {
			"UVERBS_OBJECT_CQ UVERBS_METHOD_CQ_CREATE MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX",
			"UVERBS_OBJECT_DEVICE MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH",
			"UVERBS_OBJECT_DEVICE MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH",
			"UVERBS_OBJECT_MR UVERBS_METHOD_REG_DMABUF_MR MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS",
		},
	} {
		older, newer := schema(spec.Linux6_1, driver), schema(spec.Linux6_12, driver)
		var added []string
		for name, takes := range newer {
			if was, ok := older[name]; !ok {
				added = append(added, name)
			} else {
				require.Equal(t, was, takes, name)
			}
			delete(older, name)
		}
		slices.Sort(added)
		require.Equal(t, want, added)
		require.Empty(t, older)
	}
}
