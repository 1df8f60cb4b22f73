package interleave

import (
	"testing"
)

type pair struct {
	name, driver string
	before       []string
	calls        [][]string
}

var pairs = []pair{
	{"destroy-destroy/pd", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {destroyPD}}},
	{"destroy-destroy/pd-write", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {destroyPDWrite}}},
	{"destroy-destroy/cq-write", "rxe", []string{open, context, cq}, [][]string{{destroyCQ}, {destroyCQWrite}}},
	{"destroy-destroy/cq-mlx5", "mlx5", []string{open, contextMLX5, cqMLX5}, [][]string{{destroyCQ}, {destroyCQ2}}},
	{"destroy-destroy/mr-pd", "rxe", []string{open, context, pd("pd"), mr("mr", "pd")}, [][]string{{destroyMR}, {destroyPD}}},
	{"destroy-destroy/qp-cq", "rxe", []string{open, context, pd("pd"), cq, qp}, [][]string{{destroyQP}, {destroyCQ}}},
	{"destroy-use/pd-mr", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {mr("mr", "pd")}}},
	{"destroy-use/pd-mr-mlx5", "mlx5", []string{open, contextMLX5, pdMLX5("pd")}, [][]string{{destroyPD}, {mr("mr", "pd")}}},
	{"destroy-use/cq-qp", "rxe", []string{open, context, pd("pd"), cq}, [][]string{{destroyCQ}, {qp}}},
	{"destroy-use/mr-query", "mlx5", []string{open, contextMLX5, pdMLX5("pd"), mr("mr", "pd")}, [][]string{{destroyMR}, {queryMR}}},
	{"destroy-use/mr-rereg", "rxe", []string{open, context, pd("pd"), pd("pd2"), mr("mr", "pd")}, [][]string{{destroyMR}, {rereg("pd2", "rr")}}},
	{"destroy-use/pd-rereg", "stub", []string{open, context, pd("pd"), pd("pd2"), mr("mr", "pd")}, [][]string{{destroyPD2}, {rereg("pd2", "rr")}}},
	{"create-close/pd", "rxe", []string{open, context}, [][]string{{pd("pd")}, {closeF}}},
	{"create-close/cq-mlx5", "mlx5", []string{open, contextMLX5}, [][]string{{cqMLX5}, {closeF}}},
	{"create-close/channel", "rxe", []string{open, context}, [][]string{{channel("ch")}, {closeF}}},
	{"create-close/dup", "rxe", []string{open, context, dup}, [][]string{{pd("pd")}, {closeG}}},
	{"create-close/dup-last", "rxe", []string{open, context, dup, closeF}, [][]string{{onG(pd("pd"))}, {closeG}}},
	{"create-close/dup-used", "rxe", []string{open, context, dup}, [][]string{{pd("pd")}, {closeF}}},
	{"create-close/its-channel", "stub", []string{open, context, channel("ch")}, [][]string{{cqCh}, {closeCh}}},
	{"create-remove/pd", "stub", []string{open, context}, [][]string{{pd("pd")}, {remove}}},
	{"create-remove/pd-mlx5", "mlx5", []string{open, contextMLX5}, [][]string{{pdMLX5("pd")}, {remove}}},
	{"create-remove/cq", "stub", []string{open, context, channel("ch")}, [][]string{{cqCh}, {remove}}},
	{"create-remove/context", "stub", []string{open}, [][]string{{context}, {remove}}},
	{"create-remove/open", "stub", nil, [][]string{{open}, {remove}}},
	{"create-remove/channel", "stub", []string{open, context}, [][]string{{channel("ch")}, {remove}}},
	{"destroy-remove/pd", "stub", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {remove}}},
	{"close-remove/pd", "stub", []string{open, context, pd("pd")}, [][]string{{closeF}, {remove}}},
	{"close-remove/event-fd", "stub", []string{open, context, async}, [][]string{{closeE}, {remove}}},
	{"read-remove/async", "stub", []string{open, context, async}, [][]string{{readE}, {remove}}},
	{"read-remove/channel", "stub", []string{open, context, channel("ch"), cqCh}, [][]string{{readCh}, {remove}}},
	{"read-remove/async-mlx5", "mlx5", []string{open, contextMLX5, async}, [][]string{{readE}, {remove}}},
	{"read-event/channel", "stub", []string{open, context, channel("ch"), cqCh}, [][]string{{readCh}, {comp}}},
	{"read-read/one-event", "stub", []string{open, context, channel("ch"), cqCh, comp}, [][]string{{readCh}, {readCh}}},
	{"read-destroy/cq", "stub", []string{open, context, channel("ch"), cqCh, comp}, [][]string{{readCh}, {destroyCQ}}},
	{"rereg-rereg/pd", "rxe", []string{open, context, pd("pd"), pd("pd2"), pd("pd3"), mr("mr", "pd")}, [][]string{{rereg("pd2", "rr")}, {rereg("pd3", "rr2")}}},
	{"rereg-rereg/stub", "stub", []string{open, context, pd("pd"), pd("pd2"), pd("pd3"), mr("mr", "pd")}, [][]string{{rereg("pd2", "rr")}, {rereg("pd3", "rr2")}}},
	{"rereg-rereg/mlx5", "mlx5", []string{open, contextMLX5, pdMLX5("pd"), pdMLX5("pd2"), pdMLX5("pd3"), mr("mr", "pd")}, [][]string{{rereg("pd2", "rr")}, {rereg("pd3", "rr2")}}},
	{"mmap-remove/stub", "stub", []string{open, context}, [][]string{{mmap}, {remove}}},
	{"mmap-remove/mlx5", "mlx5", []string{open, contextMLX5}, [][]string{{mmapR}, {remove}}},
	{"munmap-remove/stub", "stub", []string{open, context, mmap}, [][]string{{munmap}, {remove}}},
	{"mmap-munmap/stub", "stub", []string{open, context, mmap}, [][]string{{mmap2}, {munmap}}},
	{"mmap-munmap-remove/stub", "stub", []string{open, context, mmap}, [][]string{{mmap2}, {munmap}, {remove}}},
	{"remove-waits/rxe", "rxe", []string{open, context}, [][]string{{pd("pd")}, {remove}}},
	{"triples/destroy", "rxe", []string{open, context, pd("pd")}, [][]string{{destroyPD}, {destroyPD}, {destroyPDWrite}}},
	{"triples/create-destroy-close", "rxe", []string{open, context, pd("pd")}, [][]string{{pd("pd2")}, {destroyPD}, {closeF}}},
	{"triples/create-destroy-remove", "stub", []string{open, context, pd("pd")}, [][]string{{pd("pd2")}, {destroyPD}, {remove}}},
	{"triples/read-event-remove", "stub", []string{open, context, channel("ch"), cqCh}, [][]string{{readCh}, {comp}, {remove}}},
}

func TestPairs(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			c := build(t, p.name, p.driver, p.before, p.calls)
			r := Explore(Case(c, func(e *Ending) (string, error) { return e.Calls() + " | " + e.Objects(), nil }), Options{Executions: 6000})
			t.Log(r.Executions, r.Abandoned, r.Operations, r.Complete, r.Err, r.Schedule)
			for o, f := range r.Outcomes {
				t.Log("  ", o, f.N, f.Schedule)
			}
		})
	}
}
