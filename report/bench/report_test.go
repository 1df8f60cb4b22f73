package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample is a report with figures that were made up.
func sample(node *Node) *Report {
	r := &Report{Go: "go1.26.8", Arch: "linux/amd64", Processors: 2, Processor: "A Processor", Memory: 3 << 29, Node: node,
		Results: []Result{
			{Driver: "rxe", Call: "ioctl/refused-command", Model: Times{[]float64{30.04, 40, 31}}, Node: Times{[]float64{600, 400, 310}},
				Loop: Times{[]float64{20, 25, 22}}},
			{Driver: "rxe", Call: "ioctl/cq", Model: Times{[]float64{4000, 4100, 6000}}, Node: Times{[]float64{10000, 8200, 8000}},
				Loop: Times{[]float64{20, 21, 24}}, Allocs: 14.02, Bytes: 4909.4},
		}}
	if node == nil {
		r.Results[0].Node, r.Results[1].Node = Times{}, Times{}
		r.Results = append(r.Results, Result{Driver: "mlx5", Call: "write/pd", Model: Times{[]float64{1000}}, Loop: Times{[]float64{20}}, Allocs: 3, Bytes: 200})
	}
	return r
}

var sampleNode = &Node{Path: "/dev/infiniband/uverbs0", Device: "rxe0", Driver: "rxe", Kernel: "6.12.9"}

func TestText(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Text(&b, sample(sampleNode)))
	require.Equal(t, `go1.26.8 linux/amd64, GOMAXPROCS=2, GOGC=100; A Processor; 1.5 GiB of memory
node: /dev/infiniband/uverbs0, rxe0 of the driver rxe, Linux 6.12.9
calibration loop: 20.0 ns, median 21.5

  rxe, ns                model  median  node  median  model/node  median       rounds   loops     B  allocs
  ioctl/refused-command   30.0    31.0   310     400       0.097   0.100  0.050-0.100    1.50     0       0
  ioctl/cq                4000    4100  8000    8200       0.500   0.500  0.400-0.750  200.00  4909      14
`, b.String())
	b.Reset()
	require.NoError(t, Text(&b, sample(nil)))
	require.Equal(t, `go1.26.8 linux/amd64, GOMAXPROCS=2, GOGC=100; A Processor; 1.5 GiB of memory
calibration loop: 20.0 ns, median 21.0

  rxe, ns                model  median   loops     B  allocs
  ioctl/refused-command   30.0    31.0    1.50     0       0
  ioctl/cq                4000    4100  200.00  4909      14

  mlx5, ns               model  median  loops    B  allocs
  write/pd                1000    1000  50.00  200       3
`, b.String())
	bare := &Report{Go: "go1.26.8", Arch: "linux/arm64", Processors: 1}
	b.Reset()
	require.NoError(t, Text(&b, bare))
	require.Equal(t, "go1.26.8 linux/arm64, GOMAXPROCS=1, GOGC=100\ncalibration loop: 0.0 ns, median 0.0\n", b.String())
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, JSON(&b, sample(sampleNode)))
	require.JSONEq(t, `{
	"go": "go1.26.8", "arch": "linux/amd64", "gomaxprocs": 2, "processor": "A Processor", "memory_bytes": 1610612736,
	"calibration_loop": {"version": 1, "least_ns": 20, "median_ns": 21.5},
	"node": {"path": "/dev/infiniband/uverbs0", "device": "rxe0", "driver": "rxe", "kernel": "6.12.9"},
	"calls": [
		{"driver": "rxe", "call": "ioctl/refused-command", "model": {"least_ns": 30, "median_ns": 31},
		 "node": {"least_ns": 310, "median_ns": 400}, "model_to_node": {"of_least": 0.0969, "median": 0.1, "low": 0.0501, "high": 0.1},
		 "loops": 1.502, "allocs": 0, "bytes": 0},
		{"driver": "rxe", "call": "ioctl/cq", "model": {"least_ns": 4000, "median_ns": 4100},
		 "node": {"least_ns": 8000, "median_ns": 8200}, "model_to_node": {"of_least": 0.5, "median": 0.5, "low": 0.4, "high": 0.75},
		 "loops": 200, "allocs": 14, "bytes": 4909.4}]}`, b.String())
	b.Reset()
	require.NoError(t, JSON(&b, sample(nil)))
	var r struct {
		Calls []map[string]any
		Node  any
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &r))
	require.Nil(t, r.Node)
	require.Len(t, r.Calls, 3)
	require.NotContains(t, r.Calls[0], "node")
	require.NotContains(t, r.Calls[0], "model_to_node")
}

// full is a writer that takes nothing.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestNoSpace(t *testing.T) {
	require.ErrorIs(t, Text(full{}, sample(nil)), errFull)
	require.ErrorIs(t, JSON(full{}, sample(nil)), errFull)
	require.ErrorIs(t, NewBaseline(sample(nil)).Write(full{}), errFull)
	_, err := NewBaseline(sample(nil)).WriteComparison(full{}, sample(nil), 0.3)
	require.ErrorIs(t, err, errFull)
}

