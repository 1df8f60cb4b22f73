//go:build linux

package device

import (
	"encoding/binary"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/sim_test/player"
)

// Task is a thread of a process of the case.
type Task struct {
	m   *Machine
	c   caller
	pid int

	parent *Task // of the first thread of a child
	pidfd  int   // of a child
	err    error // why there is no such thread

	// scratch is memory of the process for what system calls are handed by
	// address: the thread's own.
	scratch uint64
}

var _ player.Task = (*Task)(nil)

// scratchSize is a page: it has to be as small as the smallest of the case's
// areas, for it must not take the place of one that the case has unmapped.
const scratchSize = pageSize

func (t *Task) makeScratch() error {
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	a, err := t.call(unix.SYS_MMAP, args{0, scratchSize, prot, flags, ^uintptr(0)})
	if err != nil {
		return noErrno(err)
	}
	t.scratch = uint64(a)
	return nil
}

func (t *Task) call(nr uintptr, a args) (int64, error) {
	if t.err != nil {
		return -1, t.err
	}
	return t.c.call(nr, a)
}

// do is a call whose result is nothing but its errno.
func (t *Task) do(nr uintptr, a args) error {
	_, err := t.call(nr, a)
	return err
}

// number is a call that returns a descriptor.
func (t *Task) number(nr uintptr, a args) (int, error) {
	n, err := t.call(nr, a)
	return int(n), err
}

// hand puts bytes into the process's memory, to be handed to a call.
func (t *Task) hand(b []byte) (uintptr, error) {
	if t.err != nil {
		return 0, t.err
	}
	if t.c.store(t.scratch, b) < len(b) {
		return 0, errGone
	}
	return uintptr(t.scratch), nil
}

// handed reads back what hand has put there.
func (t *Task) handed(b []byte) error {
	if t.c.load(t.scratch, b) < len(b) {
		return errGone
	}
	return nil
}

// Thread implements player.Task.
func (t *Task) Thread() player.Task {
	q := &Task{m: t.m, c: t.c, pid: t.pid, err: t.err}
	if t.m.agent == nil || t.parent != nil {
		q.err = &player.Unplayable{Op: "a thread", Reason: "only the first process of a case has others"}
	}
	if q.err == nil {
		if l, err := t.m.agent.thread(); err != nil {
			q.err = err
		} else {
			q.c = l
			q.err = q.makeScratch()
		}
	}
	return q
}

// Open implements player.Files.
func (t *Task) Open(flags int) (int, error) {
	node := t.m.target.node()
	if node == "" {
		return -1, unix.ENOENT
	}
	path, err := t.hand(cstring(node))
	if err != nil {
		return -1, err
	}
	const cwd = -100 // AT_FDCWD
	at := cwd
	return t.number(unix.SYS_OPENAT, args{uintptr(at), path, uintptr(flags)})
}

// of makes a call on a descriptor. The player's own are not there for a case
// that comes by their numbers.
func (t *Task) of(nr uintptr, fd int, rest ...uintptr) (int64, error) {
	if t.m.before[fd] {
		return -1, unix.EBADF
	}
	a := args{uintptr(fd)}
	copy(a[1:], rest)
	return t.call(nr, a)
}

// Close implements player.Files.
func (t *Task) Close(fd int) error {
	_, err := t.of(unix.SYS_CLOSE, fd)
	return err
}

// Ioctl implements player.Files.
func (t *Task) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	return t.of(unix.SYS_IOCTL, fd, uintptr(cmd), uintptr(arg))
}

// Read implements player.Files.
func (t *Task) Read(fd int, addr, n uint64) (int64, error) {
	return t.of(unix.SYS_READ, fd, uintptr(addr), uintptr(n))
}

// Write implements player.Files.
func (t *Task) Write(fd int, addr, n uint64) (int64, error) {
	return t.of(unix.SYS_WRITE, fd, uintptr(addr), uintptr(n))
}

