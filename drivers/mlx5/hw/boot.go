package hw

import (
	"encoding/binary"
	"fmt"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/trace"
)

// CommandError is a command that the device refused.
type CommandError struct {
	Name     string
	Status   Status
	Syndrome uint32
}

// Error names the command and says why.
func (e *CommandError) Error() string {
	s := fmt.Sprintf("hw: %s: %s, syndrome %#x", e.Name, e.Status, e.Syndrome)
	if why := SyndromeText(e.Syndrome); why != "" {
		s += ": " + why
	}
	return s
}

// Do is Exec for a caller to whom a refusal is an error: a *CommandError.
func Do(t *trace.Task, d *Device, in, out []byte) error {
	if err := d.Exec(t, in, out); err != nil {
		return err
	}
	if s, syndrome := Result(out); s != MLX5_CMD_STAT_OK {
		name := unknownCommand
		if spec, ok := ifc.FindCommand(binary.BigEndian.Uint16(in)); ok {
			name = spec.Name
		}
		return &CommandError{name, s, syndrome}
	}
	return nil
}

// Input returns the input of a command: its opcode, the uid that it runs under,
// its operation modifier, and zeros up to the length of its structure and extra
// bytes more.
func Input(opcode, uid, opMod uint16, extra int) []byte {
	spec, _ := ifc.FindCommand(opcode)
	in := make([]byte, max(int(spec.In), minCommand)+extra)
	binary.BigEndian.PutUint16(in, opcode)
	binary.BigEndian.PutUint16(in[2:], uid)
	binary.BigEndian.PutUint16(in[6:], opMod)
	return in
}

// Output returns room for the answer to a command, with extra bytes behind its
// structure.
func Output(opcode uint16, extra int) []byte {
	spec, _ := ifc.FindCommand(opcode)
	return make([]byte, max(int(spec.Out), minCommand)+extra)
}

// Operation modifiers of QUERY_PAGES.
const (
	bootPages = 1
	initPages = 2
)

// Boot brings a device up as mlx5_core does before the RDMA driver comes:
// mlx5_function_enable and mlx5_function_open in
// drivers/net/ethernet/mellanox/mlx5/core/main.c. Give returns the bus addresses
// of n pages for the device's own use. Capabilities stay as they are at their largest.
func Boot(t *trace.Task, d *Device, give func(n int) []Addr) error {
	issi := Input(ifc.MLX5_CMD_OP_SET_ISSI, 0, 0, 0)
	wantedISSI.Set(issi, 1)
	for _, step := range []func() error{
		func() error { return do(t, d, Input(ifc.MLX5_CMD_OP_ENABLE_HCA, 0, 0, 0)) },
		func() error { return do(t, d, issi) },
		func() error { return givePages(t, d, bootPages, give) },
		func() error { return givePages(t, d, initPages, give) },
		func() error { return do(t, d, Input(ifc.MLX5_CMD_OP_INIT_HCA, 0, 0, 0)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Shutdown undoes Boot and returns the pages that the device had: mlx5_function_close
// and mlx5_function_disable in the same file. Objects that are still alive are gone.
func Shutdown(t *trace.Task, d *Device) ([]Addr, error) {
	if err := do(t, d, Input(ifc.MLX5_CMD_OP_TEARDOWN_HCA, 0, 0, 0)); err != nil {
		return nil, err
	}
	pages, err := takePages(t, d)
	if err != nil {
		return pages, err
	}
	return pages, do(t, d, Input(ifc.MLX5_CMD_OP_DISABLE_HCA, 0, 0, 0))
}

func do(t *trace.Task, d *Device, in []byte) error {
	return Do(t, d, in, Output(binary.BigEndian.Uint16(in), 0))
}

// givePages models mlx5_satisfy_startup_pages in
// drivers/net/ethernet/mellanox/mlx5/core/pagealloc.c.
func givePages(t *trace.Task, d *Device, mode uint16, give func(n int) []Addr) error {
	out := Output(ifc.MLX5_CMD_OP_QUERY_PAGES, 0)
	if err := Do(t, d, Input(ifc.MLX5_CMD_OP_QUERY_PAGES, 0, mode, 0), out); err != nil {
		return err
	}
	n := int(int32(numPages.Get(out)))
	if n <= 0 {
		return nil
	}
	pages := give(n)
	in := Input(ifc.MLX5_CMD_OP_MANAGE_PAGES, 0, pagesGive, 8*len(pages))
	inputNumEntries.Set(in, uint64(len(pages)))
	for i, p := range pages {
		binary.BigEndian.PutUint64(in[pageList+8*i:], p)
	}
	return do(t, d, in)
}

// reclaimBatch is how many pages are asked back at a time.
const reclaimBatch = 64

// takePages models mlx5_reclaim_startup_pages in the same file.
func takePages(t *trace.Task, d *Device) (pages []Addr, err error) {
	for {
		in := Input(ifc.MLX5_CMD_OP_MANAGE_PAGES, 0, pagesTake, 0)
		inputNumEntries.Set(in, reclaimBatch)
		out := Output(ifc.MLX5_CMD_OP_MANAGE_PAGES, 8*reclaimBatch)
		if err := Do(t, d, in, out); err != nil {
			return pages, err
		}
		n := int(outputNumEntries.Get(out))
		if n == 0 {
			return pages, nil
		}
		for i := range n {
			pages = append(pages, binary.BigEndian.Uint64(out[pageList+8*i:]))
		}
	}
}
