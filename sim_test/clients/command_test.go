package clients

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

// TestStatus has the command end as its program ends.
func TestStatus(t *testing.T) {
	for _, test := range []struct {
		name    string
		program []string
		status  int
		signal  syscall.Signal
		stderr  string
	}{
		{"success", []string{"true"}, 0, 0, ""},
		{"failure", []string{"sh", "-c", "exit 7"}, 7, 0, ""},
		{"highest", []string{"sh", "-c", "exit 255"}, 255, 0, ""},
		{"not found", []string{"no-such-program"}, 127, 0, "uverbsim: no-such-program: command not found\n"},
		{"not there", []string{"/no/such/program"}, 127, 0, "uverbsim: /no/such/program: no such file or directory\n"},
		{"no program", []string{"/etc/passwd"}, 126, 0, "uverbsim: /etc/passwd: permission denied\n"},
		{"directory", []string{"/etc"}, 126, 0, "uverbsim: /etc: is a directory\n"},
		{"SIGTERM", []string{"sh", "-c", "kill -TERM $$"}, -1, syscall.SIGTERM, ""},
		{"SIGSEGV", []string{"sh", "-c", "kill -SEGV $$"}, -1, syscall.SIGSEGV, ""},
		{"SIGABRT", []string{"sh", "-c", "kill -ABRT $$"}, -1, syscall.SIGABRT, ""},
		{"SIGPIPE", []string{"sh", "-c", "kill -PIPE $$"}, -1, syscall.SIGPIPE, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			users(t, func(t *testing.T, u user) {
				r := u.run(t, append([]string{"run", "--"}, test.program...))
				require.Equal(t, test.status, r.status.ExitStatus(), "%s", r)
				if test.signal != 0 {
					require.Equal(t, test.signal, r.status.Signal(), "%s", r)
				}
				require.Empty(t, r.stdout)
				require.Equal(t, test.stderr, r.stderr)
			})
		})
	}
}

// TestEnds sends a signal to the command, which is for the program.
func TestEnds(t *testing.T) {
	j := self.start(t, []string{"run", "--", "sh", "-c", "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.02; done"})
	j.awaits("ready\n")
	require.NoError(t, j.cmd.Process.Signal(syscall.SIGTERM))
	r := j.wait()
	require.Equal(t, 5, r.status.ExitStatus(), "%s", r)
	require.Equal(t, "ready\ntold\n", r.stdout)
}

// TestPipes has what goes through a program go through the command untouched.
func TestPipes(t *testing.T) {
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = byte(rand.Int())
	}
	r := least().run(t, []string{"run", "--", "sh", "-c", "cat; echo complaint >&2"}, stdin(bytes.NewReader(text))).ok(t)
	require.True(t, r.stdout == string(text), "%d bytes of %d, or others", len(r.stdout), len(text))
	require.Equal(t, "complaint\n", r.stderr)
}

// TestSurroundings has the program find its directory, environment and arguments.
func TestSurroundings(t *testing.T) {
	u := least()
	dir := u.dir(t)
	r := u.run(t, []string{"run", "--", "sh", "-c", `pwd; echo "$THING"; printf '<%s>' "$@"`, "sh", "--device", "", "a b"}, in(dir), env("THING=some thing")).ok(t)
	require.Equal(t, dir+"\nsome thing\n<--device><><a b>", r.stdout)
}

