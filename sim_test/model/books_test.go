package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// highest has of each book of the device and of objects the highest number at any time,
// beyond what it was at the start.
func highest(top map[string]int, start, now *model.Books) {
	more := func(name string, n int) {
		if n > 0 {
			top[name] = max(top[name], n)
		}
	}
	for name, n := range now.Hardware {
		more(name, n-start.Hardware[name])
	}
	for _, f := range now.Files {
		for _, o := range f.Objects {
			more("Made", int(o.Made))
			more("Groups", o.Groups)
			more("Unread", o.Unread)
			more("BytesInUse", int(o.BytesInUse))
			more("CompEventsReported", int(o.CompEventsReported))
			more("EventsReported", int(o.EventsReported))
		}
	}
}

// TestBooksMove has cases for which books have to move, and how far; when everything is
// closed they are as at the start.
func TestBooksMove(t *testing.T) {
	for _, tt := range []struct {
		file, name string
		want       map[string]int
	}{
		{"linux-6.12-rxe.jsonl", "busy/pd-with-mr", map[string]int{"umem": 1}},
		// The buffers and the doorbell records of a completion queue and a queue pair.
		{"linux-6.12-mlx5-caps.jsonl", "mlx5-caps/bf=0/qp/create", map[string]int{"umem": 4, "dma_page": 4}},
		// As many as rxe lets into one group (RXE_MAX_MCAST_QP_ATTACH).
		{"linux-6.12-rules.jsonl", "rule/rxe-mcast-group-full", map[string]int{"mcg": 1, "mca": 56, "mcg_attach": 56, "mcg_num": 56}},
		{"linux-6.12-rules-stub.jsonl", "rule/xrcd-shared", map[string]int{"xrcd_inode": 1}},
		{"linux-6.12-rules-stub.jsonl", "rule/xrcd-busy", map[string]int{"Made": 1}},
		{"linux-6.12-rules-stub.jsonl", "rule/xrcd-busy-qp", map[string]int{"Made": 1}},
		{"linux-6.12-rxe.jsonl", "qp/mcast-close", map[string]int{"Groups": 1, "mca": 1}},
		// 32 answers of 32767 bytes are less than 1 MiB, and 33 are not.
		{"linux-6.12-rules-mlx5.jsonl", "rule/mlx5-devx-async-backlog", map[string]int{"Unread": 32, "BytesInUse": 32 * 32767}},
		{"linux-6.12-stub-more.jsonl", "sev/comp-many", map[string]int{"CompEventsReported": 2, "EventsReported": 0}},
		{"linux-6.12-stub-more.jsonl", "sev/async-qp-2", map[string]int{"CompEventsReported": 0, "EventsReported": 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			top := map[string]int{}
			var start, end *model.Books
			r := player.Play(new(model.Model), recorded(t, tt.file, tt.name), player.Options{
				Booted: func(m player.Machine) { start = m.(*model.Machine).Books() },
				After:  func(m player.Machine, _ int, _ *player.StepResult) { highest(top, start, m.(*model.Machine).Books()) },
				Ended:  func(m player.Machine) { end = m.(*model.Machine).Books() },
			})
			require.NoError(t, r.Err)
			for name, n := range tt.want {
				require.Equal(t, n, top[name], name)
			}
			require.Equal(t, start.Hardware, end.Hardware)
		})
	}
}

// TestLostMemory: memory that nobody releases is seen when the process that had it has
// gone, and when the device has; an inode that nobody lets go is too.
func TestLostMemory(t *testing.T) {
	m := boot(t, "rxe", nil)
	task, dev := first(m), m.Driver.Device()
	addr, err := task.Map(4096)
	require.NoError(t, err)
	u, err := core.GetUmem(task.Modelled(), dev.IBDevice(), addr, 4096, 0)
	require.NoError(t, err)
	dev.XRCDTree["a file"] = new(core.XRCD)
	task.Exit()
	require.Equal(t, map[string]int{"umem": 1, "xrcd_inode": 1}, m.Books().Hardware)
	require.NoError(t, m.Again())
	require.NoError(t, m.Remove(m.Process()))
	require.NoError(t, m.Add())
	require.Equal(t, map[string]int{"umem": 1, "xrcd_inode": 1}, m.Books().Hardware)
	u.Release(nil)
	delete(dev.XRCDTree, "a file")
	require.Empty(t, m.Books().Hardware)
}
