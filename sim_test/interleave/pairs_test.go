package interleave

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

// pair are calls that run at the same time, on a device of that driver, when the steps
// before were made.
type pair struct {
	name, driver string
	before       []string
	calls        [][]string
	want         []string // the outcomes that it may have (outcomeOf)
}

var pairs = []pair{
	{"destroy-destroy/pd", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {destroyPD}}, onlyOne(2)},
	{"destroy-destroy/pd-write", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {destroyPDWrite}}, onlyOne(2)},
	{"destroy-destroy/cq-write", "rxe", []string{open, context, cq}, [][]string{{destroyCQ}, {destroyCQWrite}}, onlyOne(2)},
	{"destroy-destroy/cq-mlx5", "mlx5", []string{open, contextMLX5, cqMLX5}, [][]string{{destroyCQ}, {destroyCQ2}}, onlyOne(2)},
	{"destroy-destroy/mr-pd", "rxe", []string{open, context, pd("pd"), mr("mr", "pd")}, [][]string{{destroyMR}, {destroyPD}}, []string{
		"0 0 |; region first",
		"0 EBUSY(pd/busy) | PD",
	}},
	{"destroy-destroy/qp-cq", "rxe", []string{open, context, pd("pd"), cq, qp}, [][]string{{destroyQP}, {destroyCQ}}, []string{
		"0 0 | PD; QP first",
		"0 EBUSY(cq/busy) | CQ, PD",
	}},
	{"destroy-use/pd-mr", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {mr("mr", "pd")}}, registered},
	{"destroy-use/pd-mr-mlx5", "mlx5", []string{open, contextMLX5, pdMLX5("pd")}, [][]string{{destroyPD}, {mr("mr", "pd")}}, registered},
	{"destroy-use/cq-qp", "rxe", []string{open, context, pd("pd"), cq}, [][]string{{destroyCQ}, {qp}}, []string{
		"0 EBUSY(object/busy-read) | PD",
		"0 ENOENT(object/not-found) | PD",
		"EBUSY(object/busy-write) 0 | CQ, PD, QP",
		"EBUSY(cq/busy) 0 | CQ, PD, QP",
	}},
	{"destroy-use/mr-query", "mlx5", []string{open, contextMLX5, pdMLX5("pd"), mr("mr", "pd")}, [][]string{{destroyMR}, {queryMR}}, []string{
		"0 0 | PD; in turn",
		"0 EBUSY(object/busy-read) | PD",
		"0 ENOENT(object/not-found) | PD",
		"EBUSY(object/busy-write) 0 | MR, PD",
	}},
	{"destroy-use/mr-rereg", "rxe", []string{open, context, pd("pd"), pd("pd2"), mr("mr", "pd")}, [][]string{{destroyMR}, {rereg("pd2", "rr")}}, []string{
		"0 0 | 2 PD; in turn",
		"0 EBUSY(object/busy-write) | 2 PD",
		"0 ENOENT(object/not-found) | 2 PD",
		"EBUSY(object/busy-write) 0 | MR, 2 PD",
	}},
	{"destroy-use/pd-rereg", "stub", []string{open, context, pd("pd"), pd("pd2"), mr("mr", "pd")}, [][]string{{destroyPD2}, {rereg("pd2", "rr")}}, []string{
		"0 EBUSY(object/busy-read) | MR, PD",
		"0 ENOENT(object/not-found) | MR, PD",
		"EBUSY(object/busy-write) 0 | MR, 2 PD",
		"EBUSY(pd/busy) 0 | MR, 2 PD",
	}},
	{"create-close/pd", "rxe", []string{open, context}, [][]string{{pd("pd")}, {closeF}}, closed},
	{"create-close/cq-mlx5", "mlx5", []string{open, contextMLX5}, [][]string{{cqMLX5}, {closeF}}, closed},
	{"create-close/channel", "rxe", []string{open, context}, [][]string{{channel("ch")}, {closeF}}, closed},
	{"create-close/dup", "rxe", []string{open, context, dup}, [][]string{{pd("pd")}, {closeG}}, []string{
		"0 0 | PD; file open",
	}},
	{"create-close/dup-last", "rxe", []string{open, context, dup, closeF}, [][]string{{onG(pd("pd"))}, {closeG}}, closed},
	{"create-close/dup-used", "rxe", []string{open, context, dup}, [][]string{{pd("pd")}, {closeF}}, []string{
		"0 0 | PD; file open",
		"EBADF(fd/bad) 0 |",
	}},
	{"create-close/its-channel", "stub", []string{open, context, channel("ch")}, [][]string{{cqCh}, {closeCh}}, []string{
		"0 0 | CQ; channel held",
		"EBADF(object/fd-bad) 0 |",
	}},
	{"create-remove/pd", "stub", []string{open, context}, [][]string{{pd("pd")}, {remove}}, removed},
	{"create-remove/pd-mlx5", "mlx5", []string{open, contextMLX5}, [][]string{{pdMLX5("pd")}, {remove}}, removed},
	{"create-remove/cq", "stub", []string{open, context, channel("ch")}, [][]string{{cqCh}, {remove}}, append([]string{"EIO(object/device-gone) 0 |"}, removed...)},
	{"create-remove/context", "stub", []string{open}, [][]string{{context}, {remove}}, []string{
		"0 0 |; waited for",
		"EIO(ucontext/device-gone) 0 |",
	}},
	{"create-remove/open", "stub", nil, [][]string{{open}, {remove}}, []string{
		"0 0 |; file listed",
		"EIO(open/device-gone) 0 |",
		"ENOENT(open/no-node) 0 |",
		"ENXIO(open/no-device) 0 |",
	}},
	{"create-remove/channel", "stub", []string{open, context}, [][]string{{channel("ch")}, {remove}}, removed},
	{"destroy-remove/pd", "stub", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {remove}}, []string{
		"0 0 |; destroy let through",
	}},
	{"close-remove/pd", "stub", []string{open, context, pd("pd")}, [][]string{{closeF}, {remove}}, []string{
		"0 0 |; one at a time",
	}},
	{"close-remove/event-fd", "stub", []string{open, context, async}, [][]string{{closeE}, {remove}}, []string{
		"0 0 |; left to the removal",
	}},
	{"read-remove/async", "stub", []string{open, context, async}, [][]string{{readE}, {remove}}, []string{
		"0 0 |; last event",
	}},
	{"read-remove/channel", "stub", []string{open, context, channel("ch"), cqCh}, [][]string{{readCh}, {remove}}, []string{
		"EIO(event/closed) 0 |",
	}},
	{"read-remove/async-mlx5", "mlx5", []string{open, contextMLX5, async}, [][]string{{readE}, {remove}}, []string{
		"0 0 |; last event",
	}},
	{"read-event/channel", "stub", []string{open, context, channel("ch"), cqCh}, [][]string{{readCh}, {comp}}, []string{
		"0 0 | COMP_CHANNEL, CQ; event came",
	}},
	{"read-read/one-event", "stub", []string{open, context, channel("ch"), cqCh, comp}, [][]string{{readCh}, {readCh}}, []string{
		"0 waits |; event taken",
		"waits 0 |; event taken",
	}},
	{"read-destroy/cq", "stub", []string{open, context, channel("ch"), cqCh, comp}, [][]string{{readCh}, {destroyCQ}}, []string{
		"0 0 | COMP_CHANNEL; event read first",
		"waits 0 |; event dropped",
	}},
	{"rereg-rereg/pd", "rxe", []string{open, context, pd("pd"), pd("pd2"), pd("pd3"), mr("mr", "pd")}, [][]string{{rereg("pd2", "rr")}, {rereg("pd3", "rr2")}}, rereg2},
	{"rereg-rereg/stub", "stub", []string{open, context, pd("pd"), pd("pd2"), pd("pd3"), mr("mr", "pd")}, [][]string{{rereg("pd2", "rr")}, {rereg("pd3", "rr2")}}, rereg2},
	{"rereg-rereg/mlx5", "mlx5", []string{open, contextMLX5, pdMLX5("pd"), pdMLX5("pd2"), pdMLX5("pd3"), mr("mr", "pd")}, [][]string{{rereg("pd2", "rr")}, {rereg("pd3", "rr2")}}, rereg2},
	{"rereg-rereg/new-region", "mlx5", []string{open, contextMLX5, pdMLX5("pd"), mr("mr", "pd")}, [][]string{{reregMemory("rr")}, {reregMemory("rr2")}}, []string{
		"0 0 | MR, PD; in turn",
		"0 EBUSY(object/busy-write) | MR, PD",
		"0 ENOENT(object/not-found) | MR, PD",
		"EBUSY(object/busy-write) 0 | MR, PD",
		"ENOENT(object/not-found) 0 | MR, PD",
	}},
	{"rereg-use/new-region", "mlx5", []string{open, contextMLX5, pdMLX5("pd"), mr("mr", "pd")}, [][]string{{reregMemory("rr")}, {queryMR}}, []string{
		"0 0 | MR, PD; in turn",
		"0 EBUSY(object/busy-read) | MR, PD",
		"0 ENOENT(object/not-found) | MR, PD",
		"EBUSY(object/busy-write) 0 | MR, PD",
	}},
	{"rereg-destroy/new-region", "mlx5", []string{open, contextMLX5, pdMLX5("pd"), mr("mr", "pd")}, [][]string{{reregMemory("rr")}, {destroyMR}}, []string{
		"0 0 | PD; in turn",
		"0 EBUSY(object/busy-write) | MR, PD",
		"0 ENOENT(object/not-found) | MR, PD",
		"EBUSY(object/busy-write) 0 | PD",
		"ENOENT(object/not-found) 0 | PD",
	}},
	{"mmap-remove/stub", "stub", []string{open, context}, [][]string{{mmap}, {remove}}, mapped},
	{"mmap-remove/mlx5", "mlx5", []string{open, contextMLX5}, [][]string{{mmapR}, {remove}}, mapped},
	{"munmap-remove/stub", "stub", []string{open, context, mmap}, [][]string{{munmap}, {remove}}, []string{
		"0 0 |; mapping listed once",
	}},
	{"mmap-munmap/stub", "stub", []string{open, context, mmap}, [][]string{{mmap2}, {munmap}}, []string{
		"0 0 |; address space locked",
	}},
	{"mmap-munmap-remove/stub", "stub", []string{open, context, mmap}, [][]string{{mmap2}, {munmap}, {remove}}, []string{
		"0 0 0 |; mapping zapped",
		"EIO(context/device-gone) 0 0 |",
	}},
	{"remove-waits/rxe", "rxe", []string{open, context}, [][]string{{pd("pd")}, {remove}}, []string{
		"0 waits |; files waited for",
	}},
	{"triples/destroy", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {destroyPD}, {destroyPDWrite}}, onlyOne(3)},
	{"triples/create-destroy-close", "rxe", []string{open, context, pd("pd")}, [][]string{{pd("pd2")}, {destroyPD}, {closeF}}, []string{
		"0 0 0 |; file held",
		"0 EBADF(fd/bad) 0 |",
		"EBADF(fd/bad) 0 0 |",
		"EBADF(fd/bad) EBADF(fd/bad) 0 |",
	}},
	{"triples/create-destroy-remove", "stub", []string{open, context, pd("pd")}, [][]string{{pd("pd2")}, {destroyPD}, {remove}}, []string{
		"0 0 0 |; waited for",
		"EIO(context/device-gone) 0 0 |",
		"EIO(object/file-destroyed) 0 0 |",
	}},
	{"reuse/open", "rxe", []string{open, context}, [][]string{{pd("pd")}, {openG}, {closeF}}, []string{
		"0 0 0 |; file held",
		"EBADF(fd/bad) 0 0 |",
		"EINVAL(context/none) 0 0 |",
	}},
	{"reuse/ioctl", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {channel("ch")}, {closeF}}, []string{
		"0 0 0 |; file held",
		"0 EBADF(fd/bad) 0 |",
		"EBADF(fd/bad) 0 0 |",
		"EBADF(fd/bad) EBADF(fd/bad) 0 |",
		"ENOTTY(ioctl/no-operation) 0 0 |",
	}},
	{"reuse/write", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPDWrite}, {channel("ch")}, {closeF}}, []string{
		"0 0 0 |; file held",
		"0 EBADF(fd/bad) 0 |",
		"EBADF(fd/bad) 0 0 |",
		"EBADF(fd/bad) EBADF(fd/bad) 0 |",
		"EBADF(write/mode) 0 0 |",
	}},
	{"reuse/mmap", "stub", []string{open, context}, [][]string{{mmapR}, {channel("ch")}, {closeF}}, []string{
		"0 0 0 | COMP_CHANNEL; file mapped",
		"0 EBADF(fd/bad) 0 |",
		"EBADF(fd/bad) 0 0 |",
		"EBADF(fd/bad) EBADF(fd/bad) 0 |",
		"ENODEV(mmap/no-operation) 0 0 |",
	}},
	{"reuse/mmap-write", "stub", []string{open, context}, [][]string{{mmap}, {channel("ch")}, {closeF}}, []string{
		"0 0 0 | COMP_CHANNEL; file mapped",
		"0 EBADF(fd/bad) 0 |",
		"EBADF(fd/bad) 0 0 |",
		"EBADF(fd/bad) EBADF(fd/bad) 0 |",
		"EACCES(mmap/write-shared) 0 0 |",
	}},
	{"reuse/read", "stub", []string{open, context, channel("ch")}, [][]string{{readCh}, {openG}, {closeCh}}, []string{
		"waits 0 0 |; no event",
		"EBADF(fd/bad) 0 0 |",
		"EINVAL(read/no-operation) 0 0 |",
	}},
	{"reuse/channel", "stub", []string{open, context, channel("ch")}, [][]string{{cqCh}, {openG}, {closeCh}}, []string{
		"0 0 0 | CQ; channel held",
		"EBADF(object/fd-bad) 0 0 |",
		"EBADF(object/fd-foreign) 0 0 |",
	}},
	{"reuse/handle", "stub", []string{open, context, pd("pd"), mr("mr", "pd")}, [][]string{{queryMR}, {destroyMR}, {pd("new")}}, []string{
		"0 0 0 | 2 PD; in turn",
		"0 EBUSY(object/busy-write) 0 | MR, 2 PD",
		"EBUSY(object/busy-read) 0 0 | 2 PD",
		"ENOENT(object/not-found) 0 0 | 2 PD",
		"EINVAL(object/wrong-type) 0 0 | 2 PD",
	}},
	{"reuse/destroyed-twice", "rxe", []string{open, context, pd("pd"), mr("mr", "pd")}, [][]string{{destroyMR}, {destroyMR}, {mr("new", "pd")}}, []string{
		"0 0 0 | PD; number reused",
		"0 EBUSY(object/busy-write) 0 | MR, PD",
		"0 ENOENT(object/not-found) 0 | MR, PD",
		"EBUSY(object/busy-write) 0 0 | MR, PD",
		"ENOENT(object/not-found) 0 0 | MR, PD",
	}},
}

