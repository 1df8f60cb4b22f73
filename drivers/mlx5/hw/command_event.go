package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// CommandEvents says whether an event queue has asked for the end of commands
// (MLX5_EVENT_TYPE_CMD). A caller that carries out a command queue asks before it
// carries out a command: the end of the command that makes such a queue is not
// told by an event.
func (d *Device) CommandEvents() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isHeard(ifc.MLX5_EVENT_TYPE_CMD)
}

// CommandsDone raises the event that commands have been carried out. Slots has a
// bit for the place of each in the command queue.
func (d *Device) CommandsDone(slots uint32) {
	e := EQE{Type: ifc.MLX5_EVENT_TYPE_CMD}
	binary.BigEndian.PutUint32(e.Data[:], slots)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.raise(e, nil)
}
