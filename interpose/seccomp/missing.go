package seccomp

import "fmt"

// Missing says that this machine, or the place that the process runs in, lacks
// something that a program under notification needs.
type Missing struct {
	What string // what was found
	Need string // what is needed
	Get  string // how to get it
}

func (m *Missing) Error() string {
	return fmt.Sprintf("%s (needs %s): %s", m.What, m.Need, m.Get)
}

// Whatever refuses the calls in a container is put away in the same way.
const inContainer = "in a container, start it with --security-opt seccomp=unconfined"

var (
	missingArch = &Missing{
		What: "this is not an x86_64 program on an x86_64 kernel",
		Need: "x86_64",
		Get:  "run the x86_64 build on an x86_64 machine",
	}
	missingSeccomp = &Missing{
		What: "the kernel has no seccomp filters",
		Need: "CONFIG_SECCOMP_FILTER and Linux 5.9",
		Get:  "run on a kernel that has them, not on one that another program stands in for (gVisor, WSL 1)",
	}
	missingNotify = &Missing{
		What: "the kernel has no seccomp user notification",
		Need: "Linux 5.0, and 5.9 for all that is used",
		Get:  "run on Linux 5.9 or newer",
	}
	missingContinue = &Missing{
		What: "the kernel cannot let a notified system call go on",
		Need: "SECCOMP_USER_NOTIF_FLAG_CONTINUE, Linux 5.5",
		Get:  "run on Linux 5.9 or newer",
	}
	missingAddFD = &Missing{
		What: "the kernel cannot add a descriptor to a notified process",
		Need: "SECCOMP_IOCTL_NOTIF_ADDFD, Linux 5.9",
		Get:  "run on Linux 5.9 or newer",
	}
	missingPermission = &Missing{
		What: "seccomp() is refused",
		Need: "permission to install a seccomp filter with a listener",
		Get:  inContainer,
	}
	missingListener = &Missing{
		What: "this process is already under a seccomp filter that has a listener",
		Need: "a process tree with no listener, of which the kernel allows one",
		Get:  "start it outside of the other supervisor (another run, a container runtime's notifier)",
	}
	missingPtraceScope = &Missing{
		What: "kernel.yama.ptrace_scope is 3: no process may reach another's memory",
		Need: "ptrace_scope 0 or 1",
		Get:  "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and boot again, for 3 cannot be left",
	}
	missingPtraceCap = &Missing{
		What: "kernel.yama.ptrace_scope is 2: only CAP_SYS_PTRACE may reach another process's memory",
		Need: "ptrace_scope 0 or 1, or CAP_SYS_PTRACE",
		Get:  "as root: sysctl kernel.yama.ptrace_scope=1; in a container, add --cap-add SYS_PTRACE",
	}
	missingVM = &Missing{
		What: "process_vm_readv and process_vm_writev on a child are refused",
		Need: "CONFIG_CROSS_MEMORY_ATTACH and permission to trace a child",
		Get:  "in a container, start it with --cap-add SYS_PTRACE or --security-opt seccomp=unconfined",
	}
	missingAncestor = &Missing{
		What: "kernel.yama.ptrace_scope is 1: a process may reach the memory of those that it started, not of others",
		Need: "ptrace_scope 0, CAP_SYS_PTRACE, or a supervisor of its own",
		Get:  "use run without --attach; or as root: sysctl kernel.yama.ptrace_scope=0, or run the server with CAP_SYS_PTRACE",
	}
	missingOwner = &Missing{
		What: "the process belongs to another user, or may not be traced",
		Need: "the same user, and a program file that the user may read",
		Get:  "run both as the same user, or the server with CAP_SYS_PTRACE",
	}
)
