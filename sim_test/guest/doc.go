// Package guest runs a program on a real kernel: it boots a Debian kernel in
// QEMU, without KVM and without a network, makes an RDMA device there and brings
// back what the program wrote.
//
// The device is one of two. RXE is soft RoCE: rxe0 on the network device dummy0.
// MLX5 is the kernel's own mlx5_core and mlx5_ib, unmodified, with this project's
// device model drivers/mlx5/hw below them: the kernel module of ./bridge shows
// them a PCI function, and the process of ./firmware is the device behind it.
// Either has the node DevicePath and the addresses of DeviceMAC and DeviceAddr.
//
// A kernel that finds a fault in itself makes the run an error. So does an mlx5
// driver that complains of the device while it takes it or leaves it, or that
// leaves an object behind in it.
//
// What it takes are Debian packages: qemu-system-x86, and xz-utils and dpkg to
// unpack the kernel's, which apt-get fetches when it is not in the cache. MLX5
// takes gcc-12 and make besides, for the bridge, which is built against the
// kernel's header packages. FindPrograms brings programs of packages with their
// libraries, as rdma-core's.
//
// The guest's first process is a Go program, too. A program that calls
// ServeInit before anything else can be that; it has to be linked statically.
package guest
