package strace

import "syscall"

// flag is a bit of a system call's argument.
type flag struct {
	bit  uint64
	name string
}

var accessModes = map[int]string{syscall.O_RDONLY: "O_RDONLY", syscall.O_WRONLY: "O_WRONLY", syscall.O_RDWR: "O_RDWR", syscall.O_ACCMODE: "O_ACCMODE"}

var openFlags = []flag{
	{syscall.O_CREAT, "O_CREAT"}, {syscall.O_EXCL, "O_EXCL"}, {syscall.O_NOCTTY, "O_NOCTTY"}, {syscall.O_TRUNC, "O_TRUNC"},
	{syscall.O_APPEND, "O_APPEND"}, {syscall.O_NONBLOCK, "O_NONBLOCK"}, {syscall.O_DIRECT, "O_DIRECT"}, {0o100000, "O_LARGEFILE"},
	{syscall.O_DIRECTORY, "O_DIRECTORY"}, {syscall.O_NOFOLLOW, "O_NOFOLLOW"}, {syscall.O_CLOEXEC, "O_CLOEXEC"},
}

var protections = []flag{{syscall.PROT_READ, "PROT_READ"}, {syscall.PROT_WRITE, "PROT_WRITE"}, {syscall.PROT_EXEC, "PROT_EXEC"}}

// mapType is MAP_TYPE, include/uapi/asm-generic/mman-common.h.
const mapType = 0xf

var mapTypes = map[int]string{syscall.MAP_SHARED: "MAP_SHARED", syscall.MAP_PRIVATE: "MAP_PRIVATE", syscall.MAP_SHARED | syscall.MAP_PRIVATE: "MAP_SHARED_VALIDATE"}

var mapFlags = []flag{
	{syscall.MAP_FIXED, "MAP_FIXED"}, {syscall.MAP_ANONYMOUS, "MAP_ANONYMOUS"}, {syscall.MAP_LOCKED, "MAP_LOCKED"},
	{syscall.MAP_NORESERVE, "MAP_NORESERVE"}, {syscall.MAP_POPULATE, "MAP_POPULATE"}, {0x100000, "MAP_FIXED_NOREPLACE"},
}

// set writes first, if there is any, and the names of bits.
func (p *printer) set(first string, names []flag, bits uint64) {
	wrote := first != ""
	p.text(first)
	for _, f := range names {
		if bits&f.bit == f.bit {
			p.or(&wrote)
			p.text(f.name)
			bits &^= f.bit
		}
	}
	if bits != 0 || !wrote {
		p.or(&wrote)
		p.hex(bits)
	}
}

func (p *printer) or(wrote *bool) {
	if *wrote {
		p.text("|")
	}
	*wrote = true
}
