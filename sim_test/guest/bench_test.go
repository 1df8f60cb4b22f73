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
var notDearer = []string{"ioctl/refused-command", "ioctl/refused-header", "ioctl/query-port", "ioctl/cq"}

// TestBench measures the model beside the real kernel in one run in one guest: on rxe a
// refused call, a QUERY_PORT, and a CQ made and destroyed cost at most as much as the
// real ioctls. What is compared is the least of many rounds of each, in which nothing
// came between; the guest's processor is emulated, and the host has other work.
func TestBench(t *testing.T) {
	j := &guest.Job{Kernel: kernel(t), Init: static(t)}
	var out, errs bytes.Buffer
	j.Args = []string{"bench", "--json", "--target", guest.DevicePath, "--driver", "rxe", "--rounds", "101", "--time", "3ms"}
	for _, name := range notDearer {
		j.Args = append(j.Args, "--only", name)
	}
	j.Limit, j.Stdout, j.Stderr = 5*time.Minute, &out, &errs
	status, err := guest.Run(context.Background(), j)
	require.NoError(t, err)
	require.Zero(t, status, errs.String())
	var r struct {
		Node  struct{ Driver, Kernel string }
		Calls []struct {
			Call        string
			Model, Node struct {
				Least float64 `json:"least_ns"`
			}
			Ratio struct {
				OfLeast float64 `json:"of_least"`
				Median  float64
			} `json:"model_to_node"`
		}
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Equal(t, "rxe", r.Node.Driver)
	require.Contains(t, r.Node.Kernel, guest.Release)
	require.Len(t, r.Calls, len(notDearer))
	for i, c := range r.Calls {
		told := fmt.Sprintf("%s: the model %.0f ns, the kernel %.0f ns, ratio %.2f (median of the rounds %.2f)",
			c.Call, c.Model.Least, c.Node.Least, c.Ratio.OfLeast, c.Ratio.Median)
		t.Log(told)
		require.Equal(t, notDearer[i], c.Call)
		require.Positive(t, c.Ratio.OfLeast, told)
		require.LessOrEqual(t, c.Ratio.OfLeast, 1.0, told)
	}
}
