package firmware

import (
	"time"

	"uverbsim/drivers/mlx5/hw/words"
)

// The initialization segment, the first pages of BAR 0 (struct
// mlx5_init_seg in include/linux/mlx5/device.h): words of 32 bits, big-endian.
const (
	segFWRev         = 0x0000 // minor, major
	segCmdifRev      = 0x0004 // command interface revision, the firmware's sub-minor
	segQueueHigh     = 0x0010
	segQueueLow      = 0x0014 // of the command queue; before that, how large it is
	segInitializing  = 0x01fc // bit 31
	segHealthFWVer   = 0x0230
	segTimerHigh     = 0x1000
	segTimerLow      = 0x1004
	segHealthCounter = 0x1010

	segmentSize = 0x2000
)

// What the segment says of the device: the recorded firmware 22.35.1010, and
// the only command interface that the driver knows.
const (
	fwMajor    = 22
	fwMinor    = 35
	fwSubMinor = 1010
	cmdifRev   = 5
)

// segment is the initialization segment.
type segment []byte

func (s segment) load(off int) uint32     { return words.Load32(s, off) }
func (s segment) store(off int, v uint32) { words.Store32(s, off, v) }

// open fills the segment in. The driver asks no more than this before it gives
// the command queue's address.
func (s segment) open() {
	s.store(segFWRev, fwMinor<<16|fwMajor)
	s.store(segCmdifRev, cmdifRev<<16|fwSubMinor)
	s.store(segQueueHigh, 0)
	s.store(segQueueLow, queueLogSlots<<4|queueLogStride)
	s.store(segInitializing, 0)
	s.store(segHealthFWVer, fwMajor<<24|fwMinor<<16|fwSubMinor)
}

// queue returns the address of the command queue, 0 while the driver has not
// given one.
func (s segment) queue() uint64 {
	return uint64(s.load(segQueueHigh))<<32 | uint64(s.load(segQueueLow))&^(queuePage-1)
}

// healthPeriod is how often the health counter moves. The driver looks every
// two seconds and takes a device whose counter stands still for dead.
const healthPeriod = 200 * time.Millisecond

// showTimer shows the free-running timer.
func (s segment) showTimer(timer uint64) {
	s.store(segTimerHigh, uint32(timer>>32))
	s.store(segTimerLow, uint32(timer))
}

// showLife moves the health counter.
func (s segment) showLife() { s.store(segHealthCounter, s.load(segHealthCounter)+1) }
