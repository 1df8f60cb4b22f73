package clients

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScripts runs what programs do with processes, threads, descriptors and
// signals while they have a device open. Each script checks what it finds.
func TestScripts(t *testing.T) {
	needPyverbs(t)
	for _, name := range []string{"fork", "threads", "dup", "exec", "alarms"} {
		t.Run(name, func(t *testing.T) {
			users(t, func(t *testing.T, u user) {
				r := u.run(t, []string{"run", "--", python, script(name + ".py")}).ok(t)
				require.Equal(t, "done\n", r.stdout, "%s", r)
			})
		})
	}
}

// TestPassing passes a context to another process over a Unix socket: within a tree
// of processes, and to one of another tree on the same machine.
func TestPassing(t *testing.T) {
	needPyverbs(t)
	t.Run("one tree", func(t *testing.T) {
		u := least()
		socket := filepath.Join(u.dir(t), "give")
		r := u.run(t, []string{"run", "--", "sh", "-c",
			`"$0" "$1/giver.py" "$2" & "$0" "$1/taker.py" "$2" && wait $!`,
			python, scripts, socket}).ok(t)
		require.Len(t, r.stdout, len("listening\ndone\ndone\n"), "%s", r)
	})
	t.Run("two trees", func(t *testing.T) {
		u := least()
		dir := u.dir(t)
		s := u.serve(t, filepath.Join(dir, "socket"))
		give := filepath.Join(dir, "give")
		giver := u.start(t, s.attach(python, script("giver.py"), give))
		giver.awaits("listening\n")
		taker := u.run(t, s.attach(python, script("taker.py"), give)).ok(t)
		require.Equal(t, "done\n", taker.stdout)
		require.Equal(t, "listening\ndone\n", giver.wait().ok(t).stdout)
		s.end()
	})
}
