package traffic

import (
	"fmt"
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/rule"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// The tests of this file are about memory that is paged on demand: a region stands
// for addresses, and what the program has mapped there when the device needs it.

const onDemand = everything | verbs.IBV_ACCESS_ON_DEMAND

// odpPair makes two connected ends whose memory is paged on demand.
func odpPair(t *testing.T, s setup) (client, server *end) {
	t.Helper()
	s.access = onDemand
	return pagedPair(t, s)
}

// pagedPair makes two connected ends on devices whose drivers have made their event
// queues for page faults.
func pagedPair(t *testing.T, s setup) (client, server *end) {
	t.Helper()
	s = s.withDefaults()
	m := boot(t, s.options)
	client, server = m.start(0).newEnd(s), m.start(len(m.devices)-1).newEnd(s)
	client.peer, server.peer = server, client
	connect(client, server)
	return client, server
}

// finish lets time pass until nothing is left to do, and takes the completions of
// what the end has sent: receivers that wait for a page have their senders wait for
// a while.
func (e *end) finish() []libmlx5.WC {
	e.Helper()
	e.exhaust()
	return e.poll(e.sendCQ)
}

// transfer is a request between the client's memory and somewhere; it says how it
// ended.
func (e *end) transfer(op verbs.WROpcode, local verbs.SGE, remote libmlx5.RDMAWR) libmlx5.Status {
	e.Helper()
	wr := signaled(1, op, local)
	wr.RDMA = remote
	e.post(wr)
	status := e.one(e.finish()).Status
	if status != good {
		reconnect(e, e.peer)
		e.peer.events()
		e.events()
	}
	return status
}

// remap puts new pages in the place of old ones.
func (p *program) remap(at copyuser.Addr, size uint64) {
	p.Helper()
	const fixed = 0x10
	got, err := p.proc.MainTask().MmapAt(at, -1, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS|fixed, 0)
	require.NoError(p, err)
	require.Equal(p, at, got)
}

// TestODPOperations: each operation between ends of which neither has a page that
// the device knows. Nothing is pinned before or after but the queues.
func TestODPOperations(t *testing.T) {
	for _, typ := range reliable {
		for name, o := range operations {
			t.Run(fmt.Sprint(typ, " ", name), func(t *testing.T) {
				client, server := odpPair(t, setup{apart: true, typ: typ})
				pinned := server.proc.MainTask().Mem.PinnedVM()
				o.prepare(client, server)
				server.receive(server.into(9, incoming, message))
				client.post(o.request(client, server))
				client.succeeded(client.finish(), 1)
				o.check(t, client, server)
				if o.server != 0 || o.arrived != 0 {
					wc := server.one(server.received())
					require.Equal(t, good, wc.Status)
					require.EqualValues(t, o.arrived, wc.ByteLen)
				}
				require.Equal(t, pinned, server.proc.MainTask().Mem.PinnedVM())
			})
		}
	}
}

// TestODPDatagram: a datagram is sent from memory that has to be brought in.
func TestODPDatagram(t *testing.T) {
	client, server := odpPair(t, setup{apart: true, typ: verbs.IBV_QPT_UD})
	room := server.register(4096, everything)
	client.mem.store(0, texture(message, 3))
	server.receive(libmlx5.RecvWR{WRID: 9, SGList: []verbs.SGE{room.sge(0, message+server.header())}})
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, message)))
	client.succeeded(client.finish(), 1)
	server.succeeded(server.received(), 9)
	require.Equal(t, texture(message, 3), room.load(server.header(), message))
}

