package firmware

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
)

// Firmware is a device model behind BAR 0.
type Firmware struct {
	dev   *hw.Device
	ram   *memory
	bar   []byte
	seg   segment
	raise func(vector int) error
	store func(uar uint32, off int, b []byte) // to a register of the device
	out   io.Writer                           // the log; nil for none

	begun time.Time
	now   time.Duration // since then, when it was last looked at
	moved time.Duration // when the health counter was

	commands uint64 // the address of the command queue; 0 before there is one
	queues   []*queue
	left     map[string]int // what the driver had not ended when it tore the device down
}

// newFirmware returns the firmware of a device as the driver finds it: waiting
// for its command queue.
func newFirmware(profile *hw.Profile, ram *memory, bar []byte, raise func(vector int) error, log io.Writer) *Firmware {
	f := &Firmware{ram: ram, bar: bar, seg: segment(bar[:segmentSize]), raise: raise, out: log, begun: time.Now()}
	f.dev = hw.New(hw.Config{Profile: profile, Bus: ram, BAR: barMemory(bar), Interrupt: f.interrupt, Clock: f.timer})
	f.store = func(uar uint32, off int, b []byte) { f.dev.UARPage(uar).Store(off, b) }
	f.seg.open()
	return f
}

func (f *Firmware) log(format string, args ...any) {
	if f.out != nil {
		fmt.Fprintf(f.out, format+"\n", args...)
	}
}

// timer is the free-running counter, at device_frequency_khz = 156250.
func (f *Firmware) timer() uint64 { return uint64(time.Since(f.begun)) * 5 / 32 }

// atOnce is how many pieces of its own work the device does before it looks at
// commands and doorbells again.
const atOnce = 64

// poll does what there is to do and reports whether there was anything.
func (f *Firmware) poll() bool {
	busy := f.lookAtCommands()
	busy = f.lookAtRecords() || busy
	for range atOnce {
		if !f.dev.Step() {
			break
		}
		busy = true
	}
	return busy
}

// tick lets time go on: the device's clock for its timers, the one that the
// driver and its users read, and what shows the driver that the device is alive.
func (f *Firmware) tick() {
	now := time.Since(f.begun)
	f.dev.Fabric().Advance(now - f.now)
	f.now = now
	f.seg.showTimer(f.timer())
	if now-f.moved >= healthPeriod {
		f.moved = now
		f.seg.showLife()
	}
}

// lookAtCommands carries out every command that the driver has handed over.
func (f *Firmware) lookAtCommands() (busy bool) {
	at := f.seg.queue()
	if at == 0 {
		return false
	}
	if at != f.commands {
		f.commands = at
		f.log("command queue at %#x", at)
	}
	slots, err := f.ram.slice(at, queueSlots*slotSize)
	if err != nil {
		return false
	}
	for i := range queueSlots {
		b := slots[i*slotSize:][:slotSize]
		if f.seg.queue() != at || !ownedByDevice(b) {
			continue
		}
		busy = true
		f.carryOut(&slot{ram: f.ram, bytes: b}, i)
	}
	return busy
}

// carryOut carries out one command. A slot that cannot be read, and a command
// that the device takes no more, stay the device's: the driver finds out by its
// own timer.
func (f *Firmware) carryOut(s *slot, number int) {
	if err := s.open(); err != nil {
		f.log("slot %d: %v", number, err)
		return
	}
	// Whether the driver waits for an event is settled before the command, which
	// may be the one that makes the event queue: that one it waits for itself, and
	// an event would end it a second time.
	tell := f.dev.CommandEvents()
	f.count(s.in)
	if err := f.dev.Exec(nil, s.in, s.out); err != nil {
		f.log("slot %d: %v", number, err)
		return
	}
	status, syndrome := hw.Result(s.out)
	if status == hw.MLX5_CMD_STAT_OK {
		f.note(s.in, s.out)
	}
	f.logCommand(s, status, syndrome)
	if err := s.answer(); err != nil {
		f.log("slot %d: %v", number, err)
		return
	}
	s.handBack()
	if tell {
		f.dev.CommandsDone(1 << number)
	}
	if status == hw.MLX5_CMD_STAT_OK && binary.BigEndian.Uint16(s.in) == ifc.MLX5_CMD_OP_DISABLE_HCA {
		f.seg.open() // the memory of the queue is somebody else's from now on
	}
}

// count notes, before the driver tears the device down, which objects it has not
// ended. The pages that it gave it takes back afterwards.
func (f *Firmware) count(in []byte) {
	if len(in) < 2 || binary.BigEndian.Uint16(in) != ifc.MLX5_CMD_OP_TEARDOWN_HCA {
		return
	}
	f.left = f.dev.Counts()
	delete(f.left, "page")
}

// books says whether the driver has ended all that it made: it has gone, and
// nothing was left when it tore the device down, nor is now.
func (f *Firmware) books() error {
	switch now := f.dev.Counts(); {
	case f.left == nil:
		return errors.New("firmware: the driver has not torn the device down")
	case len(f.left) > 0:
		return fmt.Errorf("firmware: the driver has left objects: %v", f.left)
	case len(now) > 0:
		return fmt.Errorf("firmware: the driver has gone and the device still has %v", now)
	}
	return nil
}

func (f *Firmware) logCommand(s *slot, status hw.Status, syndrome uint32) {
	if f.out == nil || len(s.in) < 8 {
		return
	}
	opcode := binary.BigEndian.Uint16(s.in)
	command, _ := ifc.FindCommand(opcode)
	f.log("%#05x %s modifier %#x uid %d, %d/%d bytes: %s %#x", opcode, command.Name,
		binary.BigEndian.Uint16(s.in[6:]), binary.BigEndian.Uint16(s.in[2:]), len(s.in), s.outLen, status, syndrome)
	if status != hw.MLX5_CMD_STAT_OK {
		f.log("refused: %s: %x", hw.SyndromeText(syndrome), s.in)
	}
}

// errNoBAR is a bridge without room for the segment.
var errNoBAR = errors.New("firmware: BAR 0 has no room for the initialization segment")
