package mlx5

import (
	"time"

	"uverbsim/trace"
)

// Turn is Run's piece of work for a thread that does other things too, such as
// to look at polled pages: it moves the fabric's clock to the time of day, lets
// the adapter do all that there is to do, and runs the interrupt handlers for it on
// the caller's goroutine, under the task t. It says whether there was anything.
// A thread may take turns as often as it likes.
func (d *Device) Turn(t *trace.Task) (busy bool) {
	d.stepMu.Lock()
	defer d.stepMu.Unlock()
	d.irqTask.Store(t)
	defer d.irqTask.Store(nil)
	return d.HW.Turn()
}

// Due returns after what time the next Turn has something to do that only time
// brings about, as a packet that is sent again; ok is false if nothing is waited
// for. What the users' doorbells, a command or another adapter bring about it
// does not know.
func (d *Device) Due() (in time.Duration, ok bool) { return d.HW.Due() }
