package seccomp

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// launchLoop launches a client that makes n ioctls on fd and prints the
// nanoseconds that they took. end waits for it and returns them.
func launchLoop(t testing.TB, n, fd int) (p *Launched, end func() float64) {
	return launchTimed(t, "loop", strconv.Itoa(n), strconv.Itoa(fd))
}

func launchTimed(t testing.TB, client string, args ...string) (p *Launched, end func() float64) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	spec := clientSpec(t, client, args...)
	spec.Stdout = w
	p = mustLaunch(t, spec)
	w.Close()
	return p, func() float64 {
		out, err := io.ReadAll(r)
		require.NoError(t, err)
		r.Close()
		state, err := p.Process.Wait()
		require.NoError(t, err)
		require.True(t, state.Success(), string(out))
		ns, err := strconv.ParseFloat(string(out), 64)
		require.NoError(t, err)
		return ns
	}
}

// TestNoAllocation: receiving, checking and answering a call allocates nothing.
func TestNoAllocation(t *testing.T) {
	const calls = 300
	p, end := launchLoop(t, 3*calls, 1)
	started := make(chan error, 1)
	go func() { started <- p.Go() }()
	l := p.Listener
	var n Notif
	next := func() {
		for {
			require.NoError(t, l.Recv(&n))
			if n.Nr == NrIoctl {
				return
			}
			require.NoError(t, l.Continue(n.ID))
		}
	}
	next()
	require.NoError(t, <-started)
	err := error(nil)
	sent := testing.AllocsPerRun(calls, func() {
		if !l.Valid(n.ID) {
			err = ErrTaskGone
		}
		if e := l.Send(n.ID, 0, unix.EINVAL); e != nil {
			err = e
		}
		if e := l.Send(n.ID, 0, unix.EINVAL); e != ErrTaskGone {
			err = fmt.Errorf("a second answer: %v", e)
		}
		if e := l.Recv(&n); e != nil {
			err = e
		}
	})
	require.NoError(t, err)
	require.Zero(t, sent)
	require.NoError(t, l.Send(n.ID, 0, unix.EINVAL))
	wait := serve(t, l, 1, answerAll)
	end()
	wait()
	require.NoError(t, l.Close())
}

// TestContinueAllocatesNothing: the client's first calls are on no
// descriptor of its own, and go on.
func TestContinueAllocatesNothing(t *testing.T) {
	p, end := launchLoop(t, 1, 1)
	started := make(chan error, 1)
	go func() { started <- p.Go() }()
	l := p.Listener
	var n Notif
	require.NoError(t, l.Recv(&n))
	require.EqualValues(t, NrExecve, n.Nr)
	require.NoError(t, l.Continue(n.ID))
	require.NoError(t, <-started)
	for n.Nr != NrIoctl {
		require.NoError(t, l.Recv(&n))
		if n.Nr != NrIoctl {
			require.NoError(t, l.Continue(n.ID))
		}
	}
	err := error(nil)
	require.Zero(t, testing.AllocsPerRun(5, func() {
		if e := l.Continue(n.ID); e != nil {
			err = e
		}
		if e := l.Recv(&n); e != nil {
			err = e
		}
	}))
	require.NoError(t, err)
	require.NoError(t, l.Continue(n.ID))
	wait := serve(t, l, 1, answerAll)
	end()
	wait()
	require.NoError(t, l.Close())
}

// BenchmarkRoundTrip is the bare notification: an ioctl that is answered at
// once with an error. ns/call is what the client measures.
func BenchmarkRoundTrip(b *testing.B) {
	for _, sync := range []bool{false, true} {
		name := "default"
		if sync {
			name = "SYNC_WAKE_UP"
		}
		b.Run(name, func(b *testing.B) {
			p, end := launchLoop(b, b.N, 1)
			benchmark(b, p, end, sync, answerAll)
		})
	}
}

// BenchmarkContinue is a notified call that goes on, and fails.
func BenchmarkContinue(b *testing.B) {
	p, end := launchLoop(b, b.N, noFD)
	benchmark(b, p, end, true, answerAll)
}

// BenchmarkOpen is an openat that is answered with a descriptor, and a close.
func BenchmarkOpen(b *testing.B) {
	file, err := os.Open("/dev/null")
	require.NoError(b, err)
	defer file.Close()
	fd := int(file.Fd())
	for _, tt := range []struct {
		name string
		give func(l *Listener, n *Notif)
	}{
		{"AddFDSend", func(l *Listener, n *Notif) { l.AddFDSend(n.ID, fd, true) }},
		{"AddFD and Send", func(l *Listener, n *Notif) {
			num, _ := l.AddFD(n.ID, fd, true)
			l.Send(n.ID, int64(num), 0)
		}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			p, end := launchTimed(b, "reopen", "/nowhere/device", strconv.Itoa(b.N))
			benchmark(b, p, end, true, func(l *Listener, n *Notif) bool {
				if n.Nr != NrOpenat || pathAt(n) != "/nowhere/device" {
					return false
				}
				tt.give(l, n)
				return true
			})
		})
	}
}

func benchmark(b *testing.B, p *Launched, end func() float64, sync bool, h handler) {
	b.ReportAllocs()
	if sync && !p.Listener.SyncWakeUp() {
		p.Process.Kill()
		b.Skip("SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP is of Linux 6.6")
	}
	wait := serve(b, p.Listener, 1, h)
	require.NoError(b, p.Go())
	runtime.GC()
	b.ResetTimer()
	ns := end()
	b.StopTimer()
	b.ReportMetric(ns/float64(b.N), "ns/call")
	wait()
	require.NoError(b, p.Listener.Close())
}
