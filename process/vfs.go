package process

import (
	"math"
	"syscall"
	"time"

	"uverbsim/copyuser"
	"uverbsim/rule"
)

// Open models open(2): do_sys_openat2 in fs/open.c. The descriptor is taken
// first. Its errors are the rule fd/none-free and those of the VFS.
func (t *Task) Open(path string, flags int) (int, error) {
	t.enter()
	defer t.leave()
	fd, err := t.GetUnusedFD(flags&syscall.O_CLOEXEC != 0)
	if err != nil {
		return -1, err
	}
	f, err := t.vfs.Open(t, path, flags&^syscall.O_CLOEXEC)
	if err != nil {
		t.PutUnusedFD(fd)
		return -1, interrupted(err)
	}
	t.FDInstall(fd, f)
	return fd, nil
}

// OpenFile is the part of Open that makes the file, for who gives it a descriptor
// in another way. Flags are those of open(2) without O_CLOEXEC. Its errors are
// those of the VFS.
func (t *Task) OpenFile(path string, flags int) (*File, error) {
	t.enter()
	defer t.leave()
	f, err := t.vfs.Open(t, path, flags)
	return f, interrupted(err)
}

// maxRWCount is how much one read or write takes: MAX_RW_COUNT,
// include/linux/fs.h.
const maxRWCount = math.MaxInt32 &^ (copyuser.PageSize - 1)

// Read models read(2): vfs_read in fs/read_write.c. Its errors are the rules
// fd/bad, read/mode, read/no-operation and read/buffer, and those of the file.
func (t *Task) Read(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	f := t.enterFile(fd)
	defer t.leaveFile(f)
	if f == nil {
		return -1, rule.FDBad
	}
	switch {
	case !f.Readable():
		return -1, rule.ReadMode
	case f.Ops.Read == nil:
		return -1, rule.ReadNoOperation
	case !copyuser.AccessOK(buf, n):
		return -1, rule.ReadBuffer
	}
	return result(f.Ops.Read(t, f, buf, min(n, maxRWCount)))
}

// Write models write(2): vfs_write in fs/read_write.c. Its errors are the rules
// fd/bad, write/mode, write/no-operation and write/buffer, and those of the
// file.
func (t *Task) Write(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	f := t.enterFile(fd)
	defer t.leaveFile(f)
	if f == nil {
		return -1, rule.FDBad
	}
	switch {
	case !f.Writable():
		return -1, rule.WriteMode
	case f.Ops.Write == nil:
		return -1, rule.WriteNoOperation
	case !copyuser.AccessOK(buf, n):
		return -1, rule.WriteBuffer
	}
	return result(f.Ops.Write(t, f, buf, min(n, maxRWCount)))
}

// result is how an operation's answer leaves the kernel.
func result(n int64, err error) (int64, error) {
	if err != nil {
		return -1, interrupted(err)
	}
	return n, nil
}

// interrupted turns ERESTARTSYS into EINTR, as for a signal whose handler does
// not ask for a restart: handle_signal in arch/x86/kernel/signal.c.
func interrupted(err error) error {
	if err != nil && rule.Errno(err) == ERESTARTSYS {
		return rule.Interrupted
	}
	return err
}

// Commands that the VFS answers for every file, include/uapi/asm-generic/ioctls.h.
const (
	FIONCLEX = 0x5450
	FIOCLEX  = 0x5451
	FIONBIO  = 0x5421
	FIOASYNC = 0x5452
	FIOQSIZE = 0x5460
)

// Ioctl models ioctl(2) in fs/ioctl.c. Its errors are the rules fd/bad and
// ioctl/…, and those of the file.
func (t *Task) Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error) {
	f := t.enterFile(fd)
	defer t.leaveFile(f)
	if f == nil {
		return -1, rule.FDBad
	}
	switch cmd {
	case FIOCLEX, FIONCLEX:
		t.setCloexec(fd, cmd == FIOCLEX)
		return 0, nil
	case FIONBIO:
		return t.ioctlFionbio(f, arg)
	case FIOASYNC:
		return t.ioctlFioasync(f, arg)
	case FIOQSIZE:
		return -1, rule.IoctlFioqsize
	}
	return t.vfsIoctl(f, cmd, arg)
}

