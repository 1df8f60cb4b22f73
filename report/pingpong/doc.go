// Package pingpong lets two processes on two emulated mlx5 devices exchange
// messages over a reliable connection, as ibv_rc_pingpong does between two hosts,
// and counts what that takes. Each message is checked by its receiver.
//
// The devices are stepped by turns in one goroutine, so that a run depends on
// nothing but the model and does the same each time, but for how long it takes.
package pingpong
