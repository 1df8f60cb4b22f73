package interleave

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
)

// reason says why calls that run at the same time may be answered as they are. Which
// answers those are was worked out from the kernel's source, not from the model.
type reason struct {
	name string // of a refusal the id of its rule
	fn   string // the kernel function that decides
	file string
	why  string
}

func refusal(r *rule.Rule, why string) reason { return reason{r.ID, r.Func, r.File, why} }

const (
	rdmaCore   = "drivers/infiniband/core/rdma_core.c"
	uverbsMain = "drivers/infiniband/core/uverbs_main.c"
	verbs      = "drivers/infiniband/core/verbs.c"
)

// reasons are all that the pairs have. The refusals stand first.
var reasons = []reason{
	refusal(rule.ObjectBusyWrite, "A destroy, and a call that changes the object, takes it only when nobody has it: "+
		"its count goes from 0 to -1. A destroy leaves it at -1, for those who have looked the object up and come later."),
	refusal(rule.ObjectBusyRead, "A call that uses the object adds 1 to its count, but not to -1: another call destroys or changes it."),
	refusal(rule.ObjectNotFound, "The handle leads to nothing any more: a destroy takes it out of the file's table when the object is gone, "+
		"and a re-registration that makes a new region takes it out until the new one is in its place."),
	refusal(rule.PDBusy, "The PD counts the regions in it: there is one by now, or still."),
	refusal(rule.CQBusy, "The QP uses the CQ, which counts it: by now, or still."),
	refusal(rule.FDBad, "The descriptor was closed first."),
	refusal(rule.ObjectFDBad, "The channel was closed before the call looked its descriptor up."),
	refusal(rule.ContextDeviceGone, "The removal has taken the device away from the files, which is the first that it does to them."),
	refusal(rule.ObjectFileDestroyed, "The removal is destroying the file's objects, and has the semaphore that a new object needs."),
	refusal(rule.ObjectDeviceGone, "The device was taken away while the call was under way, before it looked up an object that it needs. "+
		"Only a destroy may look one up then."),
	refusal(rule.UcontextDeviceGone, "The removal has taken the device away from the files. Once the call has found it there the removal waits for the call."),
	refusal(rule.OpenNoNode, "The node is deleted first."),
	refusal(rule.OpenNoDevice, "The node was found and then its device was taken out of the table, or the removal has dropped the last reference to it."),
	refusal(rule.OpenDeviceGone, "The device was found, and then the removal took it away."),
	refusal(rule.EventClosed, "The removal closes the queue of a completion channel, and wakes who waits at it."),

	refusal(rule.ContextNone, "The descriptor was closed, and its number is that of a new open of the device by now, which has no context yet."),
	refusal(rule.IoctlNoOperation, "The descriptor was closed, and its number is that of a completion channel by now."),
	refusal(rule.WriteMode, "The descriptor was closed, and its number is that of a completion channel by now, which is open for reading."),
	refusal(rule.MmapNoOperation, "The descriptor was closed, and its number is that of a completion channel by now."),
	refusal(rule.MmapWriteShared, "The descriptor was closed, and its number is that of a completion channel by now, which is open for reading."),
	refusal(rule.ReadNoOperation, "The channel was closed, and its number is that of a new open of the device by now."),
	refusal(rule.ObjectFDForeign, "The channel was closed, and its number is that of a new open of the device by now."),
	refusal(rule.ObjectWrongType, "The object was destroyed, and its number is that of a new object by now, of another type."),

	{"in turn", "rdma_lookup_put_uobject", rdmaCore, "Whoever comes second finds the object unlocked again."},
	{"region first", "ib_dereg_mr_user", verbs, "The region is gone by then, and the PD does not count it any more."},
	{"QP first", "ib_qp_usecnt_dec", verbs, "The QP is gone by then, and the CQ does not count it any more."},
	{"file held", "fdget", "fs/file.c", "The call has a reference to the open file. The file is released when the call drops it, and what it has made goes then."},
	{"channel held", "lookup_get_fd_uobject", rdmaCore, "The call has a reference to the channel's file. The channel goes when it drops it, and the CQ stays without."},
	{"file open", "fput", "fs/file_table.c", "Another descriptor has the same file open: a close drops a reference and no more."},
	{"waited for", "uverbs_disassociate_api_pre", "drivers/infiniband/core/uverbs_uapi.c", "The call came before the device was taken away: the removal waits for it, and destroys what it has made."},
	{"file listed", "ib_uverbs_free_hw_resources", uverbsMain, "The file is on the device's list by then, and the removal cuts off whatever it finds there."},
	{"destroy let through", "rdma_lookup_get_uobject", rdmaCore, "A destroy finds its object whether the device is there or not: it destroys all of it, or what the removal has left."},
	{"one at a time", "uverbs_destroy_ufile_hw", rdmaCore, "A close and a removal exclude one another, and whoever comes second finds nothing to destroy."},
	{"left to the removal", "uverbs_uobject_fd_release", rdmaCore, "A close destroys the event queue's object, unless the removal is at it: then it leaves that to the removal."},
	{"last event", "uverbs_async_event_destroy_uobj", "drivers/infiniband/core/uverbs_std_types_async_fd.c", "The removal puts IB_EVENT_DEVICE_FATAL into the queue, which stays open: a read that waits gets it."},
	{"event came", "ib_uverbs_comp_handler", uverbsMain, "A read finds the event in the queue, or is woken for it."},
	{"event read first", "ib_uverbs_event_read", uverbsMain, "The read takes the event before the CQ is destroyed."},
	{"event taken", "ib_uverbs_event_read", uverbsMain, "The event is taken under the queue's lock, by one of the two; the other goes on waiting."},
	{"event dropped", "ib_uverbs_release_ucq", uverbsMain, "The CQ takes its events along that nobody has read, and the read goes on waiting."},
	{"mapping zapped", "uverbs_user_mmap_disassociate", uverbsMain, "The mapping is made before the device is taken away, and the removal cuts it off."},
	{"mapping listed once", "rdma_umap_close", uverbsMain, "The mapping is taken off the file's list by one of the two, under umap_lock."},
	{"address space locked", "vm_mmap_pgoff", "mm/util.c", "Both change the address space, one after the other, and neither needs the other's mapping."},
	{"no event", "ib_uverbs_event_read", uverbsMain, "A close takes the descriptor away, but not the file that a read is waiting at."},
	{"file mapped", "__mmap_region", "mm/mmap.c", "The mapping has a reference to the open file, which stays when its descriptor is closed, with all its objects."},
	{"number reused", "idr_add_uobj", rdmaCore, "A number that is free again goes to the next new object, and the second destroy finds that one."},
	{"files waited for", "ib_uverbs_remove_one", uverbsMain, "Without disassociate_ucontext a removal waits until all files are closed, and the calls go on."},
}

