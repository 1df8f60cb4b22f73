package interpose

import (
	"bytes"
	"encoding/binary"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/interpose/procstatus"
	"uverbsim/interpose/sysfs"
	"uverbsim/interpose/watch"
	"uverbsim/process"
	"uverbsim/rule"
)

// named reads the path of a call and resolves it. It returns false if it names
// nothing of the machine.
func (c *call) named(dirfd int32, addr uint64) (sysfs.Entry, bool) {
	return c.resolve(dirfd, c.readPath(addr))
}

// resolve resolves a path of the program's.
func (c *call) resolve(dirfd int32, name []byte) (sysfs.Entry, bool) {
	if len(name) == 0 {
		return sysfs.Entry{}, false
	}
	if name[0] == '/' {
		return c.tree.Resolve(string(name))
	}
	// Names below a directory of the twin are found by the kernel, but for device
	// nodes, which are no devices there.
	if dirfd == unix.AT_FDCWD || !bytes.Contains(name, []byte("uverbs")) {
		return sysfs.Entry{}, false
	}
	dir, err := readlink("/proc/" + strconv.Itoa(int(c.PID)) + "/fd/" + strconv.Itoa(int(dirfd)))
	if err != nil {
		return sysfs.Entry{}, false
	}
	outside, ok := strings.CutPrefix(dir, c.tree.Dir())
	if !ok {
		return sysfs.Entry{}, false
	}
	return c.tree.Resolve(path.Join(outside, string(name)))
}

// nodeOf returns the path of the device node that a path leads to, "" if it leads
// to something else. A link is not followed if nofollow is set.
func nodeOf(e sysfs.Entry, nofollow bool) string {
	if e.Kind != sysfs.DeviceNode || e.Link && nofollow {
		return ""
	}
	return "/dev/infiniband/uverbs" + strconv.Itoa(e.Device)
}

func readlink(name string) (string, error) {
	var b [unix.PathMax]byte
	n, err := unix.Readlink(name, b[:])
	if err != nil {
		return "", err
	}
	return string(b[:n]), nil
}

// readPath reads a path out of the thread's memory; it is good until the next call.
// One that cannot be read, or is too long, the kernel shall refuse.
func (c *call) readPath(addr uint64) []byte {
	n := 0
	for n < len(c.path) {
		at := addr + uint64(n)
		step := min(len(c.path)-n, 256, copyuser.PageSize-int(at%copyuser.PageSize))
		got, errno := peek(int(c.PID), c.path[n:n+step], at)
		if errno == unix.EPERM {
			c.unreachable(int(c.PID))
		}
		if end := bytes.IndexByte(c.path[n:n+got], 0); end >= 0 {
			return c.path[:n+end]
		}
		if n += got; got < step {
			return nil
		}
	}
	return nil
}

// unreachable tells, once, of programs whose memory is closed to us.
func (s *session) unreachable(tid int) {
	if !s.told.Swap(true) {
		s.report("thread %d may not be looked into (another user's, or one that has privileges): such programs find no devices", tid)
	}
}

// openat answers the open of something of the machine.
func (c *call) openat(dirfd int32, addr, flags uint64) answer {
	name := c.readPath(addr)
	place, ok := c.resolve(dirfd, name)
	if !ok {
		return c.openAgain(name, flags)
	}
	node := nodeOf(place, flags&unix.O_NOFOLLOW != 0)
	switch {
	case node != "" && flags&unix.O_DIRECTORY != 0:
		return fails(unix.ENOTDIR)
	case node != "" && flags&unix.O_PATH == 0:
		return c.openNode(node, int(flags))
	case flags&unix.O_CREAT != 0:
		flags &^= unix.O_CREAT // nobody makes files there
		if errno := creates(place.Twin); errno != 0 {
			return fails(errno)
		}
	}
	if flags&unix.O_ACCMODE != unix.O_RDONLY && !c.isRoot() {
		return fails(unix.EACCES) // whoever else could write to the twin's file
	}
	// A descriptor for the path alone cannot be given away; one for reading does as well.
	const not = unix.O_PATH | unix.O_TRUNC | unix.O_EXCL
	fd, err := unix.Open(place.Twin, int(flags)&^not|unix.O_CLOEXEC, 0)
	if err != nil {
		return fails(errnoOf(err))
	}
	defer unix.Close(fd)
	return c.give(fd, flags&unix.O_CLOEXEC != 0)
}

// isRoot says whether the thread is root's.
func (c *call) isRoot() bool {
	s, err := procstatus.Read(int(c.PID))
	return err == nil && s.UID.Effective == 0
}

// creates returns what open says to who would make a file at a place of the twin.
func creates(twin string) unix.Errno {
	var st unix.Stat_t
	switch err := unix.Stat(twin, &st); {
	case err != nil:
		return unix.EACCES
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return unix.EISDIR
	}
	return 0
}

// openAgain answers the open of a descriptor of the machine by its path. It opens the
// device once more; an event file has no path.
func (c *call) openAgain(path []byte, flags uint64) answer {
	name, ok := c.descriptorPath(path)
	if !ok || c.files.len() == 0 {
		return answer{}
	}
	var st unix.Stat_t
	if unix.Stat(name, &st) != nil {
		return answer{}
	}
	switch f := c.files.find(inodeOf(&st)).(type) {
	case *deviceFile:
		return c.openNode(f.path, int(flags))
	case *eventFile:
		return fails(unix.ENXIO)
	}
	return answer{}
}

