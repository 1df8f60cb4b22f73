package guest

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCpio holds an archive to the format's fields: magic, then 13 numbers of 8
// hex digits, the name, and the data, each up to a multiple of 4.
func TestCpio(t *testing.T) {
	var b bytes.Buffer
	c := &cpioWriter{w: &b}
	c.dir("dev")
	c.file("init", 0o755, []byte("hello"))
	require.NoError(t, c.end())
	const zero = "00000000"
	const one = "00000001"
	const none4 = zero + zero + zero + zero
	require.Equal(t, "070701"+one+"000041ED"+zero+zero+one+zero+zero+none4+"00000004"+zero+"dev\x00\x00\x00"+
		"070701"+"00000002"+"000081ED"+zero+zero+one+zero+"00000005"+none4+"00000005"+zero+"init\x00\x00hello\x00\x00\x00"+
		"070701"+"00000003"+zero+zero+zero+one+zero+zero+none4+"0000000B"+zero+"TRAILER!!!\x00\x00\x00\x00", b.String())

	b.Reset()
	c = &cpioWriter{w: &b}
	c.link("sh", "busybox")
	require.Equal(t, "070701"+one+"0000A1FF"+zero+zero+one+zero+"00000007"+none4+"00000003"+zero+"sh\x00\x00\x00\x00busybox\x00", b.String())

	broken := &cpioWriter{w: failing{}}
	broken.file("x", 0, nil)
	require.ErrorIs(t, broken.end(), errFull)
}

type failing struct{}

var errFull = errors.New("full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestNames(t *testing.T) {
	require.Equal(t, "virtio_rng", moduleName("virtio-rng.ko.xz"))
	require.Equal(t, "rdma_rxe", moduleName("rdma_rxe.ko"))
	require.Equal(t, "6.12.117+deb12-amd64", releaseOf("/tmp/linux-image-6.12.117+deb12-amd64_6.12.117-1~deb12u1_amd64.deb"))
	require.Equal(t, "Unable to locate package x", lastError("Reading...\nE: Unable to locate package x\n", errFull))
	require.Equal(t, "full", lastError("", errFull))
}

// TestPick takes the kernel and the modules that may be wanted out of a
// package, and leaves the drivers of hardware.
func TestPick(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{
		"./boot/vmlinuz-1", "./boot/vmlinuz-2", "./lib/modules/1/kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz",
		"./lib/modules/1/kernel/net/ipv4/udp_tunnel.ko.xz", "./lib/modules/1/kernel/drivers/gpu/big.ko.xz",
		"./usr/lib/modules/1/kernel/crypto/crc32_generic.ko", "./usr/share/doc/x.ko",
		"./lib/modules/1/kernel/drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.ko.xz",
		"./lib/modules/1/kernel/drivers/net/ethernet/intel/big.ko.xz",
	} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(name)), Mode: 0o644}))
		_, err := w.Write([]byte(name))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	boot, modules, err := pick(&b, "1")
	require.NoError(t, err)
	require.Equal(t, "./boot/vmlinuz-1", string(boot))
	require.Len(t, modules, 4)
	for _, name := range []string{"rdma_rxe", "udp_tunnel", "crc32_generic", "mlx5_core"} {
		require.Contains(t, string(modules[name]), name)
	}
}

// TestLoadOrder: what is no module is an error with its name.
func TestLoadOrder(t *testing.T) {
	_, _, err := loadOrder([]string{"dummy"}, func(string) ([]byte, error) { return []byte("text"), nil })
	require.ErrorContains(t, err, "module dummy: ")
	_, _, err = loadOrder([]string{"dummy"}, func(string) ([]byte, error) { return nil, errFull })
	require.ErrorIs(t, err, errFull)
	require.ErrorContains(t, err, "module dummy: ")
}

// TestTree: a directory gets into the archive whole, with links and permissions.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "usr/bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "usr/bin/program"), []byte("text"), 0o755))
	require.NoError(t, os.Symlink("usr/bin", filepath.Join(dir, "bin")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "usr/share/doc"), 0o755))
	require.NoError(t, prune(dir))

	var got, want bytes.Buffer
	c := &cpioWriter{w: &got}
	require.NoError(t, c.tree(dir))
	w := &cpioWriter{w: &want}
	w.link("bin", "usr/bin")
	w.dir("usr")
	w.dir("usr/bin")
	w.file("usr/bin/program", 0o755, []byte("text"))
	require.Equal(t, want.String(), got.String())
}

// TestLog takes the kernel's log apart: what the kernel says of itself, and what a
// driver says of its device.
func TestLog(t *testing.T) {
	const (
		vsc   = "<4>[   11.000001] mlx5_core 0001:00:00.0: mlx5_pci_vsc_init:66:(pid 127): Failed to get valid vendor specific ID\n"
		info  = "<6>[   11.000002] mlx5_core 0001:00:00.0: firmware version: 22.35.1010\n"
		rev   = "<3>[   11.000003] mlx5_core 0001:00:00.0: Driver cmdif rev(5) differs from firmware's(4)\n"
		warns = "<4>[   11.000004] WARNING: CPU: 0 PID: 1 at drivers/infiniband/core/device.c:1\n"
		mark  = "<6>[   12.000000] " + readyMark + "\n"
		start = "<6>[   10.000000] " + startMark + "\n"
		gone  = "<6>[   13.000000] " + goneMark + "\n"
	)
	require.Empty(t, complaints(rev+start+vsc+info+mark+rev))
	lacks := "<4>[   12.000000] mlx5_core 0001:00:00.0: mlx5_eth_supported:104:(pid 1): CQ moderation is not supported\n"
	require.Empty(t, complaints(start+lacks+mark))
	require.Len(t, complaints(start+strings.Replace(lacks, "CQ moderation", "Something else", 1)+mark), 1)
	require.Equal(t, []string{"<3>mlx5_core 0001:00:00.0: Driver cmdif rev(5) differs from firmware's(4)"}, complaints(start+info+rev+vsc+mark))
	require.Equal(t, []string{"<3>mlx5_core 0001:00:00.0: Driver cmdif rev(5) differs from firmware's(4)"}, complaints(start+rev), "the device did not get ready")
	require.Equal(t, []string{"<4>WARNING: CPU: 0 PID: 1 at drivers/infiniband/core/device.c:1"}, complaints(start+mark+rev+gone+vsc+warns))
	require.Empty(t, faultIn(vsc+info+rev+mark))
	require.Equal(t, "WARNING: CPU: 0 PID: 1 at drivers/infiniband/core/device.c:1", faultIn(info+mark+warns))
	require.Equal(t, "INFO: task init:1 blocked for more than 120 seconds.", faultIn("[  242.1] INFO: task init:1 blocked for more than 120 seconds.\n"))
}
