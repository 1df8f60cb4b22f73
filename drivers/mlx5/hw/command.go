package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/trace"
)

// command is one firmware command while it is carried out.
type command struct {
	opcode, uid, opMod uint16
	short              bool // the input ends before these

	in  []byte // at least as long as the opcode's structure; the caller's memory
	out []byte // the same for the answer, all zero
}

// number returns the object number at a byte of the input, cut to the width of
// the kind's numbers.
func (c *command) number(k kind, at int) uint32 {
	last := kinds[k].last
	mask := uint32(0xff)
	for mask < last {
		mask = mask<<8 | 0xff
	}
	return binary.BigEndian.Uint32(c.in[at:]) & mask
}

// unknownCommand is the name of an opcode without one.
const unknownCommand = "unknown command opcode"

// Exec carries out one firmware command. In is the whole input: opcode in bytes
// 0-1, the user's uid in 2-3, the operation modifier in 6-7, all numbers big-endian.
// Out receives the answer: the status in byte 0, the syndrome in bytes 4-7; see
// Result. Neither is kept.
//
// An input shorter than the opcode's structure is taken as if zeros followed;
// an output shorter than the answer gets its beginning.
//
// Exec returns ErrDevice when the device is in error, and ErrTimeout where a test has
// the device not answer; it leaves out alone then. No command fails to be delivered
// otherwise.
func (d *Device) Exec(t *trace.Task, in, out []byte) error { return d.exec(t, 0, in, out) }

func (d *Device) exec(t *trace.Task, slot int, in, out []byte) error {
	spec := ifc.Command{Name: unknownCommand}
	c := command{in: in}
	if len(in) >= headerSize {
		c.opcode = binary.BigEndian.Uint16(in)
		c.uid = binary.BigEndian.Uint16(in[2:])
		c.opMod = binary.BigEndian.Uint16(in[6:])
		if s, ok := ifc.FindCommand(c.opcode); ok {
			spec = s
		}
	}
	if want := max(int(spec.In), minCommand); len(in) < want {
		c.in = make([]byte, want)
		copy(c.in, in)
	}
	c.out = out
	if want := max(int(spec.Out), minCommand); len(out) < want {
		c.out = make([]byte, want)
	}
	fail := t.Fail(trace.Command, spec.Name)
	if !fail && t.Fail(trace.Timeout, spec.Name) {
		t.Note(trace.Firmware, spec.Name, uint64(c.opcode), 0, 0)
		return ErrTimeout
	}
	if d.cfg.Trace != nil {
		t.Flush() // what comes now is reported by another task
	}

	c.short = len(in) < headerSize
	r, err := d.run(&c, slot, fail)
	if err != nil {
		return err
	}

	var s Status
	var syndrome uint32
	if r != nil {
		s, syndrome = r.status, r.syndrome
		clear(c.out)
		c.out[0] = byte(s)
		binary.BigEndian.PutUint32(c.out[4:], syndrome)
	}
	copy(out, c.out)
	t.Note(trace.Firmware, spec.Name, uint64(c.opcode), uint64(s), uint64(syndrome))
	return nil
}

// minCommand is what a handler finds at least of input and output: the part
// that travels inside a command queue slot.
const minCommand = 16

// outcome carries out a command as far as the device takes it.
func (d *Device) outcome(c *command, fail bool) (*refusal, error) {
	if d.broken {
		return nil, ErrDevice
	}
	clear(c.out)
	switch {
	case fail:
		return injected, nil
	case c.short:
		return shortInput, nil
	}
	return d.carryOut(c), nil
}

// carryOut finds the opcode's row and runs it.
func (d *Device) carryOut(c *command) *refusal {
	row, ok := d.cfg.Profile.row(c.opcode)
	switch {
	case !ok:
		return badOpcode
	case row.needs >= enabled && d.state < enabled:
		return notEnabled
	case row.needs == initialized && d.state < initialized:
		return notInit
	}
	if isUser(c.uid) {
		if _, ok := d.objects[kindUCTX].live[uint32(c.uid)]; !ok {
			return noSuchUID
		}
	}
	return row.run(d, c)
}
