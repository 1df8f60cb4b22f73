package gen_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/gen"
	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

func write(t testing.TB, seed uint64, count int) []byte {
	t.Helper()
	var b bytes.Buffer
	for c := range gen.Cases(seed, count, "rxe") {
		_, err := c.WriteTo(&b) // which reads it again
		require.NoError(t, err, c.Name)
	}
	return b.Bytes()
}

// TestSameSeed: the same bytes for the same seed, others for another; and a
// case does not depend on how many there are.
func TestSameSeed(t *testing.T) {
	a := write(t, 5, 60)
	require.Equal(t, a, write(t, 5, 60))
	require.True(t, bytes.HasPrefix(a, write(t, 5, 20)))
	other := bytes.ReplaceAll(write(t, 6, 60), []byte("gen/6-"), []byte("gen/5-"))
	require.NotEqual(t, a, other)
}

// TestCoverage looks at what the steps of many cases are: every method and command
// that the device could have is called, with all kinds of attributes.
func TestCoverage(t *testing.T) {
	type call struct {
		object, method uint16
		command        uint8
		ex             bool
	}
	called := map[call]bool{}
	ops := map[string]int{}
	files, mutated, n := 0, 0, 0
	for c := range gen.Cases(1, 8000, "rxe") {
		n++
		opens := 0
		for i := range c.Steps {
			ops[c.Steps[i].Op()]++
			switch a := c.Steps[i].Do.(type) {
			case *casefile.Open:
				opens++
			case *casefile.Ioctl:
				called[call{a.Hdr.ObjectID, a.Hdr.MethodID, 0, false}] = true
			case *casefile.Write:
				if len(a.Data) >= spec.CmdHdrSize {
					called[call{0xffff, 0, a.Data[0], a.Data[3]&0x80 != 0}] = true
				}
			}
		}
		if opens > 1 {
			files++
		}
		if c.Why != "a random life of objects" {
			mutated++
		}
	}
	for _, d := range spec.Linux6_12.Definitions(spec.RDMA_DRIVER_RXE) {
		for _, m := range d.Object.Methods {
			require.Truef(t, called[call{d.Object.ID, m.ID, 0, false}], "%s is never called", m.Name)
		}
		for _, w := range d.Writes {
			require.Truef(t, called[call{0xffff, 0, w.Command, w.Ex}], "%s is never called", w.Name)
		}
	}
	for _, op := range []string{"open", "close", "ioctl", "write", "read", "poll"} {
		require.NotZero(t, ops[op], op)
	}
	require.Greater(t, files, n/10, "cases of several files")
	require.Greater(t, mutated, n/3)
	require.Less(t, mutated, 2*n/3, "many cases are left valid")
}

// TestNoAnswers: what is made has yet to be answered, and a read never blocks.
func TestNoAnswers(t *testing.T) {
	for c := range gen.Cases(2, 200, "rxe") {
		for i := range c.Steps {
			s := &c.Steps[i]
			require.Nil(t, s.Got)
			require.Empty(t, s.GotAny)
			if r, ok := s.Do.(*casefile.ReadEvent); ok {
				require.True(t, r.Nonblock, c.Name)
			}
		}
	}
}

// FuzzCases: whatever the seed, the cases can be written and read again.
func FuzzCases(f *testing.F) {
	f.Add(uint64(1))
	f.Add(^uint64(0))
	f.Fuzz(func(t *testing.T, seed uint64) {
		watchdog.On(t)
		write(t, seed, 5)
	})
}

func ExampleCases() {
	for c := range gen.Cases(1, 2, "rxe") {
		fmt.Println(c.Name, c.Driver, c.Steps[0].Op())
	}
	// Output:
	// gen/1-0000 rxe open
	// gen/1-0001 rxe open
}
