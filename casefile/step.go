package casefile

import (
	"reflect"
	"slices"
	"strings"
)

// Step is one thing that a process does, and what came of it.
type Step struct {
	Do   Action
	Proc string // the child process that does it; empty for the first process
	Bg   string // done by another thread, which goes by this name; of a Join the thread waited for
	Mask map[string][]Range

	// What the kernel answered: one of the two once the case is recorded.
	Got    *Got
	GotAny []Outcome // each answer that was seen
}

// Outcome is one of several answers of a step that is not always answered
// alike, and how often it was seen.
type Outcome struct {
	N   int
	Got Got
}

// Action is what a step does: a pointer to one of the operations of this
// package.
type Action interface {
	members(*object)
}

// operations are the words of "op".
var operations = map[string]func() Action{
	"open": action[Open], "close": action[Close], "ioctl": action[Ioctl], "write": action[Write],
	"read": action[ReadEvent], "poll": action[Poll], "bufs": action[Bufs],

	"setuid": action[Setuid], "setgid": action[Setgid], "capset": action[Capset], "rlimit": action[Rlimit],
	"fds": action[FDs], "cgroup": action[Cgroup], "chmod": action[Chmod],
	"fork": action[Fork], "exec": action[Exec], "exit": action[Exit], "dup": action[Dup], "recvfd": action[Recvfd],

	"mmap": action[Mmap], "munmap": action[Munmap], "mprotect": action[Mprotect], "remap": action[Remap],
	"peek": action[Peek], "poke": action[Poke],

	"remove": action[Remove], "add": action[Add], "event": action[Event], "hold": action[Hold],
	"release": action[Release], "driver_log": action[DriverLog], "netdev": action[Netdev],

	"rxe_recv": action[RxeRecv], "rxe_send": action[RxeSend], "rxe_poll": action[RxePoll],

	"join": action[Join], "par": action[Par], "sleep": action[Sleep],
}

func action[T any, P interface {
	*T
	Action
}]() Action {
	return P(new(T))
}

// words has the word of each type of action.
var words = func() map[reflect.Type]string {
	m := map[reflect.Type]string{}
	for word, f := range operations {
		m[reflect.TypeOf(f())] = word
	}
	return m
}()

// Op is the word that the case format has for the step's action; empty when
// there is no action.
func (s *Step) Op() string { return words[reflect.TypeOf(s.Do)] }

// place says where a step stands.
type place bool

const (
	topLevel place = false
	inThread place = true // in a list of a par
)

// ofChild are the actions that only a child process does, of its own.
func ofChild(a Action) bool {
	switch a.(type) {
	case *Exec, *Exit, *Recvfd:
		return true
	}
	return false
}

func (s *Step) code(it item, at place) {
	it.object("a step", func(o *object) {
		if it.c.reading {
			s.begin(o)
		} else if s.Op() == "" {
			o.fail("step %q without an action cannot be written", s.Bg)
		} else {
			word := s.Op()
			o.text("op", &word, must)
		}
		if s.Do == nil {
			return
		}
		if it.c.reading && at == inThread {
			s.checkThread(o)
		}
		o.uses(processes, "proc", &s.Proc, need(ofChild(s.Do)))
		if _, join := s.Do.(*Join); join {
			o.uses(backgrounds, "bg", &s.Bg, must)
		} else {
			o.makes(backgrounds, "bg", &s.Bg, may)
		}
		s.Do.members(o)
		dictMember(o, "mask", &s.Mask, func(it item, name string, l *[]Range) {
			if name != "hex" {
				it.useBuf(name, 0, 0)
			}
			list(it, l, rangeItem)
		})
		optional(o, "got", &s.Got, func(it item, g *Got) { it.object("an answer", g.members) })
		listMember(o, "got_any", &s.GotAny, may, func(it item, oc *Outcome) { it.object("an outcome", oc.members) })
		if s.Got != nil && s.GotAny != nil {
			o.fail("a step has got or got_any, not both")
		}
	})
}

// begin reads the operation, which decides what other members there are.
func (s *Step) begin(o *object) {
	var word string
	o.text("op", &word, must)
	if !o.has("op") {
		return
	}
	f := operations[word]
	if f == nil {
		o.fail("no operation %q", shorten(word))
		for _, k := range o.n.kids { // they are not to blame
			k.used = true
		}
		return
	}
	o.what = "op " + word
	s.Do = f()
}

// checkThread checks that the step can be one of a thread's.
func (s *Step) checkThread(o *object) {
	banned := []string{"proc", "bg", "got", "got_any"}
	switch s.Do.(type) {
	case *Par, *Fork:
		o.fail("%s in a thread of par", s.Op())
	case *Join:
		banned = []string{"proc", "got", "got_any"}
	}
	for _, key := range banned {
		if o.has(key) {
			o.fail("a step in a thread of par has no %q", key)
		}
	}
}

func (oc *Outcome) members(o *object) {
	lengthMember(o, "n", &oc.N, must)
	if it, ok := o.member("got", must, true); ok {
		it.object("an answer", oc.Got.members)
	}
}

func rangeItem(it item, r *Range) {
	l := [2]int{r.Off, r.Len}
	tuple(it, l[:], length)
	if it.c.reading {
		r.Off, r.Len = l[0], l[1]
	}
}

// wordOf is a member that consists of letters of an alphabet, each at most
// once, or is the word none.
func (o *object) wordOf(key string, p *string, letters string, n need) {
	o.text(key, p, n)
	if !o.c.reading || *p == "none" {
		return
	}
	for i, r := range *p {
		if !strings.ContainsRune(letters, r) || strings.ContainsRune((*p)[:i], r) {
			o.fail("%s %q: letters of %q, or none", key, shorten(*p), letters)
			return
		}
	}
}

func texts(o *object, key string, p *[]string, n need, check func(item, string)) {
	listMember(o, key, p, n, func(it item, s *string) {
		it.text(s)
		if it.c.reading {
			check(it, *s)
		}
	})
}

// oneOf checks that of some members at most, or exactly, one is there.
func (o *object) oneOf(n need, keys ...string) {
	if !o.c.reading {
		return
	}
	there := 0
	for _, key := range keys {
		if o.has(key) {
			there++
		}
	}
	if there > 1 || n == must && there == 0 {
		o.fail("%s takes one of %s", o.what, strings.Join(slices.Sorted(slices.Values(keys)), ", "))
	}
}
