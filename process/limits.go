package process

import "uverbsim/rule"

// RLIM_INFINITY is no limit, include/uapi/linux/resource.h.
const RLIM_INFINITY = ^uint64(0)

// Resource is the number of a limit.
type Resource int

// The RLIMIT_* numbers that are modelled, include/uapi/asm-generic/resource.h.
const (
	RLIMIT_NOFILE  Resource = 7 // one more than the highest descriptor
	RLIMIT_MEMLOCK Resource = 8 // bytes of locked memory
)

// Rlimit is a limit: struct rlimit of include/uapi/linux/resource.h.
type Rlimit struct {
	Cur uint64 // the soft limit, which counts
	Max uint64 // the hard limit, which the soft one may be raised to
}

// Limits are the limits of a process.
type Limits struct {
	NOFILE  Rlimit
	MEMLOCK Rlimit
}

// DefaultLimits returns the limits that the kernel gives its first process:
// INIT_RLIMITS, include/asm-generic/resource.h.
func DefaultLimits() Limits {
	const (
		openCur    = 1024    // INR_OPEN_CUR, include/linux/fs.h
		openMax    = 4096    // INR_OPEN_MAX
		mlockLimit = 8 << 20 // MLOCK_LIMIT, include/uapi/linux/resource.h
	)
	return Limits{NOFILE: Rlimit{openCur, openMax}, MEMLOCK: Rlimit{mlockLimit, mlockLimit}}
}

// sysctlNrOpen is the default of fs.nr_open: sysctl_nr_open in fs/file.c.
const sysctlNrOpen = 1 << 20

func (l *Limits) of(r Resource) *Rlimit {
	switch r {
	case RLIMIT_NOFILE:
		return &l.NOFILE
	case RLIMIT_MEMLOCK:
		return &l.MEMLOCK
	}
	return nil
}

// Rlimit models rlimit in include/linux/sched/signal.h: the soft limit.
func (p *Process) Rlimit(r Resource) uint64 { return p.Getrlimit(r).Cur }

// Getrlimit models getrlimit(2).
func (p *Process) Getrlimit(r Resource) Rlimit {
	if p.host != nil {
		return p.host.Rlimit(r)
	}
	limits := p.limits.Load()
	if l := limits.of(r); l != nil {
		return *l
	}
	return Rlimit{RLIM_INFINITY, RLIM_INFINITY}
}

// SetRlimit models setrlimit(2): do_prlimit in kernel/sys.c. Its errors are
// the rules rlimit/….
func (t *Task) SetRlimit(r Resource, l Rlimit) error {
	t.enter()
	defer t.leave()
	t.mu.Lock()
	defer t.mu.Unlock()
	limits := *t.limits.Load()
	old := limits.of(r)
	switch {
	case old == nil:
		return rule.RlimitResource
	case l.Cur > l.Max:
		return rule.RlimitOrder
	case r == RLIMIT_NOFILE && l.Max > sysctlNrOpen:
		return rule.RlimitNrOpen
	case l.Max > old.Max && !t.Capable(CAP_SYS_RESOURCE):
		return rule.RlimitRaise
	}
	*old = l
	t.limits.Store(&limits)
	return nil
}
