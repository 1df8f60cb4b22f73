package hw_test

import (
	"encoding/binary"
	"fmt"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
)

// A driver lets the device find 64 bytes of its memory in a page of the address
// range, and has an address at which stores add to what lies there.
func ExampleDevice_MemoryPage() {
	d := hw.New(hw.Config{Bus: make(memory, 4096)})
	if err := hw.Boot(nil, d, func(n int) []hw.Addr { return make([]hw.Addr, n) }); err != nil {
		panic(err)
	}
	run := func(in, out []byte) []byte {
		if err := hw.Do(nil, d, in, out); err != nil {
			panic(err)
		}
		return out
	}
	be := binary.BigEndian
	in := hw.Input(ifc.MLX5_CMD_OP_ALLOC_MEMIC, 0, 0, 0)
	be.PutUint64(in[16:], hw.Recorded.Cap("device_mem_cap.memic_bar_start_addr")) // the range
	be.PutUint32(in[24:], 4096)
	be.PutUint32(in[28:], 64) // bytes wanted
	at := be.Uint64(run(in, hw.Output(ifc.MLX5_CMD_OP_ALLOC_MEMIC, 0))[8:])

	in = hw.Input(ifc.MLX5_CMD_OP_MODIFY_MEMIC, 0, 0, 0) // operation 0: increment
	be.PutUint64(in[16:], at)
	increment := be.Uint64(run(in, hw.Output(ifc.MLX5_CMD_OP_MODIFY_MEMIC, 0))[16:])

	page := d.MemoryPage(at)
	page.Store(8, []byte{40})
	d.MemoryPage(increment).Store(8, []byte{2})
	got := make([]byte, 2)
	page.Load(8, got)
	fmt.Println(got, d.Counts()["memic"])
	// Output: [42 0] 1
}
