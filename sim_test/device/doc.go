// Package device plays cases on a real device node of Linux,
// /dev/infiniband/uverbsN: it is a player.Target whose answers are a kernel's.
//
// A case of version 1 of the format is played by the process itself. Any other
// has a process of its own, an agent: the program started again, which does
// nothing but make the system calls that it is told to make. That process can
// fork, lose its credentials and run into its limits; it is killed when the
// case is over. A program that plays on a Target calls ServeAgent first of all.
//
// The device has to be at the player's disposal: root, and nobody else at work
// on it. One case is played at a time. What only a driver made for it can do
// (raise events, hold an operation, keep a log) and devices with chosen
// operations are player.Unplayable.
package device
