// Package mlx5 models the driver of NVIDIA ConnectX adapters: mlx5_ib
// (drivers/infiniband/hw/mlx5) and what it needs of mlx5_core
// (drivers/net/ethernet/mellanox/mlx5/core). It speaks firmware commands to the
// emulated device of package hw, hands the device the pages of its users by bus
// address (Bus), and turns the device's events into those of the objects.
//
// New puts a device into a machine. Its firmware, its memory on the bus and its
// verbs device are members of Device; Device.Step lets one event through, so
// that a test can put interrupts in any place.
//
// One physical function with one port is modelled: no LAG, no eSwitch, no
// multi-port, no memory key cache, no kernel clients. Where the adapter can, the
// lists of memory keys are written by work requests on a queue pair of the driver's
// own (umr.go), so that pages can be brought in when the adapter needs them
// (page_fault.go) and taken away when a process changes its memory (odp.go) or an
// exporter moves a dma-buf (dmabuf.go). Flows of users (flow_create.go, flow_raw.go)
// become rules in flow tables that are kept in their order as mlx5_core does
// (flow_core.go, flow_rules.go); the tables of the Ethernet driver, which takes no
// packets here, are not among them. Of the events that are about one object those of
// completion queues, shared receive queues and DEVX objects reach users. Operations
// that are outside of the model are listed in unmodelled.go; they exist, so that the
// device's API is complete, and answer rule mlx5/unmodelled.
package mlx5
