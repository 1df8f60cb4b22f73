// Package transcript compares what programs asked of an mlx5 device, and what
// they were answered, with what the same programs asked of a real kernel.
//
// Transcript linux-6.12-mlx5-clients.txt has the calls of libmlx5 of rdma-core 44
// on the mlx5_ib of Linux 6.12: every RDMA_VERBS_IOCTL and every mmap of the
// device, of ibv_devinfo and of the clients of ping-pongs, with what the programs
// print ([Recorded]). A [Tape] is a watch.Watcher that takes down the same of a
// live program, and [Compare] says call by call where the two differ.
//
// What is not compared, is so by a table of fields ([Kind]): addresses,
// descriptors, what a program draws by lot, and what lies in the room of an
// answer before the call. The transcript has no more than the first 512 bytes of
// an attribute.
package transcript
