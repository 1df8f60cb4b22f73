package interpose

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/process"
)

// eventFile is an event descriptor: to the program the read end of a pipe, in
// which each event is a packet, so that one read returns one event.
type eventFile struct {
	s     *Supervisor
	id    uint64
	at    inode
	read  int // ends of ours, to look at what the program has not read
	write int
	fd    int // what the program got it as

	mu      sync.Mutex
	file    *process.File // nil until it is installed
	owner   *deviceFile
	queue   *kernel.EventQueue // nil for a driver's own kind
	size    int                // of an event in the queue
	full    bool               // somebody waits for room
	scratch copyuser.Addr      // of the system's memory, for what a driver's file gives
	rest    []byte             // of an event that the pipe has taken only in part
	shut    bool               // write is closed
}

// pipeSize is how much room the pipe has, in bytes: an event takes a page of it.
const pipeSize = 256 << 10

// newEventFile makes the pipe and returns an end to read that the program gets.
func newEventFile(s *Supervisor) (e *eventFile, end int, err error) {
	e = &eventFile{s: s, id: s.files.last.Add(1)}
	path := s.dir.path(fmt.Sprintf("events-%d", e.id))
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, -1, err
	}
	defer unix.Unlink(path)
	if e.read, err = unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
		return nil, -1, err
	}
	if e.write, err = unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
		unix.Close(e.read)
		return nil, -1, err
	}
	_, _ = unix.FcntlInt(uintptr(e.write), unix.F_SETPIPE_SZ, pipeSize) // less will do
	if end, err = e.hand(path); err != nil {
		unix.Close(e.read)
		unix.Close(e.write)
		return nil, -1, err
	}
	s.files.add(e.at, e)
	return e, end, nil
}

// hand makes the pipe one of packets, and opens it for the program.
func (e *eventFile) hand(path string) (end int, err error) {
	if _, err := unix.FcntlInt(uintptr(e.write), unix.F_SETFL, unix.O_NONBLOCK|unix.O_DIRECT); err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(e.write, &st); err != nil {
		return -1, err
	}
	e.at = inodeOf(&st)
	wd, err := e.s.closes.watch(path, e, unix.IN_CLOSE_NOWRITE) // of an end to read
	if err != nil {
		return -1, err
	}
	if end, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		e.s.closes.unwatch(wd)
	}
	return end, err
}

func (e *eventFile) open() *process.File {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.file
}

// install puts the machine's file behind the pipe.
func (e *eventFile) install(f *process.File, owner *deviceFile) {
	e.mu.Lock()
	e.file, e.owner, e.queue = f, owner, kernel.QueueOf(f)
	e.mu.Unlock()
	if owner != nil {
		owner.addEvents(e)
	}
	if f.Ops.Wait != nil && f.Ops.Poll != nil {
		f.Ops.Wait(f).Tell(e.pump)
		e.pump() // what came before
	}
}

// abandon ends a pipe that no file of the machine came to.
func (e *eventFile) abandon() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shutLocked()
}

func (e *eventFile) shutLocked() {
	if !e.shut {
		e.shut = true
		unix.Close(e.write)
	}
}

// closed ends the file in the machine.
func (e *eventFile) closed() {
	e.s.files.remove(e.at)
	e.settle()
	e.mu.Lock()
	f, owner := e.file, e.owner
	e.file = nil
	e.shutLocked()
	unix.Close(e.read)
	e.mu.Unlock()
	if owner != nil {
		owner.removeEvents(e)
	}
	if f != nil {
		e.s.left(e)
		if f.Ops.Wait != nil {
			f.Ops.Wait(f).Tell(nil)
		}
		e.s.asSystem(func(t *process.Task) {
			if e.scratch != 0 {
				_ = t.Munmap(e.scratch, driverEvent)
			}
			f.Put(t)
		})
	}
}

