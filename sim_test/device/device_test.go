//go:build linux

package device

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/casefile"
	"uverbsim/sim_test/player"
)

func TestMain(m *testing.M) {
	ServeAgent()
	os.Exit(m.Run())
}

// bare is a machine without a device: what its processes can do with files and
// memory they can do all the same.
func bare(t *testing.T, apart bool) *Machine {
	t.Helper()
	m := &Machine{target: &Target{ibdev: "none", turn: make(chan struct{}, 1)}}
	t.Cleanup(m.Shutdown)
	if apart {
		var err error
		m.agent, err = startAgent()
		require.NoError(t, err)
		m.first = &Task{m: m, c: m.agent.lanes[0], pid: m.agent.pid()}
	} else {
		m.before, m.areas = map[int]bool{}, map[uint64]int{}
		m.first = &Task{m: m, c: direct{}, pid: os.Getpid()}
	}
	require.NoError(t, m.first.makeScratch())
	return m
}

// eachWay runs a test in this process and in one of the case's own.
func eachWay(t *testing.T, f func(t *testing.T, m *Machine)) {
	for name, apart := range map[string]bool{"this process": false, "its own process": true} {
		t.Run(name, func(t *testing.T) { f(t, bare(t, apart)) })
	}
}

// TestMemory: what was stored is loaded again, and an access goes as far as the
// memory does.
func TestMemory(t *testing.T) {
	eachWay(t, func(t *testing.T, m *Machine) {
		task := m.first
		a, err := task.Map(2 * pageSize)
		require.NoError(t, err)
		data := []byte(strings.Repeat("uverbs", 1000))
		require.Equal(t, len(data), task.Store(a+3, data))
		got := make([]byte, len(data))
		require.Equal(t, len(data), task.Load(a+3, got))
		require.Equal(t, data, got)

		require.Zero(t, task.Load(a-1, got[:1]), "the page before")
		require.Equal(t, 5, task.Load(a+2*pageSize-5, got[:10]), "up to the page behind")
		require.Equal(t, 5, task.Store(a+2*pageSize-5, data[:10]))
		require.Zero(t, task.Load(casefile.BadUnmapped, got[:1]))
		require.Zero(t, task.Store(casefile.BadKernel, got[:1]))

		require.NoError(t, task.Mprotect(a, pageSize, unix.PROT_READ))
		require.Zero(t, task.Store(a, data[:1]))
		require.Equal(t, 1, task.Load(a, got[:1]))
		require.NoError(t, task.Munmap(a, 2*pageSize))
		require.Zero(t, task.Load(a, got[:1]))
	})
}

// TestFiles uses a pipe in the place of a device.
func TestFiles(t *testing.T) {
	eachWay(t, func(t *testing.T, m *Machine) {
		task := m.first
		before := len(task.FDs())
		at, err := task.hand(make([]byte, 8))
		require.NoError(t, err)
		require.NoError(t, task.do(unix.SYS_PIPE2, args{at, unix.O_CLOEXEC}))
		var b [8]byte
		require.NoError(t, task.handed(b[:]))
		r, w := int(binary.NativeEndian.Uint32(b[:])), int(binary.NativeEndian.Uint32(b[4:]))
		require.Len(t, task.FDs(), before+2)

		events, err := task.Poll(r, 0)
		require.NoError(t, err)
		require.Zero(t, events)
		require.NoError(t, task.SetNonblock(r))
		_, err = task.Read(r, task.scratch, 4)
		require.Equal(t, unix.EAGAIN, err)

		require.Equal(t, 3, task.Store(task.scratch, []byte("abc")))
		n, err := task.Write(w, task.scratch, 3)
		require.NoError(t, err)
		require.EqualValues(t, 3, n)
		events, err = task.Poll(r, time.Second)
		require.NoError(t, err)
		require.EqualValues(t, unix.POLLIN, events)
		n, err = task.Read(r, task.scratch+100, 4)
		require.NoError(t, err)
		require.EqualValues(t, 3, n)

		d, err := task.Dup(w)
		require.NoError(t, err)
		same, err := task.Dup2(w, d)
		require.NoError(t, err)
		require.Equal(t, d, same)
		high, err := task.FcntlDupFD(w, 300, true)
		require.NoError(t, err)
		require.GreaterOrEqual(t, high, 300)
		for _, fd := range []int{r, w, d, high} {
			require.NoError(t, task.Close(fd))
		}
		require.Equal(t, unix.EBADF, task.Close(r))
		require.Len(t, task.FDs(), before)
		_, err = task.Ioctl(r, casefile.VerbsIoctl, 0)
		require.Equal(t, unix.EBADF, err)
		_, err = task.Open(unix.O_RDWR)
		require.Equal(t, unix.ENOENT, err, "there is no such device")
	})
}

