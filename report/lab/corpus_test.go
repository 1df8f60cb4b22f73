package lab_test

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

// batching is the model on which every RDMA_VERBS_IOCTL of a case is made as the
// second of three calls of a batch. Its neighbours have no header.
type batching struct {
	t *testing.T
	model.Model
}

func (b *batching) Boot(c *casefile.Case) (player.Machine, error) {
	m, err := b.Model.Boot(c)
	if err != nil {
		return nil, err
	}
	mm := m.(*model.Machine)
	kernel.ExperimentalBatch(mm.Kernel)
	return &batchingMachine{mm, b.t}, nil
}

type batchingMachine struct {
	*model.Machine
	t *testing.T
}

func (m *batchingMachine) Process() player.Task { return m.wrap(m.Machine.Process()) }

func (m *batchingMachine) Remove(by player.Task) error {
	return m.Machine.Remove(by.(*batchingTask).Task)
}

func (m *batchingMachine) wrap(t player.Task) *batchingTask {
	return &batchingTask{t.(*model.Task), m}
}

type batchingTask struct {
	*model.Task
	m *batchingMachine
}

func (t *batchingTask) Thread() player.Task { return t.m.wrap(t.Task.Thread()) }

func (t *batchingTask) Fork() (player.Task, error) {
	child, err := t.Task.Fork()
	if err != nil {
		return nil, err
	}
	return t.m.wrap(child), nil
}

func (t *batchingTask) SendFD(fd int, to player.Task) (int, error) {
	return t.Task.SendFD(fd, to.(*batchingTask).Task)
}

func (t *batchingTask) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	if cmd != spec.RDMA_VERBS_IOCTL {
		return t.Task.Ioctl(fd, cmd, arg)
	}
	const nowhere = 1
	b := binary.LittleEndian.AppendUint32(nil, 3)
	b = binary.LittleEndian.AppendUint64(b, kernel.BatchContinue)
	b = append(b, 0, 0, 0, 0)
	for _, hdr := range []uint64{nowhere, arg, nowhere} {
		b = binary.LittleEndian.AppendUint64(b, hdr)
		b = binary.LittleEndian.AppendUint64(b, 0)
	}
	at, err := t.Map(copyuser.PageSize)
	if err != nil {
		return -1, err
	}
	defer t.Munmap(at, copyuser.PageSize)
	t.Store(at, b)
	made, err := t.Task.Ioctl(fd, kernel.BatchIoctl, at)
	if err != nil {
		return -1, err // of the descriptor: no device's file
	}
	if made != 3 {
		t.m.t.Errorf("%d of 3 calls were made", made)
	}
	t.Load(at, b)
	for i, e := range []int{0, 2} {
		if got := result(b, e); got != syscall.EFAULT {
			t.m.t.Errorf("neighbour %d: %v", i, got)
		}
	}
	if errno := result(b, 1); errno != 0 {
		return -1, errno
	}
	return 0, nil
}

// result is the errno in entry i of a batch.
func result(b []byte, i int) syscall.Errno {
	return syscall.Errno(-int32(binary.LittleEndian.Uint32(b[kernel.BatchHdrSize+i*kernel.BatchEntrySize+kernel.BatchResultOffset:])))
}

// races says that a step's answer may be a matter of chance.
func races(s casefile.Step) bool {
	_, par := s.Do.(*casefile.Par)
	return par
}

// TestBatchAnswersAsSingleCalls: what real kernels answered to the ioctls of the
// recorded cases, the same calls are answered in a batch. Every eighth case is
// played, without those that are recorded many times and those with steps that
// race.
func TestBatchAnswersAsSingleCalls(t *testing.T) {
	names, err := filepath.Glob("../../sim_test/corpus/linux-6.12*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	every := 8
	if testing.Short() {
		every = 40
	}
	ioctls := 0
	for _, name := range names {
		cases, err := casefile.ReadFile(name)
		require.NoError(t, err)
		file := strings.TrimSuffix(filepath.Base(name), ".jsonl")
		for i, c := range cases {
			if i%every != 0 || c.Repeat > 1 || slices.ContainsFunc(c.Steps, races) {
				continue
			}
			for _, s := range c.Steps {
				if s.Op() == "ioctl" {
					ioctls++
				}
			}
			t.Run(file+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				r := player.Play(&batching{t: t}, c, player.Options{Repeat: 1})
				require.NoError(t, r.Err)
				for i, s := range r.Steps {
					require.Empty(t, s.Differences, "step %d", i)
				}
			})
		}
	}
	require.Greater(t, ioctls, 100)
}
