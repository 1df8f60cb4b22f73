package guest

import (
	"archive/tar"
	"bytes"
	"errors"
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
	} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(name)), Mode: 0o644}))
		_, err := w.Write([]byte(name))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	boot, modules, err := pick(&b, "1")
	require.NoError(t, err)
	require.Equal(t, "./boot/vmlinuz-1", string(boot))
	require.Len(t, modules, 3)
	for _, name := range []string{"rdma_rxe", "udp_tunnel", "crc32_generic"} {
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
