package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

// someEvents is a case: a channel and a CQ, then what steps says, a letter each: e is
// an event of the CQ, r a read of one, with room for many, a a read that finds none, and p a
// poll that says that there is one. Then the CQ is destroyed, which is to report
// the reads.
func someEvents(name, steps string) string {
	reads := strings.Count(steps, "r")
	var b strings.Builder
	fmt.Fprintf(&b, `{"v":1,"name":%q,"why":"events","driver":"stub","bufs":{"o_ch":{"fill":"a5","len":4},"cqe_cq":{"fill":"a5","len":4},"r_cq":{"fill":"a5","len":8}},"steps":[`, name)
	b.WriteString(`{"op":"open","fd":"f"},{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3},"attrs":[],"got":{"ret":0,"errno":""}},` +
		`{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},"attrs":[{"id":2,"len":8,"flags":1,"data":17},{"id":0,"len":8,"flags":1,"inline":"0000000000000000"},{"id":1,"len":4,"flags":1,"data":{"ptr":"o_ch"}}],"save_fd":{"ch":{"buf":"o_ch","off":0,"size":4}}},` +
		`{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1},{"id":1,"len":4,"flags":1,"data":16},{"id":2,"len":8,"flags":1,"data":4386},{"id":3,"len":0,"flags":1,"data":{"handle":"ch"}},{"id":4,"len":4,"flags":1,"data":0},{"id":6,"len":4,"flags":1,"data":{"ptr":"cqe_cq"}}],"save":{"cq":{"attr":0}}},`)
	for _, s := range steps {
		switch s {
		case 'e':
			b.WriteString(`{"op":"event","object":"cq","index":0,"type":"comp","got":{"ret":0,"errno":""}},`)
		case 'r':
			b.WriteString(`{"op":"poll","fd":"ch","timeout":2000,"got":{"ret":1,"errno":"","revents":1}},` +
				`{"op":"read","fd":"ch","len":4096,"nonblock":true,"got":{"ret":8,"errno":"","hex":"2211000000000000"}},`)
		case 'a':
			b.WriteString(`{"op":"read","fd":"ch","len":4096,"nonblock":true,"got":{"ret":-1,"errno":"EAGAIN"}},`)
		case 'p':
			b.WriteString(`{"op":"poll","fd":"ch","timeout":2000,"got":{"ret":1,"errno":"","revents":1}},`)
		}
	}
	fmt.Fprintf(&b, `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":1},"attrs":[{"id":0,"len":0,"flags":1,"data":{"handle":"cq"}},{"id":1,"len":8,"flags":1,"data":{"ptr":"r_cq"}}],"got":{"ret":0,"errno":"","attrs":[{"flags":1,"data":"0x0"},{"flags":3,"data":"*"}],"bufs":{"r_cq":"%02x%02x000000000000"}}},`,
		reads&0xff, reads>>8)
	b.WriteString(`{"op":"read","fd":"ch","len":8,"nonblock":true,"got":{"ret":-1,"errno":"EAGAIN"}},{"op":"poll","fd":"ch","timeout":0,"got":{"ret":0,"errno":"","revents":0}}]}`)
	return b.String() + "\n"
}

// TestEvents has more events wait than a pipe holds, read and unread ones mixed:
// each read has one, and the CQ reports what was read.
func TestEvents(t *testing.T) {
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	cases := map[string]string{
		"none":                   "a",
		"read":                   "era",
		"unread":                 "eeep",
		"one by one":             many("er", 300) + "a",
		"all, then all":          many("e", 700) + many("r", 700) + "a",
		"more than are read":     many("e", 700) + many("r", 300),
		"in turns":               many(many("e", 150)+many("r", 100), 4),
		"a full pipe, none read": many("e", 400) + "p",
	}
	path := filepath.Join(t.TempDir(), "events.jsonl")
	var text strings.Builder
	for name, steps := range cases {
		text.WriteString(someEvents("events/"+strings.ReplaceAll(name, " ", "-"), steps))
	}
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o644))
	all, err := casefile.ReadFile(path)
	require.NoError(t, err)
	s := boot(t, all[0])
	o := order{File: path}
	for i := range all {
		o.Cases = append(o.Cases, i)
	}
	require.Zero(t, s.play(t, o))
	for i, c := range all {
		require.NotNil(t, s.results[i], c.Name)
		if !s.results[i].Passed {
			t.Error(s.results[i].Text)
		}
	}
	s.close(t)
}
