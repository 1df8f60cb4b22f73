// Package strace prints the calls of a client on device files and event files
// as strace(1) would if it knew uverbs: methods and attributes by name, buffers
// as structs, and, where the model refused a call, the rule that did.
//
//	ioctl(3</dev/infiniband/uverbs0>, RDMA_VERBS_IOCTL, {object_id=UVERBS_OBJECT_PD,
//	method_id=UVERBS_METHOD_PD_DESTROY, driver_id=RDMA_DRIVER_MLX5, num_attrs=1,
//	attrs=[{UVERBS_ATTR_DESTROY_PD_HANDLE, IDR 1}]}) = 0 <0.000012>
//
// A call is one line, written when it ends. In an attribute "=>" stands before
// what the kernel handed out; an output that it did not write is shown as room
// at an address.
//
// [New] makes the watcher (see package watch). What is printed, package decode
// finds out; here it is written, as text or as JSON.
package strace
