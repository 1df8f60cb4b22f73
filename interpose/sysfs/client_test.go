package sysfs_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/interpose/sysfs"
)

// opened is a call of strace's that names a path and what became of it.
var opened = regexp.MustCompile(`"([^"]*)"[^\n]*\) += (-?\d+)( E[A-Z]+)?`)

// TestClient: all that libibverbs asks of sysfs on the way to a list of devices is
// in the twin. It looks for the device node where no option leads it, so on a
// machine without RDMA the list stays empty.
func TestClient(t *testing.T) {
	for _, tool := range []string{"ibv_devices", "strace"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: libibverbs has not been asked, %s is not installed", tool)
		}
	}
	m := machine()
	adapter(t, m, mlx5.Config{})
	tree := write(t, m, sysfs.Options{})
	log := filepath.Join(t.TempDir(), "strace")
	cmd := exec.Command("strace", "-f", "-o", log, "-e", "trace=file", "-e", "inject=socket:error=EPROTONOSUPPORT", "ibv_devices")
	cmd.Env = append(os.Environ(), "SYSFS_PATH="+tree.Dir()+"/sys")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Skipf("SKIPPED: libibverbs has not been asked, strace cannot trace here: %v: %s", err, &out)
	}
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	asked := map[string]bool{}
	for _, call := range opened.FindAllStringSubmatch(string(b), -1) {
		path, below := strings.CutPrefix(call[1], tree.Dir())
		asked[path] = true
		below = below || path != "" && path[0] != '/'
		// abi_version is opened as if it were a device's directory.
		if below && call[3] != " ENOTDIR" {
			require.Emptyf(t, call[3], "%s", path)
		}
	}
	for _, path := range []string{
		"/sys/class/infiniband_verbs", "uverbs0", "ibdev", "dev", "abi_version", "/sys/class/infiniband/mlx5_0",
		"/sys/class/infiniband/mlx5_0/node_type", "/dev/infiniband/uverbs0",
	} {
		require.Truef(t, asked[path], "%s was not asked for:\n%s", path, b)
	}
}
