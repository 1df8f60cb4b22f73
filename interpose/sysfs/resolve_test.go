package sysfs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/interpose/sysfs"
	"uverbsim/sim_test/watchdog"
)

// TestResolve: what is the twin's and where it is there.
func TestResolve(t *testing.T) {
	m := machine()
	adapter(t, m, mlx5.Config{})
	tree := write(t, m, sysfs.Options{})
	const function = "/sys/devices/pci0001:00/0001:00:00.0"
	nowhere := map[string]bool{ // the twin's, which has no such place
		"/sys/class/infiniband/mlx5_1": true, "/sys/class/infiniband/mlx5_1/ports/1": true, "/sys/class/infiniband/none/../mlx5_0": true,
		"/sys/class/infiniband/mlx5_0/fw_ver/": true, "/sys/class/infiniband/mlx5_0/fw_ver/..": true,
		"/sys/class/infiniband_mad": true, "/sys/class/infiniband_mad/umad0": true, "/proc/self/../../sys/class/infiniband_/../net": true,
		"/sys/dev/char/231:193": true, "/dev/char/231:193": true, "/dev/infiniband/rdma_cm": true, "/dev/infiniband/uverbs1": true,
	}
	for path, want := range map[string]string{
		"/sys/class/infiniband":                                   "/sys/class/infiniband",
		"/sys/class/infiniband/":                                  "/sys/class/infiniband",
		"//sys/./class//infiniband/.":                             "/sys/class/infiniband",
		"/usr/../sys/class/net/../infiniband":                     "/sys/class/infiniband",
		"/../../sys/class/infiniband":                             "/sys/class/infiniband",
		"/sys/class/infiniband/mlx5_0":                            "/sys/class/infiniband/mlx5_0",
		"/sys/class/infiniband/mlx5_0/":                           function + "/infiniband/mlx5_0",
		"/sys/class/infiniband/mlx5_0/fw_ver":                     function + "/infiniband/mlx5_0/fw_ver",
		"/sys/class/infiniband/mlx5_0/device":                     function + "/infiniband/mlx5_0/device",
		"/sys/class/infiniband/mlx5_0/device/vendor":              function + "/vendor",
		"/sys/class/infiniband/mlx5_0/device/net/":                function + "/net",
		"/sys/class/infiniband/mlx5_0/device/..":                  "/sys/devices/pci0001:00",
		"/sys/class/infiniband/mlx5_0/../../vendor":               function + "/vendor",
		"/sys/class/infiniband/mlx5_0/subsystem/mlx5_0/node_guid": function + "/infiniband/mlx5_0/node_guid",
		"/sys/class/infiniband/mlx5_1":                            "/sys/class/infiniband/mlx5_1",
		"/sys/class/infiniband/mlx5_1/ports/1":                    "/sys/class/infiniband/mlx5_1",
		"/sys/class/infiniband/none/../mlx5_0":                    "/sys/class/infiniband/none",
		"/sys/class/infiniband/mlx5_0/fw_ver/":                    function + "/infiniband/mlx5_0/fw_ver/",
		"/sys/class/infiniband/mlx5_0/fw_ver/..":                  function + "/infiniband/mlx5_0/fw_ver/",
		"/sys/class/infiniband_verbs/abi_version":                 "/sys/class/infiniband_verbs/abi_version",
		"/sys/class/infiniband_verbs/uverbs0/dev":                 function + "/infiniband_verbs/uverbs0/dev",
		"/sys/class/infiniband_mad":                               "/sys/class/infiniband_mad",
		"/sys/class/infiniband_mad/umad0":                         "/sys/class/infiniband_mad",
		"/sys/bus/pci/devices/0001:00:00.0":                       "/sys/bus/pci/devices/0001:00:00.0",
		"/sys/bus/pci/devices/0001:00:00.0/class":                 function + "/class",
		"/sys/bus/pci/drivers/mlx5_core/0001:00:00.0/class":       function + "/class",
		"/sys/dev/char/231:192":                                   "/sys/dev/char/231:192",
		"/sys/dev/char/231:192/ibdev":                             function + "/infiniband_verbs/uverbs0/ibdev",
		"/sys/dev/char/231:193":                                   "/sys/dev/char/231:193",
		"/dev/infiniband":                                         "/dev/infiniband",
		"/dev/infiniband/rdma_cm":                                 "/dev/infiniband/rdma_cm",
		"/dev/infiniband/uverbs1":                                 "/dev/infiniband/uverbs1",
		"/dev/char/231:193":                                       "/dev/char/231:193",
		"/proc/self/../../sys/class/infiniband_/../net":           "/sys/class/infiniband_",
	} {
		e, ok := tree.Resolve(path)
		require.Truef(t, ok, "%s is not the twin's", path)
		require.Equalf(t, tree.Dir()+want, e.Twin, "%s", path)
		require.Equal(t, sysfs.Path, e.Kind, path)
		_, err := os.Lstat(e.Twin)
		require.Equal(t, !nowhere[path], err == nil, path)
	}
	for _, path := range []string{
		"", "/", ".", "..", "sys/class/infiniband", "/sys", "/sys/", "/sys/class", "/sys/class/net", "/sys/class/net/eth0",
		"/sys/class/infiniband/..", "/sys/class/infiniband/../net/eth0", "/sys/classinfiniband", "/dev", "/dev/null", "/dev/char/1:3",
		"/sys/devices/pci0000:00", "/sys/devices/system/cpu", "/sys/bus/pci/devices", "/sys/bus/pci/devices/0000:00:00.0",
		"/sys/class/infiniband/mlx5_0/device/../..", "/usr/lib/x86_64-linux-gnu/libibverbs.so.1", "/sys/module/mlx5_ib",
	} {
		_, ok := tree.Resolve(path)
		require.Falsef(t, ok, "%s is not the twin's", path)
	}
}

