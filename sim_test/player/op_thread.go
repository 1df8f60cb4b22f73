package player

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"uverbsim/casefile"
)

// background is a step that another thread plays.
type background struct {
	p    *player // that thread
	done chan struct{}
	r    StepResult
	err  error
}

// thread is a player for another thread of the process: the same memory and
// descriptors, names of its own.
func (p *player) thread() *player {
	q := p.copy(p.task.Thread())
	q.masks = p.masks.Twin()
	return q
}

// absorb takes over what a thread has made.
func (p *player) absorb(q *player) {
	for name, s := range q.syms {
		if _, ok := p.syms[name]; !ok {
			p.syms[name] = s
		}
	}
	for name, fd := range q.open {
		if _, ok := p.open[name]; !ok {
			p.open[name] = fd
		}
	}
	for name, m := range q.maps {
		if _, ok := p.maps[name]; !ok {
			p.maps[name] = m
		}
	}
	p.masks.Absorb(q.masks)
}

// inBackground starts a step in another thread. Its answer says whether it was
// done when the machine's patience was over.
func (p *player) inBackground(s *casefile.Step) (StepResult, error) {
	b := &background{p: p.thread(), done: make(chan struct{})}
	p.bgs[s.Bg] = b
	go func() {
		defer close(b.done)
		defer caught(&b.err)
		b.r, b.err = b.p.do(s)
	}()
	g := &casefile.Got{Errno: new(string)}
	if within(b.done, p.m.Patience()) {
		g.Ret = casefile.Done
	} else {
		g.Ret = casefile.Blocked
	}
	return StepResult{Got: g}, nil
}

// within says whether something is done in that time.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// defaultJoin is how long a join without a timeout waits.
const defaultJoin = 5 * time.Second

func (p *player) join(name string, a *casefile.Join, g *casefile.Got) error {
	b := p.bgs[name]
	timeout := time.Duration(a.Timeout) * time.Millisecond
	if timeout == 0 {
		timeout = defaultJoin
	}
	if !within(b.done, timeout) {
		blocked := "BLOCKED"
		g.Ret, g.Errno = "-1", &blocked
		return nil
	}
	if b.err != nil {
		return b.err
	}
	p.absorb(b.p)
	*g = *b.r.Got
	p.refused = b.r.Refused
	return nil
}

// par plays lists of steps at once. Every thread waits for the others, then
// for a delay of its own that changes with the repetition.
func (p *player) par(a *casefile.Par, g *casefile.Got) error {
	n := len(a.Threads)
	threads := make([]*player, n)
	for i := range threads {
		threads[i] = p.thread()
	}
	errs := make([]error, n)
	g.Par = make([][]casefile.Got, n)
	tasks, plays := make([]Task, n), make([]func(), n)
	for i, q := range threads {
		tasks[i] = q.task
		plays[i] = func() {
			defer caught(&errs[i])
			for j := range a.Threads[i] {
				r, err := q.step(&a.Threads[i][j])
				if err != nil {
					errs[i] = err
					return
				}
				g.Par[i] = append(g.Par[i], *r.Got)
				if p.played != nil {
					p.played(i, j, &r)
				}
			}
		}
	}
	if p.together != nil {
		p.together(tasks, plays)
	} else {
		p.atOnce(plays)
	}
	for i, q := range threads {
		if errs[i] != nil {
			return errs[i]
		}
		p.absorb(q)
	}
	p.answer(g, 0, nil)
	return nil
}

// atOnce runs them in threads of their own.
func (p *player) atOnce(plays []func()) {
	var ready atomic.Int32
	var wg sync.WaitGroup
	for i, play := range plays {
		wg.Go(func() {
			for ready.Add(1); ready.Load() < int32(len(plays)); {
				runtime.Gosched()
			}
			delay(p.rep, i)
			play()
		})
	}
	wg.Wait()
}

// delay lets a thread fall behind the others by a little, by another amount in
// each repetition.
func delay(rep, thread int) {
	for i := range rep * (thread*37 + 11) % 4000 {
		spin.Store(int64(i))
	}
}

var spin atomic.Int64

func (p *player) sleep(a *casefile.Sleep, g *casefile.Got) {
	time.Sleep(time.Duration(a.N) * time.Millisecond)
	p.answer(g, 0, nil)
}