// TestODPLongMessages: messages of many packets and pages, of several pieces, some
// of them pinned, and receives of a shared queue.
func TestODPLongMessages(t *testing.T) {
	const size = 5 * 4096
	for _, srq := range []bool{false, true} {
		t.Run(fmt.Sprint("shared queue ", srq), func(t *testing.T) {
			client, server := odpPair(t, setup{apart: true, srq: srq})
			pinned := client.register(4096, everything)
			pinned.store(0, texture(1000, 9))
			client.mem.store(0x100, texture(size, 1))
			server.receive(libmlx5.RecvWR{WRID: 9, SGList: []verbs.SGE{server.mem.sge(0x10, 5000), server.mem.sge(0x5000, size)}})
			client.post(signaled(1, verbs.IBV_WR_SEND, pinned.sge(0, 1000), client.mem.sge(0x100, size)))
			client.succeeded(client.finish(), 1)
			server.succeeded(server.received(), 9)
			got := append(server.mem.load(0x10, 5000), server.mem.load(0x5000, size+1000-5000)...)
			require.Equal(t, append(texture(1000, 9), texture(size, 1)...), got)

			require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0x100, size), server.mem.remote(0xa123)))
			require.Equal(t, texture(size, 1), server.mem.load(0xa123, size))
			require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0x8000, size), server.mem.remote(0xa123)))
			require.Equal(t, texture(size, 1), client.mem.load(0x8000, size))
		})
	}
}

// TestODPRemap: when other pages come to the place of the region's, the device
// finds those: compare TestMunmap.
func TestODPRemap(t *testing.T) {
	client, server := odpPair(t, setup{apart: true})
	server.mem.store(0, []byte("old page"))
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 8), server.mem.remote(0)))
	require.Equal(t, "old page", string(client.mem.load(0, 8)))
	server.remap(server.mem.at, 4096)
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 8), server.mem.remote(0)))
	require.Equal(t, make([]byte, 8), client.mem.load(0, 8), "fresh pages are zero")
	client.mem.store(0, []byte("new page"))
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 8), server.mem.remote(0)))
	require.Equal(t, "new page", string(server.mem.load(0, 8)))
}

// TestODPUnmapped: where nothing is mapped the request fails as if the region did
// not allow it, at whichever end, and the rest of the region goes on.
func TestODPUnmapped(t *testing.T) {
	client, server := odpPair(t, setup{apart: true})
	for _, e := range []*end{client, server} {
		require.NoError(t, e.proc.Munmap(e.mem.at+0x4000, 4096))
	}
	local, hole := client.mem.sge(0, 64), client.mem.sge(0x4000, 64)
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, local, server.mem.remote(0)))
	for name, c := range map[string]struct {
		op     verbs.WROpcode
		local  verbs.SGE
		remote libmlx5.RDMAWR
		status libmlx5.Status
	}{
		"write to a hole":   {verbs.IBV_WR_RDMA_WRITE, local, server.mem.remote(0x4000), forbidden},
		"half in the hole":  {verbs.IBV_WR_RDMA_WRITE, local, server.mem.remote(0x4000 - 32), forbidden},
		"read from a hole":  {verbs.IBV_WR_RDMA_READ, local, server.mem.remote(0x4000), forbidden},
		"write from a hole": {verbs.IBV_WR_RDMA_WRITE, hole, server.mem.remote(0), libmlx5.IBV_WC_LOC_PROT_ERR},
		"read into a hole":  {verbs.IBV_WR_RDMA_READ, hole, server.mem.remote(0), libmlx5.IBV_WC_LOC_PROT_ERR},
	} {
		require.Equal(t, c.status, client.transfer(c.op, c.local, c.remote), name)
	}
	server.receive(server.into(9, 0x4000, 64))
	client.post(signaled(1, verbs.IBV_WR_SEND, local))
	require.Equal(t, libmlx5.IBV_WC_REM_OP_ERR, client.one(client.finish()).Status)
	require.Equal(t, libmlx5.IBV_WC_LOC_PROT_ERR, server.one(server.received()).Status)
	reconnect(client, server)
	for _, e := range []*end{client, server} {
		e.events()
		e.remap(e.mem.at+0x4000, 4096)
	}
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, hole, server.mem.remote(0x4000)), "it is mapped now")
}

