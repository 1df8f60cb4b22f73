package interpose

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// thread is a thread of a program that has made a call.
type thread struct {
	client *client
	// fds is /proc/TID/fd. It leads nowhere when the thread is gone, whoever has
	// its number then.
	fds int
}

func (th *thread) close() { unix.Close(th.fds) }

// lookup returns the injected file that a descriptor of the thread leads to, nil
// for none; err is why that cannot be told.
func (s *Supervisor) lookup(fds int, fd int32) (injected, error) {
	if fd < 0 {
		return nil, nil
	}
	var name [12]byte
	var st unix.Stat_t
	if err := fstatat(fds, strconv.AppendInt(name[:0], int64(fd), 10), &st); err != nil {
		return nil, err
	}
	return s.files.find(inodeOf(&st)), nil
}

// find fills in whose call it is, and the injected file that its descriptor leads
// to. It returns false if that is no file of the machine.
func (c *call) find(fd int32) bool {
	if c.files.n.Load() == 0 {
		return false
	}
	c.fd = fd
	tid := int(c.PID)
	if file, cl, ok := c.ofKnown(tid, fd); ok {
		c.file, c.client = file, cl
		return file != nil
	}
	// The thread is not known yet, or was another one's number, or has no such
	// descriptor.
	fds, err := unix.Open("/proc/"+strconv.Itoa(tid)+"/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	file, err := c.lookup(fds, fd)
	if err != nil || file == nil || !c.l.Valid(c.ID) {
		unix.Close(fds)
		return false
	}
	cl, err := c.clientOf(tid)
	if err != nil {
		unix.Close(fds)
		c.broken(err)
		return false
	}
	c.file, c.client = file, cl
	c.remember(tid, &thread{client: cl, fds: fds})
	return true
}

// ofKnown looks a descriptor of a thread up that has made a call before. Ok is false if
// it has not, or that is not the thread any more, or it has no such descriptor.
func (s *session) ofKnown(tid int, fd int32) (file injected, cl *client, ok bool) {
	s.threadsMu.RLock()
	th := s.threads[tid]
	if th != nil && !th.client.gone.Load() {
		var err error
		file, err = s.lookup(th.fds, fd)
		ok = err == nil
	}
	s.threadsMu.RUnlock()
	if ok {
		return file, th.client, true
	}
	if th != nil {
		s.forget(tid, th)
	}
	return nil, nil, false
}

func (s *session) forget(tid int, th *thread) {
	s.threadsMu.Lock()
	defer s.threadsMu.Unlock()
	if s.threads[tid] == th {
		delete(s.threads, tid)
		th.close()
	}
}

// maxThreads bounds the descriptors that are held for threads.
const maxThreads = 256

func (s *session) remember(tid int, th *thread) {
	s.threadsMu.Lock()
	defer s.threadsMu.Unlock()
	if old := s.threads[tid]; old != nil {
		old.close()
	}
	for other, old := range s.threads {
		if len(s.threads) < maxThreads {
			break
		}
		delete(s.threads, other)
		old.close()
	}
	s.threads[tid] = th
}
