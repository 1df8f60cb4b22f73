package seccomp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/sim_test/watchdog"
)

var everything = Options{Munmap: true, Write: true, Listener: true}

func TestFilterDecisions(t *testing.T) {
	const high = 1 << 32
	type args = []uint64
	tests := []struct {
		name string
		nr   uint32
		args args
		want uint32
	}{
		{"ioctl uverbs", 16, args{3, 0xc0181b01}, retNotify},
		{"ioctl uverbs, high word of cmd", 16, args{3, 0xc0181b01 | high}, retNotify},
		{"ioctl uverbs, sign extended", 16, args{3, 0xffffffffc0181b01}, retNotify},
		{"ioctl, another command", 16, args{3, 0xc0181b02}, retAllow},
		{"ioctl TCGETS", 16, args{0, 0x5401}, retAllow},
		{"ioctl, uverbs in the descriptor", 16, args{0xc0181b01, 0x5401, 0xc0181b01}, retAllow},

		{"getxattr", 191, args{}, retNotify},
		{"lgetxattr", 192, args{}, retNotify},
		{"fgetxattr", 193, args{}, retAllow},
		{"listxattr", 194, args{}, retNotify},
		{"llistxattr", 195, args{}, retNotify},
		{"mmap shared file", 9, args{0, 4096, 2, 1, 3}, retNotify},
		{"mmap shared validate", 9, args{0, 4096, 2, 3, 3}, retNotify},
		{"mmap shared fixed populate", 9, args{0, 4096, 2, 1 | 0x10 | 0x8000, 3}, retNotify},
		{"mmap shared, high word of flags", 9, args{0, 4096, 2, 1 | high, 3}, retNotify},
		{"mmap private file", 9, args{0, 4096, 1, 2, 3}, retNotify},
		{"mmap of the dynamic linker", 9, args{0, 4096, 1, 0x802, 3}, retAllow},
		{"mmap shared denywrite", 9, args{0, 4096, 1, 0x801, 3}, retNotify},
		{"mmap private anonymous", 9, args{0, 4096, 3, 0x22, ^uint64(0)}, retAllow},
		{"mmap shared anonymous", 9, args{0, 4096, 3, 0x21, ^uint64(0)}, retAllow},
		{"mmap shared validate anonymous", 9, args{0, 4096, 3, 0x23, ^uint64(0)}, retAllow},
		{"mmap no type", 9, args{0, 4096, 3, 0, 3}, retNotify},
		{"mmap type 5", 9, args{0, 4096, 3, 5, 3}, retNotify},
		{"mmap type 9", 9, args{0, 4096, 3, 9, 3}, retNotify},
		{"mmap droppable", 9, args{0, 4096, 3, 8, 3}, retNotify},
		{"mmap, anonymous in prot", 9, args{0x820, 0x820, 0x820, 2, 0x820, 0x820}, retNotify},

		{"munmap a page", 11, args{0x7f0000000000, 4096}, retNotify},
		{"munmap nothing", 11, args{0x7f0000000000, 0}, retNotify},
		{"munmap 1 MiB", 11, args{0x7f0000000000, 1 << 20}, retNotify},
		{"munmap 1 MiB + 1", 11, args{0x7f0000000000, 1<<20 + 1}, retAllow},
		{"munmap 4 GiB", 11, args{0x7f0000000000, high}, retAllow},
		{"munmap 4 GiB and a page", 11, args{0x7f0000000000, high + 4096}, retAllow},
		{"mremap a page", 25, args{0x7f0000000000, 4096, 8192}, retNotify},
		{"mremap 2 MiB", 25, args{0x7f0000000000, 2 << 20, 4096}, retAllow},
		{"mremap 4 GiB", 25, args{0x7f0000000000, high, 4096}, retAllow},

		{"open", 2, nil, retNotify},
		{"openat", 257, nil, retNotify},
		{"openat2", 437, nil, retNotify},
		{"stat", 4, nil, retNotify},
		{"lstat", 6, nil, retNotify},
		{"fstat", 5, nil, retNotify},
		{"newfstatat", 262, nil, retNotify},
		{"statx", 332, nil, retNotify},
		{"access", 21, nil, retNotify},
		{"faccessat", 269, nil, retNotify},
		{"faccessat2", 439, nil, retNotify},
		{"readlink", 89, nil, retNotify},
		{"readlinkat", 267, nil, retNotify},
		{"execve", 59, nil, retNotify},
		{"execveat", 322, nil, retNotify},

		{"socket netlink rdma", 41, args{16, 3, 20}, retErrno | 93},
		{"socket netlink rdma, close on exec", 41, args{16, 3 | 0x80000, 20}, retErrno | 93},
		{"socket netlink rdma, high words", 41, args{16 | high, 3, 20 | high}, retErrno | 93},
		{"socket netlink route", 41, args{16, 3, 0}, retAllow},
		{"socket another family, protocol 20", 41, args{2, 3, 20}, retAllow},

		{"write 8", 1, args{3, 0, 8}, retNotify},
		{"write 16384", 1, args{1000, 0, 16384}, retNotify},
		{"write, high word of fd", 1, args{3 | high, 0, 8}, retNotify},
		{"write to stderr", 1, args{2, 0, 8}, retAllow},
		{"write to stderr, high word of fd", 1, args{2 | high, 0, 8}, retAllow},
		{"write to -1", 1, args{^uint64(0), 0, 8}, retAllow},
		{"write 4", 1, args{3, 0, 4}, retAllow},
		{"write 0", 1, args{3, 0, 0}, retAllow},
		{"write 10", 1, args{3, 0, 10}, retAllow},
		{"write 9", 1, args{3, 0, 9}, retAllow},
		{"write 16388", 1, args{3, 0, 16388}, retAllow},
		{"write 4 GiB + 8", 1, args{3, 0, high + 8}, retAllow},
		{"read", 0, args{3, 0, 8}, retAllow},

		{"seccomp new listener", 317, args{1, 8, 0}, retNotify},
		{"seccomp new listener, other flags", 317, args{1, 8 | 0x20 | 2, 0}, retNotify},
		{"seccomp no listener", 317, args{1, 1, 0}, retAllow},
		{"seccomp another operation", 317, args{2, 8, 0}, retAllow},

		{"the highest number", 0x3fffffff, nil, retAllow},
	}
	prog := Filter(everything)
	const x86_64, i386, aarch64 = 0xc000003e, 0x40000003, 0xc00000b7
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, evaluate(t, prog, seccompData(x86_64, tt.nr, tt.args...)))
			for _, arch := range []uint32{i386, aarch64} {
				require.EqualValues(t, retAllow, evaluate(t, prog, seccompData(arch, tt.nr, tt.args...)), "architecture %#x", arch)
			}
			require.EqualValues(t, retAllow, evaluate(t, prog, seccompData(x86_64, tt.nr|0x40000000, tt.args...)), "x32")
		})
	}
}

