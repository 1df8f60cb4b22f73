package watchdog

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHang hangs in a process of its own, which has to end, and to say where it
// was.
func TestHang(t *testing.T) {
	if os.Getenv("WATCHDOG_HANG") != "" {
		On(t)
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHang$")
	cmd.Env = append(os.Environ(), "WATCHDOG_HANG=1", env+"=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Contains(t, string(out), "TestHang: not over after 1s")
	require.Contains(t, string(out), "watchdog.TestHang(", "the stack of the one that hangs")
}

// TestOver: what is over in time is left alone.
func TestOver(t *testing.T) {
	late := make(chan struct{}, 1)
	stop := start(time.Millisecond, func() { late <- struct{}{} })
	<-late
	stop()
	stop = start(300*time.Millisecond, func() { late <- struct{}{} })
	stop()
	select {
	case <-late:
		t.Fatal("the alarm of what was over")
	case <-time.After(400 * time.Millisecond):
	}
}
