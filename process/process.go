package process

import (
	"sync"
	"sync/atomic"

	"uverbsim/copyuser"
	"uverbsim/trace"
)

// VFS opens what a path names: what open(2) comes to when the descriptor is
// reserved. The file it returns has one reference, which becomes the
// descriptor's. Flags are those of open(2) without O_CLOEXEC.
type VFS interface {
	Open(t *Task, path string, flags int) (*File, error)
}

// Options say how a process starts.
type Options struct {
	Cred   *Cred       // nil is root with all capabilities
	Limits *Limits     // nil is DefaultLimits
	Cgroup *Cgroup     // nil is a root group of its own, without limits
	NetNS  *NetNS      // nil is InitNet
	Trace  *trace.Task // what the main task reports to
	PID    int         // 0 is the next free number
	Mem    copyuser.MM // nil is a new AddressSpace
	Host   Host        // nil for a simulated process
}

var lastPID atomic.Int64

// Process is a user process: what struct task_struct, struct files_struct and
// struct signal_struct say about one. Its system calls are those of its main
// task; several goroutines may make them at once.
type Process struct {
	PID int
	Mem copyuser.MM // its memory; Exec replaces it

	vfs    VFS
	host   Host
	cred   atomic.Pointer[Cred]
	limits atomic.Pointer[Limits]
	cgroup atomic.Pointer[Cgroup]
	netNS  atomic.Pointer[NetNS]
	files  fdTable

	mu      sync.Mutex // over changes of cred and limits, and over tasks
	tasks   []*Task
	main    *Task
	exiting atomic.Bool
	killed  chan struct{} // closed by Exit
	left    *sync.Cond    // of mu: a system call returned while exiting
}

// New returns a process without descriptors that has one task.
func New(vfs VFS, opts Options) *Process {
	if opts.Cred == nil {
		opts.Cred = Root()
	}
	if opts.Limits == nil {
		limits := DefaultLimits()
		opts.Limits = &limits
	}
	if opts.Cgroup == nil {
		opts.Cgroup = NewCgroup(nil)
	}
	if opts.NetNS == nil {
		opts.NetNS = InitNet
	}
	if opts.PID == 0 {
		opts.PID = int(lastPID.Add(1))
	}
	if opts.Mem == nil {
		opts.Mem = copyuser.NewAddressSpace()
	}
	p := &Process{PID: opts.PID, Mem: opts.Mem, vfs: vfs, host: opts.Host, killed: make(chan struct{})}
	p.left = sync.NewCond(&p.mu)
	limits := *opts.Limits
	p.cred.Store(opts.Cred)
	p.limits.Store(&limits)
	p.cgroup.Store(opts.Cgroup)
	p.netNS.Store(opts.NetNS)
	p.main = p.NewTask(opts.Trace)
	return p
}

// NewTask returns one more thread of the process.
func (p *Process) NewTask(tr *trace.Task) *Task {
	t := &Task{Process: p, Trace: tr, CPU: int(lastCPU.Add(1) % NrCPUs), signal: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tasks = append(p.tasks, t)
	return t
}

// MainTask returns the thread that the process started with.
func (p *Process) MainTask() *Task { return p.main }

// Cgroup returns the RDMA control group that the process is in.
func (p *Process) Cgroup() *Cgroup { return p.cgroup.Load() }

// SetCgroup moves the process to a group. What was charged stays with the old
// one.
func (p *Process) SetCgroup(g *Cgroup) { p.cgroup.Store(g) }

// Task is a thread: struct task_struct. Its methods are system calls, unless
// they say that they model another function of the kernel.
type Task struct {
	*Process
	Trace *trace.Task
	Call  any // what the process's host has to know of the system call that it is in
	CPU   int // the processor that it runs on, below NrCPUs

	// What a system call writes is in cache lines of the task's own, so that
	// threads on different processors do not slow each other down.
	_ cacheLine

	// Spares are what a call has used and the next one may use again, where the
	// kernel has it on the stack of the thread. What each is for, package kernel
	// says.
	Spares [3]Spare

	borrowed  atomic.Uint64 // the id of a file; see fdget
	depth     atomic.Int32  // system calls that it is in
	works     atomic.Bool   // work is not empty
	signalled atomic.Bool   // signal may not be empty
	signal    chan struct{} // a signal waits for the system call that it is in
	wmu       sync.Mutex
	work      []*File // to be released when the system call returns: task_works

	_ cacheLine
}

// Spare is something that a task keeps for its next call. Who has taken it has it
// for itself until it is given back.
type Spare struct {
	Value any // nil as long as nobody has put anything there
	taken atomic.Bool
}

// Take says whether the spare was free, and takes it if so.
func (s *Spare) Take() bool { return s.taken.CompareAndSwap(false, true) }

// GiveBack ends what Take began.
func (s *Spare) GiveBack() { s.taken.Store(false) }

// NrCPUs is how many processors there are for what the kernel keeps for each of
// them: nr_cpu_ids, include/linux/cpumask.h. Tasks are dealt out to them in turn
// and stay there, so more of them than the machine has keep apart the threads
// that it does run at once.
const NrCPUs = 16

var lastCPU atomic.Uint64

// cacheLine keeps what lies before it and behind it from sharing a line of the
// processor's cache, and from being neighbours that are fetched together.
type cacheLine [128]byte

var _ copyuser.Current = (*Task)(nil)

// TraceTask implements copyuser.Current.
func (t *Task) TraceTask() *trace.Task { return t.Trace }

// GetFile takes a reference to a *File that an area maps. It implements
// copyuser.Current.
func (t *Task) GetFile(file any) { file.(*File).Get() }

// PutFile gives it back. It implements copyuser.Current.
func (t *Task) PutFile(file any) { file.(*File).Put(t) }

// InCall runs f as the body of a system call that is none of Task's methods, as a
// write to the file in sysfs that takes a device away: a file whose last reference
// goes meanwhile is released when f has returned.
func (t *Task) InCall(f func()) {
	t.enter()
	defer t.leave()
	f()
}

// enter and leave stand around every system call.
func (t *Task) enter() { t.depth.Add(1) }

func (t *Task) leave() {
	if t.works.Load() {
		t.taskWorkRun()
	}
	if t.depth.Add(-1) == 0 && t.signalled.Load() {
		t.handleSignal()
	}
	if t.exiting.Load() {
		t.mu.Lock()
		t.left.Broadcast()
		t.mu.Unlock()
	}
}

// enterFile and leaveFile stand around a system call that has a descriptor. The file
// is nil if there is none.
func (t *Task) enterFile(fd int) *File {
	t.enter()
	return t.fdget(fd)
}

func (t *Task) leaveFile(f *File) {
	if f != nil {
		t.fdput(f)
	}
	t.leave()
}

// handleSignal lets the handler of a signal run that no wait has seen.
func (t *Task) handleSignal() {
	t.signalled.Store(false)
	select {
	case <-t.signal:
	default:
	}
}

// taskWorkAdd models task_work_add in kernel/task_work.c.
func (t *Task) taskWorkAdd(f *File) {
	t.wmu.Lock()
	defer t.wmu.Unlock()
	t.work = append(t.work, f)
	t.works.Store(true)
}

// taskWorkRun models task_work_run in kernel/task_work.c: it releases what
// waits for that, the last that was added first.
func (t *Task) taskWorkRun() {
	for t.works.Load() {
		t.wmu.Lock()
		work := t.work
		t.work = nil
		t.works.Store(false)
		t.wmu.Unlock()
		for i := len(work) - 1; i >= 0; i-- {
			work[i].release(t)
		}
	}
}
