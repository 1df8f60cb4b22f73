package interpose_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/drivers/mlx5"
	"uverbsim/interpose"
	"uverbsim/interpose/seccomp"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/spec"
)

// The programs under test are this binary, started again.
const (
	launchArg = "__launch"
	clientArg = "__client"
)

// clients are the programs by their names. Each returns what went wrong.
var clients = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == launchArg {
		os.Exit(seccomp.Main(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == clientArg {
		if err := clients[os.Args[2]](os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, os.Args[2]+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// rig is a supervisor with one mlx5 device.
type rig struct {
	*interpose.Supervisor
	dev *mlx5.Device

	mu      sync.Mutex
	reports []string
}

func newRig(t testing.TB, edit func(*interpose.Config)) *rig {
	t.Helper()
	m := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(m, mlx5.Config{})
	require.NoError(t, err)
	r := &rig{dev: dev}
	cfg := interpose.Config{Machine: m, Adapters: []interpose.Adapter{dev}, Report: r.report}
	if edit != nil {
		edit(&cfg)
	}
	r.Supervisor, err = interpose.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, r.Close(), "the books")
		require.Empty(t, r.reports)
	})
	return r
}

func (r *rig) report(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, line)
}

// clientSpec returns how a client is started.
func clientSpec(t testing.TB, out *os.File, name string, args ...string) seccomp.Spec {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return seccomp.Spec{
		Command: []string{self, launchArg},
		Prog:    append([]string{self, clientArg, name}, args...),
		Options: seccomp.Defaults(),
		Stdout:  out,
	}
}

// run runs a client and returns its output.
func (r *rig) run(t testing.TB, name string, args ...string) string {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	var out bytes.Buffer
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = out.ReadFrom(read)
	}()
	status, err := r.Run(clientSpec(t, write, name, args...))
	write.Close()
	<-copied
	read.Close()
	require.NoError(t, err)
	require.Equal(t, syscall.WaitStatus(0), status, "%s: %s", name, out.String())
	return out.String()
}

const node = "/dev/infiniband/uverbs0"

// openNode opens the device as libibverbs does.
func openNode() (int, error) { return unix.Open(node, unix.O_RDWR|unix.O_CLOEXEC, 0) }

// attr is an attribute with its data, or where it is.
type attr struct {
	id   uint16
	data uint64 // of one that is no pointer
	buf  []byte // nil for one that is no pointer
	len  uint16 // of one that is no pointer
}

// verbs makes an RDMA_VERBS_IOCTL.
func verbs(fd int, object, method uint16, driver uint32, attrs ...*attr) (unix.Errno, []byte) {
	b := make([]byte, spec.IoctlHdrSize+len(attrs)*spec.IoctlAttrSize)
	le := binary.LittleEndian
	le.PutUint16(b, uint16(len(b)))
	le.PutUint16(b[2:], object)
	le.PutUint16(b[4:], method)
	le.PutUint16(b[6:], uint16(len(attrs)))
	le.PutUint32(b[16:], driver)
	for i, a := range attrs {
		at := b[spec.IoctlHdrSize+i*spec.IoctlAttrSize:]
		le.PutUint16(at, a.id)
		le.PutUint16(at[2:], a.len)
		le.PutUint16(at[4:], spec.UVERBS_ATTR_F_MANDATORY)
		le.PutUint64(at[8:], a.data)
		// Written in place: a call in between could move the stack, where buf may be.
		if a.buf != nil {
			le.PutUint16(at[2:], uint16(len(a.buf)))
			le.PutUint64(at[8:], uint64(uintptr(unsafe.Pointer(&a.buf[0]))))
		}
	}
	// Raw, so that the scheduler of Go does not take the wait for its affair.
	_, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), spec.RDMA_VERBS_IOCTL, uintptr(unsafe.Pointer(&b[0])))
	runtime.KeepAlive(attrs)
	return e, b
}

// getContext makes the file's context.
func getContext(fd int) error {
	req := make([]byte, 32)
	binary.LittleEndian.PutUint32(req, 16)
	binary.LittleEndian.PutUint32(req[4:], 4)
	resp := make([]byte, 72)
	e, _ := verbs(fd, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT, spec.RDMA_DRIVER_MLX5,
		&attr{id: spec.UVERBS_ATTR_UHW_IN, buf: req}, &attr{id: spec.UVERBS_ATTR_UHW_OUT, buf: resp})
	if e != 0 {
		return fmt.Errorf("get context: %w", e)
	}
	return nil
}
