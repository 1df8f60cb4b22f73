package interleave

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type pair struct {
	name, driver string
	before       []string
	calls        [][]string
	want         []string // what each call is answered | the objects that are left
}

var pairs = []pair{
	{"destroy-destroy/pd", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {destroyPD}}, []string{"0 EBUSY |", "0 ENOENT |", "EBUSY 0 |", "ENOENT 0 |"}},
	{"destroy-destroy/pd-write", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {destroyPDWrite}}, []string{"0 EBUSY |", "0 ENOENT |", "EBUSY 0 |", "ENOENT 0 |"}},
	{"destroy-destroy/cq-write", "rxe", []string{open, context, cq}, [][]string{{destroyCQ}, {destroyCQWrite}}, []string{"0 EBUSY |", "0 ENOENT |", "EBUSY 0 |", "ENOENT 0 |"}},
	{"destroy-destroy/cq-mlx5", "mlx5", []string{open, contextMLX5, cqMLX5}, [][]string{{destroyCQ}, {destroyCQ2}}, []string{"0 EBUSY |", "0 ENOENT |", "EBUSY 0 |", "ENOENT 0 |"}},
	{"destroy-destroy/mr-pd", "rxe", []string{open, context, pd("pd"), mr("mr", "pd")}, [][]string{{destroyMR}, {destroyPD}}, []string{"0 0 |", "0 EBUSY | PD"}},
	{"destroy-destroy/qp-cq", "rxe", []string{open, context, pd("pd"), cq, qp}, [][]string{{destroyQP}, {destroyCQ}}, []string{"0 0 | PD", "0 EBUSY | CQ, PD"}},
	{"destroy-use/pd-mr", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {mr("mr", "pd")}}, []string{"0 EBUSY |", "0 ENOENT |", "EBUSY 0 | MR, PD"}},
	{"destroy-use/pd-mr-mlx5", "mlx5", []string{open, contextMLX5, pdMLX5("pd")}, [][]string{{destroyPD}, {mr("mr", "pd")}}, []string{"0 EBUSY |", "0 ENOENT |", "EBUSY 0 | MR, PD"}},
	{"destroy-use/cq-qp", "rxe", []string{open, context, pd("pd"), cq}, [][]string{{destroyCQ}, {qp}}, []string{"0 EBUSY | PD", "0 ENOENT | PD", "EBUSY 0 | CQ, PD, QP"}},
	{"destroy-use/mr-query", "mlx5", []string{open, contextMLX5, pdMLX5("pd"), mr("mr", "pd")}, [][]string{{destroyMR}, {queryMR}}, []string{"0 0 | PD", "0 EBUSY | PD", "0 ENOENT | PD", "EBUSY 0 | MR, PD"}},
	{"destroy-use/mr-rereg", "rxe", []string{open, context, pd("pd"), pd("pd2"), mr("mr", "pd")}, [][]string{{destroyMR}, {rereg("pd2", "rr")}}, []string{"0 0 | 2 PD", "0 EBUSY | 2 PD", "0 ENOENT | 2 PD", "EBUSY 0 | MR, 2 PD"}},
	{"destroy-use/pd-rereg", "stub", []string{open, context, pd("pd"), pd("pd2"), mr("mr", "pd")}, [][]string{{destroyPD2}, {rereg("pd2", "rr")}}, []string{"0 EBUSY | MR, PD", "0 ENOENT | MR, PD", "EBUSY 0 | MR, 2 PD"}},
	{"create-close/pd", "rxe", []string{open, context}, [][]string{{pd("pd")}, {closeF}}, []string{"0 0 |", "EBADF 0 |"}},
	{"create-close/cq-mlx5", "mlx5", []string{open, contextMLX5}, [][]string{{cqMLX5}, {closeF}}, []string{"0 0 |", "EBADF 0 |"}},
	{"create-close/channel", "rxe", []string{open, context}, [][]string{{channel("ch")}, {closeF}}, []string{"0 0 |", "EBADF 0 |"}},
	{"create-close/dup", "rxe", []string{open, context, dup}, [][]string{{pd("pd")}, {closeG}}, []string{"0 0 | PD"}},
	{"create-close/dup-last", "rxe", []string{open, context, dup, closeF}, [][]string{{onG(pd("pd"))}, {closeG}}, []string{"0 0 |", "EBADF 0 |"}},
	{"create-close/dup-used", "rxe", []string{open, context, dup}, [][]string{{pd("pd")}, {closeF}}, []string{"0 0 | PD", "EBADF 0 |"}},
	{"create-close/its-channel", "stub", []string{open, context, channel("ch")}, [][]string{{cqCh}, {closeCh}}, []string{"0 0 | CQ", "EBADF 0 |"}},
	{"create-remove/pd", "stub", []string{open, context}, [][]string{{pd("pd")}, {remove}}, []string{"0 0 |", "EIO 0 |"}},
	{"create-remove/pd-mlx5", "mlx5", []string{open, contextMLX5}, [][]string{{pdMLX5("pd")}, {remove}}, []string{"0 0 |", "EIO 0 |"}},
	{"create-remove/cq", "stub", []string{open, context, channel("ch")}, [][]string{{cqCh}, {remove}}, []string{"0 0 |", "EIO 0 |"}},
	{"create-remove/context", "stub", []string{open}, [][]string{{context}, {remove}}, []string{"0 0 |", "EIO 0 |"}},
	{"create-remove/open", "stub", nil, [][]string{{open}, {remove}}, []string{"0 0 |", "EIO 0 |", "ENOENT 0 |", "ENXIO 0 |"}},
	{"create-remove/channel", "stub", []string{open, context}, [][]string{{channel("ch")}, {remove}}, []string{"0 0 |", "EIO 0 |"}},
	{"destroy-remove/pd", "stub", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {remove}}, []string{"0 0 |"}},
	{"close-remove/pd", "stub", []string{open, context, pd("pd")}, [][]string{{closeF}, {remove}}, []string{"0 0 |"}},
	{"close-remove/event-fd", "stub", []string{open, context, async}, [][]string{{closeE}, {remove}}, []string{"0 0 |"}},
	{"read-remove/async", "stub", []string{open, context, async}, [][]string{{readE}, {remove}}, []string{"0 0 |"}},
	{"read-remove/channel", "stub", []string{open, context, channel("ch"), cqCh}, [][]string{{readCh}, {remove}}, []string{"EIO 0 |"}},
	{"read-remove/async-mlx5", "mlx5", []string{open, contextMLX5, async}, [][]string{{readE}, {remove}}, []string{"0 0 |"}},
	{"read-event/channel", "stub", []string{open, context, channel("ch"), cqCh}, [][]string{{readCh}, {comp}}, []string{"0 0 | COMP_CHANNEL, CQ"}},
	{"read-read/one-event", "stub", []string{open, context, channel("ch"), cqCh, comp}, [][]string{{readCh}, {readCh}}, []string{"0 waits |", "waits 0 |"}},
	{"read-destroy/cq", "stub", []string{open, context, channel("ch"), cqCh, comp}, [][]string{{readCh}, {destroyCQ}}, []string{"0 0 | COMP_CHANNEL", "waits 0 |"}},
	{"rereg-rereg/pd", "rxe", []string{open, context, pd("pd"), pd("pd2"), pd("pd3"), mr("mr", "pd")}, [][]string{{rereg("pd2", "rr")}, {rereg("pd3", "rr2")}}, []string{"0 0 | MR, 3 PD", "0 EBUSY | MR, 3 PD", "EBUSY 0 | MR, 3 PD"}},
	{"rereg-rereg/stub", "stub", []string{open, context, pd("pd"), pd("pd2"), pd("pd3"), mr("mr", "pd")}, [][]string{{rereg("pd2", "rr")}, {rereg("pd3", "rr2")}}, []string{"0 0 | MR, 3 PD", "0 EBUSY | MR, 3 PD", "EBUSY 0 | MR, 3 PD"}},
	{"rereg-rereg/mlx5", "mlx5", []string{open, contextMLX5, pdMLX5("pd"), pdMLX5("pd2"), pdMLX5("pd3"), mr("mr", "pd")}, [][]string{{rereg("pd2", "rr")}, {rereg("pd3", "rr2")}}, []string{"0 0 | MR, 3 PD", "0 EBUSY | MR, 3 PD", "EBUSY 0 | MR, 3 PD"}},
	{"mmap-remove/stub", "stub", []string{open, context}, [][]string{{mmap}, {remove}}, []string{"0 0 |", "EIO 0 |"}},
	{"mmap-remove/mlx5", "mlx5", []string{open, contextMLX5}, [][]string{{mmapR}, {remove}}, []string{"0 0 |", "EIO 0 |"}},
	{"munmap-remove/stub", "stub", []string{open, context, mmap}, [][]string{{munmap}, {remove}}, []string{"0 0 |"}},
	{"mmap-munmap/stub", "stub", []string{open, context, mmap}, [][]string{{mmap2}, {munmap}}, []string{"0 0 |"}},
	{"mmap-munmap-remove/stub", "stub", []string{open, context, mmap}, [][]string{{mmap2}, {munmap}, {remove}}, []string{"0 0 0 |", "EIO 0 0 |"}},
	{"remove-waits/rxe", "rxe", []string{open, context}, [][]string{{pd("pd")}, {remove}}, []string{"0 waits |"}},
	{"triples/destroy", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {destroyPD}, {destroyPDWrite}}, []string{"0 EBUSY EBUSY |", "0 EBUSY ENOENT |", "0 ENOENT EBUSY |", "0 ENOENT ENOENT |", "EBUSY 0 EBUSY |", "EBUSY 0 ENOENT |", "EBUSY EBUSY 0 |", "EBUSY ENOENT 0 |", "ENOENT 0 EBUSY |", "ENOENT 0 ENOENT |", "ENOENT EBUSY 0 |", "ENOENT ENOENT 0 |"}},
	{"triples/create-destroy-close", "rxe", []string{open, context, pd("pd")}, [][]string{{pd("pd2")}, {destroyPD}, {closeF}}, []string{"0 0 0 |", "0 EBADF 0 |", "EBADF 0 0 |", "EBADF EBADF 0 |"}},
	{"triples/create-destroy-remove", "stub", []string{open, context, pd("pd")}, [][]string{{pd("pd2")}, {destroyPD}, {remove}}, []string{"0 0 0 |", "EIO 0 0 |"}},
}