// TestODPMprotect: the device may do what the program may do: compare TestMprotect.
func TestODPMprotect(t *testing.T) {
	client, server := odpPair(t, setup{apart: true})
	client.mem.store(0, []byte("written"))
	write := func() libmlx5.Status {
		return client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 7), server.mem.remote(0))
	}
	require.Equal(t, good, write())
	require.NoError(t, server.proc.Mprotect(server.mem.at, 4096, syscall.PROT_READ))
	require.Equal(t, forbidden, write())
	require.NoError(t, server.proc.Mprotect(server.mem.at, 4096, syscall.PROT_READ|syscall.PROT_WRITE))
	require.Equal(t, good, write())
	require.Equal(t, "written", string(server.mem.load(0, 7)))
}

// TestODPMremap: the region stays with the addresses, not with the pages: compare
// TestMremap.
func TestODPMremap(t *testing.T) {
	client, server := odpPair(t, setup{apart: true})
	server.mem.store(0, []byte("moved"))
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 5), server.mem.remote(0)))
	const mayMove = 1
	to, err := server.proc.Mremap(server.mem.at, 4096, 64*4096, mayMove)
	require.NoError(t, err)
	require.NotEqual(t, server.mem.at, to)
	require.Equal(t, forbidden, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 5), server.mem.remote(0)))
	require.Equal(t, "moved", string(server.load(to, 5)))
}

// TestODPFork: the parent's pages stay the region's; what the child does with its
// memory is not seen.
func TestODPFork(t *testing.T) {
	client, server := odpPair(t, setup{apart: true})
	server.mem.store(0, []byte("parent"))
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 6), server.mem.remote(0)))
	child, err := server.proc.Fork()
	require.NoError(t, err)
	require.NoError(t, verbs.Store(child, server.mem.at, []byte("child ")))
	client.mem.store(0, []byte("device"))
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 6), server.mem.remote(8)))
	require.Equal(t, "parent\x00\x00device", string(server.mem.load(0, 14)))
	got := make([]byte, 14)
	require.NoError(t, verbs.Load(child, server.mem.at, got))
	require.Equal(t, "child \x00\x00\x00\x00\x00\x00\x00\x00", string(got))
	child.Exit()
}

// TestODPInvalidateAnywhere takes the pages of both ends away after each step of a
// message in turn: the message arrives whole all the same, and the program sees it.
func TestODPInvalidateAnywhere(t *testing.T) {
	const size = 3*1024 + 100
	for _, op := range []verbs.WROpcode{verbs.IBV_WR_SEND, verbs.IBV_WR_RDMA_WRITE, verbs.IBV_WR_RDMA_READ} {
		t.Run(fmt.Sprint(op), func(t *testing.T) {
			client, server := odpPair(t, setup{apart: true})
			from, to := client, server
			if op == verbs.IBV_WR_RDMA_READ {
				from, to = server, client
			}
			for at, over := 0, false; !over; at++ {
				from.mem.store(0xf00, texture(size, byte(at)))
				if op == verbs.IBV_WR_SEND {
					server.receive(server.into(9, 0x1f80, size))
				}
				wr := signaled(1, op, client.mem.sge(0xf00, size))
				wr.RDMA = server.mem.remote(0x1f80)
				if op == verbs.IBV_WR_RDMA_READ {
					wr.SGList[0], wr.RDMA = client.mem.sge(0x1f80, size), server.mem.remote(0xf00)
				}
				client.post(wr)
				steps := 0
				for client.dev.Step(nil) || server.dev.Step(nil) {
					if steps++; steps == at {
						client.invalidate()
						server.invalidate()
					}
				}
				over = steps < at
				client.succeeded(client.finish(), 1)
				require.Equal(t, texture(size, byte(at)), to.mem.load(0x1f80, size), "taken away after step %d", at)
				server.poll(server.recvCQ)
			}
		})
	}
}

