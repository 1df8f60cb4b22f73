package interpose

import (
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/procstatus"
	"uverbsim/process"
	"uverbsim/rule"
)

// host is the kernel that a client runs on, as the machine asks it.
type host struct {
	s    *Supervisor
	tgid int

	mu   sync.Mutex
	cred *process.Cred
}

var _ process.Host = (*host)(nil)

func newHost(s *Supervisor, tgid int) *host {
	return &host{s: s, tgid: tgid, cred: &process.Cred{}}
}

// Fget returns the machine's file that a descriptor leads to; for a file of the
// host one that is good for nothing but its inode.
func (h *host) Fget(t *process.Task, fd int) *process.File {
	c := t.Call.(*call)
	file := c.file
	if fd != int(c.fd) {
		var st unix.Stat_t
		if unix.Stat("/proc/"+strconv.Itoa(int(c.PID))+"/fd/"+strconv.Itoa(fd), &st) != nil {
			return nil
		}
		if file = h.s.files.find(inodeOf(&st)); file == nil {
			return foreign(t, inodeOf(&st))
		}
	}
	if f := file.open(); f != nil && f.GetNotZero() {
		return f
	}
	return nil
}

// foreignFile is the private data of a file of the host.
type foreignFile struct{ at inode }

// Inode returns what tells the file from others.
func (f foreignFile) Inode() any { return f.at }

var foreignOps process.FileOps

func foreign(t *process.Task, at inode) *process.File {
	f, err := process.NewAnonFile(t, &foreignOps, foreignFile{at}, unix.O_RDWR)
	if err != nil {
		return nil
	}
	return f
}

// GetUnusedFD gives the program a descriptor at once, of a pipe for events. There
// is no way to take it back from it.
func (h *host) GetUnusedFD(t *process.Task, cloexec bool) (int, error) {
	c := t.Call.(*call)
	e, read, err := newEventFile(h.s)
	if err != nil {
		h.s.report("event descriptor: %v", err)
		return -1, rule.FDNoneFree
	}
	defer unix.Close(read)
	fd, err := c.l.AddFD(c.ID, read, cloexec)
	if err != nil {
		e.abandon()
		return -1, rule.FDNoneFree
	}
	e.fd = fd
	c.pending = append(c.pending, e)
	return fd, nil
}

// PutUnusedFD leaves the program with a descriptor of nothing.
func (h *host) PutUnusedFD(t *process.Task, fd int) {
	if e := t.Call.(*call).take(fd); e != nil {
		e.abandon()
	}
}

// FDInstall puts a file of the machine behind the descriptor.
func (h *host) FDInstall(t *process.Task, fd int, f *process.File) {
	c := t.Call.(*call)
	if e := c.take(fd); e != nil {
		owner, _ := c.file.(*deviceFile)
		e.install(f, owner)
	}
}

// take returns the pipe that was made for a descriptor.
func (c *call) take(fd int) *eventFile {
	for i, e := range c.pending {
		if e.fd == fd {
			c.pending = append(c.pending[:i], c.pending[i+1:]...)
			return e
		}
	}
	return nil
}

// Cred reads the process's credentials.
func (h *host) Cred() *process.Cred {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := procstatus.Read(h.tgid)
	if err != nil {
		return h.cred // it is gone
	}
	now := process.Cred{
		UID: s.UID.Real, EUID: s.UID.Effective, SUID: s.UID.Saved,
		GID: s.GID.Real, EGID: s.GID.Effective, SGID: s.GID.Saved,
		Permitted: process.CapSet(s.Permitted), Effective: process.CapSet(s.Effective), Inheritable: process.CapSet(s.Inheritable),
	}
	if now != *h.cred {
		h.cred = &now
	}
	return h.cred
}

// Rlimit asks for a limit of the process.
func (h *host) Rlimit(r process.Resource) process.Rlimit {
	if limit := h.s.cfg.Memlock; limit != nil && r == process.RLIMIT_MEMLOCK {
		return process.Rlimit{Cur: *limit, Max: *limit}
	}
	var l unix.Rlimit
	if err := unix.Prlimit(h.tgid, int(r), nil, &l); err != nil {
		return process.Rlimit{Cur: process.RLIM_INFINITY, Max: process.RLIM_INFINITY}
	}
	return process.Rlimit{Cur: l.Cur, Max: l.Max}
}
