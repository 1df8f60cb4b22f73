// Package fuzz has the native fuzz targets that need a whole machine: calls of any
// bytes on a device that has objects, what each method's driver is handed, programs
// of many calls, cases. Targets that need less are in the packages that they are of.
//
// Each execution has a process of its own, and is held to the same invariants: no
// panic, no hang, an answer that a user can get, a device that still answers, the
// books as before when all is closed, and the same answers when it is done again.
package fuzz
