package interpose_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/spec"
)

func init() {
	clients["descriptors"] = descriptorsClient
	clients["nofile"] = nofileClient
	clients["legacy"] = legacyClient
	clients["pass"] = passClient
	clients["receive"] = receiveClient
	clients["exec"] = execClient
	clients["execed"] = execedClient
	clients["threads"] = threadsClient
	clients["reopen"] = reopenClient
	clients["beside"] = besideClient
}

// works says whether a descriptor leads to a file of the machine with a context.
func works(fd int) error {
	resp := &attr{id: spec.UVERBS_ATTR_QUERY_PORT_RESP, buf: make([]byte, 48)}
	port := &attr{id: spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, data: 1, len: 8}
	if e, _ := verbs(fd, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT, spec.RDMA_DRIVER_MLX5, port, resp); e != 0 {
		return e
	}
	return nil
}

// opens makes a file with a context.
func opens() (int, error) {
	fd, err := openNode()
	if err != nil {
		return -1, err
	}
	return fd, getContext(fd)
}

// cloexec says whether an exec closes a descriptor.
func cloexec(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC != 0
}

// asyncEvent makes an event descriptor.
func asyncEvent(fd int) (int, error) {
	e, b := verbs(fd, spec.UVERBS_OBJECT_ASYNC_EVENT, spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC, spec.RDMA_DRIVER_MLX5,
		&attr{id: spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE})
	if e != 0 {
		return -1, e
	}
	return int(int32(binary.LittleEndian.Uint32(b[spec.IoctlHdrSize+8:]))), nil
}

// descriptorsClient checks descriptors of the device as descriptors.
func descriptorsClient([]string) error {
	fd, err := opens()
	if err != nil {
		return err
	}
	// The lowest number that is free.
	low, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	unix.Close(low)
	plain, err := unix.Open(node, unix.O_RDWR, 0)
	if err != nil {
		return err
	}
	if plain != low || cloexec(plain) || !cloexec(fd) {
		return fmt.Errorf("opened %d, not %d; closed on exec: %v, with O_CLOEXEC: %v", plain, low, cloexec(plain), cloexec(fd))
	}
	if mode, err := unix.FcntlInt(uintptr(plain), unix.F_GETFL, 0); err != nil || mode&unix.O_ACCMODE != unix.O_RDWR {
		return fmt.Errorf("mode %#x, %w", mode, err)
	}
	if err := readOnly(); err != nil {
		return err
	}
	dup, err := unix.Dup(fd)
	if err != nil {
		return err
	}
	far, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 700)
	if err != nil || far != 700 {
		return fmt.Errorf("F_DUPFD gives %d, %w", far, err)
	}
	if err := unix.Dup2(fd, plain); err != nil { // closes a file without a context
		return err
	}
	for range 3 {
		for _, d := range []int{fd, dup, far, plain} {
			if err := works(d); err != nil {
				return fmt.Errorf("descriptor %d: %w", d, err)
			}
		}
	}
	unix.Close(fd)
	unix.Close(far)
	unix.Close(plain)
	if err := works(dup); err != nil {
		return fmt.Errorf("the last one: %w", err)
	}
	if err := works(fd); !errors.Is(err, unix.EBADF) {
		return fmt.Errorf("a closed one: %w, not EBADF", err)
	}
	event, err := asyncEvent(dup)
	if err != nil {
		return err
	}
	if event != fd || !cloexec(event) {
		return fmt.Errorf("the event descriptor is %d, not %d; closed on exec: %v", event, fd, cloexec(event))
	}
	if err := works(event); !errors.Is(err, unix.ENOTTY) {
		return fmt.Errorf("an ioctl on the event descriptor: %w", err)
	}
	unix.Close(dup)
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := works(null); !errors.Is(err, unix.ENOTTY) {
		return fmt.Errorf("an ioctl on a file that is not the machine's: %w", err)
	}
	for _, d := range []int{-1, -100, 1 << 20} {
		if err := works(d); !errors.Is(err, unix.EBADF) {
			return fmt.Errorf("descriptor %d: %w", d, err)
		}
	}
	// Without the option a write() is not looked at; it must not seem to work.
	fd, err = opens()
	if err != nil {
		return err
	}
	if n, err := unix.Write(fd, make([]byte, 16)); !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("write: %d, %w", n, err)
	}
	if n, err := unix.Write(fd, make([]byte, 16)); !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("a second write: %d, %w", n, err)
	}
	return nil
}

