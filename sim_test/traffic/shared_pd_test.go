package traffic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// TestSharedPD: a process that has got another's device file uses the other's
// protection domain: what it registers is its own memory, and the other's queue
// pairs reach that. It is what ibv_import_device and ibv_import_pd come to.
func TestSharedPD(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	worker := client.kernel.NewProcess(process.Options{})
	fd, err := client.proc.SendFD(client.ctx.CmdFD, worker)
	require.NoError(t, err)
	imported := verbs.InitContext(worker, fd, spec.RDMA_DRIVER_MLX5)
	pd := &verbs.PD{Context: imported, Handle: client.pd.Handle}

	at, err := verbs.Alloc(worker, 4096)
	require.NoError(t, err)
	require.NoError(t, verbs.Store(worker, at, []byte("of the worker")))
	mr, err := pd.RegMR(at, 4096, uint64(at), everything)
	require.NoError(t, err)

	server.receive(server.into(1, incoming, 64))
	client.post(signaled(1, verbs.IBV_WR_SEND, verbs.SGE{Addr: at, Length: 13, LKey: mr.LKey}))
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 1)
	require.Equal(t, "of the worker", string(server.mem.load(incoming, 13)))

	server.mem.store(0, []byte("for the worker"))
	require.Equal(t, good, server.write(14, libmlx5.RDMAWR{RemoteAddr: uint64(at), RKey: mr.RKey}))
	got := make([]byte, 14)
	require.NoError(t, verbs.Load(worker, at, got))
	require.Equal(t, "for the worker", string(got))

	// A region is destroyed by whoever has its handle; the worker's file does not
	// end the other's objects.
	theirs := &verbs.MR{Context: client.ctx.Context, PD: client.pd.PD, Handle: mr.Handle}
	require.NoError(t, theirs.Dereg())
	require.Equal(t, forbidden, server.write(1, libmlx5.RDMAWR{RemoteAddr: uint64(at), RKey: mr.RKey}))
	imported.Uninit()
	worker.Exit()
	server.receive(server.into(2, incoming, 64))
	client.post(signaled(2, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	client.succeeded(client.sent(), 2)
	server.succeeded(server.received(), 2)
}

// TestWorkerOutlivesOwner: the objects live as long as any process has the file.
func TestWorkerOutlivesOwner(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	worker := client.kernel.NewProcess(process.Options{})
	_, err := client.proc.SendFD(client.ctx.CmdFD, worker)
	require.NoError(t, err)
	server.mem.store(target, []byte("kept"))
	client.mem.store(target, []byte("data"))
	client.exit()
	// Its queue pair still answers, from memory that nobody can see any more.
	require.Equal(t, good, server.read(4, client.mem.remote(target)))
	require.Equal(t, "data", string(server.mem.load(0, 4)))
	worker.Exit()
	require.NotEqual(t, good, func() libmlx5.Status {
		wr := signaled(1, verbs.IBV_WR_RDMA_READ, server.mem.sge(0, 4))
		wr.RDMA = client.mem.remote(target)
		server.post(wr)
		server.exhaust()
		return server.one(server.sent()).Status
	}())
}

// TestHandlesOfOthers: a handle of another process's file means nothing.
func TestHandlesOfOthers(t *testing.T) {
	m := boot(t, options{})
	a, b := m.start(0), m.start(0)
	cq := a.createCQ(4, nil)
	foreign := &verbs.CQ{Context: b.ctx.Context, Handle: cq.Handle}
	require.Error(t, foreign.CmdDestroyCQ())
	mem := a.register(4096, everything)
	e := b.newEnd(setup{})
	e.connectToItself()
	e.post(signaled(1, verbs.IBV_WR_SEND, mem.sge(0, 8)))
	require.Equal(t, libmlx5.IBV_WC_LOC_PROT_ERR, e.one(e.sent()).Status, "nor does a key")
}
