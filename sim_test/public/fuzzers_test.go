package public

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
)

// fuzzers are section J: crashes that fuzzers found, none with a program to do it
// again. What a program can do is to make the same step fail.
var fuzzers = []problem{
	{
		id: "J1", name: "rxe-queue-cleanup",
		met: "The creation of a queue pair of rxe failed half-way, and the clean-up freed a queue a second time; the fuzzer had made a " +
			"link, for which the kernel makes a QP of its own (linux-rdma patches e2cb2758b and e6af5b924, November 2021).",
		answer: "`rxe_qp_from_init` undoes what it made: a queue whose place could not be told to the user is freed on the spot, and the send queue " +
			"goes by `rxe_queue_cleanup` when the receive queue fails, and both pointers are cleared for `rxe_qp_do_cleanup`, which comes " +
			"after every failure. The user sees EFAULT; nothing of the QP can be mapped, and its CQ, SRQ and PD can go.",
		shown: []shown{
			{"linux-6.12-public/public/J1-second-queue-fails", "rxe/mmap-info-fault"},
			{"linux-6.12-public/public/J1-second-queue-fails", "rxe/mmap-no-object"},
			{"linux-6.12-rxe/qp/uhw-out-unmapped", "rxe/mmap-info-fault"},
		},
		test: func(t *testing.T) {
			unwinds(t, "linux-6.12-public/public/J1-second-queue-fails", "linux-6.12-more/mmap/failed-create-not-pending")
		},
	},
	{
		id: "J2", name: "rxe-cleanup-task",
		met: "The creation of a queue pair of rxe failed before its tasks were set up, and the clean-up took their locks, which lockdep did not know " +
			"(linux-rdma patch fa6e56ae2, May 2022).",
		answer: "`rxe_qp_do_cleanup` ends a task only if it has a function, that is, if `rxe_init_task` was called; a QP whose send " +
			"queue fails in `rxe_qp_init_req` has neither. EFAULT or ENOMEM for each type, with an SRQ and without. A response that is too short, or a " +
			"request, is refused before there is anything to clean up (`rxe_create_qp`).",
		shown: []shown{
			{"linux-6.12-public/public/J2-first-queue-fails", "rxe/mmap-info-fault"},
			{"linux-6.12-rxe/qp/write-no-udata", "rxe/create-qp-udata-out"},
			{"linux-6.12-rules/rule/rxe-create-qp-udata-in", "rxe/create-qp-udata-in"},
		},
		test: func(t *testing.T) { unwinds(t, "linux-6.12-public/public/J2-first-queue-fails") },
	},
	{
		id: "J3", name: "rxe-qp-do-cleanup",
		met: "The clean-up of a queue pair of rxe stopped timers that had never been set up, or dropped references that had been dropped " +
			"(linux-rdma patches 408d32fa0, April 2025, and 65e0b97f9, May 2021).",
		answer: "Timers are stopped only of an RC QP, and only if both have a function (`rxe_qp_do_cleanup`); `rxe_qp_from_init` clears the pointers to PD, " +
			"CQs and SRQ with the references, so that they are dropped once. Where the core cannot write the number of a QP or the size of a CQ that the " +
			"driver has made, it destroys it again (`uverbs_finalize_uobj_create` was called, so the object goes by its destroy), " +
			"and so does the driver with an SRQ whose number it cannot write (`rxe_srq_from_init`).",
		shown: []shown{
			{"linux-6.12-public/public/J3-number-fails", "attr/output-fault"},
			{"linux-6.12-public/public/J3-srq-number-fails", "rxe/create-srq-fault"},
			{"linux-6.12-public/public/J3-srq-number-fails", "attr/output-fault"},
			{"linux-6.12-rules/rule/rxe-create-srq-fault", "rxe/create-srq-fault"},
		},
		test: func(t *testing.T) {
			unwinds(t, "linux-6.12-public/public/J3-number-fails", "linux-6.12-public/public/J3-srq-number-fails")
		},
	},
	{
		id: "J4", name: "remove-one-uaf",
		met: "The deletion of a link freed the RDMA device while uverbs was not done with it (`ib_uverbs_remove_one`; linux-rdma patch 7fca5b8a5, May 2020).",
		answer: "`ib_uverbs_remove_one` returns only when nothing can reach the device any more. rxe has no disassociate_ucontext, so it waits for the last file, " +
			"event descriptor and mapping, and meanwhile calls go on as ever, but the node is gone; with that operation it destroys the " +
			"files' objects itself, and closes afterwards call no driver (`ib_uverbs_free_hw_resources`).",
		shown: []shown{
			{"linux-6.12-public/public/J4-objects-and-mapping", "open/no-node"},
			{"linux-6.12-public/public/J4-objects-and-mapping", "rxe/mmap-info-fault"},
			{"linux-6.12-more/rxe-removal/blocks-until-close", "open/no-node"},
			{"linux-6.12-more/rxe-removal/two-files", ""},
			{"linux-6.12-more/rxe-removal/channel-keeps", "event/closed"},
			{"linux-6.12-removal/rm/close-after", "fd/bad"},
			{"linux-6.12-removal/rm/without-disassociate", "open/no-node"},
		},
		test: func(t *testing.T) { endsEmpty(t, "linux-6.12-more", "rxe-removal/", "linux-6.12-removal", "rm/") },
	},
	{
		id: "J5", name: "release-dev-srcu",
		met: "The SRCU state of a uverbs device was torn down while callbacks of it were pending, the device having been " +
			"unregistered from a work item (`ib_uverbs_release_dev`; linux-rdma mails 069798a09, June 2024, and baafce4d2, November 2024).",
		answer: "`ib_uverbs_free_hw_resources` clears the device's pointer and waits for the calls that may have read it (`synchronize_srcu`), " +
			"and `ib_uverbs_release_dev` calls `cleanup_srcu_struct` when the last file has put the device, after which no call is inside. " +
			"A call that is in a driver holds the removal up, new ones are EIO, and a file that outlives the device is closed without it.",
		shown: []shown{
			{"linux-6.12-hold/hold/removal-create", "context/device-gone"},
			{"linux-6.12-hold/hold/removal-write", ""},
			{"linux-6.12-removal-par/rmpar/close", ""},
			{"linux-6.12-removal/rm/twice", "context/device-gone"},
		},
		test: testReleaseAfterCalls,
	},
	{
		id: "J6", name: "restrack-clean",
		met: "When a device was removed its resource tracker still had objects, which `rdma_restrack_clean` warns about " +
			"(linux-rdma mails 4a9f4a84b, January 2025, and 938ad854e, June 2026).",
		answer: "An object leaves the tracker when the driver has destroyed it or when its creation fails (`rdma_restrack_del`), and the removal destroys all " +
			"objects of all files before the tracker goes. The model has no tracker; that nothing is left is seen in the driver's own counts " +
			"when the device goes, after successes and after failures at each step.",
		shown: []shown{
			{"linux-6.12-public/public/J4-objects-and-mapping", "open/no-node"},
			{"linux-6.12-stub-more/entry/removal-two-objects", ""},
		},
		test: func(t *testing.T) {
			endsEmpty(t, "linux-6.12-rxe", "qp/", "linux-6.12-rxe", "srq/", "linux-6.12-mlx5", "mlx5/qp/", "linux-6.12-stub-more", "order/")
		},
	},
	{
		id: "J7", name: "hung-unregister",
		met: "A task hangs in `ib_uverbs_remove_one` for minutes: the fuzzer deleted a link of a driver without disassociate_ucontext and kept a file " +
			"open (linux-rdma mail c29c20c3a, September 2021, and G8).",
		answer: "As long as one descriptor of the device, one event descriptor or one mapping lives, in whatever process, the removal waits (`wait_for_completion` in " +
			"`ib_uverbs_remove_one`), which is no lock that is missing. It goes on at the last close.",
		shown: []shown{
			{"linux-6.12-more/rxe-removal/blocks-until-close", "open/no-node"},
			{"linux-6.12-more/rxe-removal/child-keeps", ""},
			{"linux-6.12-more/rxe-removal/get-context-meanwhile", ""},
			{"linux-6.12-hold/hold/removal-without-disassociate", ""},
		},
	},
}