// TestFork: a child has a copy of memory and descriptors, loses both by an
// exec, and is reaped.
func TestFork(t *testing.T) {
	m := bare(t, true)
	a, err := m.first.Map(pageSize)
	require.NoError(t, err)
	require.Equal(t, 1, m.first.Store(a, []byte{1}))
	fd, err := m.first.FcntlDupFD(0, 500, true)
	require.NoError(t, err)

	forked, err := m.first.Fork()
	require.NoError(t, err)
	child := forked.(*Task)
	var b [1]byte
	require.Equal(t, 1, child.Store(a, []byte{2}))
	require.Equal(t, 1, m.first.Load(a, b[:]))
	require.EqualValues(t, 1, b[0], "the parent's memory is its own")
	require.Contains(t, child.FDs(), fd)
	sent, err := m.first.SendFD(0, child)
	require.NoError(t, err)
	require.Contains(t, child.FDs(), sent)

	require.NoError(t, child.Exec())
	require.Zero(t, child.Load(a, b[:]), "an exec makes new memory")
	require.NotContains(t, child.FDs(), fd)
	again, err := child.Map(pageSize)
	require.NoError(t, err)
	require.Equal(t, 1, child.Load(again, b[:]))

	child.Exit()
	require.Equal(t, unix.ESRCH, unix.Kill(child.pid, 0), "the child is reaped")
	_, err = child.Dup(0)
	require.ErrorIs(t, err, errGone)
	require.Nil(t, fdsOf(child.pid))
}

// TestIdentity: a process of a case can give up what this one may not lose.
func TestIdentity(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("root has something to give up")
	}
	m := bare(t, true)
	cur, most, err := m.first.Getrlimit(unix.RLIMIT_NOFILE)
	require.NoError(t, err)
	require.LessOrEqual(t, cur, most)
	require.NoError(t, m.first.Setrlimit(unix.RLIMIT_NOFILE, 4, most))
	for range 10 {
		if _, err = m.first.Dup(0); err != nil {
			break
		}
	}
	require.Equal(t, unix.EMFILE, err)

	require.NoError(t, m.first.Capset([]int{unix.CAP_SETUID}))
	require.Equal(t, unix.EPERM, m.first.Setuid(1))
	require.NoError(t, m.first.Capset(nil))
	require.NoError(t, m.first.Setgid(1))
}

// TestThreads: each thread of a process has a lane of its own; a blocked one
// holds nobody up.
func TestThreads(t *testing.T) {
	m := bare(t, true)
	at, err := m.first.hand(make([]byte, 8))
	require.NoError(t, err)
	require.NoError(t, m.first.do(unix.SYS_PIPE2, args{at}))
	var b [8]byte
	require.NoError(t, m.first.handed(b[:]))
	r, w := int(binary.NativeEndian.Uint32(b[:])), int(binary.NativeEndian.Uint32(b[4:]))

	q := m.first.Thread().(*Task)
	read := make(chan int64)
	go func() {
		n, _ := q.Read(r, q.scratch, 1)
		read <- n
	}()
	select {
	case <-read:
		t.Fatal("nothing was written yet")
	case <-time.After(50 * time.Millisecond):
	}
	_, err = m.first.Write(w, m.first.scratch, 1)
	require.NoError(t, err)
	require.EqualValues(t, 1, <-read)
}

// TestUnplayable: what a real device does not do for the player ends the case
// with the reason.
func TestUnplayable(t *testing.T) {
	m := bare(t, false)
	var not *player.Unplayable
	for name, err := range map[string]error{
		"event": m.Event("cq", 0, "comp"), "hold": m.Hold("destroy_cq"), "release": m.Release(),
		"remove": m.Remove(nil), "add": m.Add(), "netdev": m.Netdev(true),
	} {
		require.ErrorAs(t, err, &not, name)
		require.Equal(t, name, not.Op)
	}
	_, err := m.first.Fork()
	require.ErrorAs(t, err, &not)
	require.ErrorAs(t, m.first.Exec(), &not)
	_, err = m.first.Thread().Dup(0)
	require.ErrorAs(t, err, &not)
}

