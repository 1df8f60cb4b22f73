package guest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/guest"
)

// notDearer are calls that may cost the model at most what they cost the real kernel.
var notDearer = []string{"ioctl/refused-command", "ioctl/refused-header", "ioctl/refused-method", "ioctl/refused-length",
	"ioctl/unknown-handle", "ioctl/query-port", "ioctl/cq"}

// benched is what one call cost on either side.
type benched struct {
	Call        string
	Model, Node struct {
		Least float64 `json:"least_ns"`
	}
	Ratio struct {
		OfLeast float64 `json:"of_least"`
		Median  float64
	} `json:"model_to_node"`
}

func (b *benched) String() string {
	return fmt.Sprintf("%s: the model %.0f ns, the kernel %.0f ns, ratio %.2f (median of the rounds %.2f)",
		b.Call, b.Model.Least, b.Node.Least, b.Ratio.OfLeast, b.Ratio.Median)
}

// TestBench measures the model beside the real kernel in one run in one guest: on rxe a
// refused call, a QUERY_PORT, and a CQ made and destroyed cost at most as much as the
// real ioctls. What is compared is the least of many rounds of each, in which nothing
// came between. The guest's processor is emulated, and the host has other work: one
// run of three has to show it.
func TestBench(t *testing.T) {
	j := &guest.Job{Kernel: kernel(t), Init: static(t)}
	j.Args = []string{"bench", "--json", "--target", guest.DevicePath, "--driver", "rxe", "--rounds", "101", "--time", "3ms"}
	for _, name := range notDearer {
		j.Args = append(j.Args, "--only", name)
	}
	j.Limit = 5 * time.Minute
	var dearer []string
	for range 3 {
		dearer = nil
		for _, c := range bench(t, j) {
			t.Log(&c)
			if c.Ratio.OfLeast > 1 {
				dearer = append(dearer, c.String())
			}
		}
		if dearer == nil {
			return
		}
	}
	require.Empty(t, dearer)
}

// bench runs the job and returns what the calls of notDearer cost.
func bench(t *testing.T, j *guest.Job) []benched {
	t.Helper()
	var out, errs bytes.Buffer
	j.Stdout, j.Stderr = &out, &errs
	status, err := guest.Run(context.Background(), j)
	require.NoError(t, err)
	require.Zero(t, status, errs.String())
	var r struct {
		Node  struct{ Driver, Kernel string }
		Calls []benched
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Equal(t, "rxe", r.Node.Driver)
	require.Contains(t, r.Node.Kernel, guest.Release)
	require.Len(t, r.Calls, len(notDearer))
	for i := range r.Calls {
		require.Equal(t, notDearer[i], r.Calls[i].Call)
		require.Positive(t, r.Calls[i].Ratio.OfLeast, &r.Calls[i])
	}
	return r.Calls
}