// program is that of a pair: its outcome is what each call is answered, by which rule,
// and what is left.
func (p *pair) program(t *testing.T) Program {
	t.Helper()
	return Case(build(t, p.name, p.driver, p.before, p.calls), func(e *Ending) (string, error) {
		return strings.TrimSpace(e.Refusals() + " | " + e.Objects()), nil
	})
}

// found are the explorations of pairs that were made, by the names of the pairs.
var found = map[string]*Result{}

// explored is all that comes of a pair. It is explored once.
func (p *pair) explored(t *testing.T) *Result {
	t.Helper()
	if found[p.name] == nil {
		found[p.name] = Explore(p.program(t), Options{})
	}
	r := found[p.name]
	require.NoError(t, r.Err, p.again(r.Schedule))
	require.True(t, r.Complete)
	return r
}

// again is the command that replays a schedule.
func (p *pair) again(schedule string) string {
	return fmt.Sprintf("go test ./sim_test/interleave -v -run 'TestPairs/%s' -schedule '%s'", suite.Pattern(p.name), schedule)
}

// TestPairs: each pair, and each triple, has the outcomes that are written down, all of
// them and no other.
func TestPairs(t *testing.T) {
	played, total := 0, 0
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			prog := p.program(t)
			if replays(t, prog) {
				return
			}
			r := p.explored(t)
			want := map[string]bool{}
			for _, text := range p.want {
				got := outcomeOf(text).got
				want[got] = true
				require.Contains(t, r.Outcomes, got, "it is written down, and never comes")
			}
			for o, f := range r.Outcomes {
				require.Containsf(t, want, o, "it comes, and is not written down: %s", p.again(f.Schedule))
				got, _, err := Replay(prog, f.Schedule)
				require.NoError(t, err)
				require.Equal(t, o, got, "a replay gives the same outcome")
			}
			t.Logf("%d interleavings explored, %d abandoned as equivalent, %d operations at most", r.Executions, r.Abandoned, r.Operations)
			played++
			total += r.Executions
		})
	}
	if *toReplay == "" {
		t.Logf("%d pairs and triples, %d interleavings explored", played, total)
	}
}
