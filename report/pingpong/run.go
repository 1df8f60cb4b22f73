package pingpong

import (
	"fmt"
	"io"
	"time"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/kernel"
	"uverbsim/methods"
)

// Options says what is to be exchanged.
type Options struct {
	Messages int         // by both ends together; 1000 if zero
	Size     uint64      // of a message, in bytes; 4096 if zero
	Link     hw.Link     // between the devices
	Progress func(n int) // is called after each message; may be nil
}

// Result is what came of it.
type Result struct {
	Messages    int           `json:"messages"`
	Bytes       uint64        `json:"bytes"`
	Completions int           `json:"completions"`
	Lost        uint64        `json:"packets_lost"`
	Elapsed     time.Duration `json:"elapsed_ns"`
}

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	if o.Messages == 0 {
		o.Messages = 1000
	}
	if o.Size == 0 {
		o.Size = 4096
	}
	return o
}

// Run plays it. The error is of the first thing that goes wrong: a call, a work
// request, or a message that is not what was sent.
func Run(o Options) (*Result, error) {
	o = o.withDefaults()
	fabric := hw.NewFabric(o.Link)
	ends, err := connected(fabric, o.Size)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	for n := range o.Messages {
		from, to := ends[n%2], ends[1-n%2]
		if err := exchange(fabric, from, to, n); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(n + 1)
		}
	}
	return &Result{
		Messages: o.Messages, Bytes: uint64(o.Messages) * o.Size, Completions: ends[0].cqes + ends[1].cqes,
		Lost: fabric.Lost(), Elapsed: time.Since(start),
	}, nil
}

// connected boots a machine with two devices on that link, and connects a process on each
// to the other.
func connected(fabric *hw.Fabric, size uint64) (ends [2]*end, err error) {
	m := kernel.NewMachine(methods.Core())
	for i := range ends {
		if ends[i], err = newEnd(m, fabric, i, size); err != nil {
			return ends, err
		}
	}
	for i, e := range ends {
		if err := e.connect(ends[1-i]); err != nil {
			return ends, err
		}
	}
	return ends, nil
}

// exchange brings message number n from an end to the other, and waits until
// both know.
func exchange(f *hw.Fabric, from, to *end, n int) error {
	sent, came := from.sent, to.came
	if err := to.receive(); err != nil {
		return err
	}
	if err := from.send(n); err != nil {
		return err
	}
	for {
		from.dev.Drain(nil)
		to.dev.Drain(nil)
		for _, e := range [...]*end{from, to} {
			if err := e.poll(); err != nil {
				return err
			}
		}
		if from.sent > sent && to.came > came {
			return to.check(n)
		}
		if err := pass(f, from, to); err != nil {
			return err
		}
	}
}

// pass lets time pass until something happens on one of the devices.
func pass(f *hw.Fabric, ends ...*end) error {
	next, ok := time.Duration(0), false
	for _, e := range ends {
		if at, waits := e.dev.HW.NextDeadline(); waits && (!ok || at < next) {
			next, ok = at, true
		}
	}
	if !ok {
		return fmt.Errorf("pingpong: a message is on its way and nothing is left to do")
	}
	f.Advance(max(next-f.Now(), 0))
	return nil
}

// Text writes a result for people.
func (r *Result) Text(w io.Writer) error {
	s := r.Elapsed.Seconds()
	_, err := fmt.Fprintf(w, "%d messages, %d bytes, %d completions in %.3f s; all of them as they were sent\n"+
		"%.0f messages/s  %.1f MB/s  %.0f CQEs/s\n",
		r.Messages, r.Bytes, r.Completions, s, float64(r.Messages)/s, float64(r.Bytes)/s/1e6, float64(r.Completions)/s)
	if err == nil && r.Lost > 0 {
		_, err = fmt.Fprintf(w, "%d packets were lost on the way and sent again\n", r.Lost)
	}
	return err
}
