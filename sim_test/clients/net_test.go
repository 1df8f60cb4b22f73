package clients

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lastPort is the TCP port that was given out last. Those that the kernel gives out
// are higher.
var lastPort atomic.Int32

func init() { lastPort.Store(20000 + rand.Int32N(8000)) }

// freePort returns a TCP port that nobody listens at.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := int(lastPort.Add(1))
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// awaitListener returns when somebody listens at a TCP port. (To connect would take
// the place of who is waited for.)
func awaitListener(t *testing.T, port int, j *job) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if listens(port) {
			return
		}
		select {
		case <-j.done:
			t.Fatalf("ended early:\n%s", j.wait())
		default:
		}
	}
	t.Fatalf("nobody listens at port %d", port)
}

func listens(port int) bool {
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			const listening = "0A"
			if len(fields) > 3 && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) && fields[3] == listening {
				return true
			}
		}
	}
	return false
}