// vfsIoctl models vfs_ioctl in fs/ioctl.c.
func (t *Task) vfsIoctl(f *File, cmd uint32, arg copyuser.Addr) (int64, error) {
	if f.Ops.Ioctl == nil {
		return -1, rule.IoctlNoOperation
	}
	n, err := f.Ops.Ioctl(t, f, cmd, arg)
	if err != nil && rule.Errno(err) == rule.ENOIOCTLCMD {
		return -1, rule.IoctlUnknown
	}
	return result(n, err)
}

// setCloexec models set_close_on_exec in fs/file.c.
func (t *Task) setCloexec(fd int, on bool) {
	t.files.mu.Lock()
	defer t.files.mu.Unlock()
	t.files.cloexec[fd] = on
}

// ioctlFionbio models ioctl_fionbio in fs/ioctl.c.
func (t *Task) ioctlFionbio(f *File, arg copyuser.Addr) (int64, error) {
	var on [4]byte
	if !copyuser.CopyFromUser(t.Trace, t.Mem, on[:], arg) {
		return -1, rule.IoctlFlag
	}
	f.setFlag(syscall.O_NONBLOCK, on != [4]byte{})
	return 0, nil
}

// ioctlFioasync models ioctl_fioasync in fs/ioctl.c.
func (t *Task) ioctlFioasync(f *File, arg copyuser.Addr) (int64, error) {
	var flag [4]byte
	if !copyuser.CopyFromUser(t.Trace, t.Mem, flag[:], arg) {
		return -1, rule.IoctlFlag
	}
	on := flag != [4]byte{}
	if on == (f.Flags()&syscall.O_ASYNC != 0) {
		return 0, nil
	}
	if f.Ops.Fasync == nil {
		return -1, rule.IoctlFioasync
	}
	if err := f.Ops.Fasync(t, f, on); err != nil {
		return -1, err
	}
	f.setFlag(syscall.O_ASYNC, on)
	return 0, nil
}

// SetNonblock models fcntl(2) with F_SETFL as far as O_NONBLOCK goes: setfl in
// fs/fcntl.c. Its error is the rule fd/bad.
func (t *Task) SetNonblock(fd int, on bool) error {
	f := t.enterFile(fd)
	defer t.leaveFile(f)
	if f == nil {
		return rule.FDBad
	}
	f.setFlag(syscall.O_NONBLOCK, on)
	return nil
}

// What Poll tells, include/uapi/asm-generic/poll.h.
const (
	POLLIN     = 0x0001
	POLLPRI    = 0x0002
	POLLOUT    = 0x0004
	POLLERR    = 0x0008
	POLLHUP    = 0x0010
	POLLNVAL   = 0x0020
	POLLRDNORM = 0x0040
	POLLWRNORM = 0x0100
)

// DefaultPollMask is the answer for a file without a poll operation:
// DEFAULT_POLLMASK, include/linux/poll.h.
const DefaultPollMask = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM

// Poll models poll(2) in fs/select.c for one descriptor, asked for POLLIN and
// POLLOUT. It returns 0 when the timeout is over; a negative timeout waits for
// ever. A descriptor that is not open gives POLLNVAL, a negative one nothing.
// Its error is the rule vfs/interrupted.
func (t *Task) Poll(fd int, timeout time.Duration) (uint16, error) {
	t.enter()
	defer t.leave()
	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	for {
		revents, wake := t.doPollfd(fd, timeout != 0)
		if revents != 0 || timeout == 0 {
			return revents, nil
		}
		select {
		case <-wake:
		case <-expired:
			timeout = 0
		case <-t.signal:
			return 0, rule.Interrupted
		case <-t.killed:
			return 0, rule.Interrupted
		}
	}
}

// doPollfd models do_pollfd in fs/select.c. With wait it also returns what is
// closed when the answer may have changed.
func (t *Task) doPollfd(fd int, wait bool) (revents uint16, wake <-chan struct{}) {
	if fd < 0 {
		return 0, nil
	}
	f := t.fdget(fd)
	if f == nil {
		return POLLNVAL, nil
	}
	defer t.fdput(f)
	if wait && f.Ops.Wait != nil {
		wake = f.Ops.Wait(f).next()
	}
	mask := uint16(DefaultPollMask)
	if f.Ops.Poll != nil {
		mask = f.Ops.Poll(t, f)
	}
	return mask & (POLLIN | POLLOUT | POLLERR | POLLHUP), wake
}
