package seccomp

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// evaluate runs a classic BPF program on data, for the instructions that a
// filter of this package may use, and fails the test on any other and on a jump
// out of the program.
func evaluate(t testing.TB, prog []unix.SockFilter, data []byte) uint32 {
	t.Helper()
	var acc uint32
	for pc := 0; ; pc++ {
		require.Less(t, pc, len(prog), "the program runs past its end")
		in := prog[pc]
		taken := false
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			require.Zero(t, in.K%4, "an unaligned load")
			require.LessOrEqual(t, int(in.K)+4, len(data))
			acc = binary.LittleEndian.Uint32(data[in.K:])
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= in.K
			continue
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			taken = acc == in.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			taken = acc >= in.K
		case unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K:
			taken = acc > in.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			taken = acc&in.K != 0
		default:
			require.Failf(t, "instruction", "code %#x at %d", in.Code, pc)
		}
		if taken {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
}

// seccompData lays out struct seccomp_data.
func seccompData(arch, nr uint32, args ...uint64) []byte {
	d := binary.LittleEndian.AppendUint32(nil, nr)
	d = binary.LittleEndian.AppendUint32(d, arch)
	d = binary.LittleEndian.AppendUint64(d, 0x1234567890abcdef)
	for i := range 6 {
		var v uint64
		if i < len(args) {
			v = args[i]
		}
		d = binary.LittleEndian.AppendUint64(d, v)
	}
	return d
}

const (
	retAllow  = 0x7fff0000
	retNotify = 0x7fc00000
	retErrno  = 0x00050000
)

// decide is what rules say of a system call of x86_64.
func decide(rules []Rule, data []byte) uint32 {
	nr := binary.LittleEndian.Uint32(data)
	for _, r := range rules {
		if slices.Contains(r.Calls, nr) && !slices.ContainsFunc(r.If, func(c Condition) bool { return !holds(c, data) }) {
			return r.Action
		}
	}
	return retAllow
}

func holds(c Condition, data []byte) bool {
	word := binary.LittleEndian.Uint32(data[c.Word:])
	if c.Mask != 0 {
		word &= c.Mask
	}
	switch c.Relation {
	case Equal:
		return word == c.Value
	case AtLeast:
		return word >= c.Value
	}
	return word <= c.Value
}

// TestCompile: a program decides as its rules say, whatever those are.
func TestCompile(t *testing.T) {
	const most = 5 // of anything: then all cases are met
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() uint32 { return rng.Uint32N(most) }
	decisions := map[uint32]bool{}
	for range 300 {
		rules := make([]Rule, number())
		for i := range rules {
			r := &rules[i]
			r.Action = retErrno | uint32(i)
			for range number() {
				r.Calls = append(r.Calls, number())
			}
			for range number() {
				word := Low
				if number() == 0 {
					word = High
				}
				c := Condition{Word: word(rng.IntN(6)), Mask: number(), Relation: Relation(rng.IntN(3)), Value: number()}
				if number() == 0 {
					c.Value = 1<<32 - 1
				}
				r.If = append(r.If, c)
			}
		}
		prog := Compile(rules)
		for range 20 {
			args := make([]uint64, 6)
			for i := range args {
				args[i] = uint64(number())<<32 | uint64(number())
			}
			data := seccompData(unix.AUDIT_ARCH_X86_64, number(), args...)
			want := decide(rules, data)
			require.Equal(t, want, evaluate(t, prog, data), "%+v %v", rules, data)
			decisions[want] = true
		}
	}
	require.Len(t, decisions, most, "allowed, and the actions of all rules")
}

// calls are the numbers up to n.
func calls(n uint32) (nrs []uint32) {
	for nr := range n {
		nrs = append(nrs, nr)
	}
	return nrs
}

// asks are conditions that make so many instructions in a rule, of which each holds if
// the argument is 1.
func asks(instructions int) (conditions []Condition) {
	c := Condition{Word: Low(0), Value: 1}
	left := instructions - len(Rule{If: []Condition{c}}.body())
	for ; left%2 != 0; left -= 3 {
		conditions = append(conditions, Condition{Word: Low(0), Mask: 1, Value: 1})
	}
	for range left/2 + 1 {
		conditions = append(conditions, c)
	}
	return conditions
}

// TestFarthestJumps: what 255 instructions are skipped for is done, and a rule for which
// it would have to be more is refused, not made into another one.
func TestFarthestJumps(t *testing.T) {
	const act = retErrno | 7
	behind := Rule{Calls: []uint32{1000}, Action: retErrno | 8}
	of := func(nr uint32, arg uint64) []byte { return seccompData(unix.AUDIT_ARCH_X86_64, nr, arg) }

	many := Compile([]Rule{{Calls: calls(256), Action: act}, behind})
	for _, nr := range []uint32{0, 1, 254, 255} {
		require.EqualValues(t, act, evaluate(t, many, of(nr, 0)), "number %d", nr)
	}
	require.EqualValues(t, retAllow, evaluate(t, many, of(256, 0)))
	require.EqualValues(t, retErrno|8, evaluate(t, many, of(1000, 0)))
	require.Panics(t, func() { Compile([]Rule{{Calls: calls(257), Action: act}}) })

	for _, length := range []int{254, 255} {
		long := Rule{Calls: calls(1), If: asks(length), Action: act}
		require.Len(t, long.body(), length)
		prog := Compile([]Rule{long, behind})
		require.EqualValues(t, act, evaluate(t, prog, of(0, 1)))
		require.EqualValues(t, retAllow, evaluate(t, prog, of(0, 0)), "the first condition leads to the end")
		require.EqualValues(t, retErrno|8, evaluate(t, prog, of(1000, 1)))
	}
	require.Panics(t, func() { Compile([]Rule{{Calls: calls(1), If: asks(256), Action: act}}) })
	require.Panics(t, func() { Compile([]Rule{{Calls: calls(1), If: asks(600), Action: act}}) })
}
