package core

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/trace"
)

// TestUmapsEntry: an area has a reference on what it maps, which goes with the area or
// with the device, whichever goes first, and once.
func TestUmapsEntry(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(p *process.Process, u *Umaps, at copyuser.Addr)
	}{
		{"unmapped", func(p *process.Process, _ *Umaps, at copyuser.Addr) { require.NoError(t, p.Munmap(at, page)) }},
		{"exit", func(p *process.Process, _ *Umaps, _ copyuser.Addr) { p.Exit() }},
		{"device gone", func(p *process.Process, u *Umaps, _ copyuser.Addr) { u.Disassociate(p.MainTask()) }},
		{"device gone, then unmapped", func(p *process.Process, u *Umaps, at copyuser.Addr) {
			u.Disassociate(p.MainTask())
			require.NoError(t, p.Munmap(at, page))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			freed := 0
			c := testContext()
			c.Device.Ops.MmapFree = func(*trace.Task, *MmapEntry) { freed++ }
			var e MmapEntry
			require.NoError(t, c.InsertMmapEntry(nil, &e, page, 0, 9))
			p := process.New(nil, process.Options{})
			ops := copyuser.AreaOps{Close: func(_ copyuser.Current, a *copyuser.Area) { c.Umaps.Untrack(nil, a) }}
			file, err := process.NewFile(p.MainTask(), &process.FileOps{Mmap: func(_ *process.Task, _ *process.File, a *copyuser.Area) error {
				a.Ops = &ops
				return c.MmapIO(nil, a, []*copyuser.Page{copyuser.NewPage()}, &e)
			}}, nil, syscall.O_RDWR)
			require.NoError(t, err)
			fd, err := p.MainTask().GetUnusedFD(false)
			require.NoError(t, err)
			p.MainTask().FDInstall(fd, file)
			at, err := p.Mmap(fd, page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED, 0)
			require.NoError(t, err)
			require.Equal(t, 1, c.Umaps.Areas())

			e.Remove(nil)
			require.Zero(t, freed, "the area has it")
			tc.end(p, c.Umaps, at)
			require.Equal(t, 1, freed)
			require.Zero(t, c.Umaps.Areas())
		})
	}
}
