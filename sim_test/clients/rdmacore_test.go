package clients

import (
	"compress/gzip"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

// rdmaCoreTests is where Debian's python3-pyverbs has rdma-core's own tests.
const rdmaCoreTests = "/usr/share/doc/rdma-core/tests"

// TestRDMACore runs rdma-core's own tests and compares what each comes to with the
// list in testdata; for nobody another one says what is different. A test that
// passes and should not is a failure like one that should and does not.
func TestRDMACore(t *testing.T) {
	suite.Long(t)
	needPyverbs(t)
	suite.Need(t, "ip")
	if os.Geteuid() != 0 {
		t.Skip("the lists are for root, and for whom only root can become")
	}
	const all, different = "testdata/rdma-core-44.txt", "testdata/rdma-core-44-nobody.txt"
	t.Run("root", func(t *testing.T) {
		runTests(t, self, readList(t, all, nil))
	})
	t.Run("nobody", func(t *testing.T) {
		// A queue of the largest size is more than a user may lock without being
		// allowed to.
		runTests(t, nobody, readList(t, different, readList(t, all, nil)), "--memlock", "unlimited")
	})
}

func runTests(t *testing.T, u user, l *list, flags ...string) {
	t.Helper()
	dir := u.dir(t)
	copyTests(t, filepath.Join(dir, "tests"))
	args := append([]string{"run", "--device", "mlx5,profile=connectx6dx"}, flags...)
	args = append(args, "--", python, "tests/run_tests.py", "-v", "--dev", "mlx5_0", "--gid", "1")
	r := u.run(t, args, in(dir), env("PYTHONWARNINGS=ignore"))
	require.True(t, r.status.Exited(), "%s", r)
	r.calm(t)
	got := outcomes(t, r.stderr)
	if *update {
		l.update(t, got)
	}
	l.compare(t, got, r.stderr)
}

// copyTests makes a copy that Python can run: in the package some are compressed.
func copyTests(t *testing.T, to string) {
	t.Helper()
	entries, err := os.ReadDir(rdmaCoreTests)
	if os.IsNotExist(err) {
		suite.Missing(t, "%s is not there: python3-pyverbs was installed without its documentation", rdmaCoreTests)
	}
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(to, 0o755))
	for _, e := range entries {
		f, err := os.Open(filepath.Join(rdmaCoreTests, e.Name()))
		require.NoError(t, err)
		defer f.Close()
		var text io.Reader = f
		name, zipped := strings.CutSuffix(e.Name(), ".gz")
		if zipped {
			text, err = gzip.NewReader(f)
			require.NoError(t, err)
		}
		b, err := io.ReadAll(text)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, name), b, 0o644))
	}
}

// compare holds what was found to the list, and to what must be so whatever the list
// says.
func (l *list) compare(t *testing.T, got map[string]outcome, out string) {
	t.Helper()
	if differ := l.differences(got); len(differ) > 0 {
		t.Errorf("not what %s says (-update has it say this):\n%s", l.path, strings.Join(differ, "\n"))
	}
	passed := 0
	for _, test := range slices.Sorted(maps.Keys(got)) {
		switch got[test].kind {
		case "pass":
			passed++
		case "fail":
			if !strings.Contains(test, "rdmacm") { // that needs another device
				t.Errorf("%s fails%s", test, trouble(test, out))
			}
		}
	}
	if enough := 150; l.base == nil && passed < enough {
		t.Errorf("only %d tests pass", passed)
	}
}
