// Package bench measures what calls cost on the model and, beside it in the same
// run, on a real device node.
//
// A call (calls.go) is one or more system calls of a program that has the device
// open: refused ones, queries, objects that are made and destroyed, by ioctl and by
// write(). They are prepared once in the program's memory and then made again and
// again, so that what is measured is the call and nothing of a library's. What the
// calls are made on is a Task: package sim_test/model's or sim_test/device's, which
// the command brings along.
//
// A call is measured in rounds (measure.go). In a round the model, the node and a
// calibration loop (loop.go) have their turns, short and one after the other, so that
// what slows the machine down for a while slows all three. The loop is fixed Go code
// that does nothing of the model's: what a call costs in loops can be compared
// between machines, which a baseline does (baseline.go).
//
// The model's time has no change of the processor's mode in it, as it makes none: it
// answers in the process that asks. The node's has.
package bench
