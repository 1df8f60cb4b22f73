package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/interpose/record"
	"uverbsim/trace"
)

// TestWatchTrace: the end of the file's name says in which form a trace is written.
func TestWatchTrace(t *testing.T) {
	write := func(name string) string {
		path := filepath.Join(t.TempDir(), name)
		o := watchOptions{trace: path}
		w, err := o.open(io.Discard, record.Options{})
		require.NoError(t, err)
		task := trace.NewTask(7, w.sink)
		span := task.Enter(trace.Uverbs, "ib_uverbs_ioctl")
		task.Note(trace.CopyIn, "", 0x1000, 24, 24)
		span.Leave()
		require.NoError(t, w.Close())
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(b)
	}

	require.Equal(t, `ib_uverbs_ioctl [ib_uverbs]() {
  /* 24 bytes from the user at 0x1000 */
} /* ib_uverbs_ioctl [ib_uverbs] */
`, write("calls.txt"))

	lines := strings.Split(strings.TrimSpace(write("calls.jsonl")), "\n")
	require.Equal(t, []string{
		`{"event":{"task":7,"kind":"enter","name":"ib_uverbs_ioctl","module":"ib_uverbs"}}`,
		`{"event":{"task":7,"kind":"copy_in","numbers":{"address":"0x1000","bytes":"24","copied":"24"}}}`,
		`{"event":{"task":7,"kind":"leave","name":"ib_uverbs_ioctl","module":"ib_uverbs"}}`,
	}, lines)

	var events []struct {
		Ph  string
		Tid int
		Ts  float64
	}
	require.NoError(t, json.Unmarshal([]byte(write("calls.json")), &events))
	require.Len(t, events, 5)
	require.Equal(t, "B", events[2].Ph)
	require.Equal(t, 7, events[2].Tid)
	require.Positive(t, events[2].Ts, "real time")
	require.GreaterOrEqual(t, events[4].Ts, events[2].Ts)
}

func TestWatchTraceCannotBeWritten(t *testing.T) {
	o := watchOptions{trace: filepath.Join(t.TempDir(), "no", "such", "folder.json")}
	_, err := o.open(io.Discard, record.Options{})
	require.ErrorContains(t, err, "folder.json")
}

// TestWatchOneFile: a file that two are to write is refused before it is made, by whatever name.
func TestWatchOneFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("there", []byte("text"), 0o600))
	require.NoError(t, os.Symlink("there", "link"))
	for want, args := range map[string][]string{
		"--record new and --trace ./new are one file: each wants its own":            {"--record", "new", "--trace", "./new"},
		"--output new and --record " + dir + "/new are one file: each wants its own": {"--strace", "-o", "new", "--record", dir + "/new"},
		"--output there and --trace link are one file: each wants its own":           {"--strace", "-o", "there", "--trace", "link"},
		"--output there and --record there are one file: each wants its own":         {"--strace", "-o", "there", "--record", "there", "--trace", "other"},
	} {
		for _, command := range [][]string{append(append([]string{"run"}, args...), "--", "true"), append(append([]string{"serve"}, args...), "socket")} {
			status, out, errs := uverbsim(t, "", command...)
			require.Equal(t, 2, status, command)
			require.Empty(t, out)
			require.Equal(t, "uverbsim: "+want+"\n", errs)
		}
	}
	text, err := os.ReadFile("there")
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	for _, name := range []string{"new", "other"} {
		require.NoFileExists(t, name)
	}

	for _, o := range []watchOptions{
		{strace: true, output: "/dev/null", record: "/dev/null", trace: "/dev/null"},
		{strace: true, output: "a", record: "b", trace: "there"},
	} {
		w, err := o.open(io.Discard, record.Options{})
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
}

// TestWatchedToldOnce: an error of a file is also that of who writes to it.
func TestWatchedToldOnce(t *testing.T) {
	fails := func(why string) func() error { return func() error { return errors.New(why) } }
	w := &watchers{closers: []func() error{fails("no space left"), fails("it is gone"), fails("no space left")}}
	require.EqualError(t, w.Close(), "what was watched: no space left; it is gone")
}
