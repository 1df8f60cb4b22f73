package fuzz

import (
	"bytes"
	_ "embed"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

//go:embed testdata/objects.jsonl
var objectLines []byte

// objectCases are, for each driver, the case that makes an object of each kind.
var objectCases = sync.OnceValues(func() (map[string]*casefile.Case, error) {
	m := map[string]*casefile.Case{}
	for c, err := range casefile.Read(bytes.NewReader(objectLines), "testdata/objects.jsonl") {
		if err != nil {
			return nil, err
		}
		m[c.Driver] = c
	}
	return m, nil
})

// equipped is a bed of a driver, and the program that makes its objects: after it
// descriptor 3 is the device's.
func equipped(tb testing.TB, driver string) (*bed, []byte) {
	cases, err := objectCases()
	require.NoError(tb, err)
	c := cases[driver]
	require.NotNil(tb, c)
	b := newBed(driver)
	b.device.Device = c.Device
	program, _, err := b.programOf(c)
	require.NoError(tb, err)
	return b, program
}

// TestObjects: each call that makes objects is done.
func TestObjects(t *testing.T) {
	for driver, kinds := range map[string]int{"rxe": 8, "mlx5": 17, "stub": 15} {
		t.Run(driver, func(t *testing.T) {
			b, program := equipped(t, driver)
			_, err := b.fresh(func(l *life) {
				l.replay(program)
				seen := map[string]bool{}
				for i, a := range l.answers {
					require.Emptyf(t, a.what, "call %d of %v", i, l.answers)
				}
				for _, o := range l.objects() {
					seen[o.Type] = true
				}
				require.GreaterOrEqual(t, len(seen), kinds, "%v", seen)
			})
			require.NoError(t, err)
		})
	}
}
