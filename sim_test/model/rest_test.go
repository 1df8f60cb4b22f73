package model_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// recorded is a case of the corpus.
func recorded(t *testing.T, file, name string) *casefile.Case {
	t.Helper()
	f, err := os.Open("../corpus/" + file)
	require.NoError(t, err)
	defer f.Close()
	for c, err := range casefile.Read(f, file) {
		require.NoError(t, err)
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("%s has no case %s", file, name)
	return nil
}

// lost plays a case after one of whose steps do does something wrong with the file,
// and returns the books behind that step and when everything was closed.
func lost(t *testing.T, c *casefile.Case, step int, do func(m *model.Machine)) (left, end *model.Books) {
	t.Helper()
	r := player.Play(new(model.Model), c, player.Options{
		After: func(m player.Machine, i int, _ *player.StepResult) {
			if machine := m.(*model.Machine); i == step {
				require.Empty(t, machine.Books().Unrest)
				do(machine)
				left = machine.Books()
			}
		},
		Ended: func(m player.Machine) { end = m.(*model.Machine).Books() },
	})
	require.NoError(t, r.Err)
	require.NotNil(t, left)
	return left, end
}

// first is the first thread of a machine.
func first(m *model.Machine) *model.Task { return m.Process().(*model.Task) }

// TestKeptReference: a reference that nobody has is seen at once, and when everything
// is closed; so is one on the file.
func TestKeptReference(t *testing.T) {
	c := recorded(t, "linux-6.12-rxe.jsonl", "busy/pd-with-mr")
	c.Steps = c.Steps[:4] // as far as the region is made
	left, end := lost(t, c, 3, func(m *model.Machine) {
		f := model.FileOf(first(m).Modelled(), 3)
		for o := range f.Objects.Objects(nil) {
			o.Get(nil) // the newest, which is the region
			break
		}
	})
	require.Equal(t, []string{"UVERBS_OBJECT_MR 1 has 3 references and 2 holders"}, left.Unrest)
	require.Equal(t, 1, end.LeftObjects)
	require.Zero(t, end.FileRefs)

	left, end = lost(t, c, 3, func(m *model.Machine) {
		model.FileOf(first(m).Modelled(), 3).Objects.Owner().Get(nil)
	})
	require.Empty(t, left.Unrest)
	require.Equal(t, 2, left.Files[0].Refs)
	require.Equal(t, 1, end.FileRefs)
}

// TestKeptByABug: the kernel's EX_MODIFY_WQ keeps the work queue locked, and a
// reference on it, where a state is refused.
func TestKeptByABug(t *testing.T) {
	c := recorded(t, "linux-6.12-rules-stub.jsonl", "rule/cmd-wq-modify-state")
	var unrest []string
	var end *model.Books
	r := player.Play(new(model.Model), c, player.Options{
		After: func(m player.Machine, _ int, _ *player.StepResult) { unrest = m.(*model.Machine).Books().Unrest },
		Ended: func(m player.Machine) { end = m.(*model.Machine).Books() },
	})
	require.NoError(t, r.Err)
	require.Equal(t, []string{
		"UVERBS_OBJECT_WQ 2 has the use count 1",
		"UVERBS_OBJECT_WQ 2 has 3 references and 2 holders",
	}, unrest)
	require.Zero(t, end.LeftObjects, "it is the kernel that loses it, not the model")
}

// TestForgottenQueues: a domain that does not count the queues made through it is seen, of
// queue pairs and of shared receive queues.
func TestForgottenQueues(t *testing.T) {
	for _, tt := range []struct {
		name string
		step int // makes the queue
		want string
	}{
		{"rule/xrcd-busy", 5, "UVERBS_OBJECT_XRCD 2 counts 0 queues and has 1"},
		{"rule/xrcd-busy-qp", 3, "UVERBS_OBJECT_XRCD 0 counts 0 queues and has 1"},
	} {
		c := recorded(t, "linux-6.12-rules-stub.jsonl", tt.name)
		c.Steps = c.Steps[:tt.step+1]
		left, _ := lost(t, c, tt.step, func(m *model.Machine) {
			f := model.FileOf(first(m).Modelled(), 3)
			for o := range f.Objects.Objects(nil) {
				if d, ok := o.Ext.(interface {
					Made() int32
					Reset()
				}); ok {
					require.EqualValues(t, 1, d.Made())
					d.Reset()
				}
			}
		})
		require.Equal(t, []string{tt.want}, left.Unrest)
	}
}

// miscounting is a driver that says how many queue pairs are in multicast groups, each
// place its own number.
type miscounting struct {
	model.Driver
	list, device, queuePairs int
}

func (d miscounting) Counts() map[string]int {
	return map[string]int{"mca": d.list, "mcg_attach": d.device, "mcg_num": d.queuePairs}
}

// TestMiscounted: what a driver counts in several places is the same in all of them.
func TestMiscounted(t *testing.T) {
	m := boot(t, "rxe", nil)
	for _, tt := range []struct {
		list, device, queuePairs int
		want                     []string
	}{
		{2, 2, 2, nil},
		{1, 2, 1, []string{"mcg_attach is 2, and groups have 1 queue pairs"}},
		{2, 2, 0, []string{"mcg_num is 0, and groups have 2 queue pairs"}},
		{0, 1, 1, []string{"mcg_attach is 1, and groups have 0 queue pairs", "mcg_num is 1, and groups have 0 queue pairs"}},
	} {
		rxe := m.Driver
		m.Driver = miscounting{rxe, tt.list, tt.device, tt.queuePairs}
		require.Equal(t, tt.want, m.Books().Unrest)
		m.Driver = rxe
	}
}

// TestHeldLock: a lock that somebody holds is seen, and what it guards is not looked
// at.
func TestHeldLock(t *testing.T) {
	m := boot(t, "stub", nil)
	fd, err := m.Process().Open(syscall.O_RDWR)
	require.NoError(t, err)
	require.False(t, m.Locked())
	f := model.FileOf(first(m).Modelled(), fd)
	f.Objects.HWDestroyRwsem.DownRead(nil)
	b := m.Books()
	require.True(t, m.Locked())
	f.Objects.HWDestroyRwsem.UpRead(nil)
	require.False(t, m.Locked())
	require.Equal(t, []string{"hw_destroy_rwsem is held"}, b.Unrest)
	f.UcontextLock.Lock(nil)
	b = m.Books()
	f.UcontextLock.Unlock(nil)
	require.Equal(t, []string{"ucontext_lock is held"}, b.Unrest)
	require.Empty(t, m.Books().Unrest)
}

// TestRemovedDevice: a device that is gone counts for as long as a file of it is open.
func TestRemovedDevice(t *testing.T) {
	m := boot(t, "mlx5", nil)
	fd, err := m.Process().Open(syscall.O_RDWR)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, m.Remove(m.Process()))
		require.Equal(t, 1, m.Books().FileRefs)
		require.NoError(t, m.Add())
		require.Equal(t, 1, m.Books().FileRefs)
	}
	require.NoError(t, m.Process().Close(fd))
	require.Zero(t, m.Books().FileRefs)
}
