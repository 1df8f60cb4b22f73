package process_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

const (
	ps = copyuser.PageSize
	rw = syscall.PROT_READ | syscall.PROT_WRITE
)

// node is a file system with one device node, "dev".
type node struct {
	ops      *process.FileOps
	mode     uint32
	released []any // the Private of files, in the order they were released
	opened   int
}

// Open gives each file its number, from 1, as Private.
func (n *node) Open(t *process.Task, path string, flags int) (*process.File, error) {
	if path != "dev" {
		return nil, syscall.ENOENT
	}
	if err := process.GenericPermission(t.Cred(), 0, 0, n.mode, process.OpenMask(flags)); err != nil {
		return nil, err
	}
	n.opened++
	return process.NewFile(t, n.ops, n.opened, flags)
}

func newNode(ops process.FileOps) *node {
	n := &node{ops: &ops, mode: 0o666}
	n.ops.Release = func(_ *process.Task, f *process.File) { n.released = append(n.released, f.Private) }
	return n
}

func open(t *testing.T, p *process.Process, flags int) int {
	t.Helper()
	fd, err := p.Open("dev", flags)
	require.NoError(t, err)
	return fd
}

// buffer maps a page and fills its start.
func buffer(t testing.TB, p *process.Process, content string) copyuser.Addr {
	t.Helper()
	a, err := p.Mmap(-1, ps, rw, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(t, err)
	require.True(t, p.Mem.Store(a, []byte(content)))
	return a
}

func text(t *testing.T, p *process.Process, a copyuser.Addr, n int) string {
	t.Helper()
	b := make([]byte, n)
	require.True(t, p.Mem.Load(a, b))
	return string(b)
}

// failing makes the step of that name fail.
type failing string

func (failing) Event(*trace.Task, *trace.Event) {}

func (f failing) Fail(_ *trace.Task, _ trace.Step, what string) bool { return what == string(f) }

func withFailing(vfs process.VFS, step string) *process.Process {
	return process.New(vfs, process.Options{Trace: trace.NewTask(1, failing(step))})
}

func TestNew(t *testing.T) {
	p, q := process.New(nil, process.Options{}), process.New(nil, process.Options{PID: 77})
	require.NotZero(t, p.PID)
	require.Equal(t, 77, q.PID)
	require.NotEqual(t, p.PID, process.New(nil, process.Options{}).PID)
	require.Equal(t, process.FullCaps, p.Cred().Effective)
	require.Zero(t, p.Cred().UID)
	require.Equal(t, uint64(1024), p.Rlimit(process.RLIMIT_NOFILE))
	require.Equal(t, uint64(8<<20), p.Rlimit(process.RLIMIT_MEMLOCK))
	require.Zero(t, p.FDCount())
	require.Nil(t, p.Cgroup().Parent())
	require.Same(t, p, p.MainTask().Process)
	require.Nil(t, p.MainTask().Trace)

	limits := process.Limits{NOFILE: process.Rlimit{Cur: 1, Max: 2}}
	cred, group := &process.Cred{UID: 5}, process.NewCgroup(nil)
	p = process.New(nil, process.Options{Cred: cred, Limits: &limits, Cgroup: group})
	require.Same(t, cred, p.Cred())
	require.Same(t, group, p.Cgroup())
	require.Equal(t, process.Rlimit{Cur: 1, Max: 2}, p.Getrlimit(process.RLIMIT_NOFILE))
	require.Zero(t, p.Rlimit(process.RLIMIT_MEMLOCK))
}

func TestSetCgroup(t *testing.T) {
	p := process.New(nil, process.Options{})
	below := process.NewCgroup(p.Cgroup())
	p.SetCgroup(below)
	require.Same(t, below, p.Cgroup())
}

func TestRlimit(t *testing.T) {
	set := func(cur, max uint64) process.Rlimit { return process.Rlimit{Cur: cur, Max: max} }
	for _, c := range []struct {
		name string
		drop []process.Cap
		r    process.Resource
		l    process.Rlimit
		want error
	}{
		{"lower", nil, process.RLIMIT_NOFILE, set(3, 10), nil},
		{"nothing", nil, process.RLIMIT_MEMLOCK, set(0, 0), nil},
		{"raise the soft limit", process.AllCaps(), process.RLIMIT_NOFILE, set(4096, 4096), nil},
		{"raise the hard limit", nil, process.RLIMIT_MEMLOCK, set(1, process.RLIM_INFINITY), nil},
		{"raise the hard limit without the capability", process.AllCaps(), process.RLIMIT_MEMLOCK, set(1, 9<<20), rule.RlimitRaise},
		{"soft above hard", nil, process.RLIMIT_NOFILE, set(11, 10), rule.RlimitOrder},
		{"more than fs.nr_open", nil, process.RLIMIT_NOFILE, set(1, 1<<20+1), rule.RlimitNrOpen},
		{"as many as fs.nr_open", nil, process.RLIMIT_NOFILE, set(1, 1<<20), nil},
		{"another limit", nil, 3, set(1, 1), rule.RlimitResource},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := process.New(nil, process.Options{})
			require.NoError(t, p.Capset(c.drop...))
			old := p.Getrlimit(c.r)
			err := p.SetRlimit(c.r, c.l)
			if c.want == nil {
				require.NoError(t, err)
				require.Equal(t, c.l, p.Getrlimit(c.r))
				require.Equal(t, c.l.Cur, p.Rlimit(c.r))
			} else {
				require.ErrorIs(t, err, c.want)
				require.Equal(t, old, p.Getrlimit(c.r))
			}
		})
	}
	require.Equal(t, process.RLIM_INFINITY, process.New(nil, process.Options{}).Rlimit(3), "a limit that is not modelled")
}

// TestLoadStore: the process's own accesses honour its protections.
func TestLoadStore(t *testing.T) {
	p := process.New(nil, process.Options{})
	a := buffer(t, p, "")
	require.True(t, p.Store(a, []byte("own")))
	require.Equal(t, "own", text(t, p, a, 3))
	require.NoError(t, p.Mprotect(a, ps, syscall.PROT_READ))
	require.False(t, p.Store(a, []byte("x")))
	require.True(t, p.Load(a, make([]byte, 3)))
	require.False(t, p.Load(a+ps-1, make([]byte, 2)))
}