// TestStrace looks for what ibv_devinfo is known to do.
func TestStrace(t *testing.T) {
	suite.Need(t, "ibv_devinfo")
	users(t, func(t *testing.T, u user) {
		r := u.run(t, []string{"run", "--strace", "--", "ibv_devinfo"})
		require.Equal(t, 0, r.status.ExitStatus(), "%s", r)
		require.True(t, strings.HasPrefix(r.stdout, "hca_id:\tmlx5_0\n"), r.stdout)
		lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
		for _, line := range lines {
			require.Regexp(t, `^(\[pid \d+\] )?(open|ioctl|mmap|munmap|close|\+\+\+)\b?.*( = |\+\+\+)`, line)
		}
		inOrder(t, lines,
			`open("/dev/infiniband/uverbs0", O_RDWR|O_CLOEXEC) = `,
			// libibverbs asks so whether the kernel takes commands that way.
			"UVERBS_METHOD_INVOKE_WRITE*IB_USER_VERBS_CMD_QUERY_DEVICE*= -1 ENOSPC (*invoke-write/core-size",
			"UVERBS_METHOD_GET_CONTEXT*UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS => 1*= 0",
			"MLX5_IB_METHOD_DEVX_OTHER*= 0",
			"IB_USER_VERBS_EX_CMD_QUERY_DEVICE*= 0",
			"UVERBS_METHOD_QUERY_PORT*UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1*= 0",
			"MLX5_IB_METHOD_UAR_OBJ_ALLOC*= 0",
			"mmap(*PROT_WRITE, MAP_SHARED*= ",
			"UVERBS_METHOD_ASYNC_EVENT_ALLOC*= 0",
			"munmap(*= 0",
			"MLX5_IB_METHOD_UAR_OBJ_DESTROY*= 0",
		)
		inOrder(t, lines, "MLX5_IB_METHOD_UAR_OBJ_DESTROY", "+++ the last descriptor of /dev/infiniband/uverbs0 is closed +++")
		inOrder(t, lines, "MLX5_IB_METHOD_UAR_OBJ_DESTROY", "+++ exited*+++")

		file := filepath.Join(u.dir(t), "out")
		r = u.run(t, []string{"run", "--strace", "-o", file, "--", "ibv_devinfo"}).ok(t)
		require.Empty(t, r.stderr)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), "UVERBS_METHOD_GET_CONTEXT")
	})
}

// inOrder requires that there is a line for each pattern, in their order. In a
// pattern * stands for anything.
func inOrder(t *testing.T, lines []string, patterns ...string) {
	t.Helper()
	at := 0
	for _, p := range patterns {
		for ; at < len(lines) && !matches(lines[at], p); at++ {
		}
		require.Less(t, at, len(lines), "no line for %q after those before it:\n%s", p, strings.Join(lines, "\n"))
		at++
	}
}

func matches(line, pattern string) bool {
	for part := range strings.SplitSeq(pattern, "*") {
		i := strings.Index(line, part)
		if i < 0 {
			return false
		}
		line = line[i+len(part):]
	}
	return true
}

// TestRecord records programs, and replays what they did.
func TestRecord(t *testing.T) {
	suite.Need(t, "ibv_devinfo", "ibv_rc_pingpong")
	users(t, func(t *testing.T, u user) {
		dir := u.dir(t)
		file := filepath.Join(dir, "devinfo.jsonl")
		u.run(t, []string{"run", "--record", file, "--", "ibv_devinfo", "-v"}).ok(t)
		r := u.run(t, []string{"replay", file}).ok(t)
		require.Equal(t, "1 passed, 0 failed\n", r.stdout)

		file = filepath.Join(dir, "pingpong.jsonl")
		both := pingpong{prog: "rc", args: "-n 20 -c", iters: 20, bytes: 20 * 4096 * 2, qps: 1}
		p := both.pair()
		p.flags = []string{"--record", file}
		both.check(t, p.oneTree(t, u))
		r = u.run(t, []string{"replay", file}).ok(t)
		require.Equal(t, "2 passed, 0 failed\n", r.stdout)
	})
}

// TestTrace has the functions of the kernel told.
func TestTrace(t *testing.T) {
	suite.Need(t, "ibv_devinfo")
	u := least()
	file := filepath.Join(u.dir(t), "trace")
	u.run(t, []string{"run", "--trace", file, "--", "ibv_devinfo"}).ok(t)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	inOrder(t, strings.Split(string(text), "\n"),
		"ib_uverbs_open [ib_uverbs]() {",
		"ib_uverbs_ioctl [ib_uverbs]() {",
		"  ib_uverbs_cmd_verbs [ib_uverbs]() {",
		"ib_uverbs_handler_UVERBS_METHOD_GET_CONTEXT",
		"mlx5_ib_alloc_ucontext [mlx5_ib]",
		"UVERBS_METHOD_QUERY_PORT",
		"mlx5_ib_query_port [mlx5_ib]",
	)
}

