package seccomp

// System calls of x86_64 by the names in
// arch/x86/entry/syscalls/syscall_64.tbl. A notification's Nr is one of these
// on whatever architecture this package is compiled.
const (
	NrWrite      = 1
	NrOpen       = 2
	NrStat       = 4
	NrFstat      = 5
	NrLstat      = 6
	NrMmap       = 9
	NrMunmap     = 11
	NrIoctl      = 16
	NrAccess     = 21
	NrMremap     = 25
	NrSocket     = 41
	NrExecve     = 59
	NrReadlink   = 89
	NrGetxattr   = 191
	NrLgetxattr  = 192
	NrListxattr  = 194
	NrLlistxattr = 195
	NrOpenat     = 257
	NrNewfstatat = 262
	NrReadlinkat = 267
	NrFaccessat  = 269
	NrSeccomp    = 317
	NrExecveat   = 322
	NrStatx      = 332
	NrOpenat2    = 437
	NrFaccessat2 = 439
)

// x32SyscallBit is __X32_SYSCALL_BIT, in arch/x86/include/uapi/asm/unistd.h: it
// marks the number of an x32 system call.
const x32SyscallBit = 0x40000000