// SetNonblock implements player.Files.
func (t *Task) SetNonblock(fd int) error {
	flags, err := t.of(unix.SYS_FCNTL, fd, unix.F_GETFL)
	if err != nil {
		return err
	}
	_, err = t.of(unix.SYS_FCNTL, fd, unix.F_SETFL, uintptr(flags)|unix.O_NONBLOCK)
	return err
}

// Poll implements player.Files.
func (t *Task) Poll(fd int, timeout time.Duration) (uint16, error) {
	const pollfdSize = 8
	b := binary.NativeEndian.AppendUint32(nil, uint32(fd))
	b = binary.NativeEndian.AppendUint16(b, unix.POLLIN|unix.POLLOUT)
	b = append(b, 0, 0)
	limited := timeout >= 0
	if limited {
		b = binary.NativeEndian.AppendUint64(b, uint64(timeout/time.Second))
		b = binary.NativeEndian.AppendUint64(b, uint64(timeout%time.Second))
	}
	at, err := t.hand(b)
	if err != nil {
		return 0, err
	}
	a := args{at, 1}
	if limited {
		a[2] = at + pollfdSize
	}
	if _, err := restarted(func() (int, error) { return t.number(unix.SYS_PPOLL, a) }); err != nil {
		return 0, err
	}
	if err := t.handed(b[:pollfdSize]); err != nil {
		return 0, err
	}
	return binary.NativeEndian.Uint16(b[6:]), nil
}

// Dup implements player.Files.
func (t *Task) Dup(fd int) (int, error) { return t.number(unix.SYS_DUP, args{uintptr(fd)}) }

// Dup2 implements player.Files. Not every machine has a system call of that
// name.
func (t *Task) Dup2(fd, to int) (int, error) {
	if fd == to {
		_, err := t.call(unix.SYS_FCNTL, args{uintptr(fd), unix.F_GETFD})
		return to, err
	}
	return t.Dup3(fd, to, 0)
}

// Dup3 implements player.Files.
func (t *Task) Dup3(fd, to, flags int) (int, error) {
	return t.number(unix.SYS_DUP3, args{uintptr(fd), uintptr(to), uintptr(flags)})
}

// FcntlDupFD implements player.Files.
func (t *Task) FcntlDupFD(fd, min int, cloexec bool) (int, error) {
	cmd := uintptr(unix.F_DUPFD)
	if cloexec {
		cmd = unix.F_DUPFD_CLOEXEC
	}
	return t.number(unix.SYS_FCNTL, args{uintptr(fd), cmd, uintptr(min)})
}

// SendFD implements player.Files. The other process fetches the descriptor,
// which an exec then closes.
func (t *Task) SendFD(fd int, to player.Task) (int, error) {
	dst := to.(*Task)
	pidfd, err := dst.call(unix.SYS_PIDFD_OPEN, args{uintptr(t.pid)})
	if err != nil {
		return -1, err
	}
	defer dst.Close(int(pidfd)) // it is open
	return dst.number(unix.SYS_PIDFD_GETFD, args{uintptr(pidfd), uintptr(fd)})
}

// FDs implements player.Files.
func (t *Task) FDs() []int {
	fds := fdsOf(t.pid)
	if t.m.agent != nil {
		fds = slices.DeleteFunc(fds, func(fd int) bool { return fd >= hiddenFDs })
	}
	slices.Sort(fds)
	return fds
}

// Map implements player.Memory.
func (t *Task) Map(n uint64) (uint64, error) {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	whole, err := t.call(unix.SYS_MMAP, args{0, uintptr(n) + 2*pageSize, unix.PROT_NONE, flags, ^uintptr(0)})
	if err != nil {
		return 0, err
	}
	addr := uint64(whole) + pageSize
	if t.m.areas != nil {
		t.m.areas[addr] = int(n)
	}
	return addr, t.Mprotect(addr, n, unix.PROT_READ|unix.PROT_WRITE)
}

