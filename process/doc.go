// Package process models a user process as the kernel sees it, with no
// knowledge of RDMA: its address space, credentials (kernel/cred.c, kernel/sys.c,
// security/commoncap.c), limits, RDMA control group (kernel/cgroup/rdma.c),
// descriptors (fs/file.c) and open files with their operations (fs/file_table.c,
// fs/read_write.c, fs/ioctl.c, fs/select.c, fs/anon_inodes.c), and what fork,
// exec and exit do to all of these (kernel/fork.c, fs/exec.c, kernel/exit.c).
//
// System calls are methods of a Task, a thread; a Process has the same methods,
// which its main task makes. What a path opens, the process asks a VFS.
//
// A last reference to a file that is given back during a system call releases
// the file when the call returns, as the kernel's task work does.
//
// Left out are files with a position and contents, fcntl beyond duplication and
// O_NONBLOCK, fd tables shared between processes, user namespaces, bounding and
// ambient capabilities, signals other than the interruption of a wait, and all
// limits but two.
package process
