// Package firmware runs the device model drivers/mlx5/hw as the firmware of a
// PCI function, for a real driver: what in hardware stands between the bus and
// that model. It is the process at the other end of the kernel module in
// ../bridge, in a QEMU guest.
//
// BAR 0 is plain memory here and so is the driver's: the process sees what
// stands there when it looks, not the single store. So everything that a driver
// rings for is looked for in turn. Commands: the ownership bits of the command
// queue's slots, not its doorbell. Send queues and completion queues: their
// doorbell records, which a driver writes before it rings; the register stores
// that the model expects are made from them. Event queues have no record. The
// driver moves and arms each one at the end of its interrupt handler, and that
// handler has run when the bridge has raised the interrupt, so these stores are
// made then.
//
// The network driver of the same adapter has send queues for packets and a
// receive queue. What it sends is done at once and goes nowhere, and nothing
// arrives.
//
// It models no kernel file. The facts are those that
// drivers/net/ethernet/mellanox/mlx5/core needs to hold. Left out: slots'
// signatures and tokens, which the driver does not check unless it has asked for
// them (cmdif_checksum); doorbell records in a DEVX user's memory (UMEM); a
// reset of the function.
package firmware
