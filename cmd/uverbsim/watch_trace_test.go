package main

import (
	"encoding/json"
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
