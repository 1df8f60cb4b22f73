// Package verbs is the user's side of uverbs: the command buffer of libibverbs
// and the calls that a program makes of it, against the system calls of a
// process. It models rdma-core 44:
//
//   - libibverbs/cmd_ioctl.h and cmd_ioctl.c: the command buffer, a chain of
//     blocks of attributes that becomes one ioctl (command_buffer.go,
//     fill_attr.go, execute_ioctl.go);
//   - libibverbs/cmd_write.h and cmd_fallback.c: what becomes of a command when
//     the kernel has no such method, and commands that have none
//     (fallback.go, cmd_write.go, uhw.go);
//   - libibverbs/cmd.c, cmd_*.c and the calls of verbs.c and device.c around
//     them: a file cmd_*.go for each kind of object, device.go, comp_channel.go
//     and async_event.go;
//   - the enums of libibverbs/verbs.h that programs use (enum.go).
//
// What a driver's library adds is in a package of its own: libmlx5 is that of
// mlx5. A program opens a device there.
//
// A program's memory is the memory of the process that it runs in: everything
// that the kernel or a device reads or writes lies at addresses of that process
// ([System]). Variables of the library that only the library sees are Go's.
//
// Errors that a system call returned are handed on as they are: with the
// modelled kernel, errors.As finds the rule that refused the call. An errno of
// the library's own wraps a syscall.Errno.
//
// Left out are flows, counters, work queues and indirection tables, thread and
// parent domains, tag matching, what is read from sysfs (P_Keys, and GIDs of
// kernels without the ioctl), the search for devices in sysfs and by netlink,
// fork support, and imported contexts.
package verbs
