package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/interpose/record"
	"uverbsim/interpose/watch"
	"uverbsim/process"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// TestChangedRecordingFails: every answer is compared, so that a byte that was
// not the kernel's is told.
func TestChangedRecordingFails(t *testing.T) {
	m := boot(t, record.Options{})
	programs["query"](m)
	require.NoError(t, m.recorder.Close())
	text, err := os.ReadFile(m.file)
	require.NoError(t, err)
	n := 0
	for _, answer := range []string{`"000001040000004000`, `ffffc0000201`, `"errno":"ENODATA"`} {
		at := bytes.LastIndex(text, []byte(answer))
		if at < 0 {
			continue
		}
		n++
		changed := bytes.Clone(text)
		at += len(answer) - 2
		changed[at] ^= 2
		c, err := casefile.Unmarshal(bytes.TrimSpace(changed))
		require.NoError(t, err, answer)
		require.False(t, player.Play(new(model.Model), c, player.Options{}).Passed(), answer)
	}
	require.Equal(t, 3, n)
}

// TestEachLifeIsACase: a process that opens the device anew after it has closed
// all begins another case, and names count on.
func TestEachLifeIsACase(t *testing.T) {
	m := boot(t, record.Options{})
	p := m.start()
	require.NoError(t, p.pd.Dealloc())
	p.ctx.Close()
	for range 2 {
		fd, err := p.sys.Open(node, syscall.O_RDONLY)
		require.NoError(t, err)
		require.NoError(t, p.sys.Close(fd))
	}
	cases := m.cases()
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
		why := "a recording of /usr/bin/program -v"
		if len(names) > 1 {
			why += "; others had used the device"
		}
		require.Equal(t, why, c.Why)
		require.Equal(t, "mlx5", c.Driver)
		play(t, c)
	}
	require.Equal(t, []string{"recorded/program-1", "recorded/program-2", "recorded/program-3"}, names)
	open := cases[2].Steps[0].Do.(*casefile.Open)
	require.Equal(t, "r", open.Mode)
	require.False(t, *open.Cloexec)
}

// TestChildIsInTheCase: what a child does to a file that it has inherited is a
// child's part of the parent's case.
func TestChildIsInTheCase(t *testing.T) {
	m := boot(t, record.Options{})
	p := m.start()
	child, err := p.sys.Fork()
	require.NoError(t, err)
	at, err := verbs.Alloc(child, 4096)
	require.NoError(t, err)
	// A raw query of the port, since the library's context is the parent's.
	require.True(t, child.Store(at, portQuery(at)))
	_, err = child.Ioctl(p.ctx.CmdFD, spec.RDMA_VERBS_IOCTL, at)
	require.NoError(t, err)
	child.Exit()
	p.stop()
	cases := m.cases()
	require.Len(t, cases, 1)
	var ops []string
	for i := range cases[0].Steps {
		s := &cases[0].Steps[i]
		if s.Proc != "" || s.Op() == "fork" {
			ops = append(ops, s.Op())
		}
	}
	require.Equal(t, []string{"fork", "ioctl", "exit"}, ops)
	play(t, cases[0])
}

// portQuery is the argument of a QUERY_PORT that lies at an address.
func portQuery(at copyuser.Addr) []byte {
	return spec.EncodeMethod(spec.RDMA_DRIVER_MLX5, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT,
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, Len: 8, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: 1},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_RESP, Len: 48, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: uint64(at) + 512})
}

// TestEndsEarly: what is still going on when the recording ends is written, and
// can be played.
func TestEndsEarly(t *testing.T) {
	m := boot(t, record.Options{})
	p := m.start()
	p.newEnd()
	cases := m.cases()
	require.Len(t, cases, 1)
	require.Contains(t, cases[0].Why, "the recording ended before the program did")
	require.Greater(t, len(cases[0].Steps), 20)
	play(t, cases[0])
	require.NoError(t, m.recorder.Close(), "a second time")
	p.ctx.Close() // nobody minds
}

