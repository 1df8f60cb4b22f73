package ptrace

import (
	"maps"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// openFile is an open device file or event file, which several descriptors of
// several processes may lead to.
type openFile struct {
	number uint64
	path   string
	device bool   // else it is an event file
	driver uint32 // of a device: its RDMA_DRIVER_ id
	closed bool   // that it is closed has been told
}

// files are the descriptors of a process that lead to such files, as far as they
// are known. Processes may share it.
type files struct {
	fds map[int]*openFile
}

func (f *files) copy() *files { return &files{maps.Clone(f.fds)} }

// The types of kcmp(2): include/uapi/linux/kcmp.h.
const (
	kcmpFile  = 0
	kcmpFiles = 2
)

// same says whether two processes have the same of something; it says no where it
// cannot be found out.
func same(pid1, pid2, typ, fd1, fd2 int) bool {
	r, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(pid1), uintptr(pid2), uintptr(typ), uintptr(fd1), uintptr(fd2), 0)
	return errno == 0 && r == 0
}

// inherit returns what a new process has from its parent.
func inherit(pid int, parent *process) *files {
	switch {
	case parent == nil:
		return &files{map[int]*openFile{}}
	case same(pid, parent.pid, kcmpFiles, 0, 0):
		return parent.files
	}
	return parent.files.copy()
}

// prune forgets the descriptors of a thread's process that do not lead where they
// did.
func (t *tracer) prune(th *thread) {
	fds := th.process.files.fds
	for fd, f := range fds {
		if link, ok := fdLink(th.tid, fd); !ok || link != f.path {
			delete(fds, fd)
			t.lost(th, f)
		}
	}
}

// descriptors counts those that lead to a file, shared ones once.
func (t *tracer) descriptors(f *openFile) int {
	n := 0
	seen := map[*files]bool{}
	for _, p := range t.processes {
		if seen[p.files] {
			continue
		}
		seen[p.files] = true
		for _, other := range p.files.fds {
			if other == f {
				n++
			}
		}
	}
	return n
}

// lost tells of a device file that a thread has let go of, if no descriptor leads
// to it any more.
func (t *tracer) lost(th *thread, f *openFile) {
	if !f.device || f.closed || t.descriptors(f) > 0 {
		return
	}
	f.closed = true
	c := t.call(th, "close", -1, f)
	c.Mem = nil
	t.w.Enter(c)
	t.w.Leave(c)
}

// gone is what the kernel adds to the path of a file that has no name any more.
const gone = " (deleted)"

// Event files have no path: the kernel names them so, and the prefix is that of
// all files without an inode of their own.
const (
	eventFile = "[infinibandevent]"
	anonInode = "anon_inode:"
)

// fdLink returns what a descriptor leads to.
func fdLink(tid, fd int) (string, bool) {
	var b [unix.PathMax]byte
	n, err := unix.Readlink("/proc/"+strconv.Itoa(tid)+"/fd/"+strconv.Itoa(fd), b[:])
	link := strings.TrimSuffix(strings.TrimPrefix(string(b[:max(n, 0)]), anonInode), gone)
	return link, err == nil
}

// file returns the file that a descriptor of a thread leads to, nil if that is
// neither a device nor an event file.
func (t *tracer) file(th *thread, fd int) *openFile {
	fds := th.process.files.fds
	link, ok := fdLink(th.tid, fd)
	if !ok {
		return nil // it is not open, or the process has been killed
	}
	device := t.isNode(link)
	if !device && link != eventFile {
		delete(fds, fd)
		return nil
	}
	if f := fds[fd]; f != nil && f.path == link {
		return f
	}
	f := t.known(th.tid, fd, link)
	if f == nil {
		f = t.newFile(link, device)
	}
	fds[fd] = f
	return f
}

// isNode says whether a path is that of a device node.
func (t *tracer) isNode(p string) bool { return strings.HasPrefix(p, t.o.Prefix) }

func (t *tracer) newFile(path string, device bool) *openFile {
	t.opened++
	f := &openFile{number: t.opened, path: path, device: device}
	if device {
		f.driver = t.driver(path)
	}
	return f
}

// known looks for the file of a descriptor among those of all processes.
func (t *tracer) known(tid, fd int, link string) *openFile {
	for pid, p := range t.processes {
		for other, f := range p.files.fds {
			if f.path == link && same(tid, pid, kcmpFile, fd, other) {
				return f
			}
		}
	}
	return nil
}

// charDevices is the directory that has all character devices, by number.
const charDevices = "/dev/char/"

// node returns the device node that a thread means by a path, if it is one.
func (t *tracer) node(th *thread, dirfd int, p string) (string, bool) {
	if strings.HasPrefix(p, charDevices) {
		var b [unix.PathMax]byte
		n, err := unix.Readlink(p, b[:])
		if err != nil {
			return "", false
		}
		p = path.Join(charDevices, string(b[:n]))
	}
	if !path.IsAbs(p) {
		if !strings.HasPrefix(path.Base(p), path.Base(t.o.Prefix)) {
			return "", false
		}
		dir, ok := th.directory(dirfd)
		if !ok {
			return "", false
		}
		p = path.Join(dir, p)
	}
	return p, t.isNode(p)
}

// directory returns what a path relative to a descriptor begins with.
func (th *thread) directory(dirfd int) (string, bool) {
	if dirfd != unix.AT_FDCWD {
		return fdLink(th.tid, dirfd)
	}
	var b [unix.PathMax]byte
	n, err := unix.Readlink("/proc/"+strconv.Itoa(th.tid)+"/cwd", b[:])
	return string(b[:max(n, 0)]), err == nil
}
