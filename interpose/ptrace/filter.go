package ptrace

import "golang.org/x/sys/unix"

// condition is what the filter asks of an argument: one of some values, of the
// bits of mask in its lower half.
type condition struct {
	arg    int
	mask   uint32 // 0: all bits
	values []uint32
}

// fcntlCopies are fcntl's commands that copy a descriptor.
var fcntlCopies = []uint32{unix.F_DUPFD, unix.F_DUPFD_CLOEXEC}

// sharedFile is what the flags of an mmap are that shares a file's pages.
// MAP_SHARED is a bit of MAP_SHARED_VALIDATE, too.
const sharedFile = unix.MAP_SHARED

// traced are the system calls at which a program stops.
var traced = []struct {
	nr        uint32
	condition *condition
	transfer  bool // only with Options.Transfers
}{
	{nr: unix.SYS_READ, transfer: true},
	{nr: unix.SYS_WRITE, transfer: true},
	{nr: unix.SYS_IOCTL, condition: &condition{arg: 1, values: []uint32{verbsIoctl}}},
	{nr: unix.SYS_MMAP, condition: &condition{arg: 3, mask: unix.MAP_SHARED | unix.MAP_ANONYMOUS, values: []uint32{sharedFile}}},
	{nr: unix.SYS_FCNTL, condition: &condition{arg: 1, values: fcntlCopies}},
	{nr: unix.SYS_OPENAT},
	{nr: unix.SYS_CLOSE},
	{nr: unix.SYS_OPEN},
	{nr: unix.SYS_OPENAT2},
	{nr: unix.SYS_DUP},
	{nr: unix.SYS_DUP2},
	{nr: unix.SYS_DUP3},
	{nr: unix.SYS_CLOSE_RANGE},
}

// Where things lie in struct seccomp_data (include/uapi/linux/seccomp.h): the
// lower halves of the arguments, of which each has 8 bytes.
const (
	dataNr   = 0
	dataArch = 4
	dataArgs = 16
	argSize  = 8
)

// filter is the program that decides, of each system call, whether it stops.
func filter(transfers bool) []unix.SockFilter {
	load := func(at int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(at)}
	}
	equal := func(v uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: uint8(yes), Jf: uint8(no), K: v}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	prog := []unix.SockFilter{
		load(dataArch), equal(unix.AUDIT_ARCH_X86_64, 1, 0), end(unix.SECCOMP_RET_ALLOW),
		load(dataNr),
	}
	for _, s := range traced {
		if s.transfer && !transfers {
			continue
		}
		var body []unix.SockFilter
		if c := s.condition; c != nil {
			body = append(body, load(dataArgs+argSize*c.arg))
			if c.mask != 0 {
				body = append(body, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: c.mask})
			}
			for i, v := range c.values {
				body = append(body, equal(v, len(c.values)-i, 0))
			}
			body = append(body, end(unix.SECCOMP_RET_ALLOW))
		}
		body = append(body, end(unix.SECCOMP_RET_TRACE))
		prog = append(prog, equal(s.nr, 0, len(body)))
		prog = append(prog, body...)
	}
	return append(prog, end(unix.SECCOMP_RET_ALLOW))
}
