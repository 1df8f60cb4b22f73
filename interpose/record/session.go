package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"uverbsim/casefile"
	"uverbsim/interpose/watch"
	"uverbsim/rule"
)

// session is a case in the making.
type session struct {
	c     *casefile.Case
	pid   int
	args  []string
	files map[uint64]string // open device files, and the names of their descriptors

	parties map[int]*party // the processes that use the files, the opener among them
	counts  map[string]int // names given, by their beginning
	handles map[handle]symbol
	ready   map[handle]bool // queue pairs that were once ready to receive
	offsets map[uint64]casefile.Value
	others  map[openFile]int // files of other kinds, and the standard descriptors that stand in for them
	memory  memory

	together int  // calls that ran at the same time as others
	size     int  // of the line, about
	dropped  int  // steps that had no room
	full     bool // no more steps have
}

// maxSize is about how long a case may become; a line of a case file may have
// 16 MiB.
const maxSize = 12 << 20

// party is a process that uses the files.
type party struct {
	proc string // its name in the case, empty for the opener
	fds  map[int]string
	seen map[string]bool // names of descriptors that it has; nil for the opener, which has all its own
	maps []mapping
}

type handle struct {
	file uint64
	n    uint32
}

// symbol is a name, and who gave it.
type symbol struct {
	name string
	by   *party
}

func newSession(c *casefile.Case, pid int, p Process) *session {
	s := &session{c: c, pid: pid, args: p.Args, files: map[uint64]string{},
		parties: map[int]*party{pid: {fds: map[int]string{}}}, counts: map[string]int{},
		handles: map[handle]symbol{}, ready: map[handle]bool{}, offsets: map[uint64]casefile.Value{}, others: map[openFile]int{}}
	s.identify(p)
	return s
}

// identify has the player give up what the process does not have: capabilities,
// and locked memory beyond its limit. A limit higher than that of the player
// cannot be given, so that the capability to be beyond it is kept instead.
func (s *session) identify(p Process) {
	const players = 8 << 20 // the limit of the first process
	caps := p.Caps
	if p.Memlock < 0 || p.Memlock > players {
		caps |= 1 << ipcLock
	} else if caps&(1<<ipcLock) == 0 && p.Memlock < players {
		s.add(&casefile.Rlimit{Which: "MEMLOCK", Cur: &p.Memlock}, done("0"))
	}
	var drop []string
	for _, c := range capabilities {
		if caps>>c.n&1 == 0 {
			drop = append(drop, c.name)
		}
	}
	if len(drop) > 0 {
		s.add(&casefile.Capset{Drop: drop}, done("0"))
	}
}

// ipcLock is CAP_IPC_LOCK, include/uapi/linux/capability.h.
const ipcLock = 14

// capabilities are those that calls on a device ask for.
var capabilities = []struct {
	n    uint
	name string
}{
	{12, "CAP_NET_ADMIN"}, {13, "CAP_NET_RAW"}, {ipcLock, "CAP_IPC_LOCK"}, {21, "CAP_SYS_ADMIN"},
}

// name gives a name that no other thing in the case has.
func (s *session) name(kind string) string {
	s.counts[kind]++
	return fmt.Sprint(kind, s.counts[kind])
}

// done is the answer of a call that succeeded.
func done(ret casefile.Num) *casefile.Got {
	errno := ""
	return &casefile.Got{Ret: ret, Errno: &errno}
}

// answer is what a call returned; any says that it is not compared.
func answer(c *watch.Call, any bool) *casefile.Got {
	switch {
	case c.Err != nil:
		errno := rule.ErrnoName(rule.Errno(c.Err))
		return &casefile.Got{Ret: "-1", Errno: &errno}
	case any:
		return done(casefile.Any)
	}
	return done(casefile.Int(c.Ret))
}

// add adds a step of the opener's and returns it, to be completed.
func (s *session) add(do casefile.Action, got *casefile.Got) *casefile.Step {
	return s.addFor("", do, got)
}

func (s *session) addFor(proc string, do casefile.Action, got *casefile.Got) *casefile.Step {
	const least = 200 // bytes
	s.c.Steps = append(s.c.Steps, casefile.Step{Do: do, Proc: proc, Got: got})
	s.size += least
	return &s.c.Steps[len(s.c.Steps)-1]
}

// room says whether there is room for one more step, and counts those for which
// there is none.
func (s *session) room() bool {
	if s.full = s.full || s.size > maxSize; s.full {
		s.dropped++
	}
	return !s.full
}

