// Package demo plays the life of a completion queue on an emulated mlx5 device
// and tells it step by step: what the program does, what the kernel does about
// it, what the device does, and what came of it. Then it plays seven mistakes
// that programs make in the field, and tells which check refuses each.
//
// The program is libmlx5 on a process that is watched (program.go); the steps
// are in trip.go and the mistakes in mistakes.go, one table each. Text and JSON
// write them down. A run depends on nothing but the model, so it always says
// the same.
package demo