// invalidate takes all pages of the end's memory away from the device; their content
// stays.
func (e *end) invalidate() {
	e.Helper()
	require.NoError(e, e.proc.Mprotect(e.mem.at, e.mem.size, syscall.PROT_READ))
	require.NoError(e, e.proc.Mprotect(e.mem.at, e.mem.size, syscall.PROT_READ|syscall.PROT_WRITE))
}

// TestODPRNRRetries: a receiver that waits for a page is not ready, so a sender that
// does not try again gives up.
func TestODPRNRRetries(t *testing.T) {
	client, server := odpPair(t, setup{apart: true, link: func(l *link) { l.rnrRetries = 0 }})
	require.Equal(t, libmlx5.IBV_WC_RNR_RETRY_EXC_ERR,
		client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 8), server.mem.remote(0)))
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 8), server.mem.remote(0)),
		"the page has come meanwhile")
}

// TestODPImplicit: one region for all of the program's memory, what there is now and
// what comes later.
func TestODPImplicit(t *testing.T) {
	client, server := odpPair(t, setup{apart: true})
	all := server.registerAt(server.pd, 0, math.MaxUint64, 0, onDemand)
	anywhere := func(at copyuser.Addr) libmlx5.RDMAWR { return libmlx5.RDMAWR{RemoteAddr: uint64(at), RKey: all.RKey} }
	for i, at := range []copyuser.Addr{0x10_0000_0000, 0x7_4000_0000 - 4096, 0x10_0000_0000 + 4096} {
		server.remap(at, 3*4096)
		client.mem.store(0, texture(8192, byte(i)))
		require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 8192), anywhere(at+100)))
		require.Equal(t, texture(8192, byte(i)), server.load(at+100, 8192), "across a GiB if need be")
	}
	const at = 0x10_0000_0000
	require.NoError(t, server.proc.Munmap(at, 4096))
	require.Equal(t, forbidden, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 8), anywhere(at)))
	require.Equal(t, forbidden, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 8), anywhere(math.MaxUint64-15)))
	server.remap(at, 4096)
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 8), anywhere(at)))
	require.Equal(t, make([]byte, 8), client.mem.load(0, 8))

	// It serves receives and sends as well.
	mine := client.registerAt(client.pd, 0, math.MaxUint64, 0, onDemand)
	buf := client.alloc(4096)
	client.store(buf, []byte("a message"))
	server.receive(libmlx5.RecvWR{WRID: 9, SGList: []verbs.SGE{{Addr: at, Length: 64, LKey: all.LKey}}})
	client.post(signaled(1, verbs.IBV_WR_SEND, verbs.SGE{Addr: buf, Length: 9, LKey: mine.LKey}))
	client.succeeded(client.finish(), 1)
	server.succeeded(server.received(), 9)
	require.Equal(t, "a message", string(server.load(at, 9)))
}

