package rule

import "syscall"

// Refusals of what deals with descriptors, fs/file.c.
var (
	FDBad = add(Rule{"fd/bad", syscall.EBADF, "fdget", "fs/file.c",
		"The descriptor is not open.",
		"Use a descriptor that open, dup or a command of the driver returned and that is not closed."})
	FDNoneFree = add(Rule{"fd/none-free", syscall.EMFILE, "alloc_fd", "fs/file.c",
		"All descriptors below the limit RLIMIT_NOFILE are taken.",
		"Close a descriptor, or raise the limit."})
	FDDup3Flags = add(Rule{"fd/dup3-flags", syscall.EINVAL, "ksys_dup3", "fs/file.c",
		"The flags of dup3 have a bit other than O_CLOEXEC.",
		"Use 0 or O_CLOEXEC."})
	FDDup3Same = add(Rule{"fd/dup3-same", syscall.EINVAL, "ksys_dup3", "fs/file.c",
		"The two descriptors of dup3 are the same.",
		"Name another target, or use dup2."})
	FDDupTarget = add(Rule{"fd/dup-target", syscall.EBADF, "ksys_dup3", "fs/file.c",
		"The target descriptor is not below the limit RLIMIT_NOFILE.",
		"Name a lower descriptor, or raise the limit."})
	FDDupBusy = add(Rule{"fd/dup-busy", syscall.EBUSY, "do_dup2", "fs/file.c",
		"The target descriptor is reserved by a call that has yet to install its file.",
		"Wait for that call, or name another target."})
	FDDupfdMin = add(Rule{"fd/dupfd-min", syscall.EINVAL, "f_dupfd", "fs/file.c",
		"The lowest descriptor that F_DUPFD may take is not below the limit RLIMIT_NOFILE.",
		"Name a lower one, or raise the limit."})
)

// FileAlloc is the refusal to make an open file, fs/file_table.c.
var FileAlloc = add(Rule{"file/no-memory", syscall.ENOMEM, "alloc_empty_file", "fs/file_table.c",
	"There is no memory for the open file.",
	"Try again when memory is free."})

// OpenPermission is the refusal to open a file for its mode, fs/namei.c.
var OpenPermission = add(Rule{"open/permission", syscall.EACCES, "generic_permission", "fs/namei.c",
	"The mode of the file does not let this user open it so, and the process lacks CAP_DAC_OVERRIDE.",
	"Open it for less, or change the mode or the user."})

// Refusals of read(2) and write(2) before the file is asked, fs/read_write.c.
var (
	ReadMode = add(Rule{"read/mode", syscall.EBADF, "vfs_read", "fs/read_write.c",
		"The file was not opened for reading.",
		"Open it with O_RDONLY or O_RDWR."})
	ReadNoOperation = add(Rule{"read/no-operation", syscall.EINVAL, "vfs_read", "fs/read_write.c",
		"The file cannot be read.",
		"Read an event file; the device file takes ioctl and write."})
	ReadBuffer = add(Rule{"read/buffer", syscall.EFAULT, "vfs_read", "fs/read_write.c",
		"The buffer reaches out of the user's half of the address space.",
		"Give a buffer of the process."})
	WriteMode = add(Rule{"write/mode", syscall.EBADF, "vfs_write", "fs/read_write.c",
		"The file was not opened for writing.",
		"Open it with O_WRONLY or O_RDWR."})
	WriteNoOperation = add(Rule{"write/no-operation", syscall.EINVAL, "vfs_write", "fs/read_write.c",
		"The file cannot be written.",
		"Write to the device file; event files can only be read."})
	WriteBuffer = add(Rule{"write/buffer", syscall.EFAULT, "vfs_write", "fs/read_write.c",
		"The buffer reaches out of the user's half of the address space.",
		"Give a buffer of the process."})
)

// Interrupted is how a wait ends that a signal comes to, arch/x86/kernel/signal.c.
var Interrupted = add(Rule{"vfs/interrupted", syscall.EINTR, "handle_signal", "arch/x86/kernel/signal.c",
	"A signal came while the call waited.",
	"Make the call again."})

