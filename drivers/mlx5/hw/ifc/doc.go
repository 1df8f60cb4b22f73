// Package ifc is include/linux/mlx5/mlx5_ifc.h as data: which bits of a
// command, a context or a capability page bear which name, and which opcode
// names which command. The device and its driver read and write the same bytes
// by it.
//
// All layouts are big-endian and their bits are counted from the most
// significant one of the first byte, as the header counts them: offset 0x63 is
// byte 12, fourth bit. Tables are generated from the header; what is left out
// is the layouts that neither side touches.
package ifc

//go:generate go run gen.go -out layouts.go -commands commands.go $LINUX/include/linux/mlx5/mlx5_ifc.h