// TestODPPrefetch: pages that a program asks for beforehand are there when the
// device needs them.
func TestODPPrefetch(t *testing.T) {
	const (
		read, write, present = verbs.IBV_ADVISE_MR_ADVICE_PREFETCH, verbs.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			verbs.IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT
		flush = verbs.IBV_ADVISE_MR_FLAG_FLUSH
		hole  = 0x8000
	)
	_, server := odpPair(t, setup{apart: true})
	require.NoError(t, server.proc.Munmap(server.mem.at+hole, 4096))
	readOnly := server.registerAt(server.pd, server.mem.at, 0x4000, 0, verbs.IBV_ACCESS_REMOTE_READ|verbs.IBV_ACCESS_ON_DEMAND)
	all := server.registerAt(server.pd, 0, math.MaxUint64, 0, onDemand)
	pinned := server.register(4096, everything)
	other := server.allocPD()
	for name, c := range map[string]struct {
		pd      *libmlx5.PD
		advice  uint32
		sge     verbs.SGE
		fetched int // pages
		err     error
	}{
		"for writing":              {server.pd, write, server.mem.sge(100, 4096), 2, nil},
		"for reading":              {server.pd, read, server.mem.sge(0x2000, 4096), 1, nil},
		"what is there":            {server.pd, present, server.mem.sge(0x2000, 0x2000), 1, nil},
		"of the whole memory":      {server.pd, write, verbs.SGE{Addr: server.mem.at + 0x3000, Length: 1, LKey: all.LKey}, 1, nil},
		"read-only":                {server.pd, read, readOnly.sge(0, 1), 1, nil},
		"read-only, for writing":   {server.pd, write, readOnly.sge(0, 1), 0, rule.MLX5ODPReadOnly},
		"a hole":                   {server.pd, write, server.mem.sge(hole, 1), 0, rule.HMMUnmapped},
		"a hole, what is there":    {server.pd, present, server.mem.sge(hole, 1), 0, nil},
		"behind the region":        {server.pd, write, server.mem.sge(server.mem.size-1, 4098), 0, rule.MLX5ODPAddress},
		"a pinned region":          {server.pd, write, pinned.sge(0, 1), 0, rule.MLX5ODPNoKey},
		"no key":                   {server.pd, write, verbs.SGE{LKey: server.mem.LKey ^ 1}, 0, rule.MLX5ODPNoKey},
		"another domain":           {other, write, server.mem.sge(0, 1), 0, rule.MLX5ODPForeignPD},
		"advice that nobody knows": {server.pd, 77, server.mem.sge(0, 1), 0, rule.MLX5MRAdvice},
	} {
		t.Run(name, func(t *testing.T) {
			server.remap(server.mem.at, 0x4000)
			server.store(server.mem.at+0x2000, []byte{1}) // of the others none is there unless it was fetched
			before := server.dev.Bus.Mapped()
			for _, flags := range []uint32{0, flush} {
				err := c.pd.AdviseMR(c.advice, flags, []verbs.SGE{c.sge})
				if c.err == nil || flags == 0 && (c.err == rule.HMMUnmapped || c.err == rule.MLX5ODPAddress) {
					require.NoError(t, err, "what happens later nobody is told")
				} else {
					require.ErrorIs(t, err, rule.Errno(c.err))
				}
				require.Equal(t, before+c.fetched, server.dev.Bus.Mapped())
			}
		})
	}
	require.NoError(t, server.pd.AdviseMR(write, flush, []verbs.SGE{server.mem.sge(0, 4096), server.mem.sge(0x3000, 4096)}))
}

// TestODPCrash: a program that ends with its regions in use leaves nothing.
func TestODPCrash(t *testing.T) {
	client, server := odpPair(t, setup{apart: true})
	all := server.registerAt(server.pd, 0, math.MaxUint64, 0, onDemand)
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 64), server.mem.remote(0)))
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 64),
		libmlx5.RDMAWR{RemoteAddr: uint64(server.mem.at) + 0x2000, RKey: all.RKey}))
	wr := signaled(1, verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 64))
	wr.RDMA = server.mem.remote(0x5000)
	client.post(wr)
	for n := 0; n < 3 && client.dev.Step(nil); n++ {
		continue
	}
	server.exit()
	require.NotEmpty(t, client.finish())
}

// TestODPWindow: through a window the pages of the region behind it are brought in.
func TestODPWindow(t *testing.T) {
	client, server := odpPair(t, setup{apart: true})
	mw := server.allocMW(verbs.IBV_MW_TYPE_1)
	require.Equal(t, good, server.bind1(mw, server.piece(0x1003, 0x1500, remoteOps)))
	client.mem.store(0, texture(0x1500, 4))
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 0x1500), server.window(mw.RKey, 0x1003)))
	require.Equal(t, texture(0x1500, 4), server.mem.load(0x1003, 0x1500))
	server.invalidate()
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0x2000, 16), server.window(mw.RKey, 0x2000)))
	require.Equal(t, texture(0x1500, 4)[0xffd:][:16], client.mem.load(0x2000, 16))
	require.NoError(t, server.proc.Munmap(server.mem.at+0x2000, 4096))
	require.Equal(t, forbidden, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0x2000, 16), server.window(mw.RKey, 0x2000)))
}

