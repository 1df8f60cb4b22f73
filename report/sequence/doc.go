// Package sequence draws the events of a trace as a sequence diagram, an SVG:
// who takes part stands at the top, time goes down, and an arrow is something
// that goes from one to another: a call, bytes that are copied, a firmware
// command, a DMA, an answer.
//
// It shows less than a function graph: a function has an arrow when it leads from
// one part to another (a system call, a call of the driver) or is a method's
// handler. References and locks are shown when asked for.
package sequence
