package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// This device moves no raw packets. The send queues for them take their work
// requests all the same, so that nobody waits for a completion in vain: one that
// does nothing is done, any other fails, and what stands behind it is flushed.

// ringRaw is the doorbell of such a send queue.
func (d *Device) ringRaw(uar, sqn uint32) {
	o, _ := d.objects[kindSQ].live[sqn].as.(*context)
	if o != nil && uint32(o.get(sqWQ.uar)) == uar {
		d.runRaw(o)
	}
}

// runRaw carries out what is posted to a send queue.
func (d *Device) runRaw(o *context) {
	block := d.wqe[:wqeBlock]
	for n := d.postedTo(o, recordSend); n > 0; {
		c := Completion{WQECounter: o.taken, SendOpcode: ifc.MLX5_OPCODE_NOP}
		blocks, signalled := uint16(1), true
		switch err := d.get("send wqe", &o.buf, uint64(uint32(o.taken)&(o.size()-1))*wqeBlock, block); {
		case err != nil:
			c.fail(ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR)
		default:
			c.SendOpcode = block[3]
			blocks = max(1, uint16(binary.BigEndian.Uint32(block[4:])&segmentMask+wqeBlock/wqeSegment-1)/(wqeBlock/wqeSegment))
			signalled = block[11]&ifc.MLX5_WQE_CTRL_CE_MASK == ifc.MLX5_WQE_CTRL_CQ_UPDATE
			if c.SendOpcode != ifc.MLX5_OPCODE_NOP {
				c.fail(ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR)
			}
		}
		if o.get(o.of.state) == ifc.MLX5_SQC_STATE_ERR {
			c.fail(ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR)
		}
		if c.failed() {
			o.of.state.Set(o.bytes, ifc.MLX5_SQC_STATE_ERR)
		}
		if (signalled || c.failed()) && !d.completeRaw(o, sqCQN, &c) {
			return
		}
		o.taken += blocks
		n -= min(n, uint32(blocks))
	}
}

// fail makes a requester's completion say that its work request failed.
func (c *Completion) fail(syndrome uint8) {
	c.Opcode, c.Syndrome, c.VendorSyndrome = ifc.MLX5_CQE_REQ_ERR, syndrome, vendorSyndromes[syndrome]
}

// flushRaw completes the receives of a queue that has come into error.
func (d *Device) flushRaw(o *context) {
	for n := d.postedTo(o, recordRecv); n > 0; n-- {
		c := Completion{WQECounter: o.taken}
		c.fail(ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR)
		c.Opcode = ifc.MLX5_CQE_RESP_ERR
		if !d.completeRaw(o, rqCQN, &c) {
			return
		}
		o.taken++
	}
}

// postedTo is how many entries or blocks of a queue wait, by the counter that
// stands at an offset of its doorbell record: none of one in the reset state or
// whose record cannot be read, at most the whole queue.
func (d *Device) postedTo(o *context, at Addr) uint32 {
	if o.get(o.of.state) == ifc.MLX5_SQC_STATE_RST || len(o.buf.pages) == 0 {
		return 0
	}
	pi, err := d.counter(o.record + at)
	if err != nil {
		return 0
	}
	return min(uint32(pi-o.taken), o.size())
}

// completeRaw puts a completion of a queue into the completion queue that its
// context names, and says whether that took it.
func (d *Device) completeRaw(o *context, cqn ifc.Field, c *Completion) bool {
	to, _ := d.objects[kindCQ].live[uint32(o.get(cqn))].as.(*cq)
	if to == nil {
		return false
	}
	c.QPN, c.UserIndex = o.n, uint32(o.get(rawUserIndex))
	return d.complete(to, c) == nil
}

// rawUserIndex stands at the same place in the contexts of both kinds of queues.
var rawUserIndex = ifc.Must("sqc").Field("user_index")
