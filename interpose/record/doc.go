// Package record turns the system calls of programs on device files into cases
// of package casefile, which a player plays again. A [Recorder] is a
// watch.Watcher.
//
// # What becomes a case
//
// A case is what was done to the device files that one process has opened, from
// its first open until none of them is open any more; what it opens afterwards
// begins another case. Calls that another process makes on such a file, which it
// has inherited or been passed, are in the same case, as those of a child
// process. Steps are in the order in which the calls ended; how many ran at the
// same time as others, the case's "why" says.
//
// # What is symbolic
//
// Handles and descriptors that a call returns are saved, and attributes that
// name them refer to what was saved. Offsets for mmap refer to the buffer that
// returned them. What an attribute points to is a buffer of the case, one for
// all that overlap, with the bytes that were there before the call. Addresses of
// memory that the kernel pins lie in structs, and what is an address there and
// how much memory is meant, a table by struct field says ([pointers]); such
// memory is a buffer of zeros with the same offset in its page. Handles inside a
// struct stand as they are, since a fresh device gives out the same ones. A file
// of another kind that stands for something, as that of an XRC domain does, becomes
// one of the player's standard descriptors.
//
// # What is not compared
//
// Numbers that a device gives out (of queues, keys, pages) are masked, since
// another process may have used the device before ([numbers]). So is what depends
// on traffic, which no case has: counts of reported events, the state and packet
// numbers of a queue pair that was ready to receive, counters, and what a
// firmware command reads out of an object ([traffic]).
//
// # What is left out
//
// Reads of event files, doorbells, and the memory that a device writes. Requests
// of posted work (IB_USER_VERBS_CMD_POST_SEND and its like) are recorded with the
// addresses in them as they stand.
//
// Some calls cannot be played with the same answer, since it depends on what only
// the recorded program had: a descriptor of another kind of file, such as a
// dma-buf; a descriptor inside the struct of an ioctl, where its number is another
// when the case is played; and a device's number that a request names
// (IB_USER_VERBS_CMD_OPEN_QP, firmware commands), where others had used the device
// before, which the case's "why" says.
package record
