package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"uverbsim/rule"
	"uverbsim/sim_test/player"
)

// order is the first line that the player gets: which cases to play.
type order struct {
	File   string
	Cases  []int // from 0
	Repeat int
}

// request is what the player asks of the machine that it is on, or tells it.
type request struct {
	ID int
	Op string

	Up     bool
	Mode   uint32
	Object string
	Index  int
	Type   string

	Result *result
}

// result is what became of a case.
type result struct {
	Case    int // as in the order
	Passed  bool
	Text    string         // of one that did not pass
	Differs map[int]string // what the steps answered that did not answer as recorded
	Cannot  string         // the operation that could not be played
	Failed  string         // another error that ended it
}

// resultOf is the result of a case that was played, without what it is called.
func resultOf(r *player.Result) *result {
	res := &result{Passed: r.Passed()}
	for i := range r.Steps {
		if d := r.Steps[i].Differences; len(d) > 0 {
			if res.Differs == nil {
				res.Differs = map[int]string{}
			}
			res.Differs[i] = answerOf(d)
		}
	}
	var cannot *player.Unplayable
	switch {
	case errors.As(r.Err, &cannot):
		res.Cannot = cannot.Op
	case r.Err != nil:
		res.Failed = r.Err.Error()
	}
	return res
}

// reply is what the machine says to a request.
type reply struct {
	ID     int
	Errno  syscall.Errno
	Cannot *player.Unplayable
	Other  string
	Text   string
}

func (r *reply) fail(err error) {
	var cannot *player.Unplayable
	switch {
	case err == nil:
	case errors.As(err, &cannot):
		r.Cannot = cannot
	case rule.Errno(err) != 0:
		r.Errno = rule.Errno(err)
	default:
		r.Other = err.Error()
	}
}

func (r *reply) err() error {
	switch {
	case r.Cannot != nil:
		return r.Cannot
	case r.Errno != 0:
		return r.Errno
	case r.Other != "":
		return errors.New(r.Other)
	}
	return nil
}

// control is the player's end.
type control struct {
	mu      sync.Mutex
	out     *json.Encoder
	last    int
	waiting map[int]chan reply
	ended   error
}

func newControl(in *json.Decoder, out io.Writer) *control {
	c := &control{out: json.NewEncoder(out), waiting: map[int]chan reply{}}
	go func() {
		for {
			var r reply
			err := in.Decode(&r)
			c.mu.Lock()
			if err != nil {
				c.ended = fmt.Errorf("the machine answers no more: %w", err)
				for id, w := range c.waiting {
					delete(c.waiting, id)
					w <- reply{Other: c.ended.Error()}
				}
				c.mu.Unlock()
				return
			}
			w := c.waiting[r.ID]
			delete(c.waiting, r.ID)
			c.mu.Unlock()
			if w != nil {
				w <- r
			}
		}
	}()
	return c
}

// ask makes a request and waits for the reply.
func (c *control) ask(q request) (string, error) {
	w := make(chan reply, 1)
	c.mu.Lock()
	err := c.ended
	if err == nil {
		c.last++
		q.ID = c.last
		c.waiting[q.ID] = w
		err = c.out.Encode(q)
	}
	c.mu.Unlock()
	if err != nil {
		return "", err
	}
	select {
	case r := <-w:
		return r.Text, r.err()
	case <-time.After(3 * patience):
		return "", fmt.Errorf("the machine does not answer request %d, %s", q.ID, q.Op)
	}
}
