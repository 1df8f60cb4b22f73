package clients

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

// TestMachines has a ping-pong on other machines than the usual one.
func TestMachines(t *testing.T) {
	suite.Need(t, "ibv_rc_pingpong")
	for name, flags := range map[string][]string{
		"kernel 6.1":       {"--kernel", "6.1"},
		"profile recorded": {"--device", "mlx5,profile=recorded"},
		"profile small":    {"--device", "mlx5,profile=small"},
		"write trapped":    {"--write"},
	} {
		t.Run(name, func(t *testing.T) {
			args := "ibv_rc_pingpong -g 1 -n 50 -c"
			both := pair{server: args, client: args, port: "-p", flags: flags}.oneTree(t, least())
			require.Contains(t, both.server, "50 iters in")
			require.Contains(t, both.client, "50 iters in")
		})
	}
}

// TestTwoDevices has a ping-pong from one device to another.
func TestTwoDevices(t *testing.T) {
	suite.Need(t, "ibv_rc_pingpong")
	for name, flags := range map[string][]string{
		"two ports":    {"--device", "mlx5,ports=2"},
		"two adapters": {"--device", "mlx5", "--device", "mlx5,profile=recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			const args = "ibv_rc_pingpong -g 1 -n 50 -c -d "
			both := pair{server: args + "mlx5_0", client: args + "mlx5_1", port: "-p", flags: flags}.oneTree(t, least())
			server, client := addresses(addressLine, both.server), addresses(addressLine, both.client)
			require.Len(t, server["local"], 1)
			require.Equal(t, server["local"], client["remote"])
			require.Equal(t, client["local"], server["remote"])
			require.Equal(t, "::ffff:192.0.2.1", server["local"][0][2])
			require.Equal(t, "::ffff:192.0.2.2", client["local"][0][2])
		})
	}
}

// TestTools has the tools of every day look at what there is.
func TestTools(t *testing.T) {
	users(t, func(t *testing.T, u user) {
		r := u.run(t, []string{"run", "--", "ls", "-l", "/sys/class/infiniband", "/dev/infiniband"}).ok(t)
		require.Empty(t, r.stderr)
		require.Contains(t, r.stdout, "mlx5_0 -> ")
		require.Regexp(t, `(?m)^crw-rw-rw- 1 root root +231, 192 .* uverbs0$`, r.stdout)
		r = u.run(t, []string{"run", "--", "cat", "/sys/class/infiniband/mlx5_0/ports/1/state"}).ok(t)
		require.Equal(t, "4: ACTIVE\n", r.stdout)
		r = u.run(t, []string{"run", "--", "find", "/sys/class/infiniband/mlx5_0/", "-name", "node_type"}).ok(t)
		require.Equal(t, "/sys/class/infiniband/mlx5_0/node_type", strings.TrimSpace(r.stdout))
	})
}
