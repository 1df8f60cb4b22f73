package interpose_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/interpose/seccomp"
	"uverbsim/spec"
)

func init() {
	clients["bench"] = benchClient
	clients["bare"] = bareClient
}

// timed makes n calls and returns what one takes, in nanoseconds.
func timed(n int, call func()) float64 {
	for range n / 10 {
		call()
	}
	begun := time.Now()
	for range n {
		call()
	}
	return float64(time.Since(begun).Nanoseconds()) / float64(n)
}

// benchClient prints what calls take in nanoseconds: one refused by its header, a
// QUERY_PORT, and an open with a context and the close.
func benchClient(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	fd, err := openNode()
	if err != nil {
		return err
	}
	if err := getContext(fd); err != nil {
		return err
	}
	port := &attr{id: spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, data: 1, len: 8}
	resp := &attr{id: spec.UVERBS_ATTR_QUERY_PORT_RESP, buf: make([]byte, 48)}
	if e, _ := verbs(fd, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT, spec.RDMA_DRIVER_MLX5, port, resp); e != 0 {
		return e
	}
	fmt.Println(
		timed(n, func() { verbs(fd, 0xffff, 0, spec.RDMA_DRIVER_MLX5) }),
		timed(n, func() {
			verbs(fd, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT, spec.RDMA_DRIVER_MLX5, port, resp)
		}),
		timed(n/10, func() {
			other, _ := openNode()
			_ = getContext(other)
			unix.Close(other)
		}))
	return nil
}

// bareClient prints what a call takes that nothing is done for.
func bareClient(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	fmt.Println(timed(n, func() { verbs(0, 0, 0, 0) }))
	return nil
}

// bare starts the client under a listener that answers at once.
func bare(t testing.TB, n int) float64 {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	p, err := seccomp.Launch(clientSpec(t, write, "bare", strconv.Itoa(n)))
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		p.Listener.SyncWakeUp()
		var c seccomp.Notif
		for p.Listener.Recv(&c) == nil {
			if c.Nr == unix.SYS_IOCTL {
				_ = p.Listener.Send(c.ID, 0, unix.EINVAL)
			} else {
				_ = p.Listener.Continue(c.ID)
			}
		}
	}()
	require.NoError(t, p.Go())
	write.Close()
	var ns float64
	_, err = fmt.Fscan(read, &ns)
	require.NoError(t, err)
	_, err = p.Process.Wait()
	require.NoError(t, err)
	<-served
	require.NoError(t, p.Listener.Close())
	return ns
}

// BenchmarkIoctl lays what a call costs beside what its notification costs.
func BenchmarkIoctl(b *testing.B) {
	r := newRig(b, nil)
	n := max(b.N, 2000)
	b.ResetTimer()
	var refused, port, open float64
	_, err := fmt.Sscan(r.run(b, "bench", strconv.Itoa(n)), &refused, &port, &open)
	require.NoError(b, err)
	alone := bare(b, n)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(alone, "bare-ns")
	b.ReportMetric(refused, "refused-ns")
	b.ReportMetric(port, "query-port-ns")
	b.ReportMetric(open, "open-close-ns")
	b.ReportMetric(refused/alone, "refused/bare")
	b.ReportMetric(port/alone, "query-port/bare")
}
