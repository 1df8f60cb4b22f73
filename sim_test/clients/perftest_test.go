package clients

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

// perftest is a run of one of the ib_*_lat and ib_*_bw programs.
type perftest struct {
	prog  string
	args  string
	sizes []int // of the messages that it must have measured
	iters int
}

// perftests are what each program does by itself.
var perftests = []perftest{
	{"send_lat", "", []int{2}, 50},
	{"write_lat", "", []int{2}, 50},
	{"read_lat", "", []int{2}, 50},
	{"atomic_lat", "", []int{8}, 50},
	{"send_bw", "", []int{65536}, 50},
	{"write_bw", "", []int{65536}, 50},
	{"read_bw", "", []int{65536}, 50},
	{"atomic_bw", "", []int{8}, 50},
}

// perftestVariants are what they can be told to do.
var perftestVariants = []perftest{
	{"send_lat", "-e", []int{2}, 50},
	{"send_bw", "-e", []int{65536}, 50},
	{"read_lat", "-e", []int{2}, 50},
	{"atomic_lat", "-e", []int{8}, 50},
	{"send_lat", "-c UC", []int{2}, 50},
	{"send_bw", "-c UC", []int{65536}, 50},
	{"write_lat", "-c UC", []int{2}, 50},
	{"send_lat", "-c UD", []int{2}, 50},
	{"send_bw", "-c UD -s 1024", []int{1024}, 50},
	{"send_bw", "-c XRC", []int{65536}, 50},
	{"write_bw", "-c XRC", []int{65536}, 50},
	{"send_lat", "--use_old_post_send", []int{2}, 50},
	{"send_lat", "-I 200 -s 200 -m 4096", []int{200}, 50},
	{"write_lat", "-I 128 -s 129", []int{129}, 50},
	{"send_bw", "-b", []int{65536}, 50},
	{"write_bw", "-q 4", []int{65536}, 200},
	{"send_bw", "-r 8 --use-srq", []int{65536}, 50},
	{"atomic_lat", "-A CMP_AND_SWAP", []int{8}, 50},
	{"atomic_bw", "-A CMP_AND_SWAP", []int{8}, 50},
	{"read_bw", "-o 1", []int{65536}, 50},
	{"read_bw", "-a", powers(1, 23), 0},
}

func powers(from, to int) (sizes []int) {
	for i := from; i <= to; i++ {
		sizes = append(sizes, 1<<i)
	}
	return sizes
}

func TestPerftest(t *testing.T) {
	for _, p := range perftests {
		t.Run(p.prog, func(t *testing.T) {
			suite.Need(t, "ib_"+p.prog)
			users(t, func(t *testing.T, u user) { p.check(t, p.pair().oneTree(t, u)) })
		})
	}
}

// TestPerftestVariants is for who has the fewest rights.
func TestPerftestVariants(t *testing.T) {
	suite.Long(t)
	for _, p := range perftestVariants {
		t.Run(p.prog+" "+p.args, func(t *testing.T) {
			suite.Need(t, "ib_"+p.prog)
			both := p.pair()
			if strings.Contains(p.args, "-a") {
				both.flags = []string{"--memlock", "unlimited"}
			}
			p.check(t, both.oneTree(t, least()))
		})
	}
}

// TestPerftestServed has the two ends in two trees of processes.
func TestPerftestServed(t *testing.T) {
	for _, p := range perftests {
		if p.prog != "write_lat" && p.prog != "send_bw" {
			continue
		}
		t.Run(p.prog, func(t *testing.T) {
			suite.Need(t, "ib_"+p.prog)
			p.check(t, p.pair().twoTrees(t, least()))
		})
	}
}

func (p perftest) pair() pair {
	iters := p.iters
	if iters == 0 || strings.Contains(p.args, "-q ") {
		iters = 5 // the fewest it takes
	}
	if strings.Contains(p.args, "-q ") {
		iters = 50
	}
	args := "ib_" + p.prog + " -x 1 -F -n " + strconv.Itoa(iters) + " " + p.args
	return pair{server: args, client: args, port: "-p"}
}

var perftestQP = regexp.MustCompile(`(?m)^ (local|remote) address: LID 0000 QPN (0x[0-9a-f]+) PSN (0x[0-9a-f]+)`)

// check reads what the side that measures has measured, and compares what the two
// say of themselves and of each other.
func (p perftest) check(t *testing.T, s sides) {
	t.Helper()
	require.Contains(t, s.client, "GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:00:02:01")
	server, client := addresses(perftestQP, s.server), addresses(perftestQP, s.client)
	require.NotEmpty(t, server["local"], s.server)
	require.Equal(t, server["local"], client["remote"])
	require.Equal(t, client["local"], server["remote"])

	var sizes []int
	for _, row := range rows(t, s.client) {
		sizes = append(sizes, int(row[0]))
		if p.iters != 0 {
			require.Equal(t, p.iters, int(row[1]), s.client)
		}
		if strings.HasSuffix(p.prog, "_lat") {
			least, most, typical, mean := row[2], row[3], row[4], row[5]
			require.Positive(t, least, s.client)
			require.LessOrEqual(t, least, typical, s.client)
			require.LessOrEqual(t, typical, most, s.client)
			require.LessOrEqual(t, mean, most, s.client)
		} else {
			mean, rate := row[3], row[4]*1e6 // MiB and messages, in a second
			const printed = 0.01             // the last digit of mean
			moved := rate * row[0] / (1 << 20)
			require.InDelta(t, moved, mean, printed+moved/2, s.client)
			require.Positive(t, rate, s.client)
		}
	}
	require.Equal(t, p.sizes, sizes, s.client)
}

// rows returns the numbers below the heading.
func rows(t *testing.T, out string) (rows [][]float64) {
	t.Helper()
	_, table, ok := strings.Cut(out, " #bytes")
	require.True(t, ok, out)
	_, table, _ = strings.Cut(table, "\n")
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			break
		}
		var row []float64
		for _, f := range fields {
			n, err := strconv.ParseFloat(f, 64)
			require.NoError(t, err, line)
			row = append(row, n)
		}
		rows = append(rows, row)
	}
	return rows
}
