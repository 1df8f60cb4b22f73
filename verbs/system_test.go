package verbs_test

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/verbs"
)

var (
	_ verbs.System = (*process.Process)(nil)
	_ verbs.System = (*process.Task)(nil)
)

// fakeKernel is a system whose kernel is the test: it answers ioctls, writes and
// reads, and writes down what it was asked.
type fakeKernel struct {
	*copyuser.AddressSpace
	t *testing.T

	// ioctl answers one; buf is the header with its attributes in memory, and
	// what it writes to it goes back.
	ioctl func(buf []byte) error
	write func(req []byte) (int, error)
	read  func(fd int) []byte

	ioctls [][]byte
	writes [][]byte
	closed []int
	mapped map[copyuser.Addr]uint64
}

func newKernel(t *testing.T) *fakeKernel {
	return &fakeKernel{AddressSpace: copyuser.NewAddressSpace(), t: t, mapped: map[copyuser.Addr]uint64{}}
}

func (k *fakeKernel) Open(string, int) (int, error) { return 3, nil }

func (k *fakeKernel) Close(fd int) error {
	k.closed = append(k.closed, fd)
	return nil
}

func (k *fakeKernel) Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error) {
	require.Equal(k.t, uint32(0xc0181b01), cmd)
	require.Equal(k.t, 3, fd)
	var length [2]byte
	require.True(k.t, k.Load(arg, length[:]))
	buf := make([]byte, binary.LittleEndian.Uint16(length[:]))
	require.True(k.t, k.Load(arg, buf))
	k.ioctls = append(k.ioctls, append([]byte(nil), buf...))
	if k.ioctl == nil {
		return 0, nil
	}
	err := k.ioctl(buf)
	require.True(k.t, k.Store(arg, buf))
	if err != nil {
		return -1, err
	}
	return 0, nil
}

func (k *fakeKernel) Write(_ int, buf copyuser.Addr, n uint64) (int64, error) {
	req := make([]byte, n)
	require.True(k.t, k.Load(buf, req))
	k.writes = append(k.writes, req)
	done, err := k.write(req)
	return int64(done), err
}

func (k *fakeKernel) Read(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	b := k.read(fd)
	require.LessOrEqual(k.t, len(b), int(n))
	require.True(k.t, k.Store(buf, b))
	return int64(len(b)), nil
}

func (k *fakeKernel) Poll(int, time.Duration) (uint16, error) { return 0, nil }

func (k *fakeKernel) Mmap(_ int, length uint64, prot, flags int, _ uint64) (copyuser.Addr, error) {
	at, err := k.AddressSpace.Mmap(nil, copyuser.MmapRequest{Length: length, Prot: prot, Flags: flags})
	k.mapped[at] = length
	return at, err
}

func (k *fakeKernel) Munmap(at copyuser.Addr, length uint64) error {
	require.Equal(k.t, k.mapped[at], length, "what is unmapped is what was mapped")
	delete(k.mapped, at)
	return k.AddressSpace.Munmap(nil, at, length)
}

// put stores bytes where an attribute of a request points to, and says that it
// is valid, as the kernel does.
func (k *fakeKernel) put(buf []byte, id uint16, b []byte) {
	a := attr(k.t, buf, id)
	require.True(k.t, k.Store(copyuser.Addr(binary.LittleEndian.Uint64(a[8:])), b))
	a[4] |= spec.UVERBS_ATTR_F_VALID_OUTPUT
}

// at reads what an attribute points to.
func (k *fakeKernel) at(buf []byte, id uint16) []byte {
	a := attr(k.t, buf, id)
	b := make([]byte, binary.LittleEndian.Uint16(a[2:]))
	require.True(k.t, k.Load(copyuser.Addr(binary.LittleEndian.Uint64(a[8:])), b))
	return b
}

// attr finds an attribute of a request, in its bytes.
func attr(t *testing.T, buf []byte, id uint16) []byte {
	for a := buf[24:]; len(a) > 0; a = a[16:] {
		if binary.LittleEndian.Uint16(a) == id {
			return a[:16]
		}
	}
	t.Fatalf("no attribute %#x in %x", id, buf)
	return nil
}

// wire is the bytes of words of hex.
func wire(t *testing.T, words ...string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Join(words, ""), " ", ""))
	require.NoError(t, err)
	return b
}

// context returns a context of mlx5 on k. The probe of its beginning is
// forgotten; useIoctlWrite says how it ends.
func context(t *testing.T, k *fakeKernel, useIoctlWrite bool) *verbs.Context {
	answer := k.ioctl
	k.ioctl = func([]byte) error {
		if useIoctlWrite {
			return syscall.ENOSPC
		}
		return syscall.EPROTONOSUPPORT
	}
	c := verbs.InitContext(k, 3, spec.RDMA_DRIVER_MLX5)
	k.ioctl, k.ioctls = answer, nil
	return c
}
