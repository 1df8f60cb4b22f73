// Package chrome writes the events of a trace in the Trace Event Format, which
// Perfetto (https://ui.perfetto.dev) and chrome://tracing open: the JSON Array
// Format of that document.
//
// A function is a pair of duration events (B and E) in the thread of its task;
// what happens inside of it is an instant event (i) with its numbers as
// arguments. Processes and threads are named by metadata events (M).
//
// The model has no clock: by default an event's time is its place in the trace,
// one microsecond for each, so that the same case gives the same file. Lengths
// then say how much happened in a function, and not how long it took. With
// Options.Clock the times are those of that clock.
package chrome
