package guest_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/guest"
	"uverbsim/sim_test/suite"
)

// oneMLX5 is how many mlx5 cases one that is played stands for.
const oneMLX5 = 32

// mlx5 returns a job for a guest with the real driver on this project's device.
// Where something to build the bridge with is missing the test is skipped, but not
// in CI.
func mlx5(t *testing.T) *guest.Job {
	t.Helper()
	k := kernel(t)
	bridge, err := guest.BuildBridge(context.Background(), k, t.Logf)
	if err != nil {
		suite.Missing(t, "THE DEVICE MODEL HAS NOT BEEN SHOWN TO THE REAL MLX5_IB: %v", err)
	}
	return &guest.Job{Kernel: k, Device: guest.MLX5, MLX5: guest.MLX5Options{Bridge: bridge}, Init: static(t)}
}

// TestRealMLX5 has the real mlx5_core and mlx5_ib take this project's device. They
// have nothing to complain of in the kernel's log, and with our device below them
// they give the recorded answers, as the model does.
func TestRealMLX5(t *testing.T) {
	j := mlx5(t)
	t.Parallel()
	var log, firmware bytes.Buffer
	j.Log, j.MLX5.Firmware = &log, &firmware
	cases := some(t, oneMLX5, "linux-6.12-mlx5", "linux-6.12-mlx5-mmap", "linux-6.12-mlx5-sweep", "linux-6.12-mlx5-fuzz", "linux-6.12-rules-mlx5", "linux-6.12-mlx5-flow")
	same(t, cases, record(t, j, cases))

	require.Contains(t, log.String(), "mlx5_core 0001:00:00.0: firmware version: 22.35.1010")
	for _, command := range []string{"ENABLE_HCA", "CREATE_EQ", "CREATE_UCTX", "CREATE_CQ"} {
		require.Contains(t, firmware.String(), " "+command+" ")
	}
}

// TestRealMLX5Caps: a device without a capability is refused by the driver as
// recorded.
func TestRealMLX5Caps(t *testing.T) {
	j := mlx5(t)
	t.Parallel()
	all, err := casefile.ReadFile("../corpus/linux-6.12-mlx5-caps.jsonl")
	require.NoError(t, err)
	j.MLX5.Caps = map[string]uint64{"device_memory": 0}
	var cases []*casefile.Case
	for _, c := range all {
		if maps.Equal(c.Device.Caps, j.MLX5.Caps) {
			cases = append(cases, c)
		}
	}
	require.NotEmpty(t, cases)
	plain := make([]*casefile.Case, len(cases))
	for i, c := range cases {
		without := *c
		without.Device = nil
		plain[i] = &without
	}
	recorded := record(t, j, plain)
	for i, c := range cases {
		recorded[i].Device = c.Device
	}
	same(t, cases, recorded)
}

// programs adds rdma-core's programs to a job, and a line for a shell to run.
func programs(t *testing.T, j *guest.Job, line string) *guest.Job {
	t.Helper()
	root, err := guest.FindPrograms(context.Background(), j.Kernel, t.Logf, guest.RDMAPrograms...)
	if err != nil {
		suite.Missing(t, "THE DEVICE MODEL HAS NOT BEEN SHOWN TO RDMA-CORE: %v", err)
	}
	j.Root, j.Path, j.Args, j.Limit = root, guest.Shell, []string{"sh", "-c", line}, 5*time.Minute
	return j
}

// pingpong has one of rdma-core's programs for it send messages to a second one of
// its kind, in each of some ways, and check the contents of each. The second starts
// when the first listens on its port, 18515.
const pingpong = `
	echo to the outside >&2
	ibv_devinfo
	for how in %s; do
		set -- $how
		program=ibv_$1_pingpong
		shift
		$program -g 1 -n 20 -r 60 -c $* &
		until grep -q ':4853 .* 0A ' /proc/net/tcp /proc/net/tcp6 2>/dev/null; do kill -0 $! || exit; sleep 1; done
		$program -g 1 -n 20 -r 60 -c $* 127.0.0.1 || exit
		wait
	done`

// TestPrograms: Debian's rdma-core, with the real libmlx5 and the real driver, sees
// each device as what it is, and its messages arrive there: by polling and waiting
// for events, from memory that is pinned, paged on demand (-o), or an address space
// that is (-O).
func TestPrograms(t *testing.T) {
	for profile, is := range map[string]struct {
		board string
		how   []string
	}{
		"connectx6dx": {"SIM0000000002", []string{"rc", "rc -e", "rc -e -o", "rc -e -O", "uc", "ud", "srq -q 4 -r 40"}},
		"small":       {"SIM0000000003", []string{"rc", "rc -e", "uc", "ud", "srq -q 4 -r 40"}},
	} {
		t.Run(profile, func(t *testing.T) {
			j := programs(t, mlx5(t), fmt.Sprintf(pingpong, `"`+strings.Join(is.how, `" "`)+`"`))
			t.Parallel()
			var out, errs bytes.Buffer
			j.MLX5.Profile, j.Stdout, j.Stderr = profile, &out, &errs
			status, err := guest.Run(context.Background(), j)
			require.NoError(t, err)
			require.Zero(t, status, errs.String())
			require.Equal(t, "to the outside\n", errs.String())
			says := map[string]string{}
			for line := range strings.Lines(out.String()) {
				if name, value, ok := strings.Cut(line, ":"); ok {
					says[strings.TrimSpace(name)] = strings.TrimSpace(value)
				}
			}
			for name, want := range map[string]string{
				"hca_id": "mlx5_0", "fw_ver": "22.35.1010", "vendor_part_id": "4125", "board_id": is.board,
				"state": "PORT_ACTIVE (4)", "link_layer": "Ethernet",
			} {
				require.Equal(t, want, says[name], name)
			}
			require.Equal(t, 2*len(is.how), strings.Count(out.String(), "\n20 iters in "), out.String())
			require.NotContains(t, out.String(), "invalid data")
		})
	}
}