// breaker makes one step fail of those that come while it is on. Commands of
// firmware that end something are not among them: what the card will not give
// back is lost to it.
type breaker struct {
	victim int64    // from 1; 0 lets all succeed
	spare  []string // steps of these names never fail
	count  atomic.Int64
	on     atomic.Bool
	what   atomic.Value
}

func (*breaker) Event(*trace.Task, *trace.Event) {}

// Fail implements trace.Injector.
func (b *breaker) Fail(_ *trace.Task, _ trace.Step, what string) bool {
	ends := strings.HasPrefix(what, "DESTROY_") || strings.HasPrefix(what, "DEALLOC_") // the command, or memory for its message
	if !b.on.Load() || ends || slices.Contains(b.spare, what) || b.count.Add(1) != b.victim {
		return false
	}
	b.what.Store(what)
	return true
}

// unwinds plays each of the cases once for each step in the kernel that can fail,
// with that step failing. A call that is refused then leaves the machine's books
// as they were, and when all is closed and the device removed nothing is left.
func unwinds(t *testing.T, names ...string) { t.Helper(); unwindsBut(t, nil, names...) }

// unwindsBut does the same, less the steps of some names.
func unwindsBut(t *testing.T, spare []string, names ...string) {
	t.Helper()
	for _, name := range names {
		file, name, _ := strings.Cut(name, "/")
		c := recorded(t, file)[name]
		require.NotNil(t, c, name)
		steps := playBroken(t, c, spare, 0)
		require.Positive(t, steps)
		for n := range steps {
			playBroken(t, c, spare, n+1)
		}
	}
}