// Refusals of ioctl(2) by the VFS, fs/ioctl.c.
var (
	IoctlNoOperation = add(Rule{"ioctl/no-operation", syscall.ENOTTY, "vfs_ioctl", "fs/ioctl.c",
		"The file takes no ioctl.",
		"Use the device file; event files are read and polled."})
	IoctlUnknown = add(Rule{"ioctl/unknown", syscall.ENOTTY, "vfs_ioctl", "fs/ioctl.c",
		"The driver of the file does not know the command (it answered ENOIOCTLCMD).",
		"Use a command of that driver."})
	IoctlFlag = add(Rule{"ioctl/flag", syscall.EFAULT, "do_vfs_ioctl", "fs/ioctl.c",
		"The flag that FIONBIO or FIOASYNC points to cannot be read.",
		"Give the address of an int."})
	IoctlFioasync = add(Rule{"ioctl/fioasync", syscall.ENOTTY, "ioctl_fioasync", "fs/ioctl.c",
		"The file cannot send SIGIO.",
		"Use poll."})
	IoctlFioqsize = add(Rule{"ioctl/fioqsize", syscall.ENOTTY, "do_vfs_ioctl", "fs/ioctl.c",
		"FIOQSIZE is for regular files, directories and symbolic links.",
		"Do not ask a device for its size."})
)

// MmapOffsetUnaligned is the first check of mmap(2), arch/x86/kernel/sys_x86_64.c.
var MmapOffsetUnaligned = add(Rule{"mmap/offset-unaligned", syscall.EINVAL, "mmap", "arch/x86/kernel/sys_x86_64.c",
	"The offset in the file is no multiple of the page size.",
	"Give an offset that is a multiple of 4096."})

// Refusals to change credentials and limits, kernel/sys.c.
var (
	CredUID = add(Rule{"cred/uid", syscall.EINVAL, "__sys_setuid", "kernel/sys.c",
		"The user id -1 stands for no user.",
		"Give another user id."})
	CredGID = add(Rule{"cred/gid", syscall.EINVAL, "__sys_setgid", "kernel/sys.c",
		"The group id -1 stands for no group.",
		"Give another group id."})
	CredSetuid = add(Rule{"cred/setuid", syscall.EPERM, "__sys_setuid", "kernel/sys.c",
		"The user is neither the real nor the saved one of the process, which lacks CAP_SETUID.",
		"Become a user that the process was, or have CAP_SETUID."})
	CredSetgid = add(Rule{"cred/setgid", syscall.EPERM, "__sys_setgid", "kernel/sys.c",
		"The group is neither the real nor the saved one of the process, which lacks CAP_SETGID.",
		"Enter a group that the process was in, or have CAP_SETGID."})
	RlimitResource = add(Rule{"rlimit/resource", syscall.EINVAL, "do_prlimit", "kernel/sys.c",
		"No limit has that number.",
		"Use RLIMIT_NOFILE or RLIMIT_MEMLOCK."})
	RlimitOrder = add(Rule{"rlimit/order", syscall.EINVAL, "do_prlimit", "kernel/sys.c",
		"The soft limit is higher than the hard limit.",
		"Set a soft limit up to the hard one."})
	RlimitNrOpen = add(Rule{"rlimit/nr-open", syscall.EPERM, "do_prlimit", "kernel/sys.c",
		"The hard limit of descriptors is higher than sysctl fs.nr_open.",
		"Set it to at most 1048576."})
	RlimitRaise = add(Rule{"rlimit/raise", syscall.EPERM, "do_prlimit", "kernel/sys.c",
		"The hard limit would rise, and the process lacks CAP_SYS_RESOURCE.",
		"Leave the hard limit or lower it."})
)

// Refusals of the RDMA control group, kernel/cgroup/rdma.c.
var (
	CgroupExceeded = add(Rule{"cgroup/exceeded", syscall.EAGAIN, "rdmacg_try_charge", "kernel/cgroup/rdma.c",
		"The control group of the process, or one above it, has no more of this resource on this device.",
		"Destroy objects that the group made, or raise its rdma.max."})
	CgroupAlloc = add(Rule{"cgroup/no-memory", syscall.ENOMEM, "get_cg_rpool_locked", "kernel/cgroup/rdma.c",
		"There is no memory for the group's counts of this device.",
		"Try again when memory is free."})
	CgroupSyntax = add(Rule{"cgroup/syntax", syscall.EINVAL, "rdmacg_parse_limits", "kernel/cgroup/rdma.c",
		"A limit is not of the form hca_handle=N or hca_object=N, N a number from 0 or max.",
		"Write words of this form, with one blank between them."})
)