// readOnly checks that what is not opened for writing cannot be mapped so.
func readOnly() error {
	fd, err := unix.Open(node, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := getContext(fd); err != nil {
		return err
	}
	u, err := newUAR(fd)
	if err != nil {
		return err
	}
	if _, err := unix.Mmap(fd, int64(u.offset), int(u.length), unix.PROT_WRITE, unix.MAP_SHARED); !errors.Is(err, unix.EACCES) {
		return fmt.Errorf("registers that are mapped for writing: %w, not EACCES", err)
	}
	return nil
}

func TestDescriptors(t *testing.T) { newRig(t, nil).run(t, "descriptors") }

// nofileClient runs into the limit of descriptors.
func nofileClient([]string) error {
	const limit = 64
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	for range 3 {
		var fds []int
		for {
			fd, err := openNode()
			if err != nil {
				if !errors.Is(err, unix.EMFILE) {
					return err
				}
				break
			}
			fds = append(fds, fd)
		}
		if len(fds) < limit-16 || fds[len(fds)-1] != limit-1 {
			return fmt.Errorf("opened %v", fds)
		}
		if err := getContext(fds[0]); err != nil {
			return err
		}
		for range 5 {
			if _, err := asyncEvent(fds[0]); !errors.Is(err, unix.EMFILE) {
				return fmt.Errorf("an event descriptor more: %w", err)
			}
		}
		if _, err := unix.Open("/sys/class/infiniband", unix.O_DIRECTORY, 0); !errors.Is(err, unix.EMFILE) {
			return fmt.Errorf("a directory more: %w", err)
		}
		unix.Close(fds[len(fds)-1])
		fds = fds[:len(fds)-1]
		event, err := asyncEvent(fds[0])
		if err != nil {
			return err
		}
		unix.Close(event)
		for _, fd := range fds {
			unix.Close(fd)
		}
	}
	return nil
}

func TestDescriptorLimit(t *testing.T) { newRig(t, nil).run(t, "nofile") }

// legacyClient makes calls by write().
func legacyClient([]string) error {
	fd, err := opens()
	if err != nil {
		return err
	}
	resp := make([]byte, 176)
	req := make([]byte, 16)
	binary.LittleEndian.PutUint32(req, spec.IB_USER_VERBS_CMD_QUERY_DEVICE)
	binary.LittleEndian.PutUint16(req[4:], uint16(len(req)/4))
	binary.LittleEndian.PutUint16(req[6:], uint16(len(resp)/4))
	binary.LittleEndian.PutUint64(req[8:], addrOf(resp))
	n, err := unix.Write(fd, req)
	runtime.KeepAlive(resp)
	if err != nil || n != len(req) {
		return fmt.Errorf("QUERY_DEVICE: %d, %w", n, err)
	}
	if guid := binary.LittleEndian.Uint64(resp[8:]); guid == 0 {
		return errors.New("QUERY_DEVICE has answered nothing")
	}
	binary.LittleEndian.PutUint32(req, 63)
	if n, err := unix.Write(fd, req); err == nil {
		return fmt.Errorf("no command: %d", n)
	}
	return nil
}

// TestLegacy makes calls by write(), which has to be asked for.
func TestLegacy(t *testing.T) {
	r := newRig(t, nil)
	s := clientSpec(t, os.Stdout, "legacy")
	s.Write = true
	status, err := r.Run(s)
	require.NoError(t, err)
	require.Zero(t, status)
}

// self starts this binary as another client, with a descriptor as its number 3.
func self(name string, fd int, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", append([]string{clientArg, name}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(fd), "")}
	return cmd
}

// passClient passes a file to another process over a socket, and ends before that
// uses it.
func passClient([]string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	cmd := self("receive", pair[1])
	if err := cmd.Start(); err != nil {
		return err
	}
	fd, err := opens()
	if err != nil {
		return err
	}
	event, err := asyncEvent(fd)
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(pair[0], []byte{1}, unix.UnixRights(fd, event), nil, 0); err != nil {
		return err
	}
	unix.Close(fd)
	unix.Close(event)
	unix.Close(pair[0]) // the other one waits for that
	return cmd.Wait()
}

// receiveClient uses a file that another process has passed.
func receiveClient([]string) error {
	oob := make([]byte, 64)
	_, n, _, _, err := unix.Recvmsg(3, make([]byte, 8), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return err
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(msgs) != 1 {
		return fmt.Errorf("%d messages, %w", len(msgs), err)
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return err
	}
	if _, err := unix.Read(3, make([]byte, 1)); err != nil { // until the other one has closed its own
		return err
	}
	for range 3 {
		if err := works(fds[0]); err != nil {
			return fmt.Errorf("the file: %w", err)
		}
	}
	if err := unix.SetNonblock(fds[1], true); err != nil {
		return err
	}
	if _, err := unix.Read(fds[1], make([]byte, 64)); !errors.Is(err, unix.EAGAIN) {
		return fmt.Errorf("the event descriptor: %w", err)
	}
	return nil
}

func TestPassing(t *testing.T) { newRig(t, nil).run(t, "pass") }

// execClient becomes another program that finds the file by its number.
func execClient(args []string) error {
	kept, err := unix.Open(node, unix.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := getContext(kept); err != nil {
		return err
	}
	closed, err := opens()
	if err != nil {
		return err
	}
	if err := unix.Exec("/nowhere", nil, nil); !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("exec of nothing: %w", err)
	}
	if err := works(kept); err != nil {
		return fmt.Errorf("after an exec that failed: %w", err)
	}
	return unix.Exec("/proc/self/exe", []string{"self", clientArg, "execed", strconv.Itoa(kept), strconv.Itoa(closed)}, os.Environ())
}

func execedClient(args []string) error {
	kept, _ := strconv.Atoi(args[0])
	closed, _ := strconv.Atoi(args[1])
	if err := works(kept); err != nil {
		return fmt.Errorf("the file that was kept: %w", err)
	}
	if err := works(closed); err == nil {
		return errors.New("the file that was to be closed works")
	}
	if _, err := opens(); err != nil {
		return fmt.Errorf("another one: %w", err)
	}
	return nil
}

func TestExec(t *testing.T) { newRig(t, nil).run(t, "exec") }

// threadsClient opens files in threads that end.
func threadsClient([]string) error {
	for range 20 {
		type result struct {
			fd  int
			err error
		}
		made := make(chan result)
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends
			fd, err := opens()
			made <- result{fd, err}
		}()
		r := <-made
		if r.err != nil {
			return r.err
		}
		done := make(chan error)
		go func() {
			runtime.LockOSThread()
			err := works(r.fd)
			if err == nil {
				_, err = asyncEvent(r.fd)
			}
			done <- err
		}()
		if err := <-done; err != nil {
			return err
		}
		if err := works(r.fd); err != nil {
			return err
		}
	}
	return nil
}

func TestThreads(t *testing.T) { newRig(t, nil).run(t, "threads") }

// reopenClient opens its descriptor again by its name in /proc. Of a device that is
// another open of the device: a file of its own, without a context.
func reopenClient([]string) error {
	for range 50 {
		fd, err := opens()
		if err != nil {
			return err
		}
		name := "/proc/self/fd/" + strconv.Itoa(fd)
		var again [3]int
		for i := range again {
			if again[i], err = unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
				return err
			}
			if err := works(again[i]); !errors.Is(err, unix.EINVAL) {
				return fmt.Errorf("a new file without a context: %w", err)
			}
			if err := getContext(again[i]); err != nil {
				return err
			}
		}
		unix.Close(again[0])
		unix.Close(again[1])
		unix.Close(fd)
		if err := works(again[2]); err != nil {
			return fmt.Errorf("the last of four: %w", err)
		}
		unix.Close(again[2])
	}
	return nil
}

func TestReopen(t *testing.T) { newRig(t, nil).run(t, "reopen") }

// besideClient opens its descriptor again in a way that nobody sees. That is the same
// file, which lives until the last of both is closed.
func besideClient([]string) error {
	dir, err := unix.Open("/proc/self/fd", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	fd, err := opens()
	if err != nil {
		return err
	}
	again, err := unix.Openat(dir, strconv.Itoa(fd), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for _, d := range []int{again, fd} {
		if err := works(d); err != nil {
			return err
		}
	}
	unix.Close(fd)
	if _, err := opens(); err != nil { // by which the close is seen
		return err
	}
	if err := works(again); err != nil {
		return fmt.Errorf("the one that is left: %w", err)
	}
	return nil
}

func TestReopenBeside(t *testing.T) { newRig(t, nil).run(t, "beside") }
