package spec_test

import (
	"fmt"

	"uverbsim/spec"
)

// What does CQ CREATE take on an mlx5 device?
func ExampleFindMethod() {
	defs := spec.Linux6_12.Definitions(spec.RDMA_DRIVER_MLX5)
	object, m := spec.FindMethod(defs, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE)
	fmt.Println(object, m.Name)
	for _, a := range m.Attrs {
		fmt.Printf("%#x %s\n", a.ID, a)
	}
	// Output:
	// UVERBS_OBJECT_CQ UVERBS_METHOD_CQ_CREATE
	// 0x0 UVERBS_ATTR_CREATE_CQ_HANDLE IDR of UVERBS_OBJECT_CQ, NEW, mandatory
	// 0x1 UVERBS_ATTR_CREATE_CQ_CQE PTR_IN u32, 4 bytes, mandatory
	// 0x2 UVERBS_ATTR_CREATE_CQ_USER_HANDLE PTR_IN u64, 8 bytes, mandatory
	// 0x3 UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL FD of UVERBS_OBJECT_COMP_CHANNEL, READ
	// 0x4 UVERBS_ATTR_CREATE_CQ_COMP_VECTOR PTR_IN u32, 4 bytes, mandatory
	// 0x5 UVERBS_ATTR_CREATE_CQ_FLAGS PTR_IN enum ib_uverbs_ex_create_cq_flags, 4 to 8 bytes
	// 0x6 UVERBS_ATTR_CREATE_CQ_RESP_CQE PTR_OUT u32, 4 bytes, mandatory
	// 0x7 UVERBS_ATTR_CREATE_CQ_EVENT_FD FD of UVERBS_OBJECT_ASYNC_EVENT, READ
	// 0x1000 UVERBS_ATTR_UHW_IN PTR_IN, 0 bytes or more
	// 0x1001 UVERBS_ATTR_UHW_OUT PTR_OUT, 0 bytes or more
	// 0x1002 MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX PTR_IN u32, 4 bytes
}

// Which way does each attribute of CQ CREATE go, and how long is it? A handle of
// a new object comes back in the attribute itself.
func Example_cqCreate() {
	_, m := spec.FindMethod(spec.Core(), spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE)
	for _, a := range m.Attrs {
		direction, size := "in", "0 bytes, the handle is the data"
		if a.Type == spec.TypePtrOut || a.IsObject() && a.Access == spec.AccessNew {
			direction = "out"
		}
		switch {
		case a.Type == spec.TypeFD:
			size = "0 bytes, the descriptor is the data"
		case a.Type == spec.TypeIDR:
		case a.Len == spec.MaxLen:
			size = fmt.Sprintf("%d bytes or more", a.MinLen)
		case a.MinLen < a.Len:
			size = fmt.Sprintf("%d to %d bytes", a.MinLen, a.Len)
		default:
			size = fmt.Sprintf("%d bytes", a.Len)
		}
		fmt.Printf("%-3s  %-34s  %s\n", direction, a.Name, size)
	}
	// Output:
	// out  UVERBS_ATTR_CREATE_CQ_HANDLE        0 bytes, the handle is the data
	// in   UVERBS_ATTR_CREATE_CQ_CQE           4 bytes
	// in   UVERBS_ATTR_CREATE_CQ_USER_HANDLE   8 bytes
	// in   UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL  0 bytes, the descriptor is the data
	// in   UVERBS_ATTR_CREATE_CQ_COMP_VECTOR   4 bytes
	// in   UVERBS_ATTR_CREATE_CQ_FLAGS         4 to 8 bytes
	// out  UVERBS_ATTR_CREATE_CQ_RESP_CQE      4 bytes
	// in   UVERBS_ATTR_CREATE_CQ_EVENT_FD      0 bytes, the descriptor is the data
	// in   UVERBS_ATTR_UHW_IN                  0 bytes or more
	// out  UVERBS_ATTR_UHW_OUT                 0 bytes or more
}

// Where is what a proxy has to look after in an mlx5 CQ's creation?
func ExampleMeaningOf() {
	part := spec.UdataOfMethod(spec.RDMA_DRIVER_MLX5, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE)
	for _, name := range part.In {
		members, _ := spec.Linux6_12.Layout(name)
		for _, m := range members {
			if is, _ := spec.MeaningOf(name, m.Name); is.Role != spec.RolePlain {
				fmt.Println(name, m.Name, "at", m.Offset, "is a", is.Role)
			}
		}
	}
	// Output:
	// struct mlx5_ib_create_cq buf_addr at 0 is a user_address
	// struct mlx5_ib_create_cq db_addr at 8 is a user_address
}

// Where in the API's tree does an attribute live?
func ExampleFormatKey() {
	key := spec.KeyObj(spec.UVERBS_OBJECT_CQ) |
		spec.KeyIoctlMethod(spec.UVERBS_METHOD_CQ_CREATE) |
		spec.KeyAttr(spec.UVERBS_ATTR_UHW_IN)
	fmt.Printf("%#x: %s\n", key, spec.FormatKey(key))
	// Output: 0x1842: obj 3 method 0 attr 0x1000
}

// What are the names of a flags word?
func ExampleEnumerators() {
	for _, e := range spec.Enumerators("enum ib_uverbs_ex_create_cq_flags") {
		fmt.Printf("%d %s\n", e.Value, e.Name)
	}
	// Output:
	// 1 IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION
	// 2 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN
}
