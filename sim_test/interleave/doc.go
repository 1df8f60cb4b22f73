// Package interleave explores the interleavings of a few calls. It runs them in tasks
// of which one runs at a time, and chooses at each operation by which tasks can see
// one another (trace.Point) who goes on. Each execution begins with a fresh machine.
//
// All means: one representative of each class of equivalent interleavings. Two are
// equivalent if they have the same operations in an order that differs only between
// operations whose order does not matter (trace.Effect). The method is dynamic partial
// order reduction (Flanagan and Godefroid, POPL 2005) with source sets and sleep sets
// (Abdulla, Aronis, Jonsson and Sagonas, POPL 2014).
//
// It assumes that the calls are the same when they are run the same way again; that
// what tasks share and what decides is behind points, which the race detector and the
// storms watch over; and that who takes or drops a reference holds one. No points are
// the allocation of numbers inside of drivers, the page table and the count of users
// of an address space, and a lookup of a descriptor and the reference that it takes
// are one step. A reader of a semaphore may go before a writer that waits.
//
// An interleaving prints as a schedule, "a3 b a2", which Replay carries out again.
// docs/interleavings.md has what pairs of calls may be answered, and why.
package interleave
