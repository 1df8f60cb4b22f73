package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/interpose/record"
	"uverbsim/interpose/watch"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/sim_test/suite"
	"uverbsim/spec"
)

// watched is the model, whose tasks a watcher looks at.
type watched struct {
	model.Model
	w watch.Watcher
}

func (w *watched) Boot(c *casefile.Case) (player.Machine, error) {
	m, err := w.Model.Boot(c)
	if err != nil {
		return nil, err
	}
	return &watchedMachine{Machine: m.(*model.Machine), w: w.w}, nil
}

type watchedMachine struct {
	*model.Machine
	w    watch.Watcher
	last uint64
}

func (m *watchedMachine) Process() player.Task {
	return &watchedTask{Task: m.Machine.Process().(*model.Task), m: m, files: map[int]uint64{}}
}

// watchedTask is the one task of a case.
type watchedTask struct {
	*model.Task
	m     *watchedMachine
	files map[int]uint64
}

func (t *watchedTask) call(c *watch.Call, do func() (int64, error)) (int64, error) {
	p, dev := t.Process(), t.m.Driver.Device()
	c.PID, c.TID, c.Mem, c.Kernel, c.Device, c.Driver = p.PID, p.PID, p.Mem, spec.Linux6_12, dev, dev.API.DriverID
	t.m.w.Enter(c)
	c.Ret, c.Err = do()
	t.m.w.Leave(c)
	return c.Ret, c.Err
}

func (t *watchedTask) Open(flags int) (int, error) {
	t.m.last++
	file := t.m.last
	fd, err := t.call(&watch.Call{Name: "open", OpenFlags: flags, FD: -1, File: file}, func() (int64, error) {
		fd, err := t.Task.Open(flags)
		return int64(fd), err
	})
	if err == nil {
		t.files[int(fd)] = file
	}
	return int(fd), err
}

func (t *watchedTask) Close(fd int) error {
	c := &watch.Call{Name: "close", FD: fd, File: t.files[fd]}
	delete(t.files, fd)
	_, err := t.call(c, func() (int64, error) { return 0, t.Task.Close(fd) })
	return err
}

func (t *watchedTask) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	return t.call(&watch.Call{Name: "ioctl", FD: fd, File: t.files[fd], Cmd: cmd, Arg: copyuser.Addr(arg)},
		func() (int64, error) { return t.Task.Ioctl(fd, cmd, arg) })
}

func (t *watchedTask) Write(fd int, addr, n uint64) (int64, error) {
	return t.call(&watch.Call{Name: "write", FD: fd, File: t.files[fd], Addr: addr, Length: n},
		func() (int64, error) { return t.Task.Write(fd, addr, n) })
}

func (t *watchedTask) Mmap(fd int, n uint64, prot, flags int, off uint64) (uint64, error) {
	addr, err := t.call(&watch.Call{Name: "mmap", FD: fd, File: t.files[fd], Length: n, Prot: prot, Flags: flags, Offset: off},
		func() (int64, error) {
			a, err := t.Task.Mmap(fd, n, prot, flags, off)
			return int64(a), err
		})
	return uint64(addr), err
}

func (t *watchedTask) Munmap(addr, n uint64) error {
	_, err := t.call(&watch.Call{Name: "munmap", FD: -1, Addr: addr, Length: n}, func() (int64, error) { return 0, t.Task.Munmap(addr, n) })
	return err
}

// whole says whether a Recorder sees all of a case: one process, whose memory
// stays as it is, and no more than its calls on the device.
func whole(c *casefile.Case) bool {
	for i := range c.Steps {
		s := &c.Steps[i]
		switch a := s.Do.(type) {
		case *casefile.Open, *casefile.Close, *casefile.Write, *casefile.Bufs, *casefile.Poll, *casefile.Mmap:
		case *casefile.Ioctl:
			if a.ArgProt != "" || a.Arg.Kind != casefile.Absent {
				return false
			}
		default:
			return false
		}
		if s.Bg != "" || s.Proc != "" {
			return false
		}
	}
	for _, b := range c.Bufs {
		if b.Prot != "" {
			return false
		}
	}
	return c.Driver != "stub" && c.Repeat == 0
}

// TestCorpusIsRecorded: the calls of the corpus' cases, odd as they are, are
// recorded so that they are answered the same again.
func TestCorpusIsRecorded(t *testing.T) {
	for _, file := range []string{"linux-6.12-mlx5", "linux-6.12-mlx5-sweep", "linux-6.12-mlx5-fuzz", "linux-6.12-mlx5-mmap", "linux-6.12-rxe", "linux-6.12-rxe-sweep", "linux-6.12-rxe-fuzz"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			cases, err := casefile.ReadFile("../../sim_test/corpus/" + file + ".jsonl")
			require.NoError(t, err)
			n := 0
			cases = every(cases, suite.Share(1+len(cases)/50))
			for _, c := range cases {
				if whole(c) {
					again(t, c)
					n++
				}
			}
			require.Greater(t, n, len(cases)/2)
		})
	}
}

// every returns each k-th case.
func every(cases []*casefile.Case, k int) (some []*casefile.Case) {
	for i := 0; i < len(cases); i += k {
		some = append(some, cases[i])
	}
	return some
}

// again records a case while it is played, and plays the recording.
func again(t *testing.T, c *casefile.Case) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cases.jsonl")
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	r, err := record.New(f, record.Options{Device: c.Device, Process: func(int) record.Process {
		return record.Process{Args: []string{strings.ReplaceAll(c.Name, "/", "-")}, Caps: 1<<41 - 1, Memlock: 8 << 20}
	}})
	require.NoError(t, err)
	require.NoError(t, player.Play(&watched{w: r}, c, player.Options{}).Err, c.Name)
	require.NoError(t, r.Close(), c.Name)
	recorded, err := casefile.ReadFile(name)
	require.NoError(t, err)
	require.NotEmpty(t, recorded, c.Name)
	for _, c := range recorded {
		play(t, c)
	}
}
