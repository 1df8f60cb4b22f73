package hw_test

import (
	"encoding/binary"
	"fmt"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
)

// memory is a few pages, bus address 0 on.
type memory []byte

func (m memory) ReadAt(p []byte, addr hw.Addr) error  { copy(p, m[addr:]); return nil }
func (m memory) WriteAt(p []byte, addr hw.Addr) error { copy(m[addr:], p); return nil }

// A device is booted, a completion queue made and armed, and a completion put
// into it. The event comes when the test steps the device.
func Example() {
	mem := make(memory, 3*4096)
	const page, record = 0x1000, 0x2000 // the queue, its doorbell record
	d := hw.New(hw.Config{
		Bus:   mem,
		Event: func(eqn uint32, e hw.EQE) { fmt.Printf("event on EQ %d: CQ %d\n", eqn, e.CompCQN()) },
	})
	if err := hw.Boot(nil, d, func(n int) []hw.Addr { return make([]hw.Addr, n) }); err != nil {
		panic(err)
	}

	// create runs a command and returns the number of what it made.
	create := func(in []byte) uint32 {
		out := make([]byte, 16)
		if err := hw.Do(nil, d, in, out); err != nil {
			panic(err)
		}
		return binary.BigEndian.Uint32(out[8:])
	}
	uar := create(hw.Input(ifc.MLX5_CMD_OP_ALLOC_UAR, 0, 0, 0))
	eqn := create(hw.Input(ifc.MLX5_CMD_OP_CREATE_EQ, 0, 0, 0))

	in := hw.Input(ifc.MLX5_CMD_OP_CREATE_CQ, 0, 0, 8)
	for name, v := range map[string]uint64{
		"log_cq_size": 4, "uar_page": uint64(uar), "c_eqn_or_apu_element": uint64(eqn), "dbr_addr": record,
	} {
		ifc.Must("create_cq_in").Field("cq_context."+name).Set(in, v)
	}
	binary.BigEndian.PutUint64(in[272:], page)
	cqn := create(in)

	// Arm it: any completion, sequence number 0, from index 0 on.
	d.UARPage(uar).Store(ifc.MLX5_CQ_DOORBELL, binary.BigEndian.AppendUint64(nil, uint64(cqn)))

	err := d.Complete(cqn, hw.Completion{Opcode: ifc.MLX5_CQE_RESP_SEND, ByteCount: 42})
	fmt.Println("completion:", err)
	fmt.Println("bytes:", binary.BigEndian.Uint32(mem[page+44:]), "opcode and owner:", mem[page+63])
	for d.Step() {
	}
	// Output:
	// completion: <nil>
	// bytes: 42 opcode and owner: 32
	// event on EQ 1: CQ 1
}

// Cap tells what a device can do, by the names of mlx5_ifc.h; With makes a
// device that can do something else.
func ExampleProfile_With() {
	small, err := hw.Recorded.With(map[string]uint64{"log_max_cq_sz": 16, "roce_cap.l3_type": 2})
	if err != nil {
		panic(err)
	}
	fmt.Println(hw.Recorded.Cap("log_max_cq_sz"), small.Cap("log_max_cq_sz"), small.Cap("roce_cap.l3_type"))
	_, err = hw.Recorded.With(map[string]uint64{"log_max_cq_size": 16})
	fmt.Println(err)
	// Output:
	// 22 16 2
	// hw: no capability log_max_cq_size in cmd_hca_cap
}
