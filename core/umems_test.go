package core

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// TestUmems: memory of every kind counts from when it is made until it is released,
// though its process is gone; what is refused does not.
func TestUmems(t *testing.T) {
	p, at := pinner(t, process.RLIM_INFINITY, true, 2)
	task, dev, dma := p.MainTask(), new(Device), newDMA()
	buf := process.NewDmaBuf(page)
	fd, err := buf.Export(task, syscall.O_RDWR)
	require.NoError(t, err)

	_, err = GetUmem(task, dev, uint64(at), 3*page, AccessLocalWrite)
	require.Error(t, err)
	_, err = GetUmemODP(task, dev, dma, uint64(at), 0, odpAccess, dropAll)
	require.Equal(t, error(rule.UmemODPEmpty), err)
	_, err = GetUmemDmabuf(task, dev, dma, 0, 2*page, fd, 0, nil)
	require.Equal(t, error(rule.DmabufRange), err)
	require.Zero(t, dev.Umems())

	pinned, err := GetUmem(task, dev, uint64(at), page, AccessLocalWrite)
	require.NoError(t, err)
	require.Equal(t, 1, dev.Umems())
	onDemand, err := GetUmemODP(task, dev, dma, uint64(at), page, odpAccess, dropAll)
	require.NoError(t, err)
	require.Equal(t, 2, dev.Umems())
	all, err := AllocUmemODPImplicit(task, dev, dma, odpAccess)
	require.NoError(t, err)
	require.Equal(t, 3, dev.Umems())
	part, err := all.AllocChild(nil, uint64(at), page, dropAll)
	require.NoError(t, err)
	require.Equal(t, 4, dev.Umems())
	foreign, err := GetUmemDmabufPinned(task, dev, dma, 0, page, fd, 0)
	require.NoError(t, err)

	p.Exit()
	for i, u := range []interface{ Release(*trace.Task) }{pinned, onDemand, part, all, foreign} {
		require.Equal(t, 5-i, dev.Umems())
		u.Release(nil)
	}
	require.Zero(t, dev.Umems())
}
