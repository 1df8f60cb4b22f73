package seccomp

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// connected returns the two ends of a Unix stream.
func connected(t *testing.T) (server, client *net.UnixConn) {
	addr := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "socket"), Net: "unix"}
	ln, err := net.ListenUnix("unix", addr)
	require.NoError(t, err)
	defer ln.Close()
	client, err = net.DialUnix("unix", nil, addr)
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	server, err = ln.AcceptUnix()
	require.NoError(t, err)
	t.Cleanup(func() { server.Close() })
	return server, client
}

// TestPassedListener: one process launches, and a server that it connects to
// answers.
func TestPassedListener(t *testing.T) {
	server, client := connected(t)
	p := mustLaunch(t, clientSpec(t, "answers"))
	require.NoError(t, SendFile(client, p.Listener.File()))
	require.NoError(t, p.Listener.Close())

	f, err := RecvFile(server)
	require.NoError(t, err)
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.FD_CLOEXEC)
	l := NewListener(f)
	wait := serve(t, l, 1, answerAll)
	require.NoError(t, p.Go())
	state, err := p.Process.Wait()
	require.NoError(t, err)
	require.True(t, state.Success())
	wait()
	require.NoError(t, l.Close())
}

func TestNoFilePassed(t *testing.T) {
	server, client := connected(t)
	_, err := client.Write([]byte{fileMark})
	require.NoError(t, err)
	_, err = RecvFile(server)
	require.EqualError(t, err, "the message has no file")

	_, _, err = client.WriteMsgUnix([]byte{'?'}, unix.UnixRights(int(os.Stdin.Fd())), nil)
	require.NoError(t, err)
	_, err = RecvFile(server)
	require.EqualError(t, err, "the message is not one of SendFile")

	require.NoError(t, client.Close())
	_, err = RecvFile(server)
	require.Error(t, err)
}
