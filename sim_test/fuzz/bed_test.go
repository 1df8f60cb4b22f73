package fuzz

import (
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/watchdog"
)

// bed plays the executions of a target, one after another, on a machine that is
// booted once for many of them. What the books hold is as at the start after each.
type bed struct {
	device casefile.Case
	m      *model.Machine
	idle   *model.Books
	lives  [][]byte // what was played on this machine
	counts bool     // what a program is told goes on from one life to the next: where rxe has its queues
}

// stubHas are the operations of a stub that can do most.
var stubHas = []string{"disassociate_ucontext", "mmap", "modify_cq", "resize_cq", "poll_cq", "req_notify_cq", "create_qp", "modify_qp",
	"query_qp", "post_send", "post_recv", "create_srq", "destroy_srq", "modify_srq", "query_srq", "alloc_mw", "create_wq", "modify_wq"}

// livesOfMachine is how many executions a machine is for. What follows from more
// of them than one is seen, and is not hidden by more still.
const livesOfMachine = 128

// againOneIn is how many executions there are to one that is played again, twice,
// on fresh machines: an input is always that, or never. Those that were found, and are
// kept, always are.
const againOneIn = 16

func again(t *testing.T, input []byte) bool {
	found := !fuzzing() && !strings.Contains(t.Name(), "/seed#")
	return found || crc32.ChecksumIEEE(input)%againOneIn == 0
}

func newBed(driver string, has ...string) *bed {
	b := &bed{device: casefile.Case{Driver: driver}, counts: driver == "rxe"}
	if len(has) > 0 {
		b.device.Device = &casefile.Device{Has: has}
	}
	return b
}

// boot makes a machine.
func (b *bed) boot() (*model.Machine, *model.Books, error) {
	m, err := new(model.Model).Boot(&b.device)
	if err != nil {
		return nil, nil, err
	}
	booted := m.(*model.Machine)
	return booted, books(booted), nil
}

// books are those of the machine without its processes.
func books(m *model.Machine) *model.Books {
	b := m.Books()
	b.Processes = nil
	return b
}

// play has an input played by f, which makes of it a life on a machine.
func (b *bed) play(t *testing.T, input []byte, f func(*life)) {
	watchdog.On(t)
	first, err := b.used(input, f)
	if err != nil {
		_, fresh := b.fresh(f)
		if fresh != nil {
			t.Fatalf("%v", fresh)
		}
		t.Fatalf("not on a fresh machine, but after the inputs of %s: %v", b.keep(t), err)
	}
	if !again(t, input) {
		return
	}
	one, err := b.fresh(f)
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.fresh(f)
	if err != nil {
		t.Fatal(err)
	}
	if one.timing || two.timing {
		return
	}
	for name, other := range map[string][]answer{"on a machine that had been used": first, "a second time": two.answers} {
		if b.counts && name != "a second time" {
			continue
		}
		if d := cmp.Diff(one.answers, other, cmp.AllowUnexported(answer{})); d != "" {
			t.Fatalf("the answers (-), and %s (+):\n%s", name, d)
		}
	}
	if one.memory != two.memory {
		t.Fatalf("the memory of the process ends as %#x, and a second time as %#x", one.memory, two.memory)
	}
}

// fuzzing says whether inputs are made, rather than those that are there played. As a
// fleet builds it the program has none of the flags of go test.
func fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f == nil || f.Value.String() != ""
}

// used plays on the machine that there is.
func (b *bed) used(input []byte, f func(*life)) ([]answer, error) {
	if len(b.lives) >= livesOfMachine {
		b.m = nil
	}
	if b.m == nil {
		var err error
		if b.m, b.idle, err = b.boot(); err != nil {
			return nil, err
		}
		b.lives = nil
	} else if err := b.m.Again(); err != nil {
		return nil, err
	}
	b.lives = append(b.lives, input)
	m := b.m
	b.m = nil // until it has come through
	l, err := live(m, b.idle, false, f)
	if err != nil {
		return nil, err
	}
	if !l.removed {
		b.m = m
	}
	return l.answers, nil
}

// fresh plays on a machine of its own.
func (b *bed) fresh(f func(*life)) (*life, error) {
	m, idle, err := b.boot()
	if err != nil {
		return nil, err
	}
	return live(m, idle, true, f)
}

// live plays one life, after which all is closed; with look it is also looked at what
// answers could depend on, and at what is in its memory before the end.
func live(m *model.Machine, idle *model.Books, look bool, f func(*life)) (*life, error) {
	l, err := newLife(m)
	if err != nil {
		return nil, err
	}
	l.look = look
	f(l)
	err = l.answering()
	if look {
		l.sum()
	}
	m.Shutdown()
	if err != nil {
		return nil, err
	}
	if now := books(m); !reflect.DeepEqual(idle, now) {
		return nil, fmt.Errorf("the books at the start (-) and when all is closed (+):\n%s\nafter %v", cmp.Diff(idle, now), l.answers)
	}
	return l, nil
}

// keep writes what the machine was used for, in its order, and says where.
func (b *bed) keep(t *testing.T) string {
	dir, err := os.MkdirTemp("", "uverbsim-fuzz-")
	if err != nil {
		t.Fatal(err)
	}
	for i, input := range b.lives {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d", i)), input, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
