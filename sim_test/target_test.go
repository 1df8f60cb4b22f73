package sim_test

import (
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/device"
	"uverbsim/sim_test/player"
)

// With the node of a soft RoCE device of Linux 6.12,
//
//	go test ./sim_test -run TestTarget -target /dev/infiniband/uverbs0
//
// as root, the recorded cases are played on that kernel. The device has to be
// as the recorded one: sim_test/guest makes such a one.
var target = flag.String("target", "", "a device node to play the recorded cases on")

// ofOneProcessor says of a file with rxe's cases whether a kernel with one processor
// answers them as recorded; the others are sets of outcomes, of a kernel with two.
func ofOneProcessor(file string) bool { return file != "linux-6.12-par" }

func isLinux6_12(c *casefile.Case) bool { return strings.HasPrefix(c.Kernel, "6.12.") }

// TestTarget plays the cases that were recorded on a soft RoCE device on a real
// one.
func TestTarget(t *testing.T) {
	if *target == "" {
		t.Skip("no -target PATH")
	}
	dev, err := device.New(*target)
	require.NoError(t, err)
	played := 0
	for _, f := range readCorpus(t) {
		if !ofOneProcessor(f.name) {
			continue
		}
		for i, c := range f.cases {
			if c.Driver != "rxe" || !isLinux6_12(c) || testing.Short() && i%shortSubset != 0 {
				continue
			}
			t.Run(f.name+"/"+c.Name, func(t *testing.T) {
				r := player.Play(dev, c, player.Options{Repeat: 2})
				var not *player.Unplayable
				if errors.As(r.Err, &not) {
					t.Skip(not)
				}
				played++
				if !r.Passed() {
					t.Error(r.Text(f.name))
				}
			})
		}
	}
	require.NotZero(t, played)
}
