package mlx5_test

import (
	"fmt"
	"syscall"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
)

// A machine with one adapter, which a process opens.
func ExampleNew() {
	m := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(m, mlx5.Config{Name: "mlx5_0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := m.NewProcess(process.Options{})
	fd, err := p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(dev.IB.Name, "has", dev.IB.NumCompVectors, "completion vector")
	fmt.Println("events wait:", dev.Step(nil))
	fmt.Println(p.Close(fd), dev.Remove(p.MainTask()))
	// Output:
	// mlx5_0 has 1 completion vector
	// events wait: false
	// <nil> <nil>
}

// An adapter that lacks something of the recorded one.
func ExampleNew_profile() {
	profile, err := hw.Recorded.With(map[string]uint64{"xrc": 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = mlx5.New(kernel.NewMachine(methods.Core()), mlx5.Config{Profile: profile})
	fmt.Println(err)
	// Output: mlx5: mlx5_0: allocate the driver's resources: the adapter has no XRC (capability xrc)
}
