package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
		{start: at(0), end: at(1), prot: rw},
		{start: at(1), end: at(2), prot: ro},
		{start: at(2), end: at(3), prot: rw},
		{start: at(5), end: at(6)},
		{start: at(6), end: at(7), prot: unix.PROT_WRITE | unix.PROT_EXEC, shared: true, file: true},
		{start: at(7), end: at(9), prot: ro, shared: true, file: true},
		{start: at(9), end: at(11), prot: rw, file: true},
	}
}

// asMapping leaves out which files they are; that query and text say the same of
// it is asked apart.
var asMapping = cmp.Options{cmp.AllowUnexported(mapping{}), cmpopts.IgnoreFields(mapping{}, "id", "offset")}

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
	require.Equal(t, s.parseMaps(free, free+64*ps), s.mappings(free, free+64*ps))
	m, ok := s.mapping(free + 8*ps + 7)
	require.True(t, ok)
	require.Empty(t, cmp.Diff(want[5], m, asMapping))
	require.NotZero(t, m.id)
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
	require.Equal(t, found, s.parseMaps(0, copyuser.TaskSizeMax))

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
			mapping{start: 0x55d0c8a00000, end: 0x55d0c8a21000, prot: rw}, true},
		{"7f1234560000-7f1234561000 r-xp 00001000 fe:01 131  /usr/lib/x y z\n",
			mapping{start: 0x7f1234560000, end: 0x7f1234561000, prot: ro | unix.PROT_EXEC, file: true,
				id: FileID{unix.Mkdev(0xfe, 1), 131}, offset: 0x1000}, true},
		{"7f1234560000-7f1234561000 -w-s 00001000 00:01 9 /dev/zero (deleted)\n",
			mapping{start: 0x7f1234560000, end: 0x7f1234561000, prot: unix.PROT_WRITE, shared: true, file: true,
				id: FileID{unix.Mkdev(0, 1), 9}, offset: 0x1000}, true},
		{"10000-11000 ---p 00000000 00:00 0", mapping{start: 0x10000, end: 0x11000}, true},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n", mapping{}, false},
		{"\n", mapping{}, false},
		{"10000 ---p 00000000 00:00 0", mapping{}, false},
		{"10000-z ---p 00000000 00:00 0", mapping{}, false},
		{"10000-11000 r 00000000 00:00 0", mapping{}, false},
		{"10000-11000 r--p 00000000 00:00", mapping{}, false},
		{"10000-11000 r--p 00000000 0:x 7", mapping{}, false},
		{"10000-11000 r--p y 00:00 7", mapping{}, false},
	} {
		m, ok := parseLine([]byte(c.line))
		require.Equal(t, c.ok, ok, c.line)
		if ok {
			require.Equal(t, c.want, m, c.line)
		}
	}
}
