package maintaining

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestReadPage(t *testing.T) {
	steps, err := readPage("# Page\n\n<!-- change: a/b.go -->\n```diff\n x\n+y\n```\n" +
		"Forgotten: `go test ./a -run TestB` says `no y`.\nForgotten: `go build ./a` says `undefined: y`.\n\n" +
		"```go\nnot marked\n```\n<!-- run: a/gen.go -->\n```\ngo generate ./a\n```\n<!-- run -->\n```\ntrue\n```\n")
	require.NoError(t, err)
	want := []*step{
		{line: 3, kind: change, path: "a/b.go", text: " x\n+y\n", forgotten: []forgotten{
			{8, "go test ./a -run TestB", "no y"}, {9, "go build ./a", "undefined: y"}}},
		{line: 14, kind: command, path: "a/gen.go", text: "go generate ./a\n"},
		{line: 18, kind: command, text: "true\n"},
	}
	require.Empty(t, cmp.Diff(want, steps, cmp.AllowUnexported(step{}, forgotten{})))
}

func TestReadPageRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"\n<!-- change -->\n```\n```\n":                       "line 2: which file?",
		"<!-- file: a.go -->\ntext\n":                         "line 1: no block follows",
		"<!-- file: a.go -->":                                 "line 1: no block follows",
		"Forgotten: `go vet` says `no`.":                      "line 1: a line",
		"<!-- run -->\n```\ntrue\n```\nForgotten: something.": "line 5: a line",
	} {
		_, err := readPage(text)
		require.ErrorContains(t, err, want)
	}
}

func TestEdit(t *testing.T) {
	const before = "a\nb\n\nc\nd\n"
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(before), 0o644))
	const diff = " a\n-b\n+B\n\n@@\n c\n+C\n"
	require.NoError(t, edit(path, diff, false))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "a\nB\n\nc\nC\nd\n", string(b))
	require.NoError(t, edit(path, diff, true))
	b, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, string(b))
}

func TestEditRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("a\na\nb\n"), 0o644))
	for diff, want := range map[string]string{
		" c\n+d\n":       "0 times",
		" a\n+d\n":       "2 times",
		" b\n":           "changes nothing",
		"+b\n":           "nothing stays",
		"-b\n":           "nothing stays",
		" a\n+d\n@@\n\n": "changes nothing",
		"b\n+c\n":        "begins with none of",
	} {
		require.ErrorContains(t, edit(path, diff, false), want, diff)
	}
	require.ErrorIs(t, edit(path+"x", " a\n+b\n", false), os.ErrNotExist)
}
