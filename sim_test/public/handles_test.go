package public

import (
	"errors"
	"slices"
	"sync"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// handles are section C: handles, their locks, creates that are undone, objects
// that are destroyed.
var handles = []problem{
	{
		id: "C1", name: "double-destroy",
		met: "Two threads that closed the same object within one RCU grace period put it twice, since the second could " +
			"still find it; an XRC domain for example (linux-rdma, fix 7c4a81443 of May 2020).",
		answer: "One of the two gets 0 and the driver is called once. The other is EBUSY when it found the object before its " +
			"number was taken away, and ENOENT later. `uobj_destroy` leaves what it destroyed locked exclusively, so that " +
			"whoever still has it gets no further than `uverbs_try_lock_object`.",
		shown: []shown{
			{"linux-6.12-public-stub/public/C1-second-destroyer", "object/busy-write"},
			{"linux-6.12-public-stub/public/C1-second-destroyer", "object/not-found"},
			{"linux-6.12-public-stub/public/C1-two-closers", ""},
			{"linux-6.12-par/par/double-destroy", ""},
		},
		test: testFoundBeforeDestroyed,
	},
	{
		id: "C3", name: "no-fd-left",
		met: "With fault injection, making a completion channel in a process without a free descriptor overwrote the pointer " +
			"to the new object with the error and lost it (linux-rdma, fix d8c14c25f of April 2020).",
		answer: "EMFILE from `alloc_begin_fd_uobject`, by write() and by INVOKE_WRITE, and nothing is written or left: with room " +
			"for one descriptor the same call works. A descriptor that was taken for a call which fails later can be taken again.",
		shown: []shown{
			{"linux-6.12-more/limit/nofile-comp-invoke", "fd/none-free"},
			{"linux-6.12-more/limit/nofile-comp-write", "fd/none-free"},
			{"linux-6.12-more/limit/nofile-get-context-write", "fd/none-free"},
			{"linux-6.12-more/limit/nofile-failed-alloc-frees", "attr/unknown-mandatory"},
		},
	},
	{
		id: "C4", name: "fd-destroy-vs-release",
		met: "A descriptor object was released while another thread had it looked up, or while it was still being made " +
			"(linux-rdma, fixes 691eb3d00 and c3a5ca523 of 2020).",
		answer: "A lookup holds the open file (`lookup_get_fd_uobject`), so that a close() returns at once and the release comes " +
			"after the call, when `rdma_lookup_put_uobject` has given the use count back and then the file. A descriptor in the " +
			"making has its number but no file before `alloc_commit_fd_uobject`: other threads get EBADF for it.",
		shown: []shown{
			{"linux-6.12-public-stub/public/C4-channel-held", "object/not-found"},
			{"linux-6.12-hold/hold/create-cq-channel-close", ""},
			{"linux-6.12-public-stub/public/C4-descriptor-reserved", ""},
			{"linux-6.12-public/public/C4-close-and-use", "object/not-found"},
			{"linux-6.12-par/par/channel-close-vs-cq", ""},
		},
		test: testDescriptorInTheMaking,
	},
	{
		id: "C5", name: "alloc-after-disassociate",
		met: "A program that made an object after its device had gone made the kernel follow a null pointer (linux-rdma, fix " +
			"fa203f178 of June 2020).",
		answer: "Whatever makes an object is EIO, through INVOKE_WRITE, write() or its own method, and for descriptors too: " +
			"`alloc_uobj` asks for the context before anything else, and `ib_uverbs_get_ucontext_file` looks whether there is " +
			"a device before it looks whether there is a context.",
		shown: []shown{
			{"linux-6.12-public-stub/public/C5-after-removal", "context/device-gone"},
			{"linux-6.12-public-stub/public/C5-after-removal-no-context", "context/device-gone"},
			{"linux-6.12-removal/rmcall/invoke_alloc_pd", "context/device-gone"},
		},
	},
	{
		id: "C6", name: "ebusy-shown-as-einval",
		met: "Every failed lookup of a handle in a write() command came back as EINVAL, so that a program could not tell a bad " +
			"argument from an object that another thread was using (linux-rdma, change 8d1f2784b of February 2025).",
		answer: "The error of `rdma_lookup_get_uobject` is handed on since that change, which 6.12.117 has and 6.12.0 has not: " +
			"a stale handle is ENOENT, one of another type EINVAL, and one that is being destroyed EBUSY, in MODIFY_QP, " +
			"QUERY_QP and REG_MR alike.",
		shown: []shown{
			{"linux-6.12-public-stub/public/C6-lookup-errors", "object/not-found"},
			{"linux-6.12-public-stub/public/C6-lookup-errors", "object/busy-read"},
			{"linux-6.12-public-stub/public/C6-lookup-errors", "object/wrong-type"},
			{"linux-6.12-hold/hold/dealloc-pd", "object/busy-read"},
		},
	},
	{
		id: "C11", name: "firmware-refuses-destroy",
		met: "The firmware refused to destroy a queue, and the driver had already given up what it knew of it; later the core " +
			"learned to warn when a file is closed with objects that no driver would destroy (linux-rdma, changes b3d69c49d of " +
			"April 2022, 80b808ae6 of April 2025, 6be5aa6a7).",
		answer: "The driver's error goes up, `uobj_destroy` unlocks the object, and it is as before: listed, usable, destroyed by " +
			"the next call. `uverbs_destroy_ufile_hw`, at close and when the device goes, asks again in another round as long as " +
			"a round had any success, then warns and drops the rest without the driver. When a create is undone and the driver " +
			"refuses, `rdma_alloc_abort_uobject` warns and keeps the object. In mlx5 the CQ and the work queue behave so; the " +
			"refusal of a QP is only logged in `destroy_qp_common`, and the handle is gone.",
		shown: []shown{
			{"linux-6.12-public-stub/public/C11-refused-once", "object/not-found"},
			{"linux-6.12-public-stub/public/C11-refused-by-write", "object/not-found"},
			{"linux-6.12-public-stub/public/C11-work-queue", "cq/busy"},
			{"linux-6.12-public-stub/public/C11-refused-at-close", ""},
			{"linux-6.12-public-stub/public/C11-refused-at-removal", "object/not-found"},
			{"linux-6.12-public-stub/public/C11-no-progress", ""},
			{"linux-6.12-public-stub/public/C11-never-at-close", ""},
			{"linux-6.12-public-stub/public/C11-refused-at-abort", "attr/output-fault"},
		},
		test: testFirmwareRefusesDestroy,
	},
	{
		id: "C12", name: "abort-udata",
		met: "A create failed after the driver had done its part, and the driver was called to undo it without udata, which " +
			"means a caller in the kernel (linux-rdma, change a7e904d85 of May 2019).",
		answer: "Every destroy hands the driver a udata. When a create is undone (`rdma_alloc_abort_uobject`) it is that create's " +
			"own, with the lengths that the caller gave; at a destroy, at close and when the device goes it is an empty one. " +
			"Only OPEN_XRCD empties it on the way back (`uverbs_get_cleared_udata`).",
		shown: []shown{
			{"linux-6.12-public-stub/public/C12-udata-at-abort", "attr/output-fault"},
			{"linux-6.12-public-stub/public/C12-udata-at-abort", "cmd/response-fault"},
			{"linux-6.12-public-stub/public/C12-udata-at-destroy", "object/not-found"},
			{"linux-6.12-public-stub/public/C12-udata-at-removal", "object/not-found"},
		},
	},
	{
		id: "C13", name: "restrack-order",
		met: "A dump of resources over netlink ran into a CQ or QP that was just being destroyed, or into a QP that was being " +
			"queried (linux-rdma, fixes e1bc7b2a9 of March 2026, ad71683c2 of July 2026, 23f347ae9).",
		answer: "`ib_destroy_cq_user` and `ib_destroy_qp_user` hide the object from dumps before the driver is called, show it " +
			"again when the driver refuses, and forget it when the driver agrees. For a program with a handle that comes to: an " +
			"object whose destroy was refused is whole, and whoever meets a destroy under way is EBUSY. " +
			"`ib_dereg_mr_user` is the exception: it forgets the region before the driver is asked.",
		shown: []shown{
			{"linux-6.12-public-stub/public/C13-refused-qp", "object/not-found"},
			{"linux-6.12-public-stub/public/C6-lookup-errors", "object/busy-read"},
			{"linux-6.12-hold/hold/destroy-cq", "object/busy-read"},
		},
		not: "Dumps go over netlink and pass no uverbs file, so the model has no resource tracking; what is left of the rule, " +
			"the state of the object, is shown.",
	},
	{
		id: "C14", name: "usecnt-on-error",
		met: "A driver refused to destroy a QP and the use counts of what the QP uses went down all the same; the fix broke " +
			"another driver and was taken back (linux-rdma, cf5015848 and 53eaefa0c of March 2022).",
		answer: "The counts go down after the driver has agreed and not before (`ib_destroy_qp_user`, `ib_destroy_srq_user`, " +
			"`ib_dereg_mr_user`, `ib_destroy_wq_user`): until then PD, CQ and SRQ of the object are EBUSY.",
		shown: []shown{
			{"linux-6.12-public-stub/public/C14-counters", "pd/busy"},
			{"linux-6.12-public-stub/public/C14-counters", "cq/busy"},
			{"linux-6.12-public-stub/public/C14-counters", "srq/busy"},
			{"linux-6.12-public-stub/public/C11-work-queue", "pd/busy"},
		},
		test: testUseCountsAfterRefusal,
	},
	{
		id: "C15", name: "async-file-lifetime",
		met: "The uverbs file was closed while its device was being removed and a QP still pointed to the file's descriptor for " +
			"asynchronous events, which was freed by then (linux-rdma, fix 41d2c76f4, backported in September 2019).",
		answer: "The file's reference on its first asynchronous descriptor goes in `ib_uverbs_release_file`, after everything " +
			"else, and each object has one of its own. The close of the device file waits for the removal; that of the " +
			"descriptor does not, and one that stays open has its event after both.",
		shown: []shown{
			{"linux-6.12-public-stub/public/C15-close-during-removal", ""},
			{"linux-6.12-public-stub/public/C15-event-fd-outlives-file", "event/again"},
			{"linux-6.12-hold/hold/removal-close", ""},
		},
		test: testDefaultAsyncFileLives,
	},
}

// clone returns a recorded case that a test may change. The values of its steps
// are shared with the recording.
func clone(t *testing.T, file, name string) *casefile.Case {
	t.Helper()
	c := recorded(t, file)[name]
	require.NotNilf(t, c, "%s.jsonl has no case %s", file, name)
	own := *c
	own.Steps = slices.Clone(c.Steps)
	return &own
}

// refusedAs is the rule that refused a step, nil if none did.
func refusedAs(r *player.StepResult) *rule.Rule {
	var ru *rule.Rule
	errors.As(r.Refused, &ru)
	return ru
}

// leavesNothing plays a recorded case and holds every refused step of it to
// having changed nothing that the machine keeps count of.
func leavesNothing(t *testing.T, file, name string) {
	t.Helper()
	var before *model.Books
	refusals := 0
	r := player.Play(new(model.Model), clone(t, file, name), player.Options{
		Before: func(m player.Machine, _ int) { before = m.(*model.Machine).Books() },
		After: func(m player.Machine, i int, s *player.StepResult) {
			if ru := refusedAs(s); ru != nil {
				refusals++
				if d := gocmp.Diff(before, m.(*model.Machine).Books()); d != "" {
					t.Errorf("step %d, refused by %s, left something (-before +after):\n%s", i+1, ru.ID, d)
				}
			}
		},
	})
	require.True(t, r.Passed(), "%v", r.Err)
	require.Positive(t, refusals)
}

// latecomer is a sink that stops a task, not the main one, before it takes the
// lock that objects are destroyed under: it has found its object by then.
type latecomer struct {
	stopped, goOn chan struct{}
	once          sync.Once
}

func (*latecomer) Event(*trace.Task, *trace.Event) {}

// Before implements trace.Scheduler.
func (l *latecomer) Before(t *trace.Task, p *trace.Point) {
	if t.ID == 1 || p.Kind != trace.Lock || p.Name != "hw_destroy_rwsem" {
		return
	}
	l.once.Do(func() {
		close(l.stopped)
		<-l.goOn
	})
}

// testFoundBeforeDestroyed has one thread find an object, and another destroy it
// before the first goes on. On a real kernel this is a matter of chance; the
// first must not get the object in the end, nor put it a second time.
func testFoundBeforeDestroyed(t *testing.T) {
	c := clone(t, "linux-6.12-public-stub", "public/C1-second-destroyer")
	// open, context, OPEN_XRCD; then the destroy in the background, the other one
	// in the foreground, and the join.
	steps := c.Steps[:3:3]
	var join casefile.Step
	for _, s := range c.Steps {
		if _, ok := s.Do.(*casefile.Join); ok {
			join = s
		}
	}
	background, foreground := c.Steps[4], c.Steps[5]
	background.Got, foreground.Got, join.Got = nil, nil, nil
	c.Steps = append(steps, background, foreground, join)

	l := &latecomer{stopped: make(chan struct{}), goOn: make(chan struct{})}
	var answers []*rule.Rule
	var left *model.Books
	r := player.Play(&model.Model{Trace: func(*casefile.Case) trace.Sink { return l }}, c, player.Options{
		Before: func(_ player.Machine, i int) {
			if i == 4 {
				<-l.stopped
			}
		},
		After: func(m player.Machine, i int, s *player.StepResult) {
			if i == 4 {
				close(l.goOn)
			}
			if i >= 4 {
				answers = append(answers, refusedAs(s))
			}
			left = m.(*model.Machine).Books()
		},
	})
	require.NoError(t, r.Err)
	require.Equal(t, []*rule.Rule{nil, rule.ObjectBusyWrite}, answers, "the destroyer, the latecomer")
	require.Zero(t, left.Files[0].Handles)
	require.Empty(t, left.Files[0].Objects)
}

// testDescriptorInTheMaking: while GET_CONTEXT is in the driver the number of its
// descriptor is taken, and other threads can neither close it nor put a file
// there (EBUSY, as do_dup2 in fs/file.c has it).
func testDescriptorInTheMaking(t *testing.T) {
	var closed, put, other error
	var next, reserved int
	r := player.Play(new(model.Model), clone(t, "linux-6.12-public-stub", "public/C4-descriptor-reserved"), player.Options{
		After: func(m player.Machine, i int, _ *player.StepResult) {
			if i != 3 { // the look at the descriptors while the call is held
				return
			}
			p := m.Process()
			fds := p.FDs()
			device := fds[len(fds)-1]
			reserved = device + 1
			closed = p.Close(reserved)
			_, put = p.Dup2(device, reserved)
			if next, other = p.Dup(device); other == nil {
				other = p.Close(next)
			}
		},
	})
	require.True(t, r.Passed(), "%v", r.Err)
	require.ErrorIs(t, closed, syscall.EBADF)
	require.ErrorIs(t, put, syscall.EBUSY)
	require.NoError(t, other)
	require.Equal(t, reserved+1, next, "the number is not given out twice")
}

// failing is a sink that makes the first command of a name fail in the firmware.
type failing struct {
	command string
	once    sync.Once
}

func (*failing) Event(*trace.Task, *trace.Event) {}

// Fail implements trace.Injector.
func (f *failing) Fail(_ *trace.Task, s trace.Step, what string) (fail bool) {
	if s == trace.Command && what == f.command {
		f.once.Do(func() { fail = true })
	}
	return fail
}

// testFirmwareRefusesDestroy has mlx5's firmware refuse the first destroy of a
// queue with an internal error. The answers are those of the real driver with a
// firmware that does the same.
func testFirmwareRefusesDestroy(t *testing.T) {
	for _, tc := range []struct {
		name, command string
		object        uint16
		want          []syscall.Errno // of three destroys
		kept          map[string]int  // what the card still has when the file is closed
	}{
		{name: "mlx5/cq/create", command: "DESTROY_CQ", object: spec.UVERBS_OBJECT_CQ, want: []syscall.Errno{syscall.EIO, 0, syscall.ENOENT}, kept: map[string]int{}},
		{name: "mlx5/wq/create", command: "DESTROY_RQ", object: spec.UVERBS_OBJECT_WQ, want: []syscall.Errno{syscall.EIO, 0, syscall.ENOENT}, kept: map[string]int{}},
		{name: "mlx5/qp/srq-rc-srq-norq", command: "DESTROY_QP", object: spec.UVERBS_OBJECT_QP, want: []syscall.Errno{0, syscall.ENOENT, syscall.ENOENT}, kept: map[string]int{"qp": 1}},
	} {
		t.Run(tc.command, func(t *testing.T) {
			c := clone(t, "linux-6.12-mlx5", tc.name)
			at := slices.IndexFunc(c.Steps, func(s casefile.Step) bool {
				call, ok := s.Do.(*casefile.Ioctl)
				return ok && call.Hdr.ObjectID == tc.object && call.Hdr.MethodID == 1
			})
			require.Positive(t, at, "%s destroys nothing", tc.name)
			destroy := c.Steps[at]
			destroy.Got = nil
			c.Steps = append(c.Steps[:at:at], destroy, destroy, destroy)

			var got []syscall.Errno
			var start, before, end *model.Books
			r := player.Play(&model.Model{Trace: func(*casefile.Case) trace.Sink { return &failing{command: tc.command} }}, c, player.Options{
				Booted: func(m player.Machine) { start = m.(*model.Machine).Books() },
				Before: func(m player.Machine, i int) {
					if i == at {
						before = m.(*model.Machine).Books()
					}
				},
				After: func(m player.Machine, i int, s *player.StepResult) {
					if i < at {
						return
					}
					var errno syscall.Errno
					if ru := refusedAs(s); ru != nil {
						errno = ru.Errno
					}
					got = append(got, errno)
					if i == at && errno != 0 {
						if d := gocmp.Diff(before, m.(*model.Machine).Books()); d != "" {
							t.Errorf("the object is not as it was (-before +after):\n%s", d)
						}
					}
				},
				Ended: func(m player.Machine) { end = m.(*model.Machine).Books() },
			})
			require.NoError(t, r.Err)
			require.Equal(t, tc.want, got)
			kept := map[string]int{}
			for kind, n := range end.Hardware {
				if n != start.Hardware[kind] {
					kept[kind] = n - start.Hardware[kind]
				}
			}
			require.Equal(t, tc.kept, kept)
		})
	}
}

// testUseCountsAfterRefusal: a destroy that anybody refuses leaves all counts
// alone, and the one that works takes them down.
func testUseCountsAfterRefusal(t *testing.T) {
	leavesNothing(t, "linux-6.12-public-stub", "public/C14-counters")
	leavesNothing(t, "linux-6.12-public-stub", "public/C11-work-queue")

	uses := map[int]int32{} // after each step: how many objects use the PD
	r := player.Play(new(model.Model), clone(t, "linux-6.12-public-stub", "public/C14-counters"), player.Options{
		After: func(m player.Machine, i int, _ *player.StepResult) {
			for _, f := range m.(*model.Machine).Books().Files {
				for _, o := range f.Objects {
					if o.Type == "UVERBS_OBJECT_PD" {
						uses[i] = o.Uses
					}
				}
			}
		},
	})
	require.True(t, r.Passed(), "%v", r.Err)
	// SRQ, QP and MR; the QP's first destroy is step 8, the second step 12; then
	// the SRQ's two and the MR's two.
	for step, want := range map[int]int32{7: 3, 8: 3, 11: 3, 12: 2, 14: 2, 16: 1, 17: 1, 18: 1} {
		require.Equal(t, want, uses[step-1], "after step %d", step)
	}
}

// testDefaultAsyncFileLives counts the references on the first asynchronous
// descriptor's object: its file's, the list's and the uverbs file's, which comes
// last; and one for each object that reports there.
func testDefaultAsyncFileLives(t *testing.T) {
	var event *uobject.Object
	refs := map[int]int32{}
	var end int32
	r := player.Play(new(model.Model), clone(t, "linux-6.12-public-stub", "public/C15-close-during-removal"), player.Options{
		After: func(m player.Machine, i int, _ *player.StepResult) {
			if i == 2 { // ASYNC_EVENT_ALLOC
				task := m.Process().(*model.Task).Process().MainTask()
				fds := task.FDs()
				f := task.Fget(fds[len(fds)-1])
				event = f.Private.(*uobject.Object)
				f.Put(task)
			}
			if event != nil {
				refs[i] = event.Refs()
			}
		},
		Ended: func(player.Machine) { end = event.Refs() },
	})
	require.True(t, r.Passed(), "%v", r.Err)
	require.Equal(t, int32(3), refs[2], "the descriptor's file, the list of objects, the uverbs file")
	require.Equal(t, int32(5), refs[5], "and a CQ and a QP")
	closed := 11 // the descriptor is closed while the removal is in the driver, which has the QP
	require.Equal(t, int32(4), refs[closed], "the list, the uverbs file, the CQ, the QP")
	require.Zero(t, end)
}
