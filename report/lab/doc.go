// Package lab is four experiments on what an ioctl costs, each from advice that
// programs are given: make many calls in one batch, use the command buffer
// again, send only the attributes that are needed, have several calls in flight
// at once.
//
// Each experiment runs on a machine of its own with an emulated mlx5 device. It
// has two parts. The counts (Report.Counts) are exact and always the same: system
// calls, copies from and to the user's memory with their bytes, and allocations,
// from the trace of the calls. The times (Report.Times) are measured with tracing
// off, as medians of rounds in which the variants take turns, and differ from run
// to run. Text, JSON and SVG write a report down.
//
// A modelled system call is a function call: the processor does not change its
// mode. Times are those of the work behind the crossing, and what a crossing
// costs is measured apart, by a system call of this machine that comes back at
// once (crossing.go); where the two are added the table calls it an estimate.
// The work is the model's, not the kernel's, and a real device's firmware takes
// longer than the emulated one.
package lab