// outcome is one of those that a pair may have. As text it is what each call is
// answered, each errno with the rule behind it, then the objects that are left, then,
// where no call is refused, the name of the reason: "0 0 | PD; in turn".
type outcome struct {
	got     string   // the answers with their rules and what is left
	calls   string   // the answers alone
	left    string   // the objects
	reasons []string // their names
}

var refused = regexp.MustCompile(`\(([^)]*)\)`)

func outcomeOf(text string) outcome {
	got, why, _ := strings.Cut(text, "; ")
	calls, left, _ := strings.Cut(got, "|")
	o := outcome{got: got, calls: strings.TrimSpace(refused.ReplaceAllString(calls, "")), left: strings.TrimSpace(left)}
	for _, m := range refused.FindAllStringSubmatch(calls, -1) {
		o.reasons = append(o.reasons, m[1])
	}
	if why != "" {
		o.reasons = append(o.reasons, why)
	}
	return o
}

// onlyOne are the outcomes of n destroys of an object that nothing uses: one of them
// destroys it, and each other is too late, by a little or by more.
func onlyOne(n int) []string {
	var all []string
	for winner := range n {
		for losers := range 1 << (n - 1) {
			calls := make([]string, n)
			for i := range calls {
				switch {
				case i == winner:
					calls[i] = "0"
					continue
				case losers&1 == 0:
					calls[i] = "EBUSY(object/busy-write)"
				default:
					calls[i] = "ENOENT(object/not-found)"
				}
				losers >>= 1
			}
			all = append(all, strings.Join(calls, " ")+" |")
		}
	}
	return all
}

