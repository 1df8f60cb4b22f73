package replay_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/replay"
	"uverbsim/rule"
)

// three is a case of an open, an ioctl and a write.
func three(t testing.TB) *casefile.Case {
	t.Helper()
	c, err := casefile.Unmarshal([]byte(`{"v":1,"name":"cq/one","why":"a rule","driver":"rxe","steps":[
		{"op":"open","fd":"f","got":{"ret":"*","errno":""}},
		{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},"got":{"ret":0,"errno":""}},
		{"op":"write","fd":"f","hex":"12000000","got":{"ret":4,"errno":""}}]}`))
	require.NoError(t, err)
	c.Line = 7
	return c
}

var refusal = &rule.Rule{ID: "x/y", Errno: syscall.EINVAL, Func: "f", File: "f.c", Why: "it is so", Do: "Do not."}

// played is the case with what a target answered: ok to all, or EINVAL to the
// ioctl.
func played(t testing.TB, ok bool) *replay.Case {
	t.Helper()
	c := &replay.Case{File: "a.jsonl", Case: three(t)}
	for i := range c.Case.Steps {
		c.Steps = append(c.Steps, replay.Step{Got: c.Case.Steps[i].Got})
	}
	if !ok {
		errno := "EINVAL"
		s := &c.Steps[1]
		s.Got, s.Refused = &casefile.Got{Ret: "-1", Errno: &errno}, refusal
		s.Differences = c.Case.Steps[1].Compare(s.Got)
	}
	return c
}

func text(t *testing.T, c *replay.Case, verbose bool) string {
	t.Helper()
	var b strings.Builder
	w := replay.Text(&b, verbose)
	require.NoError(t, w.Case(c))
	return b.String()
}

func TestText(t *testing.T) {
	require.Empty(t, text(t, played(t, true), false))
	require.Equal(t, `ok   cq/one  (a.jsonl:7)
     a rule
  step 0  open f: *
  step 1  ioctl f UVERBS_METHOD_CQ_CREATE: 0
  step 2  write f IB_USER_VERBS_CMD_CREATE_CQ: 4
`, text(t, played(t, true), true))
	require.Equal(t, `FAIL cq/one  (a.jsonl:7)
     a rule
  step 1  ioctl f UVERBS_METHOD_CQ_CREATE
     ret: want 0, got -1
     errno: want "", got EINVAL
     refused by x/y: it is so (f in f.c)
`, text(t, played(t, false), false))

	short := played(t, true)
	short.Steps, short.Err = short.Steps[:1], errors.New("step 1 (ioctl): no")
	require.False(t, short.Passed())
	require.Contains(t, text(t, short, false), "not played to its end: step 1 (ioctl): no")
}

func TestSum(t *testing.T) {
	var b strings.Builder
	require.NoError(t, replay.Text(&b, false).Sum(3, 4))
	require.Equal(t, "3 passed, 4 failed\n", b.String())
}

func TestJSON(t *testing.T) {
	var b strings.Builder
	w := replay.JSON(&b, false)
	require.NoError(t, w.Case(played(t, true)))
	require.NoError(t, w.Case(played(t, false)))
	require.NoError(t, w.Sum(1, 1))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Len(t, lines, 3)
	require.JSONEq(t, `{"name":"cq/one","file":"a.jsonl","line":7,"driver":"rxe","passed":true}`, lines[0])
	require.JSONEq(t, `{"name":"cq/one","file":"a.jsonl","line":7,"driver":"rxe","passed":false,"steps":[
		{"step":1,"op":"ioctl","what":"ioctl f UVERBS_METHOD_CQ_CREATE","ret":"-1","errno":"EINVAL","rule":"x/y","why":"it is so",
		 "differences":[{"path":"ret","want":"0","got":"-1"},{"path":"errno","want":"","got":"EINVAL"}]}]}`, lines[1])
	require.JSONEq(t, `{"passed":1,"failed":1}`, lines[2])
	for _, l := range lines {
		require.True(t, json.Valid([]byte(l)))
	}
}

func TestDescribe(t *testing.T) {
	const head = `{"v":1,"name":"a/b","driver":"mlx5","bufs":{"b":{"zero":8}},"steps":[{"op":"open","fd":"f"},{"op":"fork","as":"k"},`
	for step, want := range map[string]string{
		`{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":77}}`:                     "ioctl f UVERBS_OBJECT_CQ, method 0x4d",
		`{"op":"ioctl","fd":"f","hdr":{"object_id":999,"method_id":1}}`:                    "ioctl f object 0x3e7, method 0x1",
		`{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},"arg":{"bad":"null"}}`: "ioctl f",
		`{"op":"write","fd":"f","hex":"ff000000"}`:                                         "write f command 0xff",
		`{"op":"write","fd":"f","hex":"12000080"}`:                                         "write f IB_USER_VERBS_EX_CMD_CREATE_CQ",
		`{"op":"write","fd":"f","hex":"12"}`:                                               "write f",
		`{"op":"close","fd":"f","proc":"k"}`:                                               "close f in process k",
		`{"op":"read","fd":"f","len":1,"bg":"r"}`:                                          "read f thread r",
		`{"op":"bufs","names":["b"]}`:                                                      "bufs b",
		`{"op":"event","object":"cq","index":0,"type":"comp"}`:                             "event cq 0 comp",
		`{"op":"fds"}`: "fds",
	} {
		c, err := casefile.Unmarshal([]byte(head + step + `]}`))
		require.NoError(t, err, step)
		require.Equal(t, want, replay.Describe(c, 2))
	}
}

func ExampleText() {
	c := played(&testing.T{}, false)
	w := replay.Text(os.Stdout, false)
	_ = w.Case(c)
	_ = w.Sum(0, 1)
	// Output:
	// FAIL cq/one  (a.jsonl:7)
	//      a rule
	//   step 1  ioctl f UVERBS_METHOD_CQ_CREATE
	//      ret: want 0, got -1
	//      errno: want "", got EINVAL
	//      refused by x/y: it is so (f in f.c)
	// 0 passed, 1 failed
}
