package libmlx5

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/watchdog"
	"uverbsim/verbs"
)

// FuzzPoll: whatever a device writes into an entry, polling takes the entry, and
// its error is that of an entry without a queue or of memory that is not there.
func FuzzPoll(f *testing.F) {
	f.Add(make([]byte, 64), []byte{0x20})
	f.Add(append(make([]byte, 63), 0x24), []byte{0, 0, 0, 8})
	f.Fuzz(func(t *testing.T, cqe, wqe []byte) {
		watchdog.On(t)
		if len(cqe) != cqe64Size || len(wqe) > 1024 {
			return
		}
		qp, cq := bare(t, verbs.IBV_QPT_RC, 4)
		sys := cq.ctx.sys
		require.True(t, sys.Store(qp.buf, wqe))
		require.True(t, sys.Store(qp.sq.start, wqe[:min(len(wqe), 512)]))
		cqe[cqeOpOwn] &^= cqeOwnerMask
		require.True(t, sys.Store(cq.buf.cqe64(0), cqe))
		wc := make([]WC, 2)
		n, err := cq.Poll(wc)
		if cqe[cqeOpOwn]>>4 == cqeInvalid {
			require.Zero(t, n)
			require.NoError(t, err)
			return
		}
		var fault *verbs.Fault
		require.True(t, err == nil || errors.Is(err, ErrPoll) || errors.As(err, &fault), "%v", err)
		require.Equal(t, err == nil, n == 1)
		require.Equal(t, uint32(1), cq.consIndex)
	})
}
