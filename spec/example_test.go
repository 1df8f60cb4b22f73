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
