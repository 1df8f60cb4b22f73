package suite

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// told keeps what a test is told that fails.
type told struct {
	testing.TB
	errors int
}

func (*told) Helper()                      {}
func (t *told) Errorf(string, ...any)      { t.errors++ }
func (*told) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }

// TestPage: a table that differs is told, and only update writes it, each between its
// lines.
func TestPage(t *testing.T) {
	const text = "# Page\n<!-- a -->\n\nold\n\n<!-- end of a -->\nbetween\n<!-- b -->\n\nB\n\n<!-- end of b -->\nend\n"
	page := t.TempDir() + "/page.md"
	require.NoError(t, os.WriteFile(page, []byte(text), 0o666))
	tables := map[string]string{"a": "new\n", "b": "B\n"}
	fails := &told{TB: t}
	Page(fails, page, tables, false)
	require.Equal(t, 1, fails.errors)
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, text, string(got))

	Page(t, page, tables, true)
	Page(t, page, tables, false)
	got, err = os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, "# Page\n<!-- a -->\n\nnew\n\n<!-- end of a -->\nbetween\n<!-- b -->\n\nB\n\n<!-- end of b -->\nend\n", string(got))

	require.PanicsWithValue(t, page+`: no lines "<!-- c -->" and "<!-- end of c -->"`, func() {
		Page(fails, page, map[string]string{"c": "C\n"}, true)
	})
}

func TestInShard(t *testing.T) {
	in := InShard(t, "2/3")
	require.Equal(t, []bool{false, true, false, false, true}, []bool{in(0), in(1), in(2), in(3), in(4)})
	for _, shard := range []string{"", "1", "0/3", "4/3", "1/0", "-1/3", "1/3x", "1/2/3", " 1/3", "+1/3", "a/b"} {
		require.PanicsWithValue(t, "-shard "+shard+": it is i/n, with i from 1 to n", func() { InShard(&told{TB: t}, shard) }, shard)
	}
}
