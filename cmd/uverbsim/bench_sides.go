package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/report/bench"
	"uverbsim/sim_test/device"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

// benchDrivers are those of the model whose calls are measured, and benchDriverIDs
// their rdma_driver_id.
var (
	benchDrivers   = []string{"rxe", "mlx5"}
	benchDriverIDs = map[string]uint32{"rxe": spec.RDMA_DRIVER_RXE, "mlx5": spec.RDMA_DRIVER_MLX5}
)

// benchModel is a thread of a modelled program. What is measured goes to the model
// without a detour: a player's task lets the device work after each call.
type benchModel struct {
	player.Task
	task *process.Task
}

var _ bench.Task = (*benchModel)(nil)

// newBenchModel boots a machine with one device of the driver. Done ends it.
func newBenchModel(driver string) (_ bench.Task, done func(), err error) {
	m, err := new(model.Model).Boot(&casefile.Case{Driver: driver})
	if err != nil {
		return nil, nil, err
	}
	t := m.Process().(*model.Task)
	return &benchModel{t, t.Modelled()}, m.Shutdown, nil
}

// Ioctl implements bench.Task.
func (m *benchModel) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	return m.task.Ioctl(fd, cmd, copyuser.Addr(arg))
}

// Write implements bench.Task.
func (m *benchModel) Write(fd int, addr, n uint64) (int64, error) {
	return m.task.Write(fd, copyuser.Addr(addr), n)
}

// benchNode is a device node that is measured.
type benchNode struct {
	about   bench.Node
	machine player.Machine
	task    *nodeTask
}

// nodeTask is this thread of this program. Its calls go straight to the kernel: Go's
// scheduler, which is told of others, would take a part of their time.
type nodeTask struct {
	player.Task
	path uint64 // of the node, in memory
}

var _ bench.Task = (*nodeTask)(nil)

// openBenchNode makes the node at path ready. Driver is what its driver has to be, ""
// for any.
func openBenchNode(path, driver string) (_ *benchNode, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s; uverbsim bench --guest rxe measures beside a kernel that it boots", path)
	}
	t, err := device.New(path)
	if err != nil {
		return nil, err
	}
	n := &benchNode{about: bench.Node{Path: path, Device: t.Name()}}
	if n.machine, err = t.Boot(new(casefile.Case)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	n.task = &nodeTask{Task: n.machine.Process()}
	if n.task.path, err = n.task.Map(nodeMemory); err != nil {
		return nil, err
	}
	if name := append([]byte(path), 0); len(name) > nodeProbe || n.task.Store(n.task.path, name) < len(name) {
		return nil, syscall.ENAMETOOLONG
	}
	if n.about.Driver, err = n.task.driver(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if driver != "" && driver != n.about.Driver {
		return nil, fmt.Errorf("the driver of %s is %s, not %s", t.Name(), n.about.Driver, driver)
	}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		n.about.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return n, nil
}

func (n *benchNode) close() { n.machine.Shutdown() }

// Open implements bench.Task.
func (t *nodeTask) Open(flags int) (int, error) {
	cwd := unix.AT_FDCWD
	fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(cwd), uintptr(t.path), uintptr(flags), 0, 0, 0)
	return result(fd, errno)
}

// Close implements bench.Task.
func (t *nodeTask) Close(fd int) error {
	_, err := result64(unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0))
	return err
}

// Ioctl implements bench.Task.
func (t *nodeTask) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	return result64(unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), uintptr(cmd), uintptr(arg)))
}

// Write implements bench.Task.
func (t *nodeTask) Write(fd int, addr, n uint64) (int64, error) {
	return result64(unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(addr), uintptr(n)))
}

// result is what a system call has returned.
func result(r uintptr, errno syscall.Errno) (int, error) {
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}

func result64(r, _ uintptr, errno syscall.Errno) (int64, error) {
	n, err := result(r, errno)
	return int64(n), err
}

// The memory of a node's task: its path, and from nodeProbe on a header.
const (
	nodeMemory = 2 * unix.PathMax
	nodeProbe  = unix.PathMax
)

// driver asks the node which driver its device has. An ioctl that is meant for another
// driver is refused before one for an object that there is not: EINVAL by
// ib_uverbs_cmd_verbs, and EPROTONOSUPPORT by the lookup behind it.
func (t *nodeTask) driver() (string, error) {
	fd, err := t.Open(unix.O_RDWR | unix.O_CLOEXEC)
	if err != nil {
		return "", fmt.Errorf("opening it: %w", err)
	}
	defer t.Close(fd) // it is open
	const noObject = 1<<16 - 1
	for id := range uint32(spec.RDMA_DRIVER_MANA + 1) {
		var b [spec.IoctlHdrSize]byte
		(&spec.IoctlHdr{ObjectID: noObject, Length: spec.IoctlHdrSize, DriverID: id}).Encode(&b)
		t.Store(t.path+nodeProbe, b[:])
		if _, err := t.Ioctl(fd, spec.RDMA_VERBS_IOCTL, t.path+nodeProbe); err != syscall.EPROTONOSUPPORT {
			continue
		}
		for name, known := range benchDriverIDs {
			if known == id {
				return name, nil
			}
		}
		return "", fmt.Errorf("its driver is %s, of which there is no model to measure: there are %s",
			spec.EnumeratorName("enum rdma_driver_id", uint64(id)), strings.Join(benchDrivers, " and "))
	}
	return "", errors.New("it does not answer as a device of uverbs: no driver takes an ioctl")
}
