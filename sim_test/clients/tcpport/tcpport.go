// Package tcpport finds TCP ports for programs that tests run, and tells when a program
// listens at one.
package tcpport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// last is the port that was given out last. Those that the kernel gives out are
// higher than all.
var last atomic.Int32

func init() { last.Store(20000 + rand.Int32N(12000)) }

// Free returns a TCP port that nobody listens at.
func Free(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := int(last.Add(1))
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// Listens says whether somebody listens at a TCP port. (To connect would take the
// place of who is waited for.)
func Listens(port int) bool {
	const listening = "0A"
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, _ := os.ReadFile(name) // a machine may have one of the two
		for line := range strings.Lines(string(table)) {
			f := strings.Fields(line)
			if len(f) > 3 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) && f[3] == listening {
				return true
			}
		}
	}
	return false
}
