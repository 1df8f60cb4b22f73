package rule

import "syscall"

const umemFile = "drivers/infiniband/core/umem.c"

// The refusals of umem.c.
var (
	UmemOverflow = add(Rule{"umem/overflow", syscall.EINVAL, "ib_umem_get", umemFile,
		"Address plus length runs past the end of the 64-bit address space.",
		"Pass a buffer that lies in the process's memory."})
	UmemNoMlock = add(Rule{"umem/no-mlock", syscall.EPERM, "ib_umem_get", umemFile,
		"The process may not lock any memory: RLIMIT_MEMLOCK is 0 and it lacks CAP_IPC_LOCK.",
		"Raise RLIMIT_MEMLOCK, or give the process CAP_IPC_LOCK."})
	UmemOnDemand = add(Rule{"umem/on-demand", syscall.EOPNOTSUPP, "ib_umem_get", umemFile,
		"On-demand paging was asked for memory that has to be pinned.",
		"Leave IB_ACCESS_ON_DEMAND out."})
	UmemEmpty = add(Rule{"umem/empty", syscall.EINVAL, "ib_umem_get", umemFile,
		"The buffer touches no page, or more than 2^32-1 of them.",
		"Pass a length of at least one byte and at most 16 TiB."})
	UmemMemlockLimit = add(Rule{"umem/memlock-limit", syscall.ENOMEM, "ib_umem_get", umemFile,
		"The pages pinned so far and these are more than RLIMIT_MEMLOCK allows, and the process lacks CAP_IPC_LOCK.",
		"Raise RLIMIT_MEMLOCK (ulimit -l), release memory, or give the process CAP_IPC_LOCK."})
	UmemNoMemory = add(Rule{"umem/no-memory", syscall.ENOMEM, "ib_umem_get", umemFile,
		"There was no memory to pin the pages.",
		"Free memory and call again."})
	UmemReregReadOnly = add(Rule{"umem/rereg-read-only", syscall.EACCES, "ib_umem_check_rereg", umemFile,
		"The region shall become writable, and its memory was pinned for reading only.",
		"Give the new memory along with the new access rights, or register the region anew."})
)
