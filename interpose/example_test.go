package interpose_test

import (
	"fmt"
	"os"

	"uverbsim/drivers/mlx5"
	"uverbsim/interpose"
	"uverbsim/interpose/seccomp"
	"uverbsim/interpose/watch"
	"uverbsim/kernel"
	"uverbsim/methods"
)

// printOpens prints each device that a program opens.
type printOpens struct{}

func (printOpens) Enter(*watch.Call) {}
func (printOpens) Leave(c *watch.Call) {
	if c.Name == "open" {
		fmt.Println("opened", c.Path, c.Err)
	}
}

// A program that knows nothing of the simulation runs on a machine with a device:
// it finds the device in /sys, and opens it.
func ExampleSupervisor_Run() {
	m := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(m, mlx5.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := interpose.New(interpose.Config{
		Machine:  m,
		Adapters: []interpose.Adapter{dev}, // the engine keeps it going
		Watch:    printOpens{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		return
	}
	status, err := s.Run(seccomp.Spec{
		Command: []string{exe, launchArg}, // its main calls seccomp.Main when it finds launchArg
		Prog:    []string{"sh", "-c", "cat /sys/class/infiniband/mlx5_0/ports/1/state; exec 3</dev/infiniband/uverbs0"},
		Options: seccomp.Defaults(),
		Stdout:  os.Stdout,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("status", status.ExitStatus())
	fmt.Println(s.Close()) // says what the programs have left in the machine
	// Output:
	// 4: ACTIVE
	// opened /dev/infiniband/uverbs0 <nil>
	// status 0
	// <nil>
}
