package model_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// watched is the model with a look at its process behind each write().
type watched struct {
	model.Model
	look func(*model.Task)
}

func (w *watched) Boot(c *casefile.Case) (player.Machine, error) {
	m, err := w.Model.Boot(c)
	if err != nil {
		return nil, err
	}
	return &watchedMachine{m.(*model.Machine), w.look}, nil
}

type watchedMachine struct {
	*model.Machine
	look func(*model.Task)
}

func (m *watchedMachine) Process() player.Task {
	return &watchedTask{m.Machine.Process().(*model.Task), m.look}
}

type watchedTask struct {
	*model.Task
	look func(*model.Task)
}

func (t *watchedTask) Write(fd int, addr, n uint64) (int64, error) {
	defer t.look(t.Task)
	return t.Task.Write(fd, addr, n)
}

// TestLiveObjects: ib_uverbs_reg_mr counts the region in its PD; handles are given out
// from 0 on.
func TestLiveObjects(t *testing.T) {
	const file = "../corpus/linux-6.12-rxe.jsonl"
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var c *casefile.Case
	for each, err := range casefile.Read(f, file) {
		require.NoError(t, err)
		if each.Name == "busy/pd-with-mr" {
			c = each
			break
		}
	}
	require.NotNil(t, c)
	c.Steps = c.Steps[:4] // as far as the region is made
	looked := false
	target := &watched{look: func(task *model.Task) {
		looked = true
		p := task.Modelled()
		require.Nil(t, model.FileOf(p, 0), "no device")
		require.Nil(t, model.FileOf(p, 99), "no descriptor")
		live := model.LiveObjects(p, model.FileOf(p, 3))
		require.Len(t, live, 2)
		pd, mr := live[0], live[1]
		require.Equal(t, "UVERBS_OBJECT_PD", pd.Type)
		require.Equal(t, int64(0), pd.ID)
		require.Equal(t, "UVERBS_OBJECT_MR", mr.Type)
		require.Equal(t, int64(1), mr.ID)
		require.False(t, pd.FD)
		require.Equal(t, int32(1), pd.Uses())
		require.Zero(t, mr.Uses())
		require.Equal(t, []string{"pd"}, pd.UsedBy(mr))
		require.Empty(t, pd.UsedBy(pd))
		require.Empty(t, mr.UsedBy(pd))
	}}
	r := player.Play(target, c, player.Options{})
	require.NoError(t, r.Err)
	require.True(t, looked)
}
