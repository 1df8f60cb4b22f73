package clients

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// served is a server that runs.
type served struct {
	*job
	socket string
}

// serve starts a server.
func (u user) serve(t *testing.T, socket string, flags ...string) *served {
	t.Helper()
	s := &served{socket: socket}
	s.job = u.start(t, append(append([]string{"serve"}, flags...), socket))
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if strings.Contains(s.said(), "serving at "+socket) {
			return s
		}
		require.True(t, time.Now().Before(end), "the server does not start: %s", s.said())
	}
}

// end has the server end, which requires that nothing is left in its machine.
func (s *served) end() {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
	s.wait().ok(s.t)
}