func TestNew(t *testing.T) {
	_, err := New(t.TempDir() + "/none")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = New("/dev/null")
	require.ErrorContains(t, err, "/dev/null is no uverbs device")
	_, err = New(t.TempDir())
	require.ErrorContains(t, err, "is no device node")
}

// TestOwnDescriptors: a case that comes by the number of a descriptor of the
// player's own cannot do anything with it.
func TestOwnDescriptors(t *testing.T) {
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer f.Close()
	m := bare(t, false)
	fd := int(f.Fd())
	m.before[fd] = true
	require.Equal(t, unix.EBADF, m.first.Close(fd))
	_, err = m.first.Read(fd, m.first.scratch, 1)
	require.Equal(t, unix.EBADF, err)
	require.NoError(t, f.Close(), "it is still open")
}

// TestApart: only a case of the first version of the format is played in this
// process.
func TestApart(t *testing.T) {
	for steps, want := range map[string]bool{
		`{"op":"open","fd":"f"},{"op":"poll","fd":"f"},{"op":"close","fd":"f"}`: false,
		`{"op":"open","fd":"f"},{"op":"read","fd":"f","len":8}`:                 false,
		`{"op":"open","fd":"f"},{"op":"read","fd":"f","len":8,"bg":"x"}`:        true,
		`{"op":"setuid","uid":1}`: true,
		`{"op":"open","fd":"f"},{"op":"fork","as":"k"},{"op":"close","fd":"f","proc":"k"}`: true,
	} {
		c, err := casefile.Unmarshal([]byte(`{"v":1,"name":"a/b","driver":"rxe","steps":[` + steps + `]}`))
		require.NoError(t, err, steps)
		require.Equal(t, want, apart(c), steps)
	}
}

// TestTakeMessages cuts a datagram of netlink into its messages.
func TestTakeMessages(t *testing.T) {
	message := func(typ uint16, payload ...byte) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(netlinkHeader+len(payload)))
		b = binary.LittleEndian.AppendUint16(b, typ)
		b = append(b, make([]byte, 10)...)
		b = append(b, payload...)
		return append(b, make([]byte, aligned(len(b))-len(b))...)
	}
	errno := func(e int32) []byte {
		return message(unix.NLMSG_ERROR, binary.LittleEndian.AppendUint32(nil, uint32(e))...)
	}
	for name, c := range map[string]struct {
		datagram []byte
		payloads []string
		done     bool
		err      string
	}{
		"one, more to come": {message(77, 'a', 'b', 'c'), []string{"abc"}, false, ""},
		"two and the end":   {append(append(message(77, 'a'), message(77, 'b')...), message(unix.NLMSG_DONE)...), []string{"a", "b"}, true, ""},
		"acknowledged":      {errno(0), nil, true, ""},
		"refused":           {errno(-int32(unix.ENODEV)), nil, true, unix.ENODEV.Error()},
		"cut short":         {message(77, 'a', 'b', 'c', 'd')[:18], nil, true, "longer than its datagram"},
		"an error cut":      {message(unix.NLMSG_ERROR), nil, true, "a netlink error of 16 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, done, err := takeMessages(nil, c.datagram)
			require.Equal(t, c.done, done)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			var payloads []string
			for _, p := range got {
				payloads = append(payloads, string(p))
			}
			require.Equal(t, c.payloads, payloads)
		})
	}
}

func TestAttrs(t *testing.T) {
	b := putAttr(putAttr(nil, 2, cstring("rxe0")), 1, []byte{7, 0, 0, 0})
	require.Zero(t, len(b)%netlinkAlign)
	require.Equal(t, map[uint16][]byte{2: []byte("rxe0\x00"), 1: {7, 0, 0, 0}}, attrsOf(b))
	require.Empty(t, attrsOf([]byte{3, 0, 1, 0}), "shorter than its own head")
}

// TestWantRDMA: a directory that is none of control groups stays as it is.
func TestWantRDMA(t *testing.T) {
	dir := t.TempDir()
	require.Error(t, wantRDMA(dir))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
