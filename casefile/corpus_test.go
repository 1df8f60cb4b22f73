package casefile_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

// recordings are the files of recorded cases.
func recordings(t testing.TB) []string {
	var files []string
	for _, pattern := range []string{"../sim_test/corpus/*.jsonl", "../sim_test/testdata/ftrace/*.jsonl"} {
		f, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, f...)
	}
	require.NotEmpty(t, files)
	return files
}

// lines are the lines of a file that are cases.
func lines(t testing.TB, name string) [][]byte {
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var out [][]byte
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		if l := bytes.TrimSpace(sc.Bytes()); len(l) > 0 && l[0] != '#' {
			out = append(out, bytes.Clone(l))
		}
	}
	return out
}

// TestRecordingsReadAndRoundTrip reads every recorded case and writes it
// again. What was written must say the same: as JSON, to a reader that knows
// nothing of this package, and as a case.
func TestRecordingsReadAndRoundTrip(t *testing.T) {
	for _, file := range recordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			cases, err := casefile.ReadFile(file)
			require.NoError(t, err)
			in := lines(t, file)
			require.Len(t, cases, len(in))
			for i, c := range cases {
				out, err := c.Marshal()
				require.NoError(t, err, c.Name)
				if was, is := plain(t, in[i]), plain(t, out); !reflect.DeepEqual(was, is) {
					t.Fatalf("%s (-read +written):\n%s", c.Name, cmp.Diff(was, is))
				}
				again, err := casefile.Unmarshal(out)
				require.NoError(t, err, c.Name)
				again.Line = c.Line
				if !reflect.DeepEqual(c, again) {
					t.Fatalf("%s (-read +read again):\n%s", c.Name, cmp.Diff(c, again))
				}
			}
		})
	}
}

// plain is a line as encoding/json reads it, without the members that have
// their default value.
func plain(t *testing.T, line []byte) any {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var v map[string]any
	require.NoError(t, d.Decode(&v))
	bufs, _ := v["bufs"].(map[string]any)
	for _, b := range bufs {
		switch b := b.(map[string]any); { // two ways to say the same
		case b["fill"] == "00":
			b["zero"] = b["len"]
			delete(b, "fill")
			delete(b, "len")
		case b["hex"] == "":
			delete(b, "hex")
		}
	}
	return withoutDefaults(v)
}

// answers are members where nothing and empty are not the same.
var answers = map[string]bool{"errno": true, "ret": true, "revents": true, "hex": true, "text": true, "flags": true, "device": true}

func withoutDefaults(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(key string, x any) bool {
			x = withoutDefaults(x)
			v[key] = x
			if answers[key] {
				return false
			}
			switch x := x.(type) {
			case string:
				return x == ""
			case json.Number:
				return x == "0"
			case bool:
				return !x
			case []any:
				return len(x) == 0
			case map[string]any:
				return len(x) == 0
			}
			return false
		})
	case []any:
		for i := range v {
			v[i] = withoutDefaults(v[i])
		}
	}
	return v
}