// playBroken plays the case with step n failing and returns how many steps there
// were.
func playBroken(t *testing.T, c *casefile.Case, spare []string, n int64) int64 {
	t.Helper()
	b := &breaker{victim: n, spare: spare}
	var start, before, after *model.Books
	var left map[string]int
	r := player.Play(&model.Model{Trace: func(*casefile.Case) trace.Sink { return b }}, c, player.Options{
		Booted: func(m player.Machine) { start = books(m); b.on.Store(true) },
		Before: func(m player.Machine, _ int) { before = books(m) },
		After: func(m player.Machine, i int, r *player.StepResult) {
			if r.Refused == nil || mayLeaveSomething(&c.Steps[i]) {
				return
			}
			if d := gocmp.Diff(before, books(m)); d != "" {
				t.Errorf("%s, step %d was refused (%v) and left something; failed: %v (-before +after):\n%s", c.Name, i, r.Refused, b.what.Load(), d)
			}
		},
		Ended: func(m player.Machine) {
			after = books(m)
			b.on.Store(false)
			if err := m.Remove(m.Process()); err != nil {
				t.Errorf("%s: the removal at the end: %v", c.Name, err)
			}
			left = m.(*model.Machine).Books().Hardware
		},
	})
	what := b.what.Load()
	if r.Err != nil { // what was not made is missing later on
		require.NotErrorIsf(t, r.Err, player.ErrStuck, "failed: %v", what)
		require.NotErrorIsf(t, r.Err, player.ErrPanic, "failed: %v", what)
	}
	require.NotNil(t, after)
	start.Processes, after.Processes = nil, nil
	require.Emptyf(t, gocmp.Diff(start, after), "%s, when all is closed; failed: %v", c.Name, what)
	require.Emptyf(t, left, "%s, when the device is gone; failed: %v", c.Name, what)
	return b.count.Load()
}

func books(m player.Machine) *model.Books { return m.(*model.Machine).Books() }

// mayLeaveSomething says whether a call has done its work before it can be
// refused: what destroys, and what makes the file's context.
func mayLeaveSomething(s *casefile.Step) bool {
	call, ok := s.Do.(*casefile.Ioctl)
	if !ok {
		return true
	}
	if call.Hdr.ObjectID == spec.UVERBS_OBJECT_DEVICE {
		return call.Hdr.MethodID == spec.UVERBS_METHOD_GET_CONTEXT
	}
	_, m := spec.FindMethod(spec.Linux6_12.Definitions(spec.RDMA_DRIVER_MLX5), call.Hdr.ObjectID, call.Hdr.MethodID)
	if m == nil {
		return false
	}
	for i := range m.Attrs {
		if m.Attrs[i].Access == spec.AccessDestroy && m.Attrs[i].IsObject() {
			return true
		}
	}
	return false
}