var replay = flag.String("schedule", "", "replay this schedule of the pair that -run names")

// TestPairs: each pair, and each triple, has the outcomes that are written down, all of
// them and no other.
func TestPairs(t *testing.T) {
	total := 0
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			c := build(t, p.name, p.driver, p.before, p.calls)
			prog := Case(c, func(e *Ending) (string, error) {
				return strings.TrimSpace(e.Calls() + " | " + e.Objects()), nil
			})
			if *replay != "" {
				outcome, lines, err := Replay(prog, *replay)
				t.Logf("%s\n%s", outcome, strings.Join(lines, "\n"))
				require.NoError(t, err)
				return
			}
			r := Explore(prog, Options{})
			again := func(schedule string) string {
				return fmt.Sprintf("go test ./sim_test/interleave -v -run 'TestPairs/^%s$' -schedule '%s'",
					strings.ReplaceAll(p.name, "/", "$/^"), schedule)
			}
			require.NoError(t, r.Err, again(r.Schedule))
			require.True(t, r.Complete)
			for o, f := range r.Outcomes {
				require.Contains(t, p.want, o, again(f.Schedule))
				got, _, err := Replay(prog, f.Schedule)
				require.NoError(t, err)
				require.Equal(t, o, got, "a replay gives the same outcome")
			}
			for _, o := range p.want {
				require.Contains(t, r.Outcomes, o)
			}
			t.Logf("%d interleavings explored, %d abandoned as equivalent, %d operations at most", r.Executions, r.Abandoned, r.Operations)
			total += r.Executions
		})
	}
	t.Logf("%d interleavings explored", total)
}
