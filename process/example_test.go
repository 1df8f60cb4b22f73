package process_test

import (
	"errors"
	"fmt"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/process"
)

// A driver is a FileOps; a process reaches it by a path, a descriptor, and a
// buffer in its memory.
func ExampleNew() {
	ops := &process.FileOps{
		Write: func(t *process.Task, f *process.File, buf copyuser.Addr, n uint64) (int64, error) {
			word := make([]byte, n)
			if !copyuser.CopyFromUser(t.Trace, t.Mem, word, buf) {
				return 0, syscall.EFAULT
			}
			fmt.Printf("the driver got %q\n", word)
			return int64(n), nil
		},
		Release: func(*process.Task, *process.File) { fmt.Println("released") },
	}
	p := process.New(vfs(func(t *process.Task, path string, flags int) (*process.File, error) {
		return process.NewFile(t, ops, nil, flags)
	}), process.Options{})

	fd, err := p.Open("/dev/example", syscall.O_RDWR)
	if err != nil {
		fmt.Println(err)
		return
	}
	buf, err := p.Mmap(-1, copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Mem.Store(buf, []byte("hello"))

	fmt.Println(p.Write(fd, buf, 5))
	_, err = p.Write(fd, buf+copyuser.PageSize, 5)
	fmt.Println(errors.Is(err, syscall.EFAULT))
	_, err = p.Ioctl(fd, 1, 0)
	fmt.Println(errors.Is(err, syscall.ENOTTY))
	fmt.Println(p.Close(fd))
	// Output:
	// the driver got "hello"
	// 5 <nil>
	// true
	// true
	// released
	// <nil>
}

// Every change makes new credentials, so that an open file can tell whether its
// opener is still the same.
func ExampleProcess_Setuid() {
	p := process.New(nil, process.Options{})
	f, err := process.NewAnonFile(p.MainTask(), &process.FileOps{}, nil, syscall.O_RDWR)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Cred == p.Cred())
	fmt.Println(p.Setuid(0), f.Cred == p.Cred())
	fmt.Println(p.Setuid(1000), p.Capable(process.CAP_NET_RAW))
	// Output:
	// true
	// <nil> false
	// <nil> false
}

// A control group limits what its processes make on a device.
func ExampleCgroup() {
	p := process.New(nil, process.Options{})
	group := process.NewCgroup(p.Cgroup())
	if err := group.SetMax("mlx5_0", "hca_object=1"); err != nil {
		fmt.Println(err)
		return
	}
	p.SetCgroup(group)

	task := p.MainTask()
	charge, err := p.Cgroup().TryCharge(task, "mlx5_0", process.RDMACG_RESOURCE_HCA_OBJECT)
	fmt.Println(err)
	_, err = p.Cgroup().TryCharge(task, "mlx5_0", process.RDMACG_RESOURCE_HCA_OBJECT)
	fmt.Println(errors.Is(err, syscall.EAGAIN))
	fmt.Printf("%q\n", group.Current("mlx5_0"))
	charge.Uncharge(task)
	fmt.Printf("%q\n", group.Current("mlx5_0"))
	// Output:
	// <nil>
	// true
	// "hca_handle=0 hca_object=1 "
	// "hca_handle=0 hca_object=0 "
}
