// Package rxe is the driver of soft RoCE devices, an RDMA device made of a
// network interface. It models drivers/infiniband/sw/rxe of Linux, one file
// here for one there: what the driver checks, in which order, what it answers,
// the numbers that it gives to its objects and the queues that it shares with
// the user.
//
// A device is made by New from a Config; the zero Config is the device whose
// answers were recorded.
//
// Left out are the operations that only kernel clients call (registering
// memory by work request, address handles that change, statistics), the
// network stack beneath, and packets: a work request that a user posts stays
// in its queue until the queue pair is moved to the error or the reset state.
package rxe

// module is the kernel module, as a trace has it.
const module = "rdma_rxe"
