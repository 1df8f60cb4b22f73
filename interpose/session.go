package interpose

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"uverbsim/interpose/seccomp"
)

// session is a tree of processes under one filter.
type session struct {
	*Supervisor
	l *seccomp.Listener

	waiting atomic.Int32  // receivers that wait for a notification
	turn    atomic.Uint64 // notifications so far
	busy    atomic.Bool   // the watchdog looks by itself
	watched uint64        // turn, as the watchdog saw it last
	told    atomic.Bool   // of a program that is out of reach
	wake    chan struct{} // for the watchdog

	mu        sync.Mutex
	receivers int
	over      chan struct{} // closed when no receiver is left

	threadsMu sync.RWMutex    // held while a thread's directory is used
	threads   map[int]*thread // by TID
}

func newSession(s *Supervisor, l *seccomp.Listener) *session {
	return &session{Supervisor: s, l: l, wake: make(chan struct{}, 1), over: make(chan struct{}), threads: map[int]*thread{}}
}

// run returns when no task of the tree is left.
func (s *session) run() {
	s.l.SyncWakeUp()
	go s.watchdog()
	s.startReceiver()
	<-s.over
	if err := s.l.Close(); err != nil {
		s.report("close the listener: %v", err)
	}
	for _, th := range s.threads {
		th.close()
	}
}

// idle is how many receivers wait when nothing happens. The kernel wakes them in
// turn, and one that has just answered is quicker than one that has slept.
var idle = int32(max(1, runtime.GOMAXPROCS(0)/2))

// startReceiver starts one more, unless the last one is gone.
func (s *session) startReceiver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.over:
		return
	default:
	}
	s.receivers++
	s.waiting.Add(1)
	go s.receive()
}

// leave is what a receiver does last.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.receivers--; s.receivers == 0 {
		close(s.over)
	}
}

// receive answers notifications on a thread of its own, until there are no more or
// enough others wait for them.
func (s *session) receive() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer s.leave()
	defer s.waiting.Add(-1)
	c := call{session: s}
	for {
		if err := s.l.Recv(&c.Notif); err != nil {
			if !errors.Is(err, seccomp.ErrGone) {
				s.report("receive a system call: %v", err)
			}
			return
		}
		if s.waiting.Add(-1) == 0 {
			s.attend()
		}
		c.answer()
		if s.waiting.Add(1) > idle {
			return
		}
	}
}

// watchEvery is how long a call may take with nobody waiting for the next one.
const watchEvery = 2 * time.Millisecond

// attend has the watchdog look after a call that is about to be answered.
func (s *session) attend() {
	s.turn.Add(1)
	if s.busy.Load() {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// watchdog starts one more receiver when a call takes long: it may wait for
// something that another call does. It rests when no calls come.
func (s *session) watchdog() {
	for {
		select {
		case <-s.wake:
		case <-s.over:
			return
		}
		s.busy.Store(true)
		for s.watch() {
			// Of a call that came before this it was not told.
			s.busy.Store(false)
			if s.turn.Load() == s.watched {
				break
			}
			s.busy.Store(true)
		}
	}
}

// restAfter is after how many looks without a call the watchdog rests.
const restAfter = 50

// watch returns true when no calls come any more, and false at the session's end.
func (s *session) watch() bool {
	for quiet := 0; quiet < restAfter; quiet++ {
		s.watched = s.turn.Load()
		select {
		case <-time.After(watchEvery):
		case <-s.over:
			return false
		}
		if s.turn.Load() != s.watched {
			quiet = 0
		} else if s.waiting.Load() == 0 {
			s.startReceiver()
		}
	}
	return true
}
