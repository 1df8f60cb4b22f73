package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
)

// mapAll has the child map one of each kind.
func mapAll(t *testing.T, p *proc) (want []mapping) {
	p.mmap(t, free, 3, rw, unix.MAP_PRIVATE)
	p.mprotect(t, free+ps, 1, ro)
	p.mmap(t, free+5*ps, 1, unix.PROT_NONE, unix.MAP_PRIVATE)
	p.mmap(t, free+6*ps, 1, unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_SHARED)
	p.mapFile(t, free+7*ps, 2, ro, unix.MAP_SHARED, ps)
	p.mapFile(t, free+9*ps, 2, rw, unix.MAP_PRIVATE, ps)
	at := func(i copyuser.Addr) copyuser.Addr { return free + i*ps }
	return []mapping{
		{at(0), at(1), rw, false, false},
		{at(1), at(2), ro, false, false},
		{at(2), at(3), rw, false, false},
		{at(5), at(6), 0, false, false},
		{at(6), at(7), unix.PROT_WRITE | unix.PROT_EXEC, true, true},
		{at(7), at(9), ro, true, true},
		{at(9), at(11), rw, false, true},
	}
}

var asMapping = cmp.AllowUnexported(mapping{})

// TestMappings: the query and the text say what was mapped.
func TestMappings(t *testing.T) {
	p := start(t)
	want := mapAll(t, p)
	s := p.space(t)
	for name, find := range map[string]func(from, to copyuser.Addr) []mapping{
		"as it comes": s.mappings,
		"text":        s.parseMaps,
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, cmp.Diff(want, find(free, free+64*ps), asMapping))
			require.Empty(t, cmp.Diff(want[1:4], find(free+ps, free+6*ps), asMapping))
			require.Empty(t, cmp.Diff(want[5:6], find(free+8*ps, free+9*ps), asMapping), "from the middle of one")
			require.Empty(t, find(free+3*ps, free+5*ps))
			require.Empty(t, find(free-64*ps, free))
		})
	}
	m, ok := s.mapping(free + 8*ps + 7)
	require.True(t, ok)
	require.Equal(t, want[5], m)
	for _, a := range []copyuser.Addr{free - 1, free + 3*ps, free + 5*ps - 1} {
		_, ok = s.mapping(a)
		require.False(t, ok, "%#x", a)
	}
}

// TestMappingsAgree: query and text have the same of all that the child has.
func TestMappingsAgree(t *testing.T) {
	p := start(t)
	mapAll(t, p)
	s := p.space(t)
	found, ok := s.query(0, copyuser.TaskSizeMax)
	if !ok {
		t.Skip("this kernel has no PROCMAP_QUERY (it came with Linux 6.11)")
	}
	require.Greater(t, len(found), 20)
	require.Empty(t, cmp.Diff(found, s.parseMaps(0, copyuser.TaskSizeMax), asMapping))

	p.kill(t)
	found, ok = s.query(0, copyuser.TaskSizeMax)
	require.True(t, ok)
	require.Empty(t, found)
	require.Empty(t, s.parseMaps(0, copyuser.TaskSizeMax))
}

// TestLongText: more text than one read returns.
func TestLongText(t *testing.T) {
	p := start(t)
	const pages = 3000
	p.mmap(t, free, pages, rw, unix.MAP_PRIVATE)
	for i := copyuser.Addr(0); i < pages; i += 2 {
		p.mprotect(t, free+i*ps, 1, ro)
	}
	s := p.space(t)
	require.Len(t, s.parseMaps(free, free+pages*ps), pages)
}

func TestParseLine(t *testing.T) {
	for _, c := range []struct {
		line string
		want mapping
		ok   bool
	}{
		{"55d0c8a00000-55d0c8a21000 rw-p 00000000 00:00 0                          [heap]\n",
			mapping{0x55d0c8a00000, 0x55d0c8a21000, rw, false, false}, true},
		{"7f1234560000-7f1234561000 r-xp 00001000 fe:01 131  /usr/lib/x y z\n",
			mapping{0x7f1234560000, 0x7f1234561000, ro | unix.PROT_EXEC, false, true}, true},
		{"7f1234560000-7f1234561000 -w-s 00001000 00:01 9 /dev/zero (deleted)\n",
			mapping{0x7f1234560000, 0x7f1234561000, unix.PROT_WRITE, true, true}, true},
		{"10000-11000 ---p 00000000 00:00 0", mapping{0x10000, 0x11000, 0, false, false}, true},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n", mapping{}, false},
		{"\n", mapping{}, false},
		{"10000 ---p 00000000 00:00 0", mapping{}, false},
		{"10000-z ---p 00000000 00:00 0", mapping{}, false},
		{"10000-11000 r 00000000 00:00 0", mapping{}, false},
		{"10000-11000 r--p 00000000 00:00", mapping{}, false},
	} {
		m, ok := parseLine([]byte(c.line))
		require.Equal(t, c.ok, ok, c.line)
		if ok {
			require.Equal(t, c.want, m, c.line)
		}
	}
}
