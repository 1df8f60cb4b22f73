package interpose

import (
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/live"
	"uverbsim/interpose/procstatus"
	"uverbsim/process"
)

// client is a process that has to do with the machine.
type client struct {
	s    *Supervisor
	tgid int
	host *host
	tasks

	gone atomic.Bool

	memMu   sync.Mutex
	mem     *live.Space
	execing int // the thread whose execve may have replaced its memory, 0 for none
}

// clientOf returns the process that a thread belongs to.
func (s *Supervisor) clientOf(tid int) (*client, error) {
	if c := s.knownClient(tid); c != nil {
		return c, nil
	}
	status, err := procstatus.Read(tid)
	if err != nil {
		return nil, err
	}
	tgid := status.TGID
	s.clientsMu.Lock()
	defer s.clientsMu.Unlock()
	if c := s.clients[tgid]; c != nil && !c.gone.Load() {
		return c, nil
	}
	c, err := newClient(s, tgid)
	if err != nil {
		return nil, err
	}
	s.clients[tgid] = c
	return c, nil
}

// knownClient returns the process that a thread belongs to if it is a client already,
// or nil.
func (s *Supervisor) knownClient(tid int) *client {
	s.clientsMu.Lock()
	defer s.clientsMu.Unlock()
	if c := s.clients[tid]; c != nil && !c.gone.Load() {
		return c
	}
	for tgid, c := range s.clients {
		if !c.gone.Load() && unix.Tgkill(tgid, tid, 0) != unix.ESRCH {
			return c
		}
	}
	return nil
}

func newClient(s *Supervisor, tgid int) (*client, error) {
	pidfd, err := unix.PidfdOpen(tgid, 0)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", tgid, err)
	}
	mem, err := s.openMemory(tgid)
	if err != nil {
		unix.Close(pidfd)
		return nil, err
	}
	c := &client{s: s, tgid: tgid, mem: mem, host: newHost(s, tgid)}
	c.proc = s.cfg.Machine.NewProcess(process.Options{PID: tgid, Mem: mem, Host: c.host})
	c.sink = s.cfg.Trace
	s.serving.Add(1)
	go c.awaitExit(pidfd)
	return c, nil
}

// openMemory opens a process's memory. Pages of injected files are the device's,
// which cannot be pinned.
func (s *Supervisor) openMemory(tgid int) (*live.Space, error) {
	mem, err := live.Open(tgid)
	if err != nil {
		return nil, fmt.Errorf("memory of process %d: %w", tgid, err)
	}
	mem.IsDevice = func(id live.FileID, offset uint64) bool {
		f, ok := s.files.find(inode(id)).(*deviceFile)
		return ok && f.isIO(offset)
	}
	return mem, nil
}

// awaitExit lets the machine know of the process's end.
func (c *client) awaitExit(pidfd int) {
	defer c.s.serving.Done()
	for {
		p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		if _, err := unix.Poll(p, -1); err != unix.EINTR {
			break
		}
	}
	unix.Close(pidfd)
	c.gone.Store(true)
	c.s.clientsMu.Lock()
	if c.s.clients[c.tgid] == c {
		delete(c.s.clients, c.tgid)
	}
	c.s.clientsMu.Unlock()
	c.exit()
	c.s.closes.drain() // it has closed its files before
	c.s.exited(c)
	c.space().Close()
}

// exit ends the process of the machine.
func (c *client) exit() {
	defer c.s.survive("an exit")
	t := c.lend(c.tgid, nil)
	defer c.giveBack(t)
	t.Exit()
}

func (c *client) space() *live.Space {
	c.memMu.Lock()
	defer c.memMu.Unlock()
	return c.mem
}

// execve is told that the process is about to run another program. Whether it did
// is seen at its next call.
func (c *client) execve(tid int) {
	c.memMu.Lock()
	c.execing = tid
	c.memMu.Unlock()
}

// settleExec gives the process another memory if an execve has. It is called by
// each call of the process.
func (c *client) settleExec(tid int) error {
	c.memMu.Lock()
	defer c.memMu.Unlock()
	if c.execing == 0 {
		return nil
	}
	if c.mem.Alive() {
		if c.execing == tid {
			c.execing = 0 // it has failed
		}
		return nil
	}
	mem, err := c.s.openMemory(c.tgid)
	if err != nil {
		return err
	}
	c.execing = 0
	old := c.mem
	c.mem = mem
	c.proc.Mem = mem
	c.s.asSystem(func(t *process.Task) { old.Mmput(t) })
	old.Close()
	return nil
}