// TestLimitsAreGivenUp: a process without capabilities and with little memory to
// lock is played as one.
func TestLimitsAreGivenUp(t *testing.T) {
	m := boot(t, record.Options{Process: func(int) record.Process { return record.Process{Args: []string{"poor"}, Memlock: 64 << 10} }})
	sys := m.look.Watch(m.kernel.NewProcess(process.Options{}))
	sys.MainTask().SetRlimit(process.RLIMIT_MEMLOCK, process.Rlimit{Cur: 64 << 10, Max: 64 << 10})
	require.NoError(t, sys.Capset(process.AllCaps()...))
	p := &program{machine: m, sys: sys}
	p.open()
	at, err := verbs.Alloc(sys, 1<<20)
	require.NoError(t, err)
	_, err = p.pd.RegMR(at, 1<<20, uint64(at), verbs.IBV_ACCESS_LOCAL_WRITE)
	require.ErrorIs(t, err, syscall.ENOMEM)
	p.stop()
	cases := m.cases()
	require.Len(t, cases, 1)
	play(t, cases[0])
}

// TestThreads: calls of several threads at once are all there, and are said to
// have been.
func TestThreads(t *testing.T) {
	m := boot(t, record.Options{})
	p := m.start()
	m.look.Settle = nil
	const threads, each = 4, 100
	var first sync.WaitGroup // of the threads' first calls
	first.Add(threads)
	m.look.Watcher = &meeting{Watcher: m.recorder, first: &first, left: threads}
	var wg sync.WaitGroup
	for range threads {
		at, err := verbs.Alloc(p.sys, 4096)
		require.NoError(t, err)
		require.True(t, p.sys.Store(at, portQuery(at)))
		wg.Go(func() {
			for range each {
				_, _ = p.sys.Ioctl(p.ctx.CmdFD, spec.RDMA_VERBS_IOCTL, at)
			}
		})
	}
	wg.Wait()
	m.look.Watcher = m.recorder
	p.stop()
	cases := m.cases()
	require.Len(t, cases, 1)
	require.Greater(t, len(cases[0].Steps), threads*each)
	var together int
	_, err := fmt.Sscanf(cases[0].Why, "a recording of /usr/bin/program -v; %d calls ran at the same time as others", &together)
	require.NoError(t, err, cases[0].Why)
	require.GreaterOrEqual(t, together, threads)
	play(t, cases[0])
}

// meeting has so many calls wait for each other once they have begun.
type meeting struct {
	watch.Watcher
	first *sync.WaitGroup

	mu   sync.Mutex
	left int
}

func (m *meeting) Enter(c *watch.Call) {
	m.Watcher.Enter(c)
	m.mu.Lock()
	waits := m.left > 0
	m.left--
	m.mu.Unlock()
	if waits {
		m.first.Done()
		m.first.Wait()
	}
}

// disk is a file on which there is no room for a while.
type disk struct {
	bytes.Buffer
	room int // -1: enough
}

func (d *disk) Write(b []byte) (int, error) {
	if d.room < 0 || len(b) <= d.room {
		return d.Buffer.Write(b)
	}
	n, _ := d.Buffer.Write(b[:d.room])
	return n, syscall.ENOSPC
}

func (d *disk) Truncate(n int64) error { d.Buffer.Truncate(int(n)); return nil }

func (d *disk) Seek(off int64, whence int) (int64, error) {
	if whence == io.SeekCurrent {
		return int64(d.Len()), nil
	}
	return off, nil
}

// TestFullDisk: a case that has no room is reported and waits; what is in the
// file is whole lines at any time.
func TestFullDisk(t *testing.T) {
	var told []error
	d := &disk{room: 100}
	m := boot(t, record.Options{})
	r, err := record.New(d, record.Options{Process: func(int) record.Process { return record.Process{} }, Report: func(err error) { told = append(told, err) }})
	require.NoError(t, err)
	m.look.Watcher = r
	m.start().stop()
	require.Len(t, told, 1)
	require.ErrorIs(t, told[0], syscall.ENOSPC)
	require.Zero(t, d.Len(), "no half lines")
	d.room = -1
	m.start().stop()
	require.NoError(t, r.Close(), "all was made good")
	require.Equal(t, 2, strings.Count(d.String(), "\n"))
	for c, err := range casefile.Read(&d.Buffer, "disk") {
		require.NoError(t, err)
		play(t, c)
	}

	d = &disk{room: 100}
	r, err = record.New(d, record.Options{Process: func(int) record.Process { return record.Process{} }})
	require.NoError(t, err)
	m.look.Watcher = r
	m.start().stop()
	err = r.Close()
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "1 cases are not in the file")
}

type noFile struct{ disk }

var errNoSeek = errors.New("a pipe")

func (*noFile) Seek(int64, int) (int64, error) { return 0, errNoSeek }

func TestNoFile(t *testing.T) {
	_, err := record.New(new(noFile), record.Options{})
	require.ErrorIs(t, err, errNoSeek)
}
