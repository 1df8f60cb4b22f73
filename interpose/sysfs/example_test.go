package sysfs_test

import (
	"fmt"
	"os"

	"uverbsim/drivers/mlx5"
	"uverbsim/interpose/sysfs"
	"uverbsim/kernel"
	"uverbsim/methods"
)

// A machine's twin, and what a program finds in it.
func ExampleWrite() {
	m := kernel.NewMachine(methods.Core())
	if _, err := mlx5.New(m, mlx5.Config{}); err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "twin.")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	tree, err := sysfs.Write(dir, m, sysfs.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range []string{
		"/sys/class/infiniband/mlx5_0/device/modalias", "/sys/class/infiniband/mlx5_0/ports/1/rate",
		"/dev/infiniband/uverbs0", "/etc/passwd",
	} {
		e, ok := tree.Resolve(path)
		switch {
		case !ok:
			fmt.Println(path, "is the real machine's")
		case e.Kind == sysfs.DeviceNode:
			fmt.Printf("%s is device %d:%d\n", path, e.Major, e.Minor)
		default:
			text, _ := os.ReadFile(e.Twin)
			fmt.Printf("%s", text)
		}
	}
	// Output:
	// pci:v000015B3d0000101Dsv000015B3sd00000016bc02sc00i00
	// 200 Gb/sec (4X HDR)
	// /dev/infiniband/uverbs0 is device 231:192
	// /etc/passwd is the real machine's
}
