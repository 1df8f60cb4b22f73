package traffic

import (
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// dmabufAccess is what memory of another driver may be used for.
const dmabufAccess = verbs.IBV_ACCESS_LOCAL_WRITE | remoteOps

// export makes memory of another driver, and a descriptor for the program.
func (p *program) export(size uint64) (*process.DmaBuf, int) {
	p.Helper()
	buf := process.NewDmaBuf(size)
	fd, err := buf.Export(p.proc.MainTask(), syscall.O_RDWR)
	require.NoError(p, err)
	p.atEnd(func() error { return p.proc.Close(fd) })
	return buf, fd
}

// registerDmabuf registers a part of it, which is seen from iova on.
func (p *program) registerDmabuf(fd int, offset, size, iova uint64) *memory {
	p.Helper()
	mr, err := p.pd.RegDmabufMR(offset, size, iova, fd, dmabufAccess)
	require.NoError(p, err)
	p.atEnd(mr.Dereg)
	return &memory{MR: mr, p: p, size: size, iova: iova}
}

// bytesOf is what lies in the memory of another driver.
func bytesOf(t *testing.T, buf *process.DmaBuf, off int64, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	_, err := buf.ReadAt(b, off)
	require.NoError(t, err)
	return b
}

// TestDmabuf: messages go to and from memory of another driver, which begins
// somewhere in it and is seen at other addresses. Its pages are no user's, so none
// are pinned.
func TestDmabuf(t *testing.T) {
	client, server := pagedPair(t, setup{apart: true})
	buf, fd := server.export(5 * 4096)
	const off, iova, size = 0x1234, 0xabc0000234, 3 * 4096
	pinned := server.proc.MainTask().Mem.PinnedVM()
	region := server.registerDmabuf(fd, off, size, iova)
	require.Equal(t, pinned, server.proc.MainTask().Mem.PinnedVM())
	attached, mapped := buf.Attachments()
	require.Equal(t, [2]int{1, 1}, [2]int{attached, mapped})

	client.mem.store(0, texture(size, 1))
	require.Equal(t, good, client.write(size, region.remote(0)))
	require.Equal(t, texture(size, 1), bytesOf(t, buf, off, size))
	require.Equal(t, make([]byte, 0x234), bytesOf(t, buf, 0x1000, 0x234))
	require.Equal(t, forbidden, client.write(16, region.remote(size-15)))

	_, err := buf.WriteAt(texture(size, 2), off)
	require.NoError(t, err)
	require.Equal(t, good, client.read(size, region.remote(0)))
	require.Equal(t, texture(size, 2), client.mem.load(0, size))

	server.receive(libmlx5.RecvWR{WRID: 9, SGList: []verbs.SGE{region.sge(100, 50)}})
	client.mem.store(0, texture(50, 3))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 50)))
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 9)
	require.Equal(t, texture(50, 3), bytesOf(t, buf, off+100, 50))
}

// TestDmabufMmap: a program that maps the memory sees what the device has written.
func TestDmabufMmap(t *testing.T) {
	client, server := pagedPair(t, setup{apart: true})
	buf, fd := server.export(2 * 4096)
	region := server.registerDmabuf(fd, 0, 2*4096, 0)
	task := server.proc.MainTask()
	const rw = syscall.PROT_READ | syscall.PROT_WRITE
	_, err := task.Mmap(fd, 3*4096, rw, syscall.MAP_SHARED, 0)
	require.ErrorIs(t, err, rule.DmabufMmapRange)
	at, err := task.Mmap(fd, 4096, rw, syscall.MAP_SHARED, 4096)
	require.NoError(t, err)
	client.mem.store(0, []byte("device"))
	for range 2 {
		require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 6), region.remote(4096)))
		require.Equal(t, "device", string(server.load(at, 6)))
		server.store(at+8, []byte("program"))
		require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 15), region.remote(4096)))
		require.Equal(t, "device\x00\x00program", string(client.mem.load(0, 15)))
		require.True(t, buf.Move(nil), "and so it does at the next place")
	}
}

