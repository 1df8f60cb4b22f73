package pingpong

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/verbs"
)

// TestRun: each message takes two completions, and over a link that loses packets
// nothing is missing.
func TestRun(t *testing.T) {
	for name, o := range map[string]Options{
		"as it is": {},
		"large":    {Messages: 6, Size: 1 << 20},
		"lossy":    {Messages: 100, Size: 16384, Link: hw.Link{Loss: 0.05, Delay: 3 * time.Microsecond, Seed: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			o.Progress = func(n int) { calls++; require.Equal(t, calls, n) }
			r, err := Run(o)
			require.NoError(t, err)
			want := o.withDefaults()
			require.Equal(t, want.Messages, calls)
			require.Equal(t, want.Messages, r.Messages)
			require.Equal(t, uint64(want.Messages)*want.Size, r.Bytes)
			require.Equal(t, 2*want.Messages, r.Completions)
			require.Equal(t, o.Link.Loss > 0, r.Lost > 0)
			var b bytes.Buffer
			require.NoError(t, r.Text(&b))
			require.Contains(t, b.String(), "messages/s")
		})
	}
}

// TestCheck: a message that is changed on the way is noticed.
func TestCheck(t *testing.T) {
	const size = 64
	fabric := hw.NewFabric(hw.Link{})
	ends, err := connected(fabric, size)
	require.NoError(t, err)
	from, to := ends[0], ends[1]
	require.NoError(t, exchange(fabric, from, to, 1))
	require.NoError(t, to.check(1))
	require.ErrorContains(t, to.check(2), "message 2 came with another content", "it is another message")
	const last = size + size - 1 // byte of the message that came
	bits := []byte{0}
	require.NoError(t, verbs.Load(to.proc, to.buf+last, bits))
	bits[0] ^= 1
	require.NoError(t, verbs.Store(to.proc, to.buf+last, bits))
	require.ErrorContains(t, to.check(1), "message 1 came with another content")
}

// TestLostForGood: a link that brings nothing ends in an error, not in waiting.
func TestLostForGood(t *testing.T) {
	_, err := Run(Options{Messages: 1, Link: hw.Link{Loss: 1}})
	require.ErrorContains(t, err, "status 12")
}
