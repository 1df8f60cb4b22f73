package interpose

import (
	"golang.org/x/sys/unix"

	"uverbsim/interpose/sysfs"
)

// stat answers a look at a path.
func (c *call) stat(dirfd int32, addr, to uint64, flags int) answer {
	place, ok := c.named(dirfd, addr)
	if !ok {
		return answer{}
	}
	var st unix.Stat_t
	if err := unix.Fstatat(unix.AT_FDCWD, place.Twin, &st, flags&unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fails(errnoOf(err))
	}
	if nodeOf(place, flags&unix.AT_SYMLINK_NOFOLLOW != 0) != "" {
		asDevice(&st, place)
	}
	return c.putStat(to, &st)
}

func asDevice(st *unix.Stat_t, place sysfs.Entry) {
	st.Mode, st.Rdev, st.Size, st.Blocks = unix.S_IFCHR|place.Mode, unix.Mkdev(place.Major, place.Minor), 0, 0
	st.Uid, st.Gid = 0, 0
}

func (c *call) putStat(to uint64, st *unix.Stat_t) answer {
	b := bytesOf(st)
	if !poke(int(c.PID), to, b) {
		return fails(unix.EFAULT)
	}
	return value(0)
}

// newfstatat is a look at a path, or at a descriptor.
func (c *call) newfstatat() answer {
	if c.Args[3]&unix.AT_EMPTY_PATH != 0 && c.emptyPath(c.Args[1]) {
		return c.fstat(int32(c.Args[0]), c.Args[2])
	}
	return c.stat(int32(c.Args[0]), c.Args[1], c.Args[2], int(int32(c.Args[3])))
}

// emptyPath says whether a path is empty, or none.
func (c *call) emptyPath(addr uint64) bool {
	if addr == 0 {
		return true
	}
	var b [1]byte
	n, _ := peek(int(c.PID), b[:], addr)
	return n == 1 && b[0] == 0
}

// fstat answers a look at a descriptor of a device file.
func (c *call) fstat(fd int32, to uint64) answer {
	f := c.device(fd)
	if f == nil {
		return answer{}
	}
	var st unix.Stat_t
	if err := unix.Stat(f.node.Twin, &st); err != nil {
		_ = unix.Fstat(f.fd, &st) // the node is gone
	}
	asDevice(&st, f.node)
	return c.putStat(to, &st)
}

// device returns the device file that a descriptor leads to, nil for another file.
func (c *call) device(fd int32) *deviceFile {
	if !c.find(fd) {
		return nil
	}
	f, _ := c.file.(*deviceFile)
	return f
}

// statx is the newer call for both.
func (c *call) statx() answer {
	flags, mask := int(int32(c.Args[2])), int(c.Args[3])
	var st unix.Statx_t
	if flags&unix.AT_EMPTY_PATH != 0 && c.emptyPath(c.Args[1]) {
		f := c.device(int32(c.Args[0]))
		if f == nil {
			return answer{}
		}
		err := unix.Statx(unix.AT_FDCWD, f.node.Twin, flags&^unix.AT_EMPTY_PATH, mask, &st)
		if err == unix.ENOENT { // the node is gone
			err = unix.Statx(f.fd, "", flags, mask, &st)
		}
		return c.putStatx(&st, f.node, err)
	}
	place, ok := c.named(int32(c.Args[0]), c.Args[1])
	if !ok {
		return answer{}
	}
	err := unix.Statx(unix.AT_FDCWD, place.Twin, flags&^unix.AT_EMPTY_PATH, mask, &st)
	if nodeOf(place, flags&unix.AT_SYMLINK_NOFOLLOW != 0) == "" {
		place.Kind = sysfs.Path // what is looked at is no node
	}
	return c.putStatx(&st, place, err)
}

func (c *call) putStatx(st *unix.Statx_t, place sysfs.Entry, err error) answer {
	if err != nil {
		return fails(errnoOf(err))
	}
	if place.Kind == sysfs.DeviceNode {
		st.Mode, st.Rdev_major, st.Rdev_minor, st.Size, st.Blocks = uint16(unix.S_IFCHR|place.Mode), place.Major, place.Minor, 0, 0
		st.Uid, st.Gid = 0, 0
	}
	if !poke(int(c.PID), c.Args[4], bytesOf(st)) {
		return fails(unix.EFAULT)
	}
	return value(0)
}
