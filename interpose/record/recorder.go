package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"uverbsim/casefile"
	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

// Options say what a Recorder writes beyond the calls.
type Options struct {
	// Device is what the cases ask of their device, nil for the one that is
	// there by default.
	Device *casefile.Device
	// Kernel is the release of the kernel that answers; "" is the model's.
	Kernel string
	// Process tells about a process when it first opens a device; nil asks
	// /proc.
	Process func(pid int) Process
	// Report, when set, is told of each error as soon as it is known.
	Report func(error)
}

// Recorder is a watch.Watcher that writes what it sees as cases. Each case is
// written, as one line, when the last file of its process is closed.
type Recorder struct {
	opts Options

	mu       sync.Mutex
	out      sink
	sessions map[int]*session      // by the process that opened the files
	files    map[uint64]*session   // by open device file
	calls    map[*watch.Call]*call // under way
	counts   map[string]int        // cases begun, by the program's name
	begun    int                   // cases begun
	errs     []error
	closed   bool
}

var _ watch.Watcher = (*Recorder)(nil)

// New returns a Recorder that writes to a file from its present offset on.
func New(f File, opts Options) (*Recorder, error) {
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if opts.Process == nil {
		opts.Process = OfProc
	}
	return &Recorder{opts: opts, out: sink{f: f, size: size}, sessions: map[int]*session{}, files: map[uint64]*session{},
		calls: map[*watch.Call]*call{}, counts: map[string]int{}}, nil
}

// call is what is kept of a call that is under way.
type call struct {
	session  *session
	alone    bool   // no other call of the session ran at the same time
	response []byte // of a write: what lies where the answer goes
}

// Enter implements watch.Watcher.
func (r *Recorder) Enter(c *watch.Call) {
	if c.File == 0 || c.Name == "exit" {
		return
	}
	c.TakeArgument()
	k := &call{alone: true}
	if d := c.Data; d != nil && d.Response != 0 {
		k.response = make([]byte, min(d.Room, watch.MaxBytes))
		k.response = k.response[:c.Mem.CopyIn(k.response, d.Response)]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.session = r.files[c.File]; k.session == nil {
		return
	}
	for _, other := range r.calls {
		if other.session == k.session {
			k.alone, other.alone = false, false
		}
	}
	r.calls[c] = k
}

// Leave implements watch.Watcher.
func (r *Recorder) Leave(c *watch.Call) {
	c.TakeAnswer()
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.calls[c]
	delete(r.calls, c)
	if r.closed {
		return
	}
	switch c.Name {
	case "open":
		r.open(c)
		return
	case "exit":
		for _, s := range r.sessions {
			s.exit(c.PID)
		}
		return
	case "munmap":
		for _, s := range r.sessions {
			s.munmap(c)
		}
		return
	case "close":
		r.close(c)
		return
	}
	if k == nil {
		return
	}
	s := k.session
	if !k.alone {
		s.together++
	}
	switch c.Name {
	case "ioctl":
		s.ioctl(c)
	case "mmap":
		s.mmap(c)
	case "write":
		s.write(c, k.response)
	}
}

// open begins a session, unless the process has one.
func (r *Recorder) open(c *watch.Call) {
	if c.Err != nil || c.File == 0 {
		return
	}
	s := r.sessions[c.PID]
	if s == nil {
		var err error
		if s, err = r.begin(c); err != nil {
			r.failed(err)
			return
		}
		r.sessions[c.PID] = s
	}
	r.files[c.File] = s
	s.open(c)
}

// begin begins a case.
func (r *Recorder) begin(c *watch.Call) (*session, error) {
	driver := driverName(c.Driver) // of a real device its first ioctl tells it
	if driver == "" && c.Driver != spec.RDMA_DRIVER_UNKNOWN {
		return nil, fmt.Errorf("record: %s of process %d: a case cannot be for the driver with the id %d", c.Path, c.PID, c.Driver)
	}
	p := r.opts.Process(c.PID)
	program := "program"
	if len(p.Args) > 0 {
		program = filepath.Base(p.Args[0])
	}
	r.counts[program]++
	r.begun++
	name := fmt.Sprintf("recorded/%s-%d", program, r.counts[program])
	k := &casefile.Case{Name: name, Driver: driver, Device: r.opts.Device, Bufs: map[string]*casefile.Buf{}}
	switch {
	case r.opts.Kernel != "":
		k.Kernel = r.opts.Kernel
	case c.Kernel != nil:
		k.Kernel = c.Kernel.Name + ".0 (modelled: " + c.Kernel.Release + ")"
	}
	return newSession(k, c.PID, p), nil
}

// driverName is the driver's name in a case, "" if it has none.
func driverName(id uint32) string {
	for _, name := range []string{"mlx5", "rxe"} {
		if n, _ := casefile.DriverID(name); n == id {
			return name
		}
	}
	return ""
}

// close ends a file and, with the last one, the session.
func (r *Recorder) close(c *watch.Call) {
	s := r.files[c.File]
	if s == nil {
		if s := r.sessions[c.PID]; s != nil {
			s.closeEvents(c)
		}
		return
	}
	delete(r.files, c.File)
	if s.close(c); len(s.files) == 0 {
		delete(r.sessions, s.pid)
		r.end(s, "")
	}
}

// end writes a session's case.
func (r *Recorder) end(s *session, more string) {
	if r.begun > 1 {
		more = "; others had used the device" + more
	}
	line, err := s.finish(more).Marshal()
	if s.c.Driver == "" {
		err = errors.New("no call told what driver it is for")
	}
	if err != nil {
		r.failed(fmt.Errorf("record: case %s: %w", s.c.Name, err))
		return
	}
	if err := r.out.add(append(line, '\n')); err != nil {
		r.report(fmt.Errorf("record: case %s could not be written and waits: %w", s.c.Name, err))
	}
}

func (r *Recorder) report(err error) {
	if r.opts.Report != nil {
		r.opts.Report(err)
	}
}

// failed reports an error that cannot be made good.
func (r *Recorder) failed(err error) {
	r.errs = append(r.errs, err)
	r.report(err)
}

// Close ends what is still being recorded, so that nothing of it is lost, and
// writes what could not be written before. The error joins what is missing in the
// file, and why.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	open := slices.SortedFunc(maps.Values(r.sessions), func(a, b *session) int { return cmp.Compare(a.c.Name, b.c.Name) })
	for _, s := range open {
		r.end(s, "; the recording ended before the program did")
	}
	if err := r.out.flush(); err != nil {
		r.errs = append(r.errs, fmt.Errorf("record: %d cases are not in the file: %w", len(r.out.waiting), err))
	}
	return errors.Join(r.errs...)
}
