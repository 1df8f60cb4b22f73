package clients

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

// TestRawEthernet has perftest's programs for raw packets send frames to each other,
// on one adapter and from one to another. They steer by their MAC addresses. Only who
// has CAP_NET_RAW can run them.
func TestRawEthernet(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("raw packets take CAP_NET_RAW")
	}
	suite.Need(t, "raw_ethernet_lat", "raw_ethernet_bw")
	for name, flags := range map[string][]string{
		"one adapter":  {"--device", "mlx5"},
		"two adapters": {"--device", "mlx5", "--device", "mlx5"},
	} {
		for _, program := range []string{"raw_ethernet_lat", "raw_ethernet_bw"} {
			t.Run(name+", "+program, func(t *testing.T) {
				to := "mlx5_0"
				if len(flags) > 2 {
					to = "mlx5_1"
				}
				const line = `
					"$0" --server -d $1 -B $3 -E $2 -s 200 -n 500 >server &
					sleep 0.5
					"$0" --client -d mlx5_0 -B $2 -E $3 -s 200 -n 500 && wait $! && cat server`
				args := append(append([]string{"run"}, flags...), "--", "sh", "-c", line, program, to, "02:00:5e:00:53:10", "02:00:5e:00:53:11")
				r := self.run(t, args, in(self.dir(t))).ok(t)
				require.Regexp(t, `(?s)(\n 200 +500 +[0-9.]+.*){2}`, r.stdout, "%s", r)
			})
		}
	}
}
