// Package hw is an emulated ConnectX device as its driver and its user library
// see it: a command interface, register pages with doorbells, event queues,
// completion queues, queue pairs and shared receive queues in somebody else's
// memory, memory keys, and a port on a fabric.
//
// A driver hands a command's bytes to Device.Exec and finds the answer in the
// output, status and syndrome first. The device reaches memory by bus address
// through the Memory it was made with. It does nothing by itself: what a doorbell,
// a packet or the clock brings about waits until Device.Step does one piece of it,
// so that a test can put each in any place; Device.Run does the stepping for a
// program that wants none of that. All methods may be called by several
// goroutines at once.
//
// What a device can do and which numbers it begins with comes from its Profile.
// Recorded is the device that the reference recordings were made on, ConnectX6Dx
// one for programs, Small an old one.
//
// # The way of a message
//
// A doorbell puts its queue pair on the list of those with work (schedule.go).
// The requester (requester.go) fetches the next work request from the queue in
// memory (wq.go), finds out what it is, and sends one packet of it at a time, with
// the data gathered through memory keys (mkey_access.go). A packet (packet.go)
// goes over the Fabric (fabric.go) into the inbox of the device that has the
// destination's GID, or straight back if that is the sender itself. There the
// responder (responder.go) takes it in: it takes a posted receive (receive.go) or
// goes through the key that the packet names (perform.go), and answers (answer.go).
// The acknowledgement (acknowledge.go) completes the request, and completions
// (complete.go) go to the completion queues (cq.go) and from there to the event
// queues (event.go). What goes wrong on the way becomes a completion with a syndrome,
// a negative acknowledgement, and an event, and puts the queue pair into error, where
// what is posted is flushed.
//
// Where a key's page is absent that the driver may bring in, the queue pair waits
// and the driver is told (page_fault.go).
//
// A use of a key may lead through about a million (maxPieces) pieces of other keys
// and pages that may be absent; a list of pieces that repeats counts for little
// where what lies between its rounds can be reached too. Beyond that the key does
// not serve.
//
// Reliable connections number their packets, keep what is not acknowledged, and
// send again what a time-out or a negative acknowledgement asks for. The clock for
// that is the fabric's.
//
// # The way of a frame
//
// A doorbell of a raw send queue puts that on a list of its own (rawsend.go). A work
// request becomes a frame, or as many as its data is cut into (tso.go), with the
// check sums that it asks for (checksum.go). The frame goes through the tables for
// what is sent (steer.go) and onto the wire (wire.go): to the device with the
// address, or to all, this one among them. There the tables for what is received
// decide: what a table compares is the frame as a struct fte_match_param
// (flow_match.go), made of the headers found in it (frame.go). A rule (flow_rule.go)
// drops it, counts it (flow_counter.go), marks it, and sends it to further tables
// (flow_table.go) and to interfaces, each of which has a receive queue or a table of
// them, entered by a hash (rss.go). The queue's next entry takes the frame
// (rawrecv.go).
//
// The package models no kernel file. Its facts are those that include/linux/mlx5,
// drivers/infiniband/hw/mlx5 and the InfiniBand specification need to hold. Left
// out: the command queue and its mailboxes in memory (a command is a call), the
// form of packets of RDMA on a wire and so steering them, congestion, pacing,
// changing headers by rules, striding receive queues, merging what is received
// (LRO), tag matching, and dynamically connected transport. Queues of these can be
// made and changed; a frame for a queue of strides is dropped as one that has no
// entry, and rules that would change headers are refused.
package hw