// TestResolveNode: device nodes are told apart, by all of their names.
func TestResolveNode(t *testing.T) {
	m := machine()
	adapter(t, m, mlx5.Config{})
	tree := write(t, m, sysfs.Options{})
	want := sysfs.Entry{
		Twin: tree.Dir() + "/dev/infiniband/uverbs0", Kind: sysfs.DeviceNode,
		Device: 0, Major: 231, Minor: 192, Mode: 0o666,
	}
	for _, path := range []string{"/dev/infiniband/uverbs0", "/dev//infiniband/./uverbs0", "/dev/char/../infiniband/uverbs0"} {
		e, ok := tree.Resolve(path)
		require.True(t, ok)
		require.Equal(t, want, e)
	}
	e, ok := tree.Resolve("/dev/char/231:192")
	require.True(t, ok)
	want.Link, want.Twin = true, tree.Dir()+"/dev/char/231:192"
	require.Equal(t, want, e)
}

// FuzzResolve: whatever a client asks for, the answer is within the twin, also
// after the kernel has followed the links on the way.
func FuzzResolve(f *testing.F) {
	m := machine()
	adapter(f, m, mlx5.Config{})
	tree := write(f, m, sysfs.Options{})
	dir, err := filepath.EvalSymlinks(tree.Dir())
	require.NoError(f, err)
	for _, seed := range []string{
		"/sys/class/infiniband/mlx5_0/device/../../../../../../../etc/passwd", "/sys/class/infiniband/../../../etc",
		"/sys/class/infiniband/mlx5_0/subsystem/../../../..", "/dev/infiniband/uverbs0/..", "/dev/char/231:192/../../..",
		"/sys/bus/pci/devices/0001:00:00.0/driver/../../../../..", "//..//.//sys//class/infiniband//", "/sys/class/infiniband/\x00/..",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		watchdog.On(t)
		e, ok := tree.Resolve(path)
		if !ok {
			if e != (sysfs.Entry{}) {
				t.Errorf("%q is not the twin's, but has the answer %+v", path, e)
			}
			return
		}
		rest, below := strings.CutPrefix(e.Twin, tree.Dir())
		if !below || !strings.HasPrefix(rest, "/") || strings.Contains(rest+"/", "/../") {
			t.Fatalf("%q leads to %s", path, e.Twin)
		}
		if real, err := filepath.EvalSymlinks(e.Twin); err == nil && real != dir && !strings.HasPrefix(real, dir+"/") {
			t.Fatalf("%q leads by %s to %s", path, e.Twin, real)
		}
	})
}

// TestResolveAllocs: what is not the twin's, which is nearly all that a program
// asks for, costs no memory.
func TestResolveAllocs(t *testing.T) {
	m := machine()
	adapter(t, m, mlx5.Config{})
	tree := write(t, m, sysfs.Options{})
	for _, path := range misses {
		require.Zero(t, testing.AllocsPerRun(100, func() { tree.Resolve(path) }), path)
	}
}

var misses = []string{
	"/usr/lib/python3/dist-packages/pyverbs/device.cpython-311-x86_64-linux-gnu.so", "/etc/libibverbs.d/mlx5.driver",
	"/sys/devices/system/cpu/online", "/home/user/.config/x", "/dev/null",
}

func BenchmarkResolveMiss(b *testing.B) {
	m := machine()
	adapter(b, m, mlx5.Config{})
	tree := write(b, m, sysfs.Options{})
	for _, path := range misses {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tree.Resolve(path)
			}
		})
	}
}

func BenchmarkResolveHit(b *testing.B) {
	m := machine()
	adapter(b, m, mlx5.Config{})
	tree := write(b, m, sysfs.Options{})
	b.ReportAllocs()
	for b.Loop() {
		tree.Resolve("/sys/class/infiniband/mlx5_0/device/modalias")
	}
}
