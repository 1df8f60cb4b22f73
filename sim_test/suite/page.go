package suite

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Page holds tables of a page to those of the tests. Each stands between the lines
// <!-- NAME --> and <!-- end of NAME -->. With update the page is written.
func Page(t testing.TB, page string, tables map[string]string, update bool) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for name, table := range tables {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
		head, rest, begins := strings.Cut(want, begin)
		_, tail, ends := strings.Cut(rest, end)
		if !begins || !ends {
			t.Fatalf("%s: no lines %q and %q", page, strings.TrimSpace(begin), strings.TrimSpace(end))
		}
		want = head + begin + "\n" + table + "\n" + end + tail
	}
	if update {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(text), want); d != "" {
		t.Errorf("%s differs from the tables (+); go test ./%s -run '%s' -update writes them:\n%s", page, directory(), Pattern(t.Name()), d)
	}
}