// TestODPRacing: the programs fork, which takes their pages away from the devices,
// while these run on threads of their own. The messages arrive all the same.
func TestODPRacing(t *testing.T) {
	client, server := odpPair(t, setup{apart: true})
	client.run()
	for round := range 50 {
		client.mem.store(0x800, texture(5000, byte(round)))
		wr := signaled(1, verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0x800, 5000))
		wr.RDMA = server.mem.remote(0x333)
		client.post(wr)
		var done []libmlx5.WC
		for len(done) == 0 {
			for _, e := range []*end{client, server} {
				child, err := e.proc.Fork()
				require.NoError(t, err)
				child.Exit()
			}
			done = client.poll(client.sendCQ)
		}
		client.succeeded(done, 1)
		require.Equal(t, texture(5000, byte(round)), server.mem.load(0x333, 5000))
	}
}

// TestODPCaps: what a program is told that the device does on demand is what the tests
// of this file do, and nothing where the device does not.
func TestODPCaps(t *testing.T) {
	// enum ib_uverbs_odp_general_cap_bits and ib_uverbs_odp_transport_cap_bits.
	const (
		support, implicit                        = 1, 2
		send, recv, write, read, atomic, srqRecv = 1, 2, 4, 8, 16, 32
	)
	p := boot(t, options{}).start(0)
	resp, err := p.ctx.QueryDevice(verbs.UHW{})
	require.NoError(t, err)
	require.EqualValues(t, support|implicit, resp.ODPCaps.GeneralCaps)
	caps := resp.ODPCaps.PerTransportCaps
	require.EqualValues(t, send|recv|write|read|atomic|srqRecv, caps.RcODPCaps)
	require.EqualValues(t, send|write|read|atomic|srqRecv, resp.XrcODPCaps)
	require.EqualValues(t, send, caps.UDODPCaps)
	require.Zero(t, caps.UcODPCaps)

	p = boot(t, options{profile: withCaps(t, map[string]uint64{"pg": 0})}).start(0)
	resp, err = p.ctx.QueryDevice(verbs.UHW{})
	require.NoError(t, err)
	require.Zero(t, resp.ODPCaps.GeneralCaps)
	require.Zero(t, resp.ODPCaps.PerTransportCaps.RcODPCaps)
}

// withCaps is the device for programs with other capabilities.
func withCaps(t *testing.T, caps map[string]uint64) *hw.Profile {
	t.Helper()
	p, err := hw.ConnectX6Dx.With(caps)
	require.NoError(t, err)
	return p
}

