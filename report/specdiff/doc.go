// Package specdiff tells in what two kernels differ for the devices of one
// driver: objects, methods, attributes, write() commands and structs that were
// added, removed or changed, what the device prunes, and the features that the
// kernels behave otherwise in.
package specdiff
