package model_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/trace"
)

func boot(t *testing.T, driver string, d *casefile.Device) *model.Machine {
	t.Helper()
	m, err := new(model.Model).Boot(&casefile.Case{Driver: driver, Device: d})
	require.NoError(t, err)
	t.Cleanup(m.Shutdown)
	return m.(*model.Machine)
}

// TestFirstProcess: what a case finds is three descriptors and the node.
func TestFirstProcess(t *testing.T) {
	for _, driver := range []string{"rxe", "mlx5", "stub"} {
		p := boot(t, driver, nil).Process()
		require.Equal(t, []int{0, 1, 2}, p.FDs())
		fd, err := p.Open(syscall.O_RDWR)
		require.NoError(t, err)
		require.Equal(t, 3, fd)
		cur, max, err := p.Getrlimit(syscall.RLIMIT_NOFILE)
		require.NoError(t, err)
		require.Equal(t, max, cur)
	}
}

// TestDevice: a device that cannot be as it is asked for is refused.
func TestDevice(t *testing.T) {
	for _, c := range []casefile.Case{
		{Driver: "efa"},
		{Driver: "rxe", Device: &casefile.Device{Has: []string{"mmap"}}},
		{Driver: "rxe", Device: &casefile.Device{Caps: map[string]uint64{"roce": 0}}},
		{Driver: "stub", Device: &casefile.Device{Caps: map[string]uint64{"roce": 0}}},
		{Driver: "stub", Device: &casefile.Device{Has: []string{"no_such"}}},
		{Driver: "mlx5", Device: &casefile.Device{Lacks: []string{"mmap"}}},
		{Driver: "mlx5", Device: &casefile.Device{Caps: map[string]uint64{"no_such": 0}}},
	} {
		_, err := new(model.Model).Boot(&c)
		require.Error(t, err, "%+v", c)
	}
}

// TestPuppets: only the stub can be led by the hand.
func TestPuppets(t *testing.T) {
	m := boot(t, "rxe", nil)
	var u *player.Unplayable
	require.ErrorAs(t, m.Hold("alloc_pd"), &u)
	require.ErrorAs(t, m.Event("port", 1, "9"), &u)
	_, err := m.DriverLog()
	require.ErrorAs(t, err, &u)
	m = boot(t, "stub", nil)
	require.NoError(t, m.Event("port", 1, "9"))
	_, err = m.DriverLog()
	require.NoError(t, err)
}

// TestRemoveAndAdd takes each driver's device away and brings it back.
func TestRemoveAndAdd(t *testing.T) {
	for _, driver := range []string{"rxe", "mlx5", "stub"} {
		m := boot(t, driver, nil)
		require.NoError(t, m.Remove(m.Process()))
		_, err := m.Process().Open(syscall.O_RDWR)
		require.ErrorIs(t, err, syscall.ENOENT, driver)
		require.NoError(t, m.Add())
		_, err = m.Process().Open(syscall.O_RDWR)
		require.NoError(t, err, driver)
	}
}

// TestCgroup: what is asked about is the group that was entered, though the
// process has left it.
func TestCgroup(t *testing.T) {
	p := boot(t, "stub", nil).Process()
	require.NoError(t, p.EnterCgroup("hca_handle=1"))
	_, err := p.Open(syscall.O_RDWR)
	require.NoError(t, err)
	require.NoError(t, p.LeaveCgroup())
	text, err := p.CgroupCurrent()
	require.NoError(t, err)
	require.Equal(t, "hca_handle=0 hca_object=0 ", text)
	require.ErrorIs(t, p.EnterCgroup("nonsense"), syscall.EINVAL)
}

// TestSendFD: what a child is sent is closed when it execs.
func TestSendFD(t *testing.T) {
	p := boot(t, "stub", nil).Process()
	fd, err := p.Open(syscall.O_RDWR)
	require.NoError(t, err)
	child, err := p.Fork()
	require.NoError(t, err)
	got, err := p.SendFD(fd, child)
	require.NoError(t, err)
	require.Contains(t, child.FDs(), got)
	require.NoError(t, child.Exec())
	require.NotContains(t, child.FDs(), got)
	require.Contains(t, child.FDs(), fd)
}

// TestTrace: a machine reports to the sink that the model was given.
func TestTrace(t *testing.T) {
	var s counter
	md := &model.Model{Trace: func(*casefile.Case) trace.Sink { return &s }}
	m, err := md.Boot(&casefile.Case{Driver: "stub"})
	require.NoError(t, err)
	defer m.Shutdown()
	_, err = m.Process().Open(syscall.O_RDWR)
	require.NoError(t, err)
	require.Contains(t, s.names, "ib_uverbs_open")
}

type counter struct{ names []string }

func (c *counter) Event(_ *trace.Task, e *trace.Event) { c.names = append(c.names, e.Name) }

// TestBooks counts what an open file and a buffer come to.
func TestBooks(t *testing.T) {
	m := boot(t, "stub", nil)
	before := m.Books()
	require.Equal(t, 3, before.Processes[0].FDs)
	require.Empty(t, before.Files)
	fd, err := m.Process().Open(syscall.O_RDWR)
	require.NoError(t, err)
	addr, err := m.Process().Map(4096)
	require.NoError(t, err)
	open := m.Books()
	require.Equal(t, 1, open.OpenFiles)
	require.Len(t, open.Files, 1)
	require.Equal(t, 1, open.Processes[0].Areas)
	require.NoError(t, m.Process().Close(fd))
	require.NoError(t, m.Process().Munmap(addr, 4096))
	require.Equal(t, before, m.Books())
}
