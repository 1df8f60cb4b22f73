package strace_test

import (
	"fmt"
	"log"
	"os"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/report/strace"
	"uverbsim/spec"
)

// A watcher is told of each call before and after it. Here the call destroys a
// protection domain.
func Example() {
	argument := spec.EncodeMethod(spec.RDMA_DRIVER_MLX5, spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY,
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_DESTROY_PD_HANDLE, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: 1})

	s := strace.New(os.Stdout, strace.Options{})
	call := &watch.Call{
		PID: 7, TID: 7, Name: "ioctl", FD: 3, Path: "/dev/infiniband/uverbs0",
		Cmd: spec.RDMA_VERBS_IOCTL, Arg: 0x1000, Mem: copyuser.NewBytes(0x1000, argument),
	}
	s.Enter(call)
	// Here the kernel does what the call asks for.
	s.Leave(call)
	if err := s.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(call.Ioctl.Method.Name)
	// Output:
	// ioctl(3</dev/infiniband/uverbs0>, RDMA_VERBS_IOCTL, {object_id=UVERBS_OBJECT_PD, method_id=UVERBS_METHOD_PD_DESTROY, driver_id=RDMA_DRIVER_MLX5, num_attrs=1, attrs=[{UVERBS_ATTR_DESTROY_PD_HANDLE, IDR 1}]}) = 0
	// UVERBS_METHOD_PD_DESTROY
}
