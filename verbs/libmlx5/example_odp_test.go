package libmlx5_test

import (
	"errors"
	"fmt"
	"math"
	"syscall"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// All of a program's memory is one region. Nothing is pinned: the device asks for a
// page when it needs it, and what the program maps elsewhere it finds there.
func ExamplePD_RegMR_onDemand() {
	machine := kernel.NewMachine(methods.Core())
	_, err := mlx5.New(machine, mlx5.Config{Profile: hw.ConnectX6Dx})
	check(err)
	proc := machine.NewProcess(process.Options{})
	ctx, err := libmlx5.OpenDevice(proc, "/dev/infiniband/uverbs0")
	check(err)
	pd, err := ctx.AllocPD()
	check(err)
	mr, err := pd.RegMR(0, math.MaxUint64, 0, verbs.IBV_ACCESS_ON_DEMAND|verbs.IBV_ACCESS_LOCAL_WRITE)
	check(err)
	memory, err := verbs.Alloc(proc, 8192)
	check(err)

	prefetch := []verbs.SGE{{Addr: memory, Length: 8192, LKey: mr.LKey}}
	fmt.Println(pd.AdviseMR(verbs.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, verbs.IBV_ADVISE_MR_FLAG_FLUSH, prefetch))
	fmt.Println("pinned pages:", proc.MainTask().Mem.PinnedPages())
	check(proc.Munmap(memory+4096, 4096))
	err = pd.AdviseMR(verbs.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, verbs.IBV_ADVISE_MR_FLAG_FLUSH, prefetch)
	fmt.Println(errors.Is(err, syscall.EFAULT))
	// Output:
	// <nil>
	// pinned pages: 0
	// true
}