// open adds the opening of a device file.
func (s *session) open(c *watch.Call) {
	fd := s.name("f")
	s.files[c.File] = fd
	p := s.parties[c.PID]
	p.fds[int(c.Ret)] = fd
	if !s.room() {
		return
	}
	a := &casefile.Open{FD: fd}
	switch c.OpenFlags & syscall.O_ACCMODE {
	case syscall.O_RDONLY:
		a.Mode = "r"
	case syscall.O_WRONLY:
		a.Mode = "w"
	}
	if c.OpenFlags&syscall.O_CLOEXEC == 0 {
		a.Cloexec = new(bool)
	}
	s.add(a, answer(c, true))
}

// party returns the process that makes a call. One that is new is a child from
// now on, which has what the opener has.
func (s *session) party(pid int) *party {
	p := s.parties[pid]
	if p != nil {
		return p
	}
	opener := s.parties[s.pid]
	p = &party{proc: s.name("child"), fds: maps.Clone(opener.fds), seen: map[string]bool{}, maps: slices.Clone(opener.maps)}
	for _, name := range opener.fds {
		p.seen[name] = true
	}
	for h, sym := range s.handles {
		if sym.by == opener {
			s.handles[h] = symbol{sym.name, nil} // both know it
		}
	}
	s.parties[pid] = p
	s.add(&casefile.Fork{As: p.proc}, done(casefile.Any))
	return p
}

// device returns a process's name for an open device file, which is passed to
// it if it has none.
func (s *session) device(p *party, file uint64) string {
	name := s.files[file]
	if p.proc == "" || p.seen[name] {
		return name
	}
	p.seen[name] = true
	s.addFor(p.proc, &casefile.Recvfd{FD: name, As: name}, done(casefile.Any))
	return name
}

// handle returns a handle as the case names it: by its name where this process
// knows one, else by its number.
func (s *session) handle(p *party, file uint64, n uint64) casefile.Value {
	if sym, ok := s.handles[handle{file, uint32(n)}]; ok && n>>32 == 0 && (sym.by == nil || sym.by == p) {
		return casefile.HandleOf(sym.name)
	}
	return hex(n)
}

// fd is the same for a descriptor.
func (s *session) fd(p *party, n uint64) casefile.Value {
	if name, ok := p.fds[int(int32(n))]; ok && n>>32 == 0 {
		return casefile.HandleOf(name)
	}
	return hex(n)
}

// hex is a number, in hex where that is easier to read.
func hex(n uint64) casefile.Value {
	v := casefile.NumberOf(n)
	if n > 1<<16 {
		v.Form = casefile.Hex
	}
	return v
}

// exit ends a child.
func (s *session) exit(pid int) {
	p := s.parties[pid]
	if p == nil || p.proc == "" {
		return
	}
	delete(s.parties, pid)
	s.addFor(p.proc, new(casefile.Exit), done("0"))
}

// close ends a file, before which all children leave it.
func (s *session) close(c *watch.Call) {
	name := s.files[c.File]
	if len(s.files) == 1 {
		for _, pid := range slices.Sorted(maps.Keys(s.parties)) {
			s.exit(pid)
		}
	}
	delete(s.files, c.File)
	maps.DeleteFunc(s.parties[s.pid].fds, func(_ int, have string) bool { return have == name })
	if s.room() {
		s.add(&casefile.Close{FD: name}, done("0"))
	}
}

// closeEvents ends an event file, where it is known which.
func (s *session) closeEvents(c *watch.Call) {
	p := s.parties[c.PID]
	name, ok := p.fds[c.FD]
	if !ok || c.FD < 0 || c.Err != nil {
		return
	}
	delete(p.fds, c.FD)
	if s.room() {
		s.addFor(p.proc, &casefile.Close{FD: name}, answer(c, false))
	}
}

// finish completes the case; more is said in the end about why it is as it is.
func (s *session) finish(more string) *casefile.Case {
	s.c.Why = "a recording"
	if len(s.args) > 0 {
		s.c.Why += " of " + strings.Join(s.args, " ")
	}
	if s.together > 0 {
		s.c.Why += fmt.Sprintf("; %d calls ran at the same time as others", s.together)
	}
	if s.dropped > 0 {
		s.c.Why += fmt.Sprintf("; the last %d calls had no room", s.dropped)
	}
	s.c.Why += more
	return s.c
}