// Mmap implements player.Memory.
func (t *Task) Mmap(fd int, n uint64, prot, flags int, off uint64) (uint64, error) {
	a, err := t.call(unix.SYS_MMAP, args{0, uintptr(n), uintptr(prot), uintptr(flags), uintptr(fd), uintptr(off)})
	return uint64(a), err
}

// Munmap implements player.Memory. In this process, which has other uses for
// free memory, what Map has mapped goes with the pages before and behind.
func (t *Task) Munmap(addr, n uint64) error {
	if uint64(t.m.areas[addr]) == n && n > 0 {
		delete(t.m.areas, addr)
		addr, n = addr-pageSize, n+2*pageSize
	}
	return t.do(unix.SYS_MUNMAP, args{uintptr(addr), uintptr(n)})
}

// Mprotect implements player.Memory.
func (t *Task) Mprotect(addr, n uint64, prot int) error {
	return t.do(unix.SYS_MPROTECT, args{uintptr(addr), uintptr(n), uintptr(prot)})
}

// Mremap implements player.Memory.
func (t *Task) Mremap(addr, oldLen, newLen uint64, flags int) (uint64, error) {
	a, err := t.call(unix.SYS_MREMAP, args{uintptr(addr), uintptr(oldLen), uintptr(newLen), uintptr(flags)})
	return uint64(a), err
}

// Load implements player.Memory.
func (t *Task) Load(addr uint64, dst []byte) int {
	if t.err != nil {
		return 0
	}
	return t.c.load(addr, dst)
}

// Store implements player.Memory.
func (t *Task) Store(addr uint64, src []byte) int {
	if t.err != nil {
		return 0
	}
	return t.c.store(addr, src)
}

// Fork implements player.Task.
func (t *Task) Fork() (player.Task, error) {
	if t.m.agent == nil {
		return nil, &player.Unplayable{Op: "fork", Reason: "the case is played by the player's own process"}
	}
	l, err := t.m.agent.child()
	if err != nil {
		return nil, err
	}
	pid, err := t.number(unix.SYS_CLONE, args{uintptr(unix.SIGCHLD), 5: laneFD(l.n)})
	if err != nil {
		return nil, err
	}
	child := &Task{m: t.m, c: l, pid: pid, parent: t, scratch: t.scratch}
	if child.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		return nil, noErrno(err)
	}
	t.m.agent.children = append(t.m.agent.children, child.pidfd)
	return child, nil
}

// Exec implements player.Task: the program is the agent again.
func (t *Task) Exec() error {
	l, ok := t.c.(*lane)
	if !ok || t.parent == nil {
		return &player.Unplayable{Op: "exec", Reason: "only a child process does that"}
	}
	for i := range uintptr(fdsPerLane) {
		if err := t.do(unix.SYS_FCNTL, args{laneFD(l.n) + i, unix.F_SETFD, 0}); err != nil {
			return noErrno(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	v := newVector(t.scratch)
	path := v.text(self)
	argv := v.list(path)
	envp := v.list(v.text(agentEnv+"="+itoa(l.n)), v.text("GODEBUG=asyncpreemptoff=1"), v.text("GOMAXPROCS=2"))
	if _, err := t.hand(v.b); err != nil {
		return err
	}
	if err := l.send(unix.SYS_EXECVE, args{path, argv, envp}); err != nil {
		return err
	}
	if err := l.greeted(); err != nil {
		return noErrno(err)
	}
	return t.makeScratch()
}

// Exit implements player.Task.
func (t *Task) Exit() {
	l, ok := t.c.(*lane)
	if !ok || t.parent == nil || l.send(unix.SYS_EXIT_GROUP, args{}) != nil {
		return
	}
	awaitExit(t.pidfd)
	t.err = errGone                                   // the parent has the lane's other end open, too
	t.parent.do(unix.SYS_WAIT4, args{uintptr(t.pid)}) // it has exited
}