// descriptorPath returns where this process finds what a path of the program's names,
// if that is a descriptor.
func (c *call) descriptorPath(path []byte) (string, bool) {
	if !bytes.Contains(path, []byte("/fd/")) {
		return "", false
	}
	name := string(path)
	own := "/proc/" + strconv.Itoa(int(c.PID)) + "/"
	for _, p := range []struct{ prefix, is string }{
		{"/proc/self/", own}, {"/proc/thread-self/", own}, {"/dev/fd/", own + "fd/"}, {"/proc/", "/proc/"},
	} {
		if rest, ok := strings.CutPrefix(name, p.prefix); ok {
			return p.is + rest, true
		}
	}
	return "", false
}

// openat2 is openat with the flags in a struct.
func (c *call) openat2() answer {
	var how [8]byte // open_how.flags
	if n, _ := peek(int(c.PID), how[:], c.Args[2]); n < len(how) {
		return answer{}
	}
	return c.openat(int32(c.Args[0]), c.Args[1], binary.LittleEndian.Uint64(how[:]))
}

// give ends the call with a descriptor for the program.
func (c *call) give(fd int, cloexec bool) answer {
	n, err := c.l.AddFD(c.ID, fd, cloexec)
	if err != nil {
		return fails(errnoOf(err))
	}
	return value(int64(n))
}

// openNode opens a device node in the machine.
func (c *call) openNode(node string, flags int) answer {
	cl, err := c.clientOf(int(c.PID))
	if err != nil {
		return c.broken(err)
	}
	if !c.l.Valid(c.ID) {
		return fails(unix.EIO) // for nobody
	}
	c.file, c.client, c.fd = nil, cl, -1
	if err := c.begin(); err != nil {
		return c.broken(err)
	}
	w := watch.Call{Name: "open", Path: node, OpenFlags: flags, FD: -1, Device: c.cfg.Machine.Device(node)}
	if c.cfg.Watch == nil {
		return c.openFile(node, flags, &w)
	}
	return c.tell(&w, func() answer { return c.openFile(node, flags, &w) })
}

// openFile makes a file of the machine, and the program's descriptor of it.
func (c *call) openFile(node string, flags int, w *watch.Call) answer {
	t := c.client.lend(int(c.PID), c)
	defer c.client.giveBack(t)
	file, err := t.OpenFile(node, flags&^unix.O_CLOEXEC)
	if err != nil {
		c.refused = err
		return fails(rule.Errno(err))
	}
	f, open, err := newDeviceFile(c.Supervisor, node, file, flags)
	if err != nil {
		c.asSystem(func(t *process.Task) { file.Put(t) })
		return c.broken(err)
	}
	w.File = f.id
	defer unix.Close(open) // the last close, if the program does not get it
	fd, err := c.l.AddFD(c.ID, open, flags&unix.O_CLOEXEC != 0)
	if err != nil {
		return fails(errnoOf(err))
	}
	return value(int64(fd))
}

// readlink answers for a link of the twin.
func (c *call) readlink(dirfd int32, addr, to, size uint64) answer {
	place, ok := c.named(dirfd, addr)
	switch {
	case !ok:
		return answer{}
	case size == 0:
		return fails(unix.EINVAL)
	}
	link, err := readlink(place.Twin)
	if err != nil {
		return fails(errnoOf(err))
	}
	link = link[:min(uint64(len(link)), size)]
	if !poke(int(c.PID), to, []byte(link)) {
		return fails(unix.EFAULT)
	}
	return value(int64(len(link)))
}

// access answers whether something may be used.
func (c *call) access(dirfd int32, addr, mode uint64, flags int) answer {
	place, ok := c.named(dirfd, addr)
	switch {
	case !ok:
		return answer{}
	case nodeOf(place, flags&unix.AT_SYMLINK_NOFOLLOW != 0) == "":
		if err := unix.Faccessat(unix.AT_FDCWD, place.Twin, uint32(mode), flags&unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return fails(errnoOf(err))
		}
	case mode&unix.X_OK != 0 || mode&unix.R_OK != 0 && place.Mode&0o4 == 0 || mode&unix.W_OK != 0 && place.Mode&0o2 == 0:
		return fails(unix.EACCES)
	}
	return value(0)
}

// getxattr says that nothing there has an extended attribute.
func (c *call) getxattr() answer {
	if _, ok := c.named(unix.AT_FDCWD, c.Args[0]); !ok {
		return answer{}
	}
	return fails(unix.ENODATA)
}

// listxattr lists none.
func (c *call) listxattr() answer {
	if _, ok := c.named(unix.AT_FDCWD, c.Args[0]); !ok {
		return answer{}
	}
	return value(0)
}

// errnoOf returns what a system call of ours has failed with.
func errnoOf(err error) unix.Errno {
	if errno, ok := err.(unix.Errno); ok {
		return errno
	}
	return unix.EIO
}