// pump puts events that have come into the pipe.
func (e *eventFile) pump() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut || e.file == nil {
		return
	}
	if rest := e.rest; len(rest) > 0 {
		e.rest = nil
		if !e.put(rest) {
			e.rest = rest
		}
	}
	if len(e.rest) > 0 {
		return
	}
	if e.queue == nil {
		e.s.asSystem(e.pumpDriver)
		return
	}
	if e.queue.Closed() {
		e.empty()
		e.shutLocked() // the program's reads find the end
		return
	}
	e.queue.Show(func(desc []byte) bool {
		e.size = len(desc)
		return e.put(desc)
	})
}

// put writes one event. It returns false if there is no room, and comes back when
// there is.
func (e *eventFile) put(desc []byte) bool {
	n, err := unix.Write(e.write, desc)
	switch {
	case err == nil && n == len(desc):
		return true
	case err == nil: // a long one, which goes in pieces
		e.rest = append([]byte(nil), desc[n:]...)
		e.awaitRoom()
		return true
	case err != unix.EAGAIN:
		e.s.report("event descriptor %d: %v", e.fd, err)
	default:
		e.awaitRoom()
	}
	return false
}

// awaitRoom has the pump go on when the program has read something. The caller holds
// the lock.
func (e *eventFile) awaitRoom() {
	if !e.full {
		e.full = true
		go e.await()
	}
}

func (e *eventFile) await() {
	for {
		e.mu.Lock()
		write, shut := e.write, e.shut
		e.mu.Unlock()
		if shut {
			return
		}
		p := []unix.PollFd{{Fd: int32(write), Events: unix.POLLOUT}}
		if n, err := unix.Poll(p, 100); n == 0 || err != nil { // it may be shut meanwhile
			continue
		}
		e.mu.Lock()
		e.full = false
		e.mu.Unlock()
		e.pump()
		return
	}
}

// pumpDriver does the same for a driver's own kind of event file, which counts
// nothing. The caller holds the lock.
func (e *eventFile) pumpDriver(t *process.Task) {
	f := e.file
	for f.Ops.Poll(t, f)&process.POLLIN != 0 {
		if !e.room() {
			return
		}
		b, err := e.take(t)
		if err != nil {
			e.shutLocked()
			return
		}
		if !e.put(b) {
			e.rest = b
		}
		if len(e.rest) > 0 {
			return
		}
	}
}

// room says whether there is room for an event; if not it comes back when there is.
func (e *eventFile) room() bool {
	p := []unix.PollFd{{Fd: int32(e.write), Events: unix.POLLOUT}}
	if n, _ := unix.Poll(p, 0); n > 0 {
		return true
	}
	e.awaitRoom()
	return false
}

// driverEvent is the room for an event of a driver, in bytes.
const driverEvent = 64 << 10

// take takes an event out of the machine's file.
func (e *eventFile) take(t *process.Task) ([]byte, error) {
	if e.scratch == 0 {
		var err error
		if e.scratch, err = t.Mmap(-1, driverEvent, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, 0); err != nil {
			return nil, err
		}
	}
	n, err := e.file.Ops.Read(t, e.file, e.scratch, driverEvent)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	t.Mem.CopyIn(b, e.scratch)
	return b, nil
}

// settle counts the events that the program has read.
func (e *eventFile) settle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.queue == nil || e.shut {
		return
	}
	shown := e.queue.Shown()
	if shown == 0 {
		return
	}
	unread, err := unix.IoctlGetInt(e.read, unix.TIOCINQ) // FIONREAD
	if err == nil {
		e.queue.ReadShown(shown - unread/e.size)
	}
}

// show puts the pipe right when events that the program has not read are gone.
func (e *eventFile) show() {
	if e.queue == nil || !e.queue.Hide() {
		return
	}
	e.mu.Lock()
	if !e.shut {
		e.empty()
	}
	e.mu.Unlock()
	e.pump()
}

// empty takes all events out of the pipe. The caller holds the lock.
func (e *eventFile) empty() {
	var b [copyuser.PageSize]byte
	for {
		if n, err := unix.Read(e.read, b[:]); n <= 0 || err != nil {
			return
		}
	}
}

func (e *eventFile) name() (uint64, string) { return e.id, "[infinibandevent]" }
