// Package methods has the standard handlers: what each method that every
// device understands does, and how the core's objects are made and destroyed.
//
// It models, of drivers/infiniband/core, uverbs_std_types.c,
// uverbs_std_types_*.c and uverbs_cmd.c: one file an object for the ioctl
// methods, and the files cmd_*.go for the write() commands. What attributes a
// method takes stands in package spec; that they are there and of the right
// size a handler may rely on.
//
// Left out are resource tracking (restrack.c), OPA and iWARP.
package methods