// TestRefused has the command say in a line what is wrong with what it was told.
func TestRefused(t *testing.T) {
	u := least()
	dir := u.dir(t)
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	require.NoError(t, os.Chmod(plain, 0o777))
	none := filepath.Join(dir, "none")
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"run"}, "no program: uverbsim run [flags] -- PROGRAM [ARG...]"},
		{[]string{"run", "--attach", none, "--", "true"}, "--attach " + none + ": dial unix " + none + ": connect: no such file or directory"},
		{[]string{"run", "--attach", plain, "--", "true"}, "--attach " + plain + ": dial unix " + plain + ": connect: connection refused"},
		{[]string{"run", "--attach", none, "--device", "mlx5", "--", "true"}, "--device is for serve, which has the machine that --attach uses"},
		{[]string{"run", "--attach", none, "--strace", "--", "true"}, "--strace is for serve, which has the machine that --attach uses"},
		{[]string{"run", "--attach", none, "--passthrough", "--", "true"}, "--attach and --passthrough exclude each other"},
		{[]string{"run", "--device", "mlx4", "--", "true"}, "--device mlx4: the devices are: mlx5"},
		{[]string{"run", "--device", "mlx5,ports=0", "--", "true"}, "--device mlx5,ports=0: ports=0: 1 to 16"},
		{[]string{"run", "--device", "mlx5,profile=x", "--", "true"}, "--device mlx5,profile=x: profile=x: one of recorded, connectx6dx, small"},
		{[]string{"run", "--kernel", "2.4", "--", "true"}, "--kernel 2.4: one of 6.1, 6.12"},
		{[]string{"run", "--record", "/no/such/directory/file", "--", "true"}, "open /no/such/directory/file: no such file or directory"},
		{[]string{"run", "--passthrough", "--", "true"}, "--passthrough only watches: it wants --strace or --record"},
		{[]string{"run", "--memlock", "64X", "--", "true"}, "--memlock 64X: a number of bytes, as 65536 or 64K, or unlimited"},
		{[]string{"serve", plain}, plain + " is there, and no socket"},
		{[]string{"run", "--check", "true"}, "--check takes no program"},
	} {
		r := u.run(t, test.args)
		require.Equal(t, 2, r.status.ExitStatus(), "%s", r)
		require.Equal(t, "uverbsim: "+test.says+"\n", r.stderr, "%s", r)
		require.Empty(t, r.stdout)
	}
}

func TestCheck(t *testing.T) {
	users(t, func(t *testing.T, u user) {
		require.Equal(t, "this machine has all that is needed\n", u.run(t, []string{"run", "--check"}).ok(t).stdout)
	})
}

// TestPassthrough has a program find what it finds without the command.
func TestPassthrough(t *testing.T) {
	suite.Need(t, "ibv_devices", "ibv_devinfo")
	for _, program := range []string{"ibv_devices", "ibv_devinfo"} {
		users(t, func(t *testing.T, u user) {
			bare := exec.Command(program)
			var out, errs bytes.Buffer
			bare.Stdout, bare.Stderr = &out, &errs
			bare.SysProcAttr = &syscall.SysProcAttr{Credential: u.cred}
			bare.Dir = "/"
			_ = bare.Run()
			r := u.run(t, []string{"run", "--passthrough", "--strace", "--", program})
			require.Equal(t, bare.ProcessState.ExitCode(), r.status.ExitStatus(), "%s", r)
			require.Equal(t, out.String(), r.stdout)
			require.Equal(t, errs.String(), r.stderr)
		})
	}
}

// TestStraced has a program looked at by strace, which takes another way.
func TestStraced(t *testing.T) {
	suite.Need(t, "strace", "ibv_devices")
	u := least()
	r := u.run(t, []string{"run", "--", "strace", "-f", "-e", "trace=openat", "ibv_devices"}).ok(t)
	require.Contains(t, r.stdout, "mlx5_0", "%s", r)
	require.Regexp(t, `openat\(AT_FDCWD, "/sys/class/infiniband_verbs", [A-Z_|]*O_DIRECTORY\) = \d`, r.stderr)
	require.Contains(t, r.stderr, "+++ exited with 0 +++")
}

// TestNested starts the command within the command, which the kernel refuses: a
// process has one listener at most.
func TestNested(t *testing.T) {
	users(t, func(t *testing.T, u user) {
		r := u.run(t, []string{"run", "--", uverbsim, "run", "--", "true"})
		require.Equal(t, 3, r.status.ExitStatus(), "%s", r)
		require.Contains(t, r.stderr, "already under a seccomp filter that has a listener")
	})
}
