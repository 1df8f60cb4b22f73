package rule

import "syscall"

// ENOIOCTLCMD is what a driver's ioctl returns for a command that it does not
// know. It never leaves the kernel: the VFS turns it into ENOTTY.
const ENOIOCTLCMD = syscall.Errno(515)

// errnoNames has the names of the errnos that the model can return, and of EXFULL,
// which it does not: what a test makes an operation return is told by it.
var errnoNames = map[syscall.Errno]string{
	syscall.EPERM: "EPERM", syscall.ENOENT: "ENOENT", syscall.EINTR: "EINTR", syscall.EIO: "EIO",
	syscall.ENXIO: "ENXIO", syscall.EBADF: "EBADF", syscall.EAGAIN: "EAGAIN", syscall.ENOMEM: "ENOMEM",
	syscall.EACCES: "EACCES", syscall.EFAULT: "EFAULT", syscall.EBUSY: "EBUSY", syscall.EEXIST: "EEXIST",
	syscall.ENODEV: "ENODEV", syscall.EINVAL: "EINVAL", syscall.EMFILE: "EMFILE", syscall.ENOTTY: "ENOTTY",
	syscall.ENOSPC: "ENOSPC", syscall.ESPIPE: "ESPIPE", syscall.ERANGE: "ERANGE", syscall.ENOSYS: "ENOSYS",
	syscall.ENOMSG: "ENOMSG", syscall.ENODATA: "ENODATA", syscall.EOVERFLOW: "EOVERFLOW",
	syscall.EOPNOTSUPP: "EOPNOTSUPP", syscall.EPROTONOSUPPORT: "EPROTONOSUPPORT",
	syscall.EREMOTEIO: "EREMOTEIO", syscall.ETIMEDOUT: "ETIMEDOUT", syscall.ECANCELED: "ECANCELED",
	syscall.E2BIG: "E2BIG", syscall.EDOM: "EDOM", syscall.ENOBUFS: "ENOBUFS",
	syscall.ENOLINK: "ENOLINK", syscall.ENETUNREACH: "ENETUNREACH", syscall.EXFULL: "EXFULL", ENOIOCTLCMD: "ENOIOCTLCMD",
}

// ErrnoName returns the kernel's name of an errno, "" for 0.
func ErrnoName(e syscall.Errno) string {
	if e == 0 {
		return ""
	}
	if n, ok := errnoNames[e]; ok {
		return n
	}
	return e.Error()
}
