package interpose

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
)

// TestPanicInExit breaks the Supervisor when a program has exited, in the close
// operation of an area of its memory: that is reported, and the program is a client no
// more.
func TestPanicInExit(t *testing.T) {
	reports := make(chan string, 1)
	s, err := New(Config{Machine: kernel.NewMachine(methods.Core()), Report: func(line string) { reports <- line }})
	require.NoError(t, err)
	program := exec.Command("sleep", "1000")
	require.NoError(t, program.Start())
	c, err := s.clientOf(program.Process.Pid)
	require.NoError(t, err)
	breaks := &copyuser.AreaOps{Close: func(copyuser.Current, *copyuser.Area) { panic("on purpose") }}
	task := c.proc.MainTask()
	file, err := process.NewAnonFile(task, &process.FileOps{}, nil, unix.O_RDWR)
	require.NoError(t, err)
	_, err = c.space().Mmap(task, copyuser.MmapRequest{
		Length: copyuser.PageSize, Prot: unix.PROT_READ, Flags: unix.MAP_PRIVATE, File: file, Readable: true,
		Map: func(a *copyuser.Area) error { a.Ops = breaks; return nil },
	})
	require.NoError(t, err)
	require.NoError(t, program.Process.Kill())
	_ = program.Wait() // it says that the program was killed
	select {
	case line := <-reports:
		require.Contains(t, line, "an exit: on purpose")
	case <-time.After(10 * time.Second):
		require.Fail(t, "no report")
	}
	require.NoError(t, s.Close())
	require.Empty(t, s.clients)
}
