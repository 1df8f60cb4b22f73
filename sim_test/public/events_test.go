package public

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// events are section G: events, and devices that go.
var events = []problem{
	{
		id: "G2", name: "fatal-for-every-async-fd",
		met: "A program with more than one descriptor for asynchronous events has to hear on each of them that its device is " +
			"gone (linux-rdma, change 48dfba2bf).",
		answer: "`uverbs_async_event_destroy_uobj` puts IB_EVENT_DEVICE_FATAL with element 0 on each descriptor when the removal " +
			"takes it, behind what was queued; after it a read is EAGAIN. The first descriptor made is the file's default, and " +
			"stays it after it was closed: an object without a descriptor of its own reports there.",
		shown: []shown{
			{"linux-6.12-public-stub/public/G2-fatal-each", "event/again"},
			{"linux-6.12-removal/rmev/fatal", "event/again"},
			{"linux-6.12-removal/rmev/fatal-after-queued", "event/again"},
			{"linux-6.12-removal/rmev/get-context-write-fd", ""},
			{"linux-6.12-stub-more/sev/default-fd", ""},
			{"linux-6.12-stub-more/sev/default-after-first-closed", "event/again"},
		},
	},
	{
		id: "G4", name: "poll-after-close",
		met: "A thread that polled a channel slept on when nothing could come any more, since the device or the file was gone " +
			"(linux-rdma, change a631e6c2d of April 2020).",
		answer: "`ib_uverbs_event_poll` reports EPOLLERR for a queue that is empty and closed, and the close wakes whoever waits. A " +
			"read of such a channel is EIO. An asynchronous descriptor has its last event first and is never closed so.",
		shown: []shown{
			{"linux-6.12-public-stub/public/G4-channel-closed", "event/closed"},
			{"linux-6.12-public-stub/public/G4-closed-while-polling", ""},
			{"linux-6.12-events/ev/device-closed-with-event", "event/closed"},
			{"linux-6.12-removal/rmev/channel", "event/closed"},
			{"linux-6.12-removal/rmev/blocked-poll-channel", ""},
			{"linux-6.12-removal/rmev/blocked-channel", "event/closed"},
			{"linux-6.12-removal/rmev/blocked-poll", ""},
		},
	},
	{
		id: "G7", name: "exit-mmap-race",
		met: "A process exited while its device was being removed, and the mapping's entry was put after the driver believed that " +
			"all of them were gone (linux-rdma, fix b52d1ca7b of April 2020).",
		answer: "`rdma_umap_close` puts the entry with the file's umap_lock held, and `uverbs_user_mmap_disassociate` takes the same " +
			"lock: whichever comes first puts it, once, and the removal does not return before. A process that exits later, " +
			"with its mapping of what is now a zero page, frees nothing.",
		shown: []shown{
			{"linux-6.12-public-stub/public/G7-exit-frees", ""},
			{"linux-6.12-public-stub/public/G7-removal-frees", ""},
			{"linux-6.12-public-stub/public/G7-unmap-meets-removal", ""},
			{"linux-6.12-public-stub/public/G7-exit-during-removal", ""},
			{"linux-6.12-removal/rmmap/child", ""},
			{"linux-6.12-stub-more/entry/removal-mapped", ""},
		},
		test: testExitsRaceRemoval,
	},
	{
		id: "G8", name: "no-disassociate-driver",
		met: "The removal of a device hung for as long as some process had it open, and was reported as a hung task (spdk/spdk " +
			"issue 1184; linux-rdma, c29c20c3a of September 2021; a change for rxe, a151253c7, of July 2026).",
		answer: "`ib_uverbs_remove_one` waits for the last open file, of events too, when the driver has no disassociate_ucontext: " +
			"rxe in 6.12 has none. Meanwhile the files work as ever, while a new open is ENOENT, since the node goes first. mlx5 has " +
			"that operation, and its removal does not wait for files.",
		shown: []shown{
			{"linux-6.12-more/rxe-removal/blocks-until-close", "open/no-node"},
			{"linux-6.12-more/rxe-removal/two-files", ""},
			{"linux-6.12-more/rxe-removal/channel-keeps", "event/closed"},
			{"linux-6.12-more/rxe-removal/child-keeps", ""},
			{"linux-6.12-more/rxe-removal/get-context-meanwhile", ""},
			{"linux-6.12-removal/rm/without-disassociate", "open/no-node"},
			{"linux-6.12-hold/hold/removal-without-disassociate", ""},
		},
		test: testRemovalOfMLX5,
	},
	{
		id: "G9", name: "hns-reset",
		met: "A driver whose card is reset, and not removed, has to take users' mappings of its doorbells away; it got " +
			"rdma_user_mmap_disassociate() for that, which later had to look whether uverbs knows the device (linux-rdma, a55400772 " +
			"of September 2024, 27ea51984 of January 2026).",
		answer: "6.12 has no such function. Mappings are taken away by `uverbs_user_mmap_disassociate` when the device is removed and " +
			"at no other time: until then a mapping shows the card's page, though its object is destroyed or an event says " +
			"that the device failed, and afterwards one page of zeros.",
		shown: []shown{
			{"linux-6.12-public-stub/public/G9-mapped-after-fatal", ""},
			{"linux-6.12-stub-more/entry/offset-kept-while-mapped", ""},
			{"linux-6.12-removal/rmmap/writable-after", ""},
			{"linux-6.12-removal/rmmap/back-again", ""},
		},
	},
}

// testExitsRaceRemoval has children that hold mappings of an entry exit while the
// device is removed. In whatever order, the entry is freed once, and before the
// driver is told that the device is gone.
func testExitsRaceRemoval(t *testing.T) {
	const children = 3
	c := clone(t, "linux-6.12-public-stub", "public/G7-removal-frees")
	c.Steps = c.Steps[:4] // open, context, UAR, mmap
	for range repeat {
		var log string
		var failed error
		r := player.Play(new(model.Model), c, player.Options{
			After: func(m player.Machine, i int, _ *player.StepResult) {
				if i != len(c.Steps)-1 {
					return
				}
				p := m.Process()
				var running sync.WaitGroup
				for range children {
					child, err := p.Fork()
					if err != nil {
						failed = err
						return
					}
					running.Go(child.Exit)
				}
				failed = m.Remove(p)
				running.Wait()
				if failed == nil {
					log, failed = m.DriverLog()
				}
			},
		})
		require.NoError(t, r.Err)
		require.NoError(t, failed)
		require.Equal(t, 1, strings.Count(log, "mmap_free"), log)
		require.Less(t, strings.Index(log, "mmap_free"), strings.Index(log, "unregistered"), log)
	}
}

// testRemovalOfMLX5: with a context and a queue in an open file the removal of an
// mlx5 device returns; the queue can be destroyed after it, and nothing be opened.
func testRemovalOfMLX5(t *testing.T) {
	c := clone(t, "linux-6.12-mlx5", "mlx5/cq/create")
	last := len(c.Steps) - 1 // CQ_DESTROY
	var removed, opened error
	r := player.Play(new(model.Model), c, player.Options{
		// A removal that waits for the file makes the case end in ErrStuck.
		Timeout: 10 * time.Second,
		Before: func(m player.Machine, i int) {
			if i == last {
				removed = m.Remove(m.Process())
				_, opened = m.Process().Open(syscall.O_RDWR)
			}
		},
	})
	require.True(t, r.Passed(), "%v", r.Err)
	require.NoError(t, removed)
	require.ErrorIs(t, opened, syscall.ENOENT)
}
