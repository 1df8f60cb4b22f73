package libmlx5_test

import (
	"fmt"
	"log"

	"uverbsim/drivers/mlx5"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// A first program: boot a machine with an mlx5 device, open it, and create a
// completion queue.
func Example() {
	machine := kernel.NewMachine(methods.Core())
	if _, err := mlx5.New(machine, mlx5.Config{}); err != nil {
		log.Fatal(err)
	}
	proc := machine.NewProcess(process.Options{})
	ctx, err := libmlx5.OpenDevice(proc, "/dev/infiniband/uverbs0")
	if err != nil {
		log.Fatal(err)
	}
	cq, err := ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 200}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cq.CQE)
	// Output: 255
}
