package seccomp

import "golang.org/x/sys/unix"

// Offsets in struct seccomp_data, include/uapi/linux/seccomp.h.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// low and high are the offsets of an argument's halves, as a little-endian
// machine lays them out.
func low(arg uint32) uint32  { return offArgs + 8*arg }
func high(arg uint32) uint32 { return offArgs + 8*arg + 4 }

// relation is how a test compares a masked word with its value.
type relation int

const (
	equal relation = iota
	atLeast
	atMost
)

// all is the mask that leaves a word as it is.
const all = ^uint32(0)

// test is a condition on one 32-bit word of struct seccomp_data: word & mask
// compared with value.
type test struct {
	word  uint32
	mask  uint32
	rel   relation
	value uint32
}

// rule gives action to the system calls of nrs for which all tests hold, and
// leaves them to the rules behind it when one does not.
type rule struct {
	nrs    []uint32
	tests  []test
	action uint32
}

const (
	allow  = unix.SECCOMP_RET_ALLOW
	notify = unix.SECCOMP_RET_USER_NOTIF
)

// refuse is the action that answers a call with an error, and tells nobody.
func refuse(errno unix.Errno) uint32 {
	return unix.SECCOMP_RET_ERRNO | uint32(errno)&unix.SECCOMP_RET_DATA
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func mask(k uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: k}
}

// jump compares the accumulator by op with k and skips jt instructions when
// that holds, jf when not.
func jump(op uint16, k uint32, jt, jf int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: uint8(jt), Jf: uint8(jf), K: k}
}

func ret(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

// compile makes a program of the table. Each rule is a block that is entered
// with the system call's number in the accumulator, and ends by skipping the
// block when the number is none of its own; no jump leaves a block but to the
// next, so that all stay within the 255 instructions that a jump can skip.
//
// The number and architecture are looked at with nothing but loads, jumps and
// returns: the kernel then finds out, once, which calls are allowed whatever
// their arguments, and does not run the program for those.
func compile(table []rule) []unix.SockFilter {
	prog := []unix.SockFilter{
		load(offArch),
		jump(unix.BPF_JEQ, unix.AUDIT_ARCH_X86_64, 1, 0),
		ret(allow),
		load(offNr),
		jump(unix.BPF_JSET, x32SyscallBit, 0, 1),
		ret(allow),
	}
	for _, r := range table {
		body := r.body()
		for i, nr := range r.nrs {
			left := len(r.nrs) - 1 - i
			if left > 0 {
				prog = append(prog, jump(unix.BPF_JEQ, nr, left, 0))
			} else {
				prog = append(prog, jump(unix.BPF_JEQ, nr, 0, len(body)))
			}
		}
		prog = append(prog, body...)
	}
	return append(prog, ret(allow))
}

// body is the tests of a rule and what they decide.
func (r rule) body() []unix.SockFilter {
	if len(r.tests) == 0 {
		return []unix.SockFilter{ret(r.action)}
	}
	// It is made from its end, where the distance to the last instruction is
	// known, which makes the accumulator as the next rule wants it.
	end := []unix.SockFilter{ret(r.action), load(offNr)}
	for i := len(r.tests) - 1; i >= 0; i-- {
		t := r.tests[i]
		fail := len(end) - 1
		step := []unix.SockFilter{load(t.word)}
		if t.mask != all {
			step = append(step, mask(t.mask))
		}
		switch t.rel {
		case equal:
			step = append(step, jump(unix.BPF_JEQ, t.value, 0, fail))
		case atLeast:
			step = append(step, jump(unix.BPF_JGE, t.value, 0, fail))
		case atMost:
			step = append(step, jump(unix.BPF_JGT, t.value, fail, 0))
		}
		end = append(step, end...)
	}
	return end
}
