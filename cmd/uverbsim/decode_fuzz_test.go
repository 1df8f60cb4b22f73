package main

import (
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/dissect"
	"uverbsim/report/request"
	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

// FuzzDecode: whatever the bytes, they are taken to pieces and played; what
// succeeds has nothing that is refused at sight, and what is refused for
// something that can be seen has it marked.
func FuzzDecode(f *testing.F) {
	n := 0
	for _, file := range []string{"linux-6.12-rxe", "linux-6.12-mlx5"} {
		for _, c := range corpusCasesOf(f, file) {
			if s, _ := onFreshContext(c); s != nil {
				if n++; n%20 == 0 {
					r := memoryOf(f, c, s)
					f.Add(r.Kind == request.Ioctl, c.Driver == "rxe", r.Bytes)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, ioctl, rxe bool, b []byte) {
		watchdog.On(t)
		if len(b) == 0 || len(b) > 4096 {
			return
		}
		r := &request.Request{Kind: request.Write, Bytes: b, Memory: []request.Range{{Bytes: b}}, Count: -1}
		if ioctl {
			r.Kind = request.Ioctl
		}
		dev := dissect.Device{Name: "mlx5", Kernel: spec.Linux6_12}
		if rxe {
			dev.Name = "rxe"
		}
		dev.Driver, _ = casefile.DriverID(dev.Name)
		r = r.Placed()
		c, err := requestCase(r, dev, false)
		require.NoError(t, err)
		d := dissect.Of(r, dev)
		c = playRequest(r, d, c, false)
		_, err = c.WriteTo(io.Discard)
		require.NoError(t, err)
		require.NoError(t, dissect.Text(io.Discard, d))
		require.NoError(t, dissect.JSON(io.Discard, d))
		a := d.Answer
		switch {
		case a.Cannot != "":
		case a.Errno == "":
			require.Empty(t, d.Rules())
		case a.Rule != nil && slices.Contains(atSight, a.Rule):
			require.Contains(t, d.Rules(), a.Rule)
		}
	})
}
