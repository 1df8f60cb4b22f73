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
	if th := c.known(tid); th != nil {
		file, err := c.lookup(th.fds, fd)
		if err == nil {
			c.file, c.client = file, th.client
			return file != nil
		}
		c.forget(tid, th)
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

func (s *session) known(tid int) *thread {
	s.threadsMu.Lock()
	defer s.threadsMu.Unlock()
	th := s.threads[tid]
	if th != nil && th.client.gone.Load() {
		delete(s.threads, tid)
		th.close()
		return nil
	}
	return th
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
