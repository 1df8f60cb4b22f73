// Package trace is the one thin seam through which a modelled call reports
// what it does and through which a test can steer it.
//
// Four things pass through it: functions entered and left, under the kernel's
// own names, so that a trace lines up with ftrace's function_graph of a real
// kernel; notes on what happened in between (copies, tree nodes, attributes
// with their specs, handles, firmware commands, DMA); locks and references,
// before they are taken, so that a test can choose the interleaving; and steps
// that can fail (a copy, an allocation, a descriptor), so that a test can make
// them fail.
//
// A *Task stands for one thread of execution. All methods work on a nil *Task
// and then do nothing: that is how tracing is off, and it costs one comparison.
// When it is on, a Sink is told of each event. What else a sink implements says
// how: a Batcher takes events several at a time, a Filter does not want all of
// them, a Timer has a clock. A Recorder is a Batcher that keeps them for later.
package trace
