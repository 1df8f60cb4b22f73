package record_test

import (
	"bytes"
	"fmt"
	"os"

	"uverbsim/casefile"
	"uverbsim/drivers/mlx5"
	"uverbsim/interpose/record"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/sim_test/clients/onlooker"
	"uverbsim/verbs/libmlx5"
)

// A Recorder looks on while a program uses a device; what it has written can be
// played.
func Example() {
	file, err := os.CreateTemp("", "cases")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(file.Name())
	recorder, err := record.New(file, record.Options{
		Process: func(int) record.Process { return record.Process{Args: []string{"ibv_devinfo", "-v"}, Caps: 1<<41 - 1} },
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	machine := kernel.NewMachine(methods.Core())
	device, err := mlx5.New(machine, mlx5.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	look := onlooker.Machine{Watcher: recorder, Kernel: machine.Kernel(), Device: device.Uverbs}
	program := look.Watch(machine.NewProcess(process.Options{}))
	context, err := libmlx5.OpenDevice(program, "/dev/infiniband/uverbs0")
	if err != nil {
		fmt.Println(err)
		return
	}
	context.Close()

	if err := recorder.Close(); err != nil {
		fmt.Println(err)
	}
	text, _ := os.ReadFile(file.Name())
	for c, err := range casefile.Read(bytes.NewReader(text), file.Name()) {
		fmt.Println(c.Name, err)
		fmt.Println(c.Why)
		for i := range c.Steps[:4] {
			fmt.Println(c.Steps[i].Op())
		}
	}
	// Output:
	// recorded/ibv_devinfo-1 <nil>
	// a recording of ibv_devinfo -v
	// open
	// ioctl
	// ioctl
	// mmap
}