func TestBaselineIsReadAsItWasWritten(t *testing.T) {
	b := NewBaseline(sample(nil))
	require.Equal(t, &Baseline{LoopVersion: LoopVersion, Go: "go1.26.8", Arch: "linux/amd64", Calls: map[string]Cost{
		"rxe ioctl/refused-command": {1.5, 0}, "rxe ioctl/cq": {200, 14}, "mlx5 write/pd": {50, 3}}}, b)
	var text bytes.Buffer
	require.NoError(t, b.Write(&text))
	read, err := ReadBaseline(&text, "f")
	require.NoError(t, err)
	require.Equal(t, b, read)
}

func TestReadBaselineErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                    "f is no baseline: EOF",
		`[]`:                  "f is no baseline",
		`{"speed": 1}`:        `f is no baseline: json: unknown field "speed"`,
		`{"loop_version": 7}`: "f counts in loops of version 7, and the calibration loop now is of version 1: the baseline has to be made anew",
		`{"loop_version": 1, "calls": {"rxe ioctl/cq": {"loops": 0}}}`: "f: rxe ioctl/cq takes 0 loops",
	} {
		_, err := ReadBaseline(strings.NewReader(text), "f")
		require.ErrorContains(t, err, want)
	}
}

// TestCompare: each way in which a call can differ is told, and nothing else.
func TestCompare(t *testing.T) {
	r := sample(nil)
	for _, c := range []struct {
		name  string
		calls map[string]Cost
		worse int
		text  string
	}{
		{"alike", map[string]Cost{"rxe ioctl/refused-command": {1.4, 0}, "rxe ioctl/cq": {200, 14}, "mlx5 write/pd": {50, 3}}, 0,
			"\n3 of 3 calls are as fast as the baseline has them\n"},
		{"slower", map[string]Cost{"rxe ioctl/refused-command": {1.15, 0}, "rxe ioctl/cq": {160, 14}, "mlx5 write/pd": {50, 3}}, 1,
			"\nworse than the baseline, by more than 30 % or by an allocation:\n" +
				"  rxe ioctl/refused-command: 1.50 loops instead of 1.15 (+30 %), 0 allocations instead of 0\n" +
				"\n2 of 3 calls are as fast as the baseline has them\n"},
		{"allocates", map[string]Cost{"rxe ioctl/refused-command": {1.5, 0}, "rxe ioctl/cq": {200, 13}, "mlx5 write/pd": {50, 3}}, 1,
			"\nworse than the baseline, by more than 30 % or by an allocation:\n" +
				"  rxe ioctl/cq: 200.00 loops instead of 200.00 (+0 %), 14 allocations instead of 13\n" +
				"\n2 of 3 calls are as fast as the baseline has them\n"},
		{"faster", map[string]Cost{"rxe ioctl/refused-command": {2, 0}, "rxe ioctl/cq": {200, 15}, "mlx5 write/pd": {64, 3}}, 0,
			"\nbetter than the baseline, by more than 30 % or by an allocation:\n" +
				"  rxe ioctl/refused-command: 1.50 loops instead of 2.00 (-25 %), 0 allocations instead of 0\n" +
				"  rxe ioctl/cq: 200.00 loops instead of 200.00 (+0 %), 14 allocations instead of 15\n" +
				"\n3 of 3 calls are as fast as the baseline has them\n"},
		{"unknown", map[string]Cost{"rxe ioctl/refused-command": {1.5, 0}, "rxe ioctl/cq": {200, 14}}, 1,
			"\nnot in the baseline:\n  mlx5 write/pd: 50.00 loops, 3 allocations\n" +
				"\n2 of 2 calls are as fast as the baseline has them\n"},
		{"all unknown", nil, 3,
			"\nnot in the baseline:\n  rxe ioctl/refused-command: 1.50 loops, 0 allocations\n" +
				"  rxe ioctl/cq: 200.00 loops, 14 allocations\n  mlx5 write/pd: 50.00 loops, 3 allocations\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text bytes.Buffer
			worse, err := (&Baseline{Calls: c.calls}).WriteComparison(&text, r, 0.3)
			require.NoError(t, err)
			require.Equal(t, c.worse, worse)
			require.Equal(t, c.text, text.String())
		})
	}
}

// TestAgain: what is slower is measured again, and the least of all rounds counts.
func TestAgain(t *testing.T) {
	r := sample(nil)
	b := &Baseline{Calls: map[string]Cost{"rxe ioctl/refused-command": {1, 0}, "rxe ioctl/cq": {200, 0}, "mlx5 write/pd": {1, 0}}}
	require.Equal(t, []string{"ioctl/refused-command"}, names(b.Again(r, "rxe", 0.3)))
	require.Equal(t, []string{"write/pd"}, names(b.Again(r, "mlx5", 0.3)))
	r.Add([]Result{{Driver: "rxe", Call: "ioctl/refused-command", Model: Times{[]float64{21}}, Loop: Times{[]float64{24}}}})
	require.Empty(t, b.Again(r, "rxe", 0.3))
	require.Equal(t, 21.0, r.Results[0].Model.Least())
	require.Equal(t, 1.05, r.Results[0].Loops(), "of the least rounds of both, 21 and 20")
	require.Len(t, r.Results[1].Model.Rounds, 3)
}
