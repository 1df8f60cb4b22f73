package clients

import (
	"testing"
	"time"

	"uverbsim/sim_test/clients/tcpport"
)

// awaitListener returns when somebody listens at a TCP port.
func awaitListener(t *testing.T, port int, j *job) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if tcpport.Listens(port) {
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