// TestFilterOptions: an option adds its own calls and takes nothing away.
func TestFilterOptions(t *testing.T) {
	calls := map[string][]byte{
		"munmap":  seccompData(0xc000003e, 11, 0, 4096),
		"mremap":  seccompData(0xc000003e, 25, 0, 4096, 8192),
		"write":   seccompData(0xc000003e, 1, 3, 0, 8),
		"seccomp": seccompData(0xc000003e, 317, 1, 8),
		"openat":  seccompData(0xc000003e, 257),
	}
	tests := []struct {
		opts     Options
		notified []string
	}{
		{Options{}, []string{"openat"}},
		{Options{Munmap: true}, []string{"munmap", "mremap", "openat"}},
		{Options{Write: true}, []string{"write", "openat"}},
		{Options{Listener: true}, []string{"seccomp", "openat"}},
		{Defaults(), []string{"munmap", "mremap", "openat"}},
		{everything, []string{"munmap", "mremap", "write", "seccomp", "openat"}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%+v", tt.opts), func(t *testing.T) {
			prog := Filter(tt.opts)
			var got []string
			for name, data := range calls {
				if evaluate(t, prog, data) == retNotify {
					got = append(got, name)
				}
			}
			require.ElementsMatch(t, tt.notified, got)
		})
	}
}

// TestFilterAllowsTheRest: with arguments that would match every rule, no call
// but those of the table is touched.
func TestFilterAllowsTheRest(t *testing.T) {
	named := map[uint32]bool{}
	for _, nr := range []uint32{1, 2, 4, 5, 6, 9, 11, 16, 21, 25, 41, 59, 89, 191, 192, 194, 195, 257, 262, 267, 269, 317, 322, 332, 437, 439} {
		named[nr] = true
	}
	prog := Filter(everything)
	for nr := range uint32(600) {
		if named[nr] {
			continue
		}
		for _, a := range [][]uint64{{3, 0xc0181b01, 8, 1}, {16, 4096, 20, 1}, {1, 8, 8, 3}} {
			require.EqualValues(t, retAllow, evaluate(t, prog, seccompData(0xc000003e, nr, a...)), "number %d", nr)
		}
	}
}

// TestFilterJumpsStayInside follows both ways of every jump.
func TestFilterJumpsStayInside(t *testing.T) {
	prog := Filter(everything)
	require.LessOrEqual(t, len(prog), unix.BPF_MAXINSNS)
	for pc, in := range prog {
		if in.Code&7 == unix.BPF_JMP {
			require.Less(t, pc+1+int(max(in.Jt, in.Jf)), len(prog), "jump at %d", pc)
		}
	}
	last := prog[len(prog)-1]
	require.EqualValues(t, unix.BPF_RET|unix.BPF_K, last.Code)
}

// FuzzFilter: whatever the arguments, the program ends in one of its three
// decisions, and refuses with an error nothing but sockets.
func FuzzFilter(f *testing.F) {
	f.Add(uint32(0xc000003e), uint32(16), uint64(3), uint64(0xc0181b01), uint64(0), uint64(0))
	f.Add(uint32(0xc000003e), uint32(41), uint64(16), uint64(3), uint64(20), uint64(0))
	prog := Filter(everything)
	f.Fuzz(func(t *testing.T, arch, nr uint32, a0, a1, a2, a3 uint64) {
		watchdog.On(t)
		got := evaluate(t, prog, seccompData(arch, nr, a0, a1, a2, a3))
		switch got {
		case retAllow, retNotify:
		case retErrno | 93:
			require.EqualValues(t, 41, nr)
		default:
			require.Failf(t, "decision", "%#x", got)
		}
		if arch != 0xc000003e {
			require.EqualValues(t, retAllow, got)
		}
	})
}

func BenchmarkFilterCompile(b *testing.B) {
	for b.Loop() {
		Filter(everything)
	}
}