// The outcomes that several pairs have.
var (
	// registered: a destroy of a PD, and a registration in it.
	registered = []string{
		"0 EBUSY(object/busy-read) |",
		"0 ENOENT(object/not-found) |",
		"EBUSY(object/busy-write) 0 | MR, PD",
		"EBUSY(pd/busy) 0 | MR, PD",
	}
	// rereg2: two calls that change one object.
	rereg2 = []string{
		"0 0 | MR, 3 PD; in turn",
		"0 EBUSY(object/busy-write) | MR, 3 PD",
		"EBUSY(object/busy-write) 0 | MR, 3 PD",
	}
	// closed: a call, and a close of its file.
	closed = []string{"0 0 |; file held", "EBADF(fd/bad) 0 |"}
	// removed: a call that makes an object, and a removal.
	removed = []string{
		"0 0 |; waited for",
		"EIO(context/device-gone) 0 |",
		"EIO(object/file-destroyed) 0 |",
	}
	// mapped: a call that maps, and a removal.
	mapped = []string{"0 0 |; mapping zapped", "EIO(context/device-gone) 0 |"}
)

// TestReasons: each outcome has its reasons, those that its answers need and no
// other, and each reason is one of an outcome.
func TestReasons(t *testing.T) {
	known, used := map[string]bool{}, map[string]bool{}
	for _, r := range reasons {
		require.False(t, known[r.name], r.name)
		known[r.name] = true
		require.NotEmpty(t, r.fn, r.name)
		require.Regexp(t, `^[a-z/]+/[a-z_0-9]+\.[ch]$`, r.file, r.name)
		require.Regexp(t, `^[A-Z].*[a-z]\.$`, r.why, r.name)
	}
	names := map[string]bool{}
	for _, p := range pairs {
		require.False(t, names[p.name], p.name)
		names[p.name] = true
		require.Greater(t, len(p.calls), 1, p.name)
		seen := map[string]bool{}
		for _, text := range p.want {
			require.NoError(t, sound(text, len(p.calls)), p.name)
			o := outcomeOf(text)
			require.False(t, seen[o.got], "%s: %s", p.name, text)
			seen[o.got] = true
			for _, name := range o.reasons {
				require.True(t, known[name], "%s: %s: there is no reason %q", p.name, text, name)
				used[name] = true
			}
		}
	}
	for _, r := range reasons {
		require.True(t, used[r.name], "no pair has the reason %q", r.name)
	}
}

var answer = regexp.MustCompile(`^(0|waits|(E[A-Z]+)\((.+)\))$`)

// sound says what is wrong with the text of an outcome of so many calls.
func sound(text string, calls int) error {
	answers, why, reasoned := strings.Cut(text, "; ")
	answers, _, ok := strings.Cut(answers, "|")
	if !ok {
		return fmt.Errorf("%q does not say what is left", text)
	}
	each := strings.Fields(answers)
	if len(each) != calls {
		return fmt.Errorf("%q has %d answers to %d calls", text, len(each), calls)
	}
	refusals := 0
	for _, a := range each {
		m := answer.FindStringSubmatch(a)
		if m == nil {
			return fmt.Errorf("%q: %q is no answer", text, a)
		}
		if m[2] == "" {
			continue
		}
		refusals++
		r := rule.Find(m[3])
		if r == nil {
			return fmt.Errorf("%q: there is no rule %s", text, m[3])
		}
		if got := rule.ErrnoName(r.Errno); got != m[2] {
			return fmt.Errorf("%q: by %s it is %s", text, r.ID, got)
		}
	}
	if reasoned == (refusals > 0) || reasoned && why == "" {
		return fmt.Errorf("%q: an outcome has a reason of its own where no call is refused, and only there", text)
	}
	return nil
}

// TestSound: what is no outcome is told.
func TestSound(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"0 0 | PD; in turn", ""},
		{"0 EBUSY(pd/busy) | PD", ""},
		{"0 0; in turn", "what is left"},
		{"0 |; in turn", "1 answers to 2 calls"},
		{"0 EBUSY | PD", "is no answer"},
		{"0 EBUSY(pd/idle) | PD", "no rule pd/idle"},
		{"0 ENOENT(pd/busy) | PD", "by pd/busy it is EBUSY"},
		{"0 0 | PD", "a reason of its own"},
		{"0 EBUSY(pd/busy) | PD; in turn", "a reason of its own"},
	} {
		err := sound(tc.text, 2)
		if tc.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, tc.want)
	}
	o := outcomeOf("0 EBUSY(pd/busy) ENOENT(object/not-found) | 2 PD")
	require.Equal(t, outcome{"0 EBUSY(pd/busy) ENOENT(object/not-found) | 2 PD", "0 EBUSY ENOENT", "2 PD", []string{"pd/busy", "object/not-found"}}, o)
	require.Equal(t, outcome{"0 0 |", "0 0", "", []string{"in turn"}}, outcomeOf("0 0 |; in turn"))
	require.Len(t, onlyOne(3), 12)
}
