package faults_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/faults"
)

func someCase(t *testing.T) *faults.Case {
	t.Helper()
	c, err := casefile.Unmarshal([]byte(`{"v":1,"name":"a/b","driver":"stub","steps":[{"op":"open","fd":"f"},{"op":"close","fd":"f"}]}`))
	require.NoError(t, err)
	c.Line = 1
	return &faults.Case{File: "x.jsonl", Case: c, Faults: []faults.Fault{
		{Step: 0, Call: "open", Places: []faults.Place{{0, "alloc", "ib_uverbs_file", "ib_uverbs_open"}}, Answer: "ENOMEM",
			Books: faults.Good, File: faults.Good, Close: faults.Good},
		{Step: 0, Call: "open", Places: []faults.Place{{1, "fd", "get_unused_fd_flags", ""}, {2, "op", "o", "f"}}, Answer: "EMFILE",
			Books: faults.Bad, File: faults.Unseen, Close: faults.Known, Known: []string{"so it is"}, Trouble: []string{"left behind: Handles 0 -> 1"}},
		{Step: 2, Call: "exit", Places: []faults.Place{{0, "command", "DESTROY_CQ", "mlx5_cmd_exec"}}, Answer: "0", Ignored: true,
			Books: faults.Known, File: faults.Good, Close: faults.Known, Known: []string{"so it is"}},
	}}
}

var someSum = faults.Sum{Cases: 1, Calls: 2, Faults: 3, Ignored: 1, Known: 2, Lost: 1}

func TestText(t *testing.T) {
	var b bytes.Buffer
	w := faults.Text(&b)
	require.NoError(t, w.Case(someCase(t)))
	require.NoError(t, w.Sum(someSum))
	require.Equal(t, `case a/b  (x.jsonl:1)
  step 0: open f
    #     kind    what                    where           answers  books    file   close frees
    0     alloc   ib_uverbs_file          ib_uverbs_open  ENOMEM   balance  works  all
    1, 2  fd, op  get_unused_fd_flags, o  , f             EMFILE   LOST     -      known [1]
        left behind: Handles 0 -> 1
  end: exit
    #  kind     what        where          answers  books  file   close frees
    0  command  DESTROY_CQ  mlx5_cmd_exec  ignored  known  works  known [1]
[1] known: so it is
3 faults in 2 calls of 1 case: 1 ignored, 2 with a known effect, 1 with something LOST
`, b.String())
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	w := faults.JSON(&b)
	c := someCase(t)
	c.Faults = c.Faults[1:2]
	require.NoError(t, w.Case(c))
	require.NoError(t, w.Sum(someSum))
	require.Equal(t, `{"case":"a/b","file":"x.jsonl","line":1,"step":0,"call":"open","faults":[{"n":1,"kind":"fd","what":"get_unused_fd_flags","where":""},`+
		`{"n":2,"kind":"op","what":"o","where":"f"}],"answer":"EMFILE","ignored":false,"known":["so it is"],"trouble":["left behind: Handles 0 -> 1"]}
{"sum":{"calls":2,"cases":1,"faults":3,"ignored":1,"known":2,"lost":1}}
`, b.String())
}
