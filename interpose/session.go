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

	receivers sync.WaitGroup
	waiting   atomic.Int32  // receivers that wait for a notification
	turn      atomic.Uint64 // notifications so far
	busy      atomic.Bool   // the watchdog looks by itself
	watched   uint64        // turn, as the watchdog saw it last
	over      atomic.Bool
	wake      chan struct{} // for the watchdog

	threadsMu sync.Mutex
	threads   map[int]*thread // by TID
}

func newSession(s *Supervisor, l *seccomp.Listener) *session {
	return &session{Supervisor: s, l: l, wake: make(chan struct{}, 1), threads: map[int]*thread{}}
}

// run returns when no task of the tree is left.
func (s *session) run() {
	s.l.SyncWakeUp()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watchdog()
	}()
	s.startReceiver()
	s.receivers.Wait()
	s.over.Store(true)
	close(s.wake)
	<-watched
	s.receivers.Wait() // one that the watchdog has started since
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

func (s *session) startReceiver() {
	s.receivers.Add(1)
	s.waiting.Add(1)
	go s.receive()
}

// receive answers notifications on a thread of its own.
func (s *session) receive() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer s.receivers.Done()
	var c call
	c.session = s
	for {
		if err := s.l.Recv(&c.Notif); err != nil {
			s.waiting.Add(-1)
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
			s.waiting.Add(-1)
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
	for range s.wake {
		s.busy.Store(true)
		for s.watch() {
			// Of a call that came before this it was not told.
			s.busy.Store(false)
			if seen := s.turn.Load(); seen == s.watched {
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
		time.Sleep(watchEvery)
		if s.over.Load() {
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
