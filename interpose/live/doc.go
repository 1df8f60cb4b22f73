// Package live is the memory of a process that runs on this machine, as the
// simulated kernel reaches it: what copyuser.AddressSpace is for a simulated one.
//
// Space is one mm_struct. Copies from and to the user go through
// process_vm_readv(2) and process_vm_writev(2), which respect the protection of
// the pages as copy_from_user and copy_to_user do. Who asks what is mapped, and
// the DMA of a device, go through /proc/PID/maps and /proc/PID/mem, which stay
// with the memory that they were opened for: they are not taken in by a new
// process with the number of an old one, nor by an execve(2). The areas that map
// the simulated device are kept in a shadow, an AddressSpace with these areas and
// no others, which also keeps the accounts and the notifiers.
//
// What differs from the kernel:
//
//   - Nothing is pinned. A device reaches the memory by its address, whatever is
//     mapped there then: after munmap(2) it reads zeros and its writes are lost, after
//     another mmap(2) it reaches the new mapping, after a fork(2) the memory of the
//     process that made the pin, and when the process has ended or has called
//     execve(2) it reads zeros again. Shared memory that has been made read-only takes
//     no more writes, nor does private memory where the kernel was told to keep
//     /proc/PID/mem from forcing them (proc_mem.force_override).
//   - A pin brings no pages in, and of a file it tries only the first and the last
//     page in each mapping. Memory that can be written or executed but not read
//     cannot be pinned for reading, touched or not.
//   - Memory that is found without a pin (RangeFault) counts as present where it is
//     mapped, and its notifiers hear only of changes to the shadow's areas. What
//     the process maps by itself changes under the device, which then finds the new
//     mapping, or zeros.
//   - A thread that is killed because another thread of its process calls execve(2)
//     may leave its last call half done: what this call has yet to copy out can land
//     in the memory of the new program.
//   - A fork is not seen; the child's memory is a Space of its own.
//
// A number of 4 or 8 bytes that is aligned is not torn: /proc/PID/mem stores it with
// one memcpy of the kernel from a page of its own, which is one move, or on
// processors with fast short strings (FSRM) one string instruction, whose bytes up
// to 8 go out together. process_vm_writev is not as good: without FSRM it copies
// less than 8 bytes one by one, as copy_to_user does.
package live
