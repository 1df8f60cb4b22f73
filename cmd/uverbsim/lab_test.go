package main

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/lab"
)

func TestLab(t *testing.T) {
	for i := range lab.Experiments {
		name := lab.Experiments[i].Name
		args := []string{name, "--counts"}
		if lab.Experiments[i].Repeats {
			args = append(args, "-n", "4")
		}
		lab := func(more ...string) (string, error) { return execute(newLabCmd(), "", slices.Concat(args, more)...) }
		t.Run(name, func(t *testing.T) {
			text, err := lab()
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(text, name+": What does it save "), text)
			require.NotContains(t, text, "nanoseconds\n", "no times were asked for")

			out, err := lab("--json")
			require.NoError(t, err)
			var r struct {
				Experiment string
				Counts     []struct{ Rows []map[string]any }
				Times      []any
				Kernel     []struct{ Text, Where string }
			}
			dec := json.NewDecoder(strings.NewReader(out))
			require.NoError(t, dec.Decode(&r))
			require.Equal(t, name, r.Experiment)
			require.Empty(t, r.Times)
			require.NotEmpty(t, r.Kernel)
			require.NotEmpty(t, r.Counts)
			for _, table := range r.Counts {
				require.NotEmpty(t, table.Rows)
				for _, row := range table.Rows {
					require.Contains(t, text, row["name"], "both say the same")
				}
			}

			svg, err := lab("--svg", "-")
			require.NoError(t, err)
			wellFormed(t, svg)
			file := filepath.Join(t.TempDir(), "plot.svg")
			again, err := lab("--svg", file)
			require.NoError(t, err)
			require.Equal(t, text, again, "counts are always the same")
			drawn, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, svg, string(drawn))
		})
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(svg))
	elements := map[string]int{}
	for {
		tok, err := dec.Token()
		if tok == nil {
			require.ErrorIs(t, err, io.EOF) // and not the one of a text that ends too early
			break
		}
		if e, ok := tok.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
	require.Equal(t, 1, elements["svg"])
	require.NotZero(t, elements["text"])
	require.NotZero(t, elements["path"])
}

// TestLabRefuses says what is wrong in one line.
func TestLabRefuses(t *testing.T) {
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"lab", "batch", "-n", "0"}, "lab batch: 0 calls of a kind: there may be 1 to 255"},
		{[]string{"lab", "batch", "-n", "256"}, "lab batch: 256 calls of a kind: there may be 1 to 255"},
		{[]string{"lab", "batch", "--crossing", "-1ns"}, "lab batch: a crossing of -1ns: it cannot take less than no time"},
		{[]string{"lab", "batch", "--crossing", "0"}, "--crossing 0s: more than 0"},
		{[]string{"lab", "trim", "--crossing", "1us"}, "unknown flag: --crossing"},
		{[]string{"lab", "batch", "--counts", "--crossing", "1us"}, "--crossing is for the estimates, which --counts leaves out"},
		{[]string{"lab", "async", "-n", "4"}, "unknown shorthand flag: 'n' in -n"},
		{[]string{"lab", "batch", "--svg", ""}, "--svg: an empty value"},
		{[]string{"lab", "trim", "-n", "x"}, `invalid argument "x" for "-n, --calls" flag: strconv.ParseInt: parsing "x": invalid syntax`},
		{[]string{"lab", "nothing"}, `unknown command "nothing" for "uverbsim lab"`},
		{[]string{"lab", "reuse", "more"}, "reuse: one argument too many: more"},
		{[]string{"lab", "reuse", "--counts", "--svg", "/nonexistent/x.svg"}, "open /nonexistent/x.svg: no such file or directory"},
		{[]string{"lab", "reuse", "--json", "--svg", "-"}, "--json and --svg - both want the standard output"},
	} {
		var out, errs strings.Builder
		require.Equal(t, 2, run(tc.args, strings.NewReader(""), &out, &errs), tc.args)
		require.Equal(t, "uverbsim: "+tc.says+"\n", errs.String())
		require.Empty(t, out.String())
	}
}
