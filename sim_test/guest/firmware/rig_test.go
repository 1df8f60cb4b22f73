package firmware

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/drivers/mlx5/hw/words"
)

var be = binary.BigEndian

// Where the driver of a rig has its things.
const (
	ramStart   = 0x1000 // as on a PC, where the first page is no memory
	ramEnd     = 4 << 20
	queueAt    = 0x10000
	mailboxAt  = 0x200000 // of slot 0; each slot has its own
	mailboxes  = 0x8000   // bytes for a slot: half for the input's, half for the output's
	eqAt       = 0x80000  // and from here on what the test makes
	cqAt       = 0x81000
	sqAt       = 0x82000
	recordAt   = 0x83000
	barPages   = 64
	testVector = 3
)

// rig is a firmware and a driver in one memory.
type rig struct {
	*Firmware
	t      *testing.T
	raised []int
	stores []store
}

type store struct {
	uar uint32
	off int
	b   string
}

// newRig returns a firmware whose driver has brought it a command queue.
func newRig(t *testing.T) *rig {
	r := &rig{t: t}
	ram := &memory{bytes: make([]byte, ramEnd), ram: []span{{ramStart, ramEnd}}}
	r.Firmware = newFirmware(hw.Recorded, ram, make([]byte, barPages*uarPage), func(vector int) error {
		r.raised = append(r.raised, vector)
		return nil
	}, nil)
	ring := r.store
	r.store = func(uar uint32, off int, b []byte) {
		r.stores = append(r.stores, store{uar, off, string(b)})
		ring(uar, off, b)
	}
	words.Store32(r.bar, segQueueHigh, 0)
	words.Store32(r.bar, segQueueLow, queueAt)
	return r
}

func (r *rig) at(addr, n int) []byte { return r.ram.bytes[addr : addr+n] }

// give hands a command over in a slot.
func (r *rig) give(number int, in []byte, outLen int) {
	s := r.at(queueAt+number*slotSize, slotSize)
	clear(s)
	box := mailboxAt + number*mailboxes
	s[0] = 7
	be.PutUint32(s[4:], uint32(len(in)))
	be.PutUint64(s[8:], uint64(box))
	rest := in[copy(s[16:32], in):]
	for at := box; len(rest) > 0; at += 1024 {
		rest = rest[copy(r.at(at, 512), rest):]
		be.PutUint64(r.at(at+560, 8), uint64(at+1024))
	}
	out := box + mailboxes/2
	be.PutUint64(s[48:], uint64(out))
	for at := out; at < box+mailboxes; at += 1024 {
		clear(r.at(at, 512))
		be.PutUint64(r.at(at+560, 8), uint64(at+1024))
	}
	be.PutUint32(s[56:], uint32(outLen))
	s[63] = 1
}

// taken returns the output of a slot that the device has given back.
func (r *rig) taken(number, outLen int) []byte {
	r.t.Helper()
	s := r.at(queueAt+number*slotSize, slotSize)
	require.Zero(r.t, s[63], "the slot is the driver's, and the command was delivered")
	out := append([]byte(nil), s[32:48]...)
	for at := mailboxAt + number*mailboxes + mailboxes/2; len(out) < outLen; at += 1024 {
		out = append(out, r.at(at, 512)...)
	}
	return out[:outLen]
}

// command carries a command out and wants it to succeed.
func (r *rig) command(in []byte, outLen int) []byte {
	r.t.Helper()
	r.give(0, in, outLen)
	require.True(r.t, r.poll())
	out := r.taken(0, outLen)
	status, syndrome := hw.Result(out)
	require.Equalf(r.t, hw.MLX5_CMD_STAT_OK, status, "%s", hw.SyndromeText(syndrome))
	return out
}

// boot brings the function up.
func (r *rig) boot() {
	r.t.Helper()
	for _, opcode := range []uint16{ifc.MLX5_CMD_OP_ENABLE_HCA, ifc.MLX5_CMD_OP_INIT_HCA} {
		r.command(hw.Input(opcode, 0, 0, 0), 16)
	}
}

// number makes an object and returns its number.
func (r *rig) number(in []byte) uint32 {
	r.t.Helper()
	return be.Uint32(r.command(in, 16)[8:])
}

func (r *rig) uar() uint32 {
	r.t.Helper()
	return r.number(hw.Input(ifc.MLX5_CMD_OP_ALLOC_UAR, 0, 0, 0))
}

// eq makes an event queue of 64 entries in a page.
func (r *rig) eq(uar uint32, types ...uint8) uint32 {
	r.t.Helper()
	in := hw.Input(ifc.MLX5_CMD_OP_CREATE_EQ, 0, 0, 8)
	l := ifc.Must("create_eq_in")
	l.Field("eq_context_entry.log_eq_size").Set(in, 6)
	l.Field("eq_context_entry.uar_page").Set(in, uint64(uar))
	l.Field("eq_context_entry.intr").Set(in, testVector)
	for _, typ := range types {
		in[l.Field("event_bitmask").Byte()+7-int(typ/8)] |= 1 << (typ % 8)
	}
	be.PutUint64(in[272:], eqAt)
	for i := range 64 {
		r.at(eqAt+i*64, 64)[63] = 1 // the driver's mark of what was not written yet
	}
	return r.number(in)
}

// cq makes a completion queue of 64 entries in a page, with its record.
func (r *rig) cq(uar, eqn uint32, record int) uint32 {
	r.t.Helper()
	in := hw.Input(ifc.MLX5_CMD_OP_CREATE_CQ, 0, 0, 8)
	l := ifc.Must("create_cq_in")
	l.Field("cq_context.log_cq_size").Set(in, 6)
	l.Field("cq_context.uar_page").Set(in, uint64(uar))
	l.Field("cq_context.c_eqn_or_apu_element").Set(in, uint64(eqn))
	l.Field("cq_context.dbr_addr").Set(in, uint64(record))
	be.PutUint64(in[272:], cqAt)
	return r.number(in)
}

// sq makes a send queue of 64 blocks in a page, with its record.
func (r *rig) sq(uar, cqn uint32, record int) uint32 {
	r.t.Helper()
	in := hw.Input(ifc.MLX5_CMD_OP_CREATE_SQ, 0, 0, 8)
	l := ifc.Must("create_sq_in")
	l.Field("ctx.cqn").Set(in, uint64(cqn))
	l.Field("ctx.wq.log_wq_stride").Set(in, 6)
	l.Field("ctx.wq.log_wq_sz").Set(in, 6)
	l.Field("ctx.wq.uar_page").Set(in, uint64(uar))
	l.Field("ctx.wq.dbr_addr").Set(in, uint64(record))
	be.PutUint64(in[272:], sqAt)
	return r.number(in)
}
