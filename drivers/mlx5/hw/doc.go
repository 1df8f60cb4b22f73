// Package hw is an emulated ConnectX device as its driver and its user library
// see it: a command interface, register pages with doorbells, event queues and
// completion queues in somebody else's memory.
//
// A driver hands a command's bytes to Device.Exec and finds the answer in the
// output, status and syndrome first. The device reaches memory by bus address
// through the Memory it was made with. Events do not interrupt by themselves:
// they wait until Device.Step delivers one, so that a test can put them in any
// place; Device.Run does the stepping for a program that wants none of that.
// All methods may be called by several goroutines at once.
//
// What a device can do and which numbers it begins with comes from its Profile.
// Recorded is the device that the reference recordings were made on.
//
// It models no kernel file. Its facts are those that include/linux/mlx5 and
// drivers/infiniband/hw/mlx5 need to hold. Left out: the command queue and its
// mailboxes in memory (a command is a call), send and receive queues, and so
// the path from a work request to a completion: Device.Complete puts a
// completion into a queue by request.
package hw