// endsEmpty plays the cases of a file whose names begin so, for each file and
// prefix, and wants nothing of any to be left when the processes have exited and
// the device is removed.
func endsEmpty(t *testing.T, filesAndPrefixes ...string) {
	for i := 0; i < len(filesAndPrefixes); i += 2 {
		file, prefix := filesAndPrefixes[i], filesAndPrefixes[i+1]
		n := 0
		for name, c := range recorded(t, file) {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			n++
			t.Run(strings.ReplaceAll(name, "/", ":"), func(t *testing.T) { t.Parallel(); endEmpty(t, c) })
		}
		require.Positivef(t, n, "%s has no case %s…", file, prefix)
	}
}

// endEmpty does that for one.
func endEmpty(t *testing.T, c *casefile.Case) {
	r := player.Play(new(model.Model), c, player.Options{Repeat: 1, Ended: func(m player.Machine) {
		b := books(m)
		if b.OpenFiles+b.EventHandlers+len(b.Files) != 0 {
			t.Errorf("%d open files and %d event handlers are left", b.OpenFiles, b.EventHandlers)
		}
		for _, p := range b.Processes {
			if p != (model.ProcessBooks{}) {
				t.Errorf("a process still has %+v", p)
			}
		}
		if err := m.Remove(m.Process()); err != nil {
			t.Errorf("the removal at the end: %v", err)
		}
		if left := m.(*model.Machine).Books().Hardware; len(left) != 0 {
			t.Errorf("after the removal the driver has %v", left)
		}
	}})
	require.NoError(t, r.Err)
}

// testReleaseAfterCalls removes a device while calls are in its driver. The removal
// waits for each of them, whichever ends first, and those that come meanwhile are
// told that the device is gone.
func testReleaseAfterCalls(t *testing.T) {
	const calls = 3
	inside := make(chan struct{}, calls)
	goOn := make(chan struct{})
	ops := core.DeviceOps{
		AllocUcontext:        func(*core.Ucontext, *core.Udata) error { return nil },
		DeallocUcontext:      func(*process.Task, *core.Ucontext) {},
		DisassociateUcontext: func(*process.Task, *core.Ucontext) {},
	}
	m := kernel.NewMachine(methods.Core())
	d, err := m.Register(&core.Device{Name: "host0", DriverID: hostDriver, Ops: ops, PhysPorts: 1, NumCompVectors: 1, UverbsCmdMask: ^uint64(0)},
		own(func(*kernel.Bundle) error { inside <- struct{}{}; <-goOn; return nil }))
	require.NoError(t, err)
	p := m.NewProcess(process.Options{})
	fd, err := p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(t, err)
	thread := func() *host {
		page, err := p.Mmap(-1, copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
		require.NoError(t, err)
		return &host{p: p, device: d, fd: fd, page: page}
	}
	late := thread()
	require.NoError(t, late.call(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT))
	results := make(chan error, calls)
	for range calls {
		h := thread()
		go func() { results <- h.callOwn() }()
		<-inside
	}

	gone := make(chan struct{})
	remover := m.NewProcess(process.Options{}).MainTask()
	go func() { m.Unregister(remover, d); close(gone) }()
	require.Eventually(t, func() bool {
		_, err := p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
		return errors.Is(err, syscall.ENOENT)
	}, time.Minute, time.Millisecond, "the node goes first")
	newHandle := func() error {
		return late.call(spec.UVERBS_OBJECT_ASYNC_EVENT, spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC,
			attrOf(spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0))
	}
	require.Eventually(t, func() bool { return errors.Is(newHandle(), syscall.EIO) }, time.Minute, time.Millisecond)
	for left := calls; left > 0; left-- {
		select {
		case <-gone:
			t.Fatalf("the device is gone with %d calls in its driver", left)
		case <-time.After(20 * time.Millisecond):
		}
		goOn <- struct{}{}
		require.NoError(t, <-results)
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatal("the removal waits for nobody")
	}
	require.ErrorIs(t, late.callOwn(), syscall.EIO)
	require.NoError(t, p.Close(fd))
	require.Zero(t, d.OpenFiles())
}
