// Package guest runs a program on a real kernel: it boots a Debian kernel in
// QEMU, without KVM and without a network, makes a soft RoCE device there and
// brings back what the program wrote.
//
// What it takes are Debian packages: qemu-system-x86, and xz-utils and dpkg to
// unpack the kernel's, which apt-get fetches when it is not in the cache.
//
// The guest's first process is a Go program, too. A program that calls
// ServeInit before anything else can be that; it has to be linked statically.
// The device is always the same: rxe0 on the network device dummy0, with the
// addresses of DeviceMAC and DeviceAddr.
package guest
