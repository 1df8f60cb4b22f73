// Package player plays uverbs cases and compares what was answered with what
// the case says.
//
// What a case is played on is a Target: the model, or a real device node. A
// target boots a Machine for each case, and the machine has a Task that makes
// the system calls. All that is the same on every target is here: buffers and
// where they lie, header and attributes, names of handles and descriptors,
// masks, child processes, threads.
//
// A step that a target cannot play makes its case fail with the reason; no step
// is passed over.
package player
