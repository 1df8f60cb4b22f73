// Package recorded has the test that unmodified programs get from the simulator,
// call by call, what a real kernel has answered to the same programs.
//
// Transcript linux-6.12-mlx5-clients.txt (package transcript) was made in one run of
// a machine with Debian 12's ibverbs-utils: ibv_devinfo twice, then ping-pongs, each
// a server and a client one after the other. All clients' calls are in it, but for
// the first and the last program, of which there is what they print. The test runs
// the same programs in the same order on one machine, so that also the numbers that
// the device gives out, for which each program has to leave nothing behind, are
// those of the recording.
//
// What may differ: addresses, descriptors, and the packet numbers that programs draw
// by lot; with -e how many completion events a program has read, which hangs on how
// soon it wakes up; in what is printed the packet numbers and how long it took.
package recorded
