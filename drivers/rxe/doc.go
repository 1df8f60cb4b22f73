// Package rxe is the driver of soft RoCE devices, an RDMA device made of a
// network interface. It models drivers/infiniband/sw/rxe of Linux, with a file
// for each kind of object: what the driver checks, in which order, what it
// answers, the numbers that it gives to its objects, the queues that it shares
// with the user, and the work that it does on them.
//
// A device is made by New from a Config; the zero Config is the device whose
// answers were recorded.
//
// The network is the device itself: what is sent to one of its own addresses
// arrives, in order and without loss, a message at a time whatever the path
// MTU; what is sent elsewhere is lost, and so are all datagrams. Work is done
// as by a machine with one processor: one part of one queue pair after the
// other.
//
// Left out are the operations that only kernel clients call (registering
// memory by work request, address handles that change, statistics), sends that
// invalidate a key, flushes and atomic writes, and memory windows beyond their
// allocation: these work requests complete in error.
package rxe

// module is the kernel module, as a trace has it.
const module = "rdma_rxe"
