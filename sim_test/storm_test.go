package sim_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/kernel"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/watchdog"
	"uverbsim/trace"
)

var stormTime = flag.Duration("storm", 500*time.Millisecond, "how long each storm of TestStorm lasts; longer where the machine is so busy that little has worked")

func nodeOf(d *kernel.Device) string { return fmt.Sprintf("/dev/infiniband/uverbs%d", d.Num) }

// storms are the devices that TestStorm has.
var storms = []struct {
	name     string
	c        casefile.Case
	removals bool // the device comes and goes meanwhile
	faults   bool // steps in the kernel fail now and then
}{
	{"rxe", casefile.Case{Driver: "rxe"}, false, false},
	{"rxe/faults", casefile.Case{Driver: "rxe"}, false, true},
	{"stub", casefile.Case{Driver: "stub", Device: &casefile.Device{Has: stubHas}}, true, false},
	{"stub/faults", casefile.Case{Driver: "stub", Device: &casefile.Device{Has: stubHas}}, true, true},
	{"mlx5", casefile.Case{Driver: "mlx5"}, true, false},
	{"mlx5/faults", casefile.Case{Driver: "mlx5"}, true, true},
}

// unlucky is the seam of a thread whose steps fail now and then, once it is on.
// Commands that give a number back succeed: the driver forgets a number that
// the device would not take back, as the kernel's does, and the books are to
// balance.
type unlucky struct {
	on     bool
	rng    *rand.Rand
	failed int
}

func (*unlucky) Event(*trace.Task, *trace.Event) {}
func (u *unlucky) Fail(_ *trace.Task, _ trace.Step, what string) bool {
	if !u.on || u.rng.IntN(100) != 0 || strings.HasPrefix(what, "DEALLOC_") {
		return false
	}
	u.failed++
	return true
}

var stubHas = []string{"disassociate_ucontext", "mmap", "modify_cq", "resize_cq", "poll_cq", "req_notify_cq", "create_qp", "modify_qp",
	"query_qp", "post_send", "post_recv", "create_srq", "destroy_srq", "modify_srq", "query_srq", "alloc_mw", "create_wq", "modify_wq"}

// TestStorm has several threads of a process do all sorts of things with the same
// descriptors, while children come and go, events happen and, where the driver can
// do that, the device is taken away and comes back. Nothing may panic, race or hang,
// and when all is closed the books are as at the start.
func TestStorm(t *testing.T) {
	for _, s := range storms {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			storm(t, &s.c, s.removals, s.faults, seed)
		})
	}
}

func storm(t *testing.T, c *casefile.Case, removals, faults bool, seed uint64) {
	booted, err := new(model.Model).Boot(c)
	require.NoError(t, err)
	m := booted.(*model.Machine)
	before := m.Books()
	driver, ok := casefile.DriverID(c.Driver)
	require.True(t, ok)
	proc := m.Process().(*model.Task).Process()

	const threads = 4
	var workers []*rabble
	var lucks []*unlucky
	var made loot
	for i := range threads {
		luck := &unlucky{rng: rand.New(rand.NewPCG(seed, uint64(i)))}
		var seam *trace.Task
		if faults {
			seam = trace.NewTask(i, luck)
		}
		w, err := newRabble(m, proc.NewTask(seam), driver, &made, seed+uint64(i))
		require.NoError(t, err)
		luck.on = true
		workers, lucks = append(workers, w), append(lucks, luck)
	}
	stop := make(chan struct{})
	var steps atomic.Int64
	var working, around sync.WaitGroup
	for _, w := range workers {
		working.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					w.leave()
					steps.Add(int64(n))
					return
				default:
					w.step()
				}
			}
		})
	}
	done := make(chan struct{})
	around.Go(func() { happen(m, done) })
	around.Go(func() { interrupt(workers, done) })
	var removed atomic.Int64
	if removals {
		around.Go(func() { comeAndGo(t, m, &made, &removed, stop) })
	}
	time.Sleep(*stormTime)
	const patience = time.Minute
	lacking := func() bool { return made.missing() != "" || removals && removed.Load() == 0 }
	for late := time.Now().Add(patience); lacking() && time.Now().Before(late); {
		time.Sleep(10 * time.Millisecond)
	}
	close(stop)
	within("the threads", working.Wait)
	close(done)
	within("what happens around them", around.Wait)
	require.False(t, m.Locked(), "a lock is held, and no call is under way")
	failed := 0
	for _, l := range lucks {
		failed += l.failed
	}
	t.Logf("%d steps, %d of them calls that worked, %d removals, %d faults; what worked: %v",
		steps.Load(), made.total(), removed.Load(), failed, made.worked)
	require.Empty(t, made.missing(), "it never worked")
	require.Equal(t, removals, removed.Load() > 0, "whether the device was taken away")
	require.Equal(t, faults, failed > 0, "whether steps failed")

	within("the shutdown", m.Shutdown)
	after := m.Books()
	before.Processes, after.Processes = nil, nil
	if faults { // a command that failed at a close
		after.Abandoned = 0
		if removals {
			delete(after.Hardware, "umem") // of an object that the adapter did not give up before it went
		}
		for _, unlooked := range []string{"flow_table", "rl_table"} { // nobody looks at the command that gives it back
			after.Hardware[unlooked] = min(after.Hardware[unlooked], before.Hardware[unlooked])
			if after.Hardware[unlooked] == 0 {
				delete(after.Hardware, unlooked)
			}
		}
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("the books at the start (-) and when all is closed (+):\n%s", d)
	}
}

// missing is what a storm cannot do without and that has not worked yet, or "".
func (l *loot) missing() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, what := range []string{"a CQ", "UVERBS_METHOD_CQ_DESTROY", "IB_USER_VERBS_CMD_ALLOC_PD", "UVERBS_METHOD_PD_DESTROY"} {
		if l.worked[what] == 0 {
			return what
		}
	}
	return ""
}

// total is how many calls worked.
func (l *loot) total() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.worked {
		n += c
	}
	return n
}

// within ends the process where f takes unreasonably long.
func within(what string, f func()) {
	defer watchdog.While(what, time.Minute)()
	f()
}

// happen has the device do its own work, and events.
func happen(m *model.Machine, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(100 * time.Microsecond):
		}
		if s, ok := m.Driver.(model.Stepper); ok {
			s.Step(nil)
		}
		if e, ok := m.Driver.(interface {
			Event(t *trace.Task, object string, index int, typ string) error
		}); ok {
			for _, what := range []string{"cq", "qp", "port"} {
				e.Event(nil, what, 0, "comp") // there may be no such object
			}
		}
	}
}

// interrupt ends the waits of reads that wait for what never comes.
func interrupt(workers []*rabble, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
			for _, w := range workers {
				w.task.Interrupt()
			}
		}
	}
}

// comeAndGo takes the device away and brings it back, each time when some calls have
// worked on it, and counts how often.
func comeAndGo(t *testing.T, m *model.Machine, made *loot, removed *atomic.Int64, stop <-chan struct{}) {
	const some = 50
	remover := m.Process().Thread()
	for ; ; removed.Add(1) {
		for goal := made.total() + some; made.total() < goal; {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
		old := m.Driver.Device()
		if err := m.Remove(remover); err != nil {
			t.Error(err)
		}
		if n := old.OpenFiles(); n != 0 {
			t.Errorf("%d files are in the list of a device that is gone", n)
		}
		if err := m.Add(); err != nil {
			t.Error(err)
			return
		}
	}
}
