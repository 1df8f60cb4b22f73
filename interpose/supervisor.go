package interpose

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"sync"

	"uverbsim/interpose/seccomp"
	"uverbsim/interpose/sysfs"
	"uverbsim/interpose/watch"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/trace"
)

// Config says what a Supervisor is made of. The zero value of a field is what it
// says.
type Config struct {
	// Machine has the devices. They must all be there.
	Machine *kernel.Machine
	// Adapters are what has to be kept going for the machine's devices.
	Adapters []Adapter
	// Dir is where the twin of /sys and the files behind descriptors are made, in
	// a directory of its own. "" is /dev/shm, or where temporary files are.
	Dir string
	// Interface is the network interface of this host that device/net names, for
	// programs that then ask for its addresses; "" is the first that is up.
	Interface string
	// Watch is told of every call on a device; nil is nobody.
	Watch watch.Watcher
	// Trace is told what the modelled kernel does in each call; nil is nobody.
	Trace trace.Sink
	// Memlock is the limit of locked memory that counts for every program, in
	// bytes; nil is the program's own.
	Memlock *uint64
	// Report is told of what goes wrong here, a line each; nil is nobody.
	Report func(line string)
}

// Supervisor answers for a machine the system calls of programs. Its methods may be
// called by several goroutines at once.
type Supervisor struct {
	cfg    Config
	dir    directory
	tree   *sysfs.Tree
	system tasks // of no program
	engine *engine
	closes *closes
	files  files

	clientsMu sync.Mutex
	clients   map[int]*client // by TGID

	serving sync.WaitGroup // sessions, exits of clients, closes
}

// New returns a Supervisor, with the twin of /sys written and the devices going.
func New(cfg Config) (*Supervisor, error) {
	if cfg.Interface == "" {
		cfg.Interface = firstInterface()
	}
	s := &Supervisor{cfg: cfg, clients: map[int]*client{}}
	if s.cfg.Report == nil {
		s.cfg.Report = func(string) {}
	}
	var err error
	if s.dir, err = makeDirectory(cfg.Dir); err != nil {
		return nil, fmt.Errorf("interpose: %w", err)
	}
	s.tree, err = sysfs.Write(s.dir.path("twin"), cfg.Machine, sysfs.Options{Interface: cfg.Interface, HostPCI: "/sys/bus/pci/devices"})
	if err == nil {
		s.closes, err = newCloses(s)
	}
	if err != nil {
		s.dir.remove()
		return nil, fmt.Errorf("interpose: %w", err)
	}
	s.engine = startEngine(cfg.Adapters)
	s.system.proc, s.system.sink = cfg.Machine.NewProcess(process.Options{}), cfg.Trace
	for _, d := range cfg.Machine.Devices() {
		s.follow(d)
	}
	return s, nil
}

// Close ends the Supervisor, when no program that it serves is left. The error
// says what programs have left in the machine.
func (s *Supervisor) Close() error {
	s.serving.Wait()
	s.closes.drain()
	err := s.books()
	s.closes.stop()
	s.engine.stop()
	s.dir.remove()
	return err
}

// firstInterface returns an interface of this host that is up, "" if only the loopback
// is.
func firstInterface() string {
	all, _ := net.Interfaces()
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return i.Name
		}
	}
	return ""
}

// books says what is left of programs that are gone.
func (s *Supervisor) books() error {
	var errs []error
	if n := s.files.len(); n > 0 {
		errs = append(errs, fmt.Errorf("interpose: %d files of the machine are still open", n))
	}
	for _, d := range s.cfg.Machine.Devices() {
		if n := d.OpenFiles(); n > 0 {
			errs = append(errs, fmt.Errorf("interpose: uverbs%d has %d files", d.Num, n))
		}
	}
	return errors.Join(errs...)
}

// Abandon removes the files of a Supervisor that ends before its programs do: their
// system calls that it would have answered fail from then on.
func (s *Supervisor) Abandon() { _ = os.RemoveAll(s.dir.name) }

// Serve answers the system calls that come over a listener until no task is left
// that its filter applies to. It closes the listener.
func (s *Supervisor) Serve(l *seccomp.Listener) {
	s.serving.Add(1)
	defer s.serving.Done()
	newSession(s, l).run()
}

// survive reports a fault of ours instead of dying of it, with what was done.
func (s *Supervisor) survive(what string) {
	if r := recover(); r != nil {
		s.report("%s: %v\n%s", what, r, debug.Stack())
	}
}

func (s *Supervisor) report(format string, args ...any) {
	s.cfg.Report(fmt.Sprintf(format, args...))
}
