package traffic

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// The tests of this file are about what a region stands for: the pages that the
// program had there when it registered them, whatever becomes of its addresses.

// TestMunmap: the region keeps its pages when they are unmapped, and others that
// come to their place are not the device's.
func TestMunmap(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	at := server.alloc(4096)
	region := server.registerAt(server.pd, at, 4096, uint64(at), everything)
	server.store(at, []byte("old page"))
	require.NoError(t, server.proc.Munmap(at, 4096))
	require.Equal(t, good, client.read(8, region.remote(0)), "the page is pinned")
	require.Equal(t, "old page", string(client.mem.load(0, 8)))

	server.remap(at, 4096)
	server.store(at, []byte("new page"))
	client.mem.store(0, []byte("OLD"))
	require.Equal(t, good, client.write(3, region.remote(0)))
	require.Equal(t, "new page", string(server.load(at, 8)))
	require.Equal(t, good, client.read(8, region.remote(0)))
	require.Equal(t, "OLD page", string(client.mem.load(0, 8)))
	// A region that is registered now stands for the new page.
	second := server.registerAt(server.pd, at, 4096, uint64(at), everything)
	require.Equal(t, good, client.read(8, second.remote(0)))
	require.Equal(t, "new page", string(client.mem.load(0, 8)))
}

// TestMremap: memory that is moved takes its pages along, and so the region.
func TestMremap(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	at := server.alloc(4096)
	region := server.registerAt(server.pd, at, 4096, uint64(at), everything)
	server.store(at, []byte("moved"))
	const mayMove = 1
	to, err := server.proc.Mremap(at, 4096, 64*4096, mayMove)
	require.NoError(t, err)
	require.NotEqual(t, at, to, "it cannot grow where it is")
	require.Equal(t, good, client.read(5, region.remote(0)))
	require.Equal(t, "moved", string(client.mem.load(0, 5)))
	client.mem.store(0, []byte("MOVED"))
	require.Equal(t, good, client.write(5, region.remote(0)))
	require.Equal(t, "MOVED", string(server.load(to, 5)))
}

// TestMprotect: what the program may do with its memory is not what the device
// may do.
func TestMprotect(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	at := server.alloc(4096)
	region := server.registerAt(server.pd, at, 4096, uint64(at), everything)
	require.NoError(t, server.proc.Mprotect(at, 4096, syscall.PROT_READ))
	client.mem.store(0, []byte("written"))
	require.Equal(t, good, client.write(7, region.remote(0)))
	require.Equal(t, "written", string(server.load(at, 7)))
	require.Error(t, verbs.Store(server.proc, at, []byte{1}))
}

// TestFork: pinned pages stay the parent's, so the device goes on with what the
// parent sees; the child gets copies of its own.
func TestFork(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	at := server.alloc(2 * 4096)
	region := server.registerAt(server.pd, at, 4096, uint64(at), everything)
	server.store(at, []byte("before fork"))
	server.store(at+4096, []byte("not registered"))
	child, err := server.proc.Fork()
	require.NoError(t, err)
	sees := func(p *process.Process, at copyuser.Addr, n int) string {
		b := make([]byte, n)
		require.NoError(t, verbs.Load(p, at, b))
		return string(b)
	}
	server.store(at, []byte("parent"))
	require.Equal(t, good, client.read(11, region.remote(0)))
	require.Equal(t, "parent fork", string(client.mem.load(0, 11)))
	require.Equal(t, "before fork", sees(child, at, 11))

	require.NoError(t, verbs.Store(child, at, []byte("child")))
	require.Equal(t, good, client.read(11, region.remote(0)))
	require.Equal(t, "parent fork", string(client.mem.load(0, 11)))

	client.mem.store(0, []byte("device"))
	require.Equal(t, good, client.write(6, region.remote(0)))
	require.Equal(t, "device", sees(server.proc, at, 6))
	require.Equal(t, "childe", sees(child, at, 6))
	require.Equal(t, "not registered", sees(child, at+4096, 14))

	// The child's device file is the parent's too: it goes on when the child ends.
	child.Exit()
	require.Equal(t, good, client.write(6, region.remote(0)))
	server.receive(server.into(1, 0, 8))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 1)
}

// TestForkOfReadOnlyRegion: a region that is only read is pinned as well.
func TestForkOfReadOnlyRegion(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	at := server.alloc(4096)
	server.store(at, []byte("before"))
	region := server.registerAt(server.pd, at, 4096, uint64(at), verbs.IBV_ACCESS_REMOTE_READ)
	child, err := server.proc.Fork()
	require.NoError(t, err)
	server.store(at, []byte("parent"))
	require.Equal(t, good, client.read(6, region.remote(0)))
	require.Equal(t, "parent", string(client.mem.load(0, 6)))
	child.Exit()
}

// TestExit: when a program crashes everything of it goes, its memory last, and the
// other end gets no answer any more.
func TestExit(t *testing.T) {
	for name, s := range map[string]setup{"RC": {typ: verbs.IBV_QPT_RC}, "SRQ": {typ: verbs.IBV_QPT_RC, srq: true}, "XRC": {typ: verbs.IBV_QPT_XRC_SEND}} {
		t.Run(name, func(t *testing.T) {
			s.apart, s.channel = true, true
			client, server := pair(t, s)
			server.allocDM(64)
			_, err := server.pd.AllocMW(verbs.IBV_MW_TYPE_2)
			require.NoError(t, err)
			server.receive(server.into(1, 0, 8))
			client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
			client.succeeded(client.sent(), 1)
			server.post(signaled(2, verbs.IBV_WR_RDMA_READ, server.mem.sge(0, 1)))
			server.exit()
			require.Equal(t, client.probed[1], booksOf(server.dev))
			client.post(signaled(3, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
			client.exhaust()
			require.Equal(t, libmlx5.IBV_WC_RETRY_EXC_ERR, client.one(client.sent()).Status)
		})
	}
}

// TestQueuesArePinned: a program that unmaps the queues of its own library loses
// them, but the device goes on with the pages.
func TestQueuesArePinned(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	server.receive(server.into(1, 0x100, 8))
	client.mem.store(0, []byte("arrives!"))
	buf := server.qp.Buffer()
	require.NoError(t, server.proc.Munmap(buf.Addr, (buf.Length+4095)&^4095))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 1)
	require.Equal(t, "arrives!", string(server.mem.load(0x100, 8)))
	wr := server.addressed(signaled(2, verbs.IBV_WR_SEND))
	_, err := server.qp.PostSend(&wr)
	require.ErrorIs(t, err, syscall.EFAULT, "the program itself would be killed")
}