// TestODPRefused: what cannot be registered, and on which devices.
func TestODPRefused(t *testing.T) {
	const all, hugetlb = math.MaxUint64, verbs.IBV_ACCESS_HUGETLB
	for name, tt := range map[string]struct {
		caps        map[string]uint64
		start, size uint64
		iova        uint64
		access      uint32
		want        error
	}{
		"no paging":                   {map[string]uint64{"pg": 0}, 0, 4096, 0, 0, syscall.EOPNOTSUPP},
		"keys that do not change":     {map[string]uint64{"umr_modify_entity_size_disabled": 1}, 0, 4096, 0, 0, syscall.EOPNOTSUPP},
		"everything, seen elsewhere":  {nil, 0, all, 4096, 0, syscall.EINVAL},
		"everything, in huge pages":   {nil, 0, all, 0, hugetlb, syscall.EINVAL},
		"everything, without pieces":  {map[string]uint64{"umr_indirect_mkey_disabled": 1}, 0, all, 0, 0, syscall.EINVAL},
		"everything, without null":    {map[string]uint64{"null_mkey": 0}, 0, all, 0, 0, syscall.EINVAL},
		"more than a short list":      {map[string]uint64{"umr_extended_translation_offset": 0}, 4096, 1 << 28, 4096, 0, syscall.EINVAL},
		"around the end":              {nil, all - 100, 4096, all - 100, 0, syscall.EOVERFLOW},
		"nothing":                     {nil, 4096, 0, 4096, 0, syscall.EINVAL},
		"remote writes but no local":  {nil, 4096, 4096, 4096, verbs.IBV_ACCESS_REMOTE_WRITE | 1<<31, syscall.EINVAL},
		"where nothing is yet, later": {nil, 4096, 4096, 4096, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := boot(t, options{profile: withCaps(t, tt.caps)}).start(0)
			access := tt.access | verbs.IBV_ACCESS_ON_DEMAND | verbs.IBV_ACCESS_LOCAL_WRITE
			if tt.access>>31 != 0 {
				access = verbs.IBV_ACCESS_ON_DEMAND | verbs.IBV_ACCESS_REMOTE_WRITE
			}
			mr, err := p.pd.RegMR(copyuser.Addr(tt.start), tt.size, tt.iova, access)
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			require.NoError(t, mr.Dereg())
		})
	}
}

// TestODPRereg: a region gets other rights in its place, other memory as a new one,
// pinned or not; the whole address space is always made anew.
func TestODPRereg(t *testing.T) {
	const trans, rights = verbs.IBV_REREG_MR_CHANGE_TRANSLATION, verbs.IBV_REREG_MR_CHANGE_ACCESS
	client, server := odpPair(t, setup{apart: true})
	client.mem.store(0, []byte("new"))
	write := func(to libmlx5.RDMAWR) libmlx5.Status {
		return client.transfer(verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 3), to)
	}
	const noWindows = ^uint32(verbs.IBV_ACCESS_MW_BIND) // the right to bind them cannot be changed in place
	region := server.registerAt(server.pd, server.mem.at, 8192, uint64(server.mem.at), onDemand&noWindows)
	require.Equal(t, good, write(region.remote(0)))
	require.NoError(t, region.Rereg(rights, nil, 0, 0, verbs.IBV_ACCESS_REMOTE_READ|verbs.IBV_ACCESS_ON_DEMAND))
	require.Equal(t, forbidden, write(region.remote(0)))
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(8, 3), region.remote(0)))
	require.Equal(t, "new", string(client.mem.load(8, 3)))

	other := server.alloc(4096)
	for _, access := range []uint32{everything, onDemand} {
		require.NoError(t, region.Rereg(trans|rights, nil, other, 4096, access))
		at := libmlx5.RDMAWR{RemoteAddr: uint64(other), RKey: region.RKey}
		require.Equal(t, good, write(at))
		require.Equal(t, "new", string(server.load(other, 3)))
		server.remap(other, 4096)
		require.Equal(t, good, write(at))
		require.Equal(t, access == onDemand, string(server.load(other, 3)) == "new", "a pinned region keeps the old page")
	}

	all := server.registerAt(server.pd, 0, math.MaxUint64, 0, onDemand)
	require.ErrorIs(t, all.Rereg(rights, nil, 0, 0, verbs.IBV_ACCESS_LOCAL_WRITE), syscall.EOPNOTSUPP)
	old := all.RKey
	require.NoError(t, all.Rereg(rights, nil, 0, 0, verbs.IBV_ACCESS_REMOTE_READ|verbs.IBV_ACCESS_ON_DEMAND))
	require.NotEqual(t, old, all.RKey)
	at := libmlx5.RDMAWR{RemoteAddr: uint64(other), RKey: all.RKey}
	require.Equal(t, good, client.transfer(verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 3), at))
	require.Equal(t, forbidden, write(at))
}
