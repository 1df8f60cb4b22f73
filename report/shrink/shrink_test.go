package shrink_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/gen"
	"uverbsim/report/shrink"
	"uverbsim/spec"
)

// has is an oracle: does a case have a call of the method, with the attribute?
func has(object, method, attr uint16) shrink.Oracle {
	return func(cases []*casefile.Case) ([]bool, error) {
		shows := make([]bool, len(cases))
		for i, c := range cases {
			for j := range c.Steps {
				a, ok := c.Steps[j].Do.(*casefile.Ioctl)
				if !ok || a.Hdr.ObjectID != object || a.Hdr.MethodID != method {
					continue
				}
				for _, x := range a.Attrs {
					shows[i] = shows[i] || x.ID == attr
				}
			}
		}
		return shows, nil
	}
}

// TestCase makes generated cases small as far as one attribute: an open, the
// call, and nothing else may be left.
func TestCase(t *testing.T) {
	oracle := has(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE)
	small := 0
	for c := range gen.Cases(3, 25, "rxe") {
		if shows, _ := oracle([]*casefile.Case{c}); !shows[0] {
			continue
		}
		got, err := shrink.Case(c, oracle)
		require.NoError(t, err, c.Name)
		require.Len(t, got.Steps, 2, c.Name)
		require.Equal(t, "open", got.Steps[0].Op())
		a := got.Steps[1].Do.(*casefile.Ioctl)
		require.Len(t, a.Attrs, 1)
		require.Empty(t, got.Bufs, "the attribute needs no buffer to be there")
		require.Nil(t, a.Hdr.Length)
		small++
	}
	require.NotZero(t, small)
}

// TestCaseKeepsWhatIsNeeded: a step whose symbol another names stays with it.
func TestCaseKeepsWhatIsNeeded(t *testing.T) {
	c, err := casefile.Unmarshal([]byte(`{"v":1,"name":"a/b","driver":"rxe","bufs":{"x":{"zero":4},"y":{"zero":8}},"steps":[
		{"op":"open","fd":"f","got":{"ret":"*","errno":""}},{"op":"open","fd":"g"},
		{"op":"write","fd":"f","hex":"11000000040001000000000000000000","reloc":[{"at":8,"size":8,"value":{"ptr":"x"}}],"save_fd":{"c":{"buf":"x","size":4}}},
		{"op":"poll","fd":"g"},{"op":"poll","fd":"c"}]}`))
	require.NoError(t, err)
	got, err := shrink.Case(c, func(cases []*casefile.Case) ([]bool, error) {
		shows := make([]bool, len(cases))
		for i, c := range cases {
			for j := range c.Steps {
				p, ok := c.Steps[j].Do.(*casefile.Poll)
				shows[i] = shows[i] || ok && p.FD == "c"
			}
		}
		return shows, nil
	})
	require.NoError(t, err)
	var ops []string
	for i := range got.Steps {
		ops = append(ops, got.Steps[i].Op())
	}
	require.Equal(t, []string{"open", "write", "poll"}, ops)
	require.Contains(t, got.Bufs, "x")
	require.NotContains(t, got.Bufs, "y")
	require.Nil(t, got.Steps[0].Got, "answers go")
}

func TestCaseErrors(t *testing.T) {
	c, err := casefile.Unmarshal([]byte(`{"v":1,"name":"a/b","driver":"rxe","steps":[{"op":"open","fd":"f"}]}`))
	require.NoError(t, err)
	_, err = shrink.Case(c, func(cases []*casefile.Case) ([]bool, error) { return make([]bool, len(cases)), nil })
	require.ErrorContains(t, err, "a/b shows nothing")
	boom := errors.New("no kernel")
	_, err = shrink.Case(c, func([]*casefile.Case) ([]bool, error) { return nil, boom })
	require.ErrorIs(t, err, boom)
}

func ExampleCase() {
	for c := range gen.Cases(3, 1, "rxe") {
		small, err := shrink.Case(c, func(cases []*casefile.Case) ([]bool, error) {
			shows := make([]bool, len(cases))
			for i, c := range cases {
				shows[i] = len(c.Steps) > 0 // whatever is looked for
			}
			return shows, nil
		})
		if err == nil {
			fmt.Println(len(small.Steps), "step is left")
		}
	}
	// Output: 1 step is left
}
