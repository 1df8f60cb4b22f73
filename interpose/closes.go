package interpose

import (
	"encoding/binary"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// closes hears of the last close of injected files: when all descriptors, in all
// processes, and all mappings of what an open gave are gone, the kernel tells
// inotify. That comes beside the notifications of system calls, so a Supervisor
// looks here before it answers one: a close before a call is then seen before it.
type closes struct {
	s    *Supervisor
	fd   int
	quit [2]int // a pipe; its write end is closed by stop
	done chan struct{}

	mu      sync.Mutex
	watched map[int32]*watched
	under   map[*closing]bool // under way
	buf     [4096]byte
}

// watched is a file with the number of its opens that are not closed: one, unless a
// program has found a way to open its own descriptor again.
type watched struct {
	file  injected
	opens int
}

// closing is a close that the machine deals with.
type closing struct{ done chan struct{} }

func newCloses(s *Supervisor) (*closes, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	c := &closes{s: s, fd: fd, watched: map[int32]*watched{}, under: map[*closing]bool{}, done: make(chan struct{})}
	if err := unix.Pipe2(c.quit[:], unix.O_CLOEXEC); err != nil {
		unix.Close(fd)
		return nil, err
	}
	go c.run()
	return c, nil
}

// watch looks out for the last close of what is opened at path from now on; which
// kind of close, mask says.
func (c *closes) watch(path string, f injected, mask uint32) (wd int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wd, err = unix.InotifyAddWatch(c.fd, path, unix.IN_OPEN|mask); err == nil {
		c.watched[int32(wd)] = &watched{file: f}
	}
	return wd, err
}

// unwatch ends that, for a file that no program has got.
func (c *closes) unwatch(wd int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watched, int32(wd))
	_, _ = unix.InotifyRmWatch(c.fd, uint32(wd))
}

// run deals with closes that no system call follows.
func (c *closes) run() {
	defer close(c.done)
	for {
		p := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}, {Fd: int32(c.quit[0])}}
		if _, err := unix.Poll(p, -1); err != nil && err != unix.EINTR {
			c.s.report("inotify: %v", err)
			return
		}
		if p[1].Revents != 0 {
			return
		}
		if p[0].Revents != 0 {
			c.drain()
		}
	}
}

func (c *closes) stop() {
	unix.Close(c.quit[1])
	<-c.done
	unix.Close(c.quit[0])
	unix.Close(c.fd)
}

// patience is how long a call waits for a close before it. One that takes longer,
// for it waits itself, shall not hold up all programs.
const patience = time.Second

// drain deals with all closes that have been told of. When it returns, whoever saw
// a close return sees what it led to.
func (c *closes) drain() {
	c.mu.Lock()
	c.take()
	if len(c.under) == 0 {
		c.mu.Unlock()
		return
	}
	under := make([]*closing, 0, len(c.under))
	for one := range c.under {
		under = append(under, one)
	}
	c.mu.Unlock()
	late := time.After(patience)
	for _, one := range under {
		select {
		case <-one.done:
		case <-late:
			c.forget(under)
			return
		}
	}
}

// forget has nobody wait for closes any more.
func (c *closes) forget(under []*closing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range under {
		delete(c.under, one)
	}
}

// take reads what inotify has to tell. The caller holds the lock.
func (c *closes) take() {
	for {
		n, err := unix.Read(c.fd, c.buf[:])
		if err != nil || n <= 0 {
			return
		}
		for b := c.buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(b))
			mask := binary.NativeEndian.Uint32(b[4:])
			b = b[unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(b[12:])):]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				c.s.report("inotify: too many closes at once: some files of programs stay open in the machine")
			}
			if w := c.watched[wd]; w != nil && mask&(unix.IN_OPEN|unix.IN_CLOSE) != 0 {
				c.count(wd, w, mask)
			}
		}
	}
}

func (c *closes) count(wd int32, w *watched, mask uint32) {
	if mask&unix.IN_OPEN != 0 {
		w.opens++
		return
	}
	if w.opens--; w.opens > 0 {
		return
	}
	delete(c.watched, wd)
	_, _ = unix.InotifyRmWatch(c.fd, uint32(wd)) // the inode may be gone already
	one := &closing{make(chan struct{})}
	c.under[one] = true
	c.s.serving.Add(1)
	go func() {
		defer c.s.serving.Done()
		defer c.forget([]*closing{one})
		defer close(one.done)
		defer c.s.survive("a close")
		w.file.closed()
	}()
}
