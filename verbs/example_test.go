package verbs_test

import (
	"fmt"

	"uverbsim/drivers/rxe"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// A program opens a device by the library of its driver, which makes the context as
// that driver wants it: rxe needs nothing of its own. (libmlx5.OpenDevice is that for
// mlx5.) It asks for the state of a port, and makes and frees a protection domain.
func ExampleOpenDevice() {
	ctx, err := openRxe()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ctx.Uninit()

	port, err := ctx.QueryPort(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("active:", port.LegacyResp.State == 4) // IB_PORT_ACTIVE
	_, err = ctx.QueryPort(2)
	fmt.Println(err)

	pd, err := ctx.CmdAllocPD(verbs.UHW{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pd.Dealloc())
	fmt.Println(pd.Dealloc())
	// Output:
	// active: true
	// EINVAL (port/invalid): The device has no port of that number.
	// <nil>
	// ENOENT (object/not-found): No live object of this open file has that handle.
}

// A command is built attribute by attribute in the program's memory. The kernel
// refuses a mandatory attribute that it does not know, and passes over an optional
// one, so that a library can ask an older kernel for what only newer ones have.
func ExampleContext_ExecuteIoctl() {
	ctx, err := openRxe()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ctx.Uninit()
	const unknown = 40

	queryPort := func(optional bool) {
		f := ctx.Frame()
		defer f.Leave()
		var resp spec.QueryPortRespEx
		cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT, 3, nil)
		cmd.FillAttrConstIn(spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1)
		verbs.FillAttrOutPtr(cmd, spec.UVERBS_ATTR_QUERY_PORT_RESP, &resp)
		attr := cmd.FillAttrInUint32(unknown, 0)
		if optional {
			verbs.AttrOptional(attr)
		}
		err := ctx.ExecuteIoctl(cmd)
		fmt.Println("state", resp.LegacyResp.State, err)
	}
	queryPort(false)
	queryPort(true)
	// Output:
	// state 0 EPROTONOSUPPORT (attr/unknown-mandatory): The method does not know an attribute that the user marked as mandatory.
	// state 4 <nil>
}

// openRxe opens the device of a machine with an rxe device.
func openRxe() (*verbs.Context, error) {
	m := kernel.NewMachine(methods.Core())
	if _, err := m.Register(rxe.New(rxe.Config{})); err != nil {
		return nil, err
	}
	p := m.NewProcess(process.Options{})
	return verbs.OpenDevice(p, "/dev/infiniband/uverbs0", spec.RDMA_DRIVER_RXE, func(c *verbs.Context) error {
		return c.CmdGetContext(verbs.UHW{})
	})
}
