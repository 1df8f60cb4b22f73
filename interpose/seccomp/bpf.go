package seccomp

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/sys/unix"
)

// Word is a 32-bit word of struct seccomp_data, include/uapi/linux/seccomp.h: its
// offset.
type Word uint32

const (
	wordNr   Word = 0
	wordArch Word = 4
	wordArgs Word = 16
)

// Low and High are the halves of an argument, as a little-endian machine lays
// them out.
func Low(arg int) Word  { return wordArgs + Word(8*arg) }
func High(arg int) Word { return wordArgs + Word(8*arg+4) }

// Relation is how a Condition compares a word with its value.
type Relation int

// A word is equal to the value, at least it, or at most it.
const (
	Equal Relation = iota
	AtLeast
	AtMost
)

// Condition asks of a word of a system call, of which it looks at the bits of Mask,
// how it compares with Value. A Mask of 0 is all bits.
type Condition struct {
	Word     Word
	Mask     uint32
	Relation Relation
	Value    uint32
}

// Rule gives an action to some system calls, by their numbers, if all conditions
// hold.
type Rule struct {
	Calls  []uint32
	If     []Condition
	Action uint32 // SECCOMP_RET_…
}

const (
	allow  = unix.SECCOMP_RET_ALLOW
	notify = unix.SECCOMP_RET_USER_NOTIF
)

// refuse is the action that answers a call with an error, and tells nobody.
func refuse(errno unix.Errno) uint32 {
	return unix.SECCOMP_RET_ERRNO | uint32(errno)&unix.SECCOMP_RET_DATA
}

func load(w Word) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(w)}
}

func mask(k uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: k}
}

// jump compares the accumulator by op with k and skips jt instructions when
// that holds, jf when not.
func jump(op uint16, k uint32, jt, jf int) unix.SockFilter {
	if far := max(jt, jf); far > math.MaxUint8 {
		panic(fmt.Sprintf("seccomp: a rule has a jump over %d instructions, but 255 is the most", far))
	}
	return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: uint8(jt), Jf: uint8(jf), K: k}
}

func ret(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

// Compile makes the program that gives each system call of x86_64 the action of the
// first rule that takes it, and allows all others. It panics if a rule has more than
// 256 calls, or more conditions than make 255 instructions (84 always do).
//
// Each rule is a block that is entered with the system call's number in the
// accumulator, and ends by skipping the block when the number is none of its
// own; no jump leaves a block but to the next.
//
// The number and architecture are looked at with nothing but loads, jumps and
// returns: the kernel then finds out, once, which calls are allowed whatever
// their arguments, and does not run the program for those.
func Compile(rules []Rule) []unix.SockFilter {
	prog := []unix.SockFilter{
		load(wordArch),
		jump(unix.BPF_JEQ, unix.AUDIT_ARCH_X86_64, 1, 0),
		ret(allow),
		load(wordNr),
		jump(unix.BPF_JSET, x32SyscallBit, 0, 1),
		ret(allow),
	}
	for _, r := range rules {
		if len(r.Calls) == 0 {
			continue
		}
		body := r.body()
		last := len(r.Calls) - 1
		for i, nr := range r.Calls[:last] {
			prog = append(prog, jump(unix.BPF_JEQ, nr, last-i, 0))
		}
		prog = append(prog, jump(unix.BPF_JEQ, r.Calls[last], 0, len(body)))
		prog = append(prog, body...)
	}
	return append(prog, ret(allow))
}

// body is the conditions of a rule and what they decide.
func (r Rule) body() []unix.SockFilter {
	if len(r.If) == 0 {
		return []unix.SockFilter{ret(r.Action)}
	}
	// It is made from its end, where the distance to the last instruction is
	// known, which makes the accumulator as the next rule wants it.
	end := []unix.SockFilter{ret(r.Action), load(wordNr)}
	for _, c := range slices.Backward(r.If) {
		fail := len(end) - 1
		step := []unix.SockFilter{load(c.Word)}
		if c.Mask != 0 {
			step = append(step, mask(c.Mask))
		}
		switch c.Relation {
		case Equal:
			step = append(step, jump(unix.BPF_JEQ, c.Value, 0, fail))
		case AtLeast:
			step = append(step, jump(unix.BPF_JGE, c.Value, 0, fail))
		case AtMost:
			step = append(step, jump(unix.BPF_JGT, c.Value, fail, 0))
		}
		end = append(step, end...)
	}
	return end
}