// TestDmabufMove: the exporter moves its memory while messages are under way, after
// each of their steps in turn. They arrive whole, where the memory is now.
func TestDmabufMove(t *testing.T) {
	client, server := pagedPair(t, setup{apart: true})
	mine, fd := client.export(2 * 4096)
	theirs, fd2 := server.export(2 * 4096)
	from, to := client.registerDmabuf(fd, 0x80, 5000, 0x80), server.registerDmabuf(fd2, 0, 2*4096, 0)
	for _, op := range []verbs.WROpcode{verbs.IBV_WR_SEND, verbs.IBV_WR_RDMA_WRITE, verbs.IBV_WR_RDMA_READ} {
		for at, over := 0, false; !over; at++ {
			source, sink, off := mine, theirs, int64(0x80)
			if op == verbs.IBV_WR_RDMA_READ {
				source, sink = theirs, mine
			}
			_, err := source.WriteAt(texture(5000, byte(at)), 0x80)
			require.NoError(t, err)
			if op == verbs.IBV_WR_SEND {
				server.receive(libmlx5.RecvWR{WRID: 9, SGList: []verbs.SGE{to.sge(0x80, 5000)}})
			}
			wr := signaled(1, op, from.sge(0, 5000))
			wr.RDMA = to.remote(0x80)
			client.post(wr)
			steps := 0
			for client.dev.Step(nil) || server.dev.Step(nil) {
				if steps++; steps == at {
					require.True(t, mine.Move(nil))
					require.True(t, theirs.Move(nil))
					_, mapped := theirs.Attachments()
					require.Zero(t, mapped)
				}
			}
			over = steps < at
			client.exhaust()
			client.succeeded(client.poll(client.sendCQ), 1)
			require.Equal(t, texture(5000, byte(at)), bytesOf(t, sink, off, 5000), "moved after step %d", at)
			server.poll(server.recvCQ)
		}
	}
}

// TestDmabufRefused: what the kernel says to descriptors and ranges that are none.
func TestDmabufRefused(t *testing.T) {
	_, server := pagedPair(t, setup{apart: true})
	buf, fd := server.export(4096)
	for name, c := range map[string]struct {
		offset, length, iova uint64
		fd                   int
		access               uint32
		err                  error
	}{
		"not open":       {0, 4096, 0, 99, dmabufAccess, rule.DmabufBad},
		"not a dma-buf":  {0, 4096, 0, server.ctx.CmdFD, dmabufAccess, rule.DmabufForeign},
		"beyond its end": {4096, 1, 0, fd, dmabufAccess, rule.DmabufRange},
		"wraps around":   {4096, math.MaxUint64 - 4000, 0, fd, dmabufAccess, rule.DmabufOverflow},
		"nothing":        {0, 0, 0, fd, dmabufAccess, rule.DmabufEmpty},
		"lies elsewhere": {0, 16, 8, fd, dmabufAccess, rule.DmabufMRMisaligned},
		"on demand":      {0, 16, 0, fd, dmabufAccess | verbs.IBV_ACCESS_ON_DEMAND, syscall.EINVAL},
	} {
		_, err := server.pd.RegDmabufMR(c.offset, c.length, c.iova, c.fd, c.access)
		require.ErrorIs(t, err, c.err, name)
	}
	attached, _ := buf.Attachments()
	require.Zero(t, attached)
}

// TestDmabufOutlivesDescriptor: the region keeps the memory when the program closes
// its descriptor, and a crash gives it back.
func TestDmabufOutlivesDescriptor(t *testing.T) {
	client, server := pagedPair(t, setup{apart: true})
	buf, fd := server.export(4096)
	region := server.registerDmabuf(fd, 0, 4096, 0)
	require.NoError(t, server.proc.Close(fd))
	client.mem.store(0, []byte("still there"))
	require.Equal(t, good, client.write(11, region.remote(0)))
	require.Equal(t, "still there", string(bytesOf(t, buf, 0, 11)))
	server.exit()
	attached, _ := buf.Attachments()
	require.Zero(t, attached)
}
