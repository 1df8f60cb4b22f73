//go:build linux

package firmware

import (
	"io"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Serve is the firmware until stop is closed, when the driver has to be gone. It
// calls ready when the driver may come, and tells log what it meets. The error is
// that the device could not be made, or that the driver has left something in it.
func Serve(c Config, ready func(), stop <-chan struct{}, log io.Writer) error {
	profile, err := c.profile()
	if err != nil {
		return err
	}
	if c.Size < segmentSize {
		return errNoBAR
	}
	b, err := openBridge()
	if err != nil {
		return err
	}
	ram, err := b.memory()
	if err != nil {
		return err
	}
	// The segment has to be there when the driver looks, and BAR 0 can be mapped
	// when the function is there: no driver may be loaded before ready is called.
	if err := b.plug(newFunction(c.BAR, c.Size)); err != nil {
		return err
	}
	bar, err := b.mapAt(c.BAR, c.Size)
	if err != nil {
		return err
	}
	clear(bar[:segmentSize])
	if !c.Log {
		log = nil
	}
	f := newFirmware(profile, ram, bar, b.interrupt, log)
	f.tick()
	ready()
	f.run(stop)
	return f.books()
}

// How long the device rests when it has found nothing to do: shortly while a
// command is likely to follow the last one, and then longer and longer. It also
// rests as long as it has looked for something in vain, and so leaves half of
// the processor's time to the driver and the programs.
const restLeast, restMost = 20 * time.Microsecond, 500 * time.Microsecond

// run is the device until stop is closed. Its thread goes before all programs of the machine, as
// hardware needs no processor of theirs: one that polls a completion queue would
// otherwise keep the device from completing anything.
func (f *Firmware) run(stop <-chan struct{}) {
	runtime.LockOSThread()
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: 1}, 0); err != nil {
		f.log("the device shares the processor: %v", err)
	}
	rest := restLeast
	for {
		begun := time.Now()
		f.tick()
		if f.poll() {
			rest = restLeast
			continue
		}
		select {
		case <-stop:
			return
		default:
		}
		ts := unix.NsecToTimespec(int64(max(rest, time.Since(begun))))
		unix.Nanosleep(&ts, nil) // a shorter rest will do
		rest = min(rest+rest/8, restMost)
	}
}
