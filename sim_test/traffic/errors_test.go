package traffic

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// failure is a request that fails, with what both ends see of it. The server has
// posted one receive of 300 bytes unless prepare does something else.
type failure struct {
	setup   func(*setup)
	prepare func(client, server *end)
	request func(client, server *end) libmlx5.SendWR

	status libmlx5.Status // of the client's completion
	server libmlx5.Status // of the server's one; success stands for none
	fatal  bool           // the server's queue pair ends too
	events []verbs.EventType
}

// send is a request that is good by itself.
func send(client, _ *end) libmlx5.SendWR {
	return signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 300))
}

// toTarget makes requests of an operation on the server's memory.
func toTarget(op verbs.WROpcode, change func(client, server *end, wr *libmlx5.SendWR)) func(client, server *end) libmlx5.SendWR {
	return func(client, server *end) libmlx5.SendWR {
		wr := signaled(1, op, client.mem.sge(0, 8))
		wr.RDMA = server.mem.remote(target)
		wr.Atomic = libmlx5.AtomicWR{RemoteAddr: wr.RDMA.RemoteAddr, RKey: wr.RDMA.RKey}
		if change != nil {
			change(client, server, &wr)
		}
		return wr
	}
}

func without(access uint32) func(*setup) { return func(s *setup) { s.access = everything &^ access } }

func disallowing(access uint32) func(*setup) {
	return func(s *setup) { s.link = func(l *link) { l.allows &^= access } }
}

func noReceive(_, _ *end) {}

func firstReceive(sges ...func(server *end) verbs.SGE) func(client, server *end) {
	return func(_, server *end) {
		wr := libmlx5.RecvWR{WRID: 9}
		for _, sge := range sges {
			wr.SGList = append(wr.SGList, sge(server))
		}
		server.receive(wr)
	}
}

var (
	accessEvent  = []verbs.EventType{verbs.IBV_EVENT_QP_ACCESS_ERR}
	requestEvent = []verbs.EventType{verbs.IBV_EVENT_QP_REQ_ERR}
)

// failures are those of reliable connections.
var failures = map[string]failure{
	"key that does not exist": {
		request: func(client, server *end) libmlx5.SendWR {
			wr := send(client, server)
			wr.SGList[0].LKey += 1 << 8
			return wr
		},
		status: libmlx5.IBV_WC_LOC_PROT_ERR,
	},
	"key of another variant": {
		request: func(client, server *end) libmlx5.SendWR {
			wr := send(client, server)
			wr.SGList[0].LKey ^= 1
			return wr
		},
		status: libmlx5.IBV_WC_LOC_PROT_ERR,
	},
	"beyond the region": {
		request: func(client, server *end) libmlx5.SendWR {
			return signaled(1, verbs.IBV_WR_SEND, client.mem.sge(client.mem.size-299, 300))
		},
		status: libmlx5.IBV_WC_LOC_PROT_ERR,
	},
	"before the region": {
		request: func(client, server *end) libmlx5.SendWR {
			wr := send(client, server)
			wr.SGList[0].Addr--
			return wr
		},
		status: libmlx5.IBV_WC_LOC_PROT_ERR,
	},
	"around the end of addresses": {
		request: func(client, server *end) libmlx5.SendWR {
			wr := send(client, server)
			wr.SGList[0].Addr = ^copyuser.Addr(0) - 100
			return wr
		},
		status: libmlx5.IBV_WC_LOC_PROT_ERR,
	},
	"second piece beyond the region": {
		request: func(client, server *end) libmlx5.SendWR {
			return signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 100), client.mem.sge(client.mem.size, 1))
		},
		status: libmlx5.IBV_WC_LOC_PROT_ERR,
	},
	"region of another domain": {
		request: func(client, server *end) libmlx5.SendWR {
			other := client.registerAt(client.allocPD(), client.mem.at, 4096, uint64(client.mem.at), everything)
			return signaled(1, verbs.IBV_WR_SEND, other.sge(0, 300))
		},
		status: libmlx5.IBV_WC_LOC_PROT_ERR,
	},
	"region that is gone": {
		request: func(client, server *end) libmlx5.SendWR {
			gone := client.register(4096, everything)
			require.NoError(client, gone.drop())
			return signaled(1, verbs.IBV_WR_SEND, gone.sge(0, 300))
		},
		status: libmlx5.IBV_WC_LOC_PROT_ERR,
	},
	"read into memory that must not be written": {
		request: func(client, server *end) libmlx5.SendWR {
			fixed := client.register(4096, 0)
			return toTarget(verbs.IBV_WR_RDMA_READ, func(_, _ *end, wr *libmlx5.SendWR) { wr.SGList[0] = fixed.sge(0, 8) })(client, server)
		},
		status: libmlx5.IBV_WC_LOC_PROT_ERR,
	},
	"message of more than 1 GiB": {
		request: func(client, server *end) libmlx5.SendWR {
			return signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 1<<29), client.mem.sge(0, 1<<29), client.mem.sge(0, 1))
		},
		status: libmlx5.IBV_WC_LOC_LEN_ERR,
	},
	"remote key that does not exist": {
		request: toTarget(verbs.IBV_WR_RDMA_WRITE, func(_, _ *end, wr *libmlx5.SendWR) { wr.RDMA.RKey += 1 << 20 }),
		status:  libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"write beyond the region": {
		request: toTarget(verbs.IBV_WR_RDMA_WRITE, func(_, server *end, wr *libmlx5.SendWR) { wr.RDMA = server.mem.remote(server.mem.size - 7) }),
		status:  libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"long write of which the last byte lies beyond": {
		request: toTarget(verbs.IBV_WR_RDMA_WRITE, func(client, server *end, wr *libmlx5.SendWR) {
			wr.SGList[0], wr.RDMA = client.mem.sge(0, 10_000), server.mem.remote(server.mem.size-9_999)
		}),
		status: libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"read beyond the region": {
		request: toTarget(verbs.IBV_WR_RDMA_READ, func(_, server *end, wr *libmlx5.SendWR) { wr.RDMA = server.mem.remote(server.mem.size - 7) }),
		status:  libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"write to a region of another domain": {
		request: toTarget(verbs.IBV_WR_RDMA_WRITE, func(_, server *end, wr *libmlx5.SendWR) {
			wr.RDMA = server.registerAt(server.allocPD(), server.mem.at, 4096, uint64(server.mem.at), everything).remote(0)
		}),
		status: libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"write to a region without that right": {
		setup: without(verbs.IBV_ACCESS_REMOTE_WRITE | verbs.IBV_ACCESS_REMOTE_ATOMIC), request: toTarget(verbs.IBV_WR_RDMA_WRITE, nil),
		status: libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"read of a region without that right": {
		setup: without(verbs.IBV_ACCESS_REMOTE_READ), request: toTarget(verbs.IBV_WR_RDMA_READ, nil),
		status: libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"atomic on a region without that right": {
		setup: without(verbs.IBV_ACCESS_REMOTE_ATOMIC), request: toTarget(verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, nil),
		status: libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"write to a queue pair without that right": {
		setup: disallowing(verbs.IBV_ACCESS_REMOTE_WRITE), request: toTarget(verbs.IBV_WR_RDMA_WRITE, nil),
		status: libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"read by a queue pair without that right": {
		setup: disallowing(verbs.IBV_ACCESS_REMOTE_READ), request: toTarget(verbs.IBV_WR_RDMA_READ, nil),
		status: libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"atomic by a queue pair without that right": {
		setup: disallowing(verbs.IBV_ACCESS_REMOTE_ATOMIC), request: toTarget(verbs.IBV_WR_ATOMIC_CMP_AND_SWP, nil),
		status: libmlx5.IBV_WC_REM_ACCESS_ERR, fatal: true, events: accessEvent,
	},
	"atomic across a boundary of 8 bytes": {
		request: toTarget(verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, func(_, _ *end, wr *libmlx5.SendWR) { wr.Atomic.RemoteAddr += 4 }),
		status:  libmlx5.IBV_WC_REM_INV_REQ_ERR, fatal: true, events: requestEvent,
	},
	"receive too small": {
		prepare: firstReceive(func(s *end) verbs.SGE { return s.mem.sge(0, 100) }, func(s *end) verbs.SGE { return s.mem.sge(200, 199) }),
		request: send,
		status:  libmlx5.IBV_WC_REM_INV_REQ_ERR, server: libmlx5.IBV_WC_LOC_LEN_ERR, fatal: true,
	},
	"receive without memory": {
		prepare: firstReceive(), request: send,
		status: libmlx5.IBV_WC_REM_INV_REQ_ERR, server: libmlx5.IBV_WC_LOC_LEN_ERR, fatal: true,
	},
	"receive with a bad key": {
		prepare: firstReceive(func(s *end) verbs.SGE { sge := s.mem.sge(0, 300); sge.LKey ^= 0x80; return sge }), request: send,
		status: libmlx5.IBV_WC_REM_OP_ERR, server: libmlx5.IBV_WC_LOC_PROT_ERR, fatal: true,
	},
	"receive into memory that must not be written": {
		prepare: firstReceive(func(s *end) verbs.SGE { return s.register(4096, 0).sge(0, 300) }), request: send,
		status: libmlx5.IBV_WC_REM_OP_ERR, server: libmlx5.IBV_WC_LOC_PROT_ERR, fatal: true,
	},
	"key to invalidate that does not exist": {
		request: func(client, server *end) libmlx5.SendWR {
			wr := send(client, server)
			wr.Opcode, wr.InvalidateRKey = verbs.IBV_WR_SEND_WITH_INV, 0x12345600
			return wr
		},
		status: libmlx5.IBV_WC_REM_OP_ERR, server: libmlx5.IBV_WC_LOC_QP_OP_ERR, fatal: true,
	},
	"no receive": {
		setup:   func(s *setup) { s.link = func(l *link) { l.rnrRetries = 3 } },
		prepare: noReceive, request: send,
		status: libmlx5.IBV_WC_RNR_RETRY_EXC_ERR,
	},
	"nobody answers": {
		prepare: func(_, server *end) { server.toState(server.target, verbs.IBV_QPS_RESET) }, request: send,
		status: libmlx5.IBV_WC_RETRY_EXC_ERR,
	},
	"the other end is in error": {
		prepare: func(_, server *end) { server.toState(server.target, verbs.IBV_QPS_ERR) }, request: send,
		status: libmlx5.IBV_WC_RETRY_EXC_ERR,
		fatal:  true,
	},
}

// vendorErrors are the device's own numbers beside the status.
var vendorErrors = map[libmlx5.Status]uint8{
	libmlx5.IBV_WC_LOC_LEN_ERR: 0x6a, libmlx5.IBV_WC_LOC_QP_OP_ERR: 0x68, libmlx5.IBV_WC_LOC_PROT_ERR: 0x51,
	libmlx5.IBV_WC_WR_FLUSH_ERR: 0xf9, libmlx5.IBV_WC_MW_BIND_ERR: 0x1d, libmlx5.IBV_WC_REM_INV_REQ_ERR: 0x8a,
	libmlx5.IBV_WC_REM_ACCESS_ERR: 0x88, libmlx5.IBV_WC_REM_OP_ERR: 0x89, libmlx5.IBV_WC_RETRY_EXC_ERR: 0x81,
	libmlx5.IBV_WC_RNR_RETRY_EXC_ERR: 0x87,
}

// TestFailures: the failing request is told with its reason, those before it are
// done, those behind it are flushed, and so is what the server has posted if its
// queue pair ends too.
func TestFailures(t *testing.T) {
	for service, s := range map[string]setup{
		"RC":          {typ: verbs.IBV_QPT_RC, apart: true},
		"RC with SRQ": {typ: verbs.IBV_QPT_RC, srq: true},
		"XRC":         {typ: verbs.IBV_QPT_XRC_SEND},
	} {
		for name, f := range failures {
			t.Run(service+"/"+name, func(t *testing.T) {
				s := s
				if f.setup != nil {
					f.setup(&s)
				}
				client, server := pair(t, s)
				server.receive(server.into(8, 0, 0))
				client.post(libmlx5.SendWR{WRID: 100, Opcode: verbs.IBV_WR_SEND}) // of which no completion tells
				server.succeeded(server.received(), 8)
				if f.prepare != nil {
					f.prepare(client, server)
				} else {
					server.receive(server.into(9, incoming, 300))
				}
				failing := f.request(client, server)
				failing.WRID, failing.SendFlags = 1, 0 // an error is told of unsignalled requests too
				client.post(failing,
					libmlx5.SendWR{WRID: 2, Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_FENCE},
					signaled(3, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
				client.exhaust()
				f.checkClient(t, client)
				f.checkServer(t, server, s.srq || s.typ == verbs.IBV_QPT_XRC_SEND)
			})
		}
	}
}

func (f *failure) checkClient(t *testing.T, client *end) {
	wcs := client.sent()
	require.Len(t, wcs, 3)
	for i, want := range []libmlx5.Status{f.status, libmlx5.IBV_WC_WR_FLUSH_ERR, libmlx5.IBV_WC_WR_FLUSH_ERR} {
		require.EqualValues(t, i+1, wcs[i].WRID, "in the order in which they were posted")
		require.Equal(t, want, wcs[i].Status, "request %d", i+1)
		require.Equal(t, vendorErrors[want], wcs[i].VendorErr)
		require.Equal(t, client.qp.Num, wcs[i].QPNum)
	}
	require.Equal(t, verbs.IBV_QPS_ERR, client.state(client.qp))
	// What is posted now comes back too, receives at once.
	client.post(libmlx5.SendWR{WRID: 4, Opcode: verbs.IBV_WR_SEND})
	require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, client.one(client.sent()).Status)
	if client.srq == nil {
		client.receive(client.into(5, 0, 8))
		wc := client.one(client.received())
		require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, wc.Status)
		require.EqualValues(t, 5, wc.WRID)
	}
	events := slices.DeleteFunc(client.events(), func(e verbs.EventType) bool { return e == verbs.IBV_EVENT_QP_LAST_WQE_REACHED })
	require.Empty(t, events, "completions tell enough")
}

func (f *failure) checkServer(t *testing.T, server *end, shared bool) {
	var got []libmlx5.Status
	for _, wc := range server.received() {
		require.EqualValues(t, 9, wc.WRID)
		got = append(got, wc.Status)
		require.Equal(t, vendorErrors[wc.Status], wc.VendorErr)
	}
	switch {
	case f.server != libmlx5.IBV_WC_SUCCESS:
		require.Equal(t, []libmlx5.Status{f.server}, got)
	case f.fatal && f.prepare == nil && !shared:
		require.Equal(t, []libmlx5.Status{libmlx5.IBV_WC_WR_FLUSH_ERR}, got, "what was posted is flushed")
	default:
		require.Empty(t, got)
	}
	require.Equal(t, f.fatal, server.state(server.target) == verbs.IBV_QPS_ERR)
	events := server.events()
	if f.events != nil {
		require.Contains(t, events, f.events[0])
	}
	require.Equal(t, f.fatal && server.setup.srq, slices.Contains(events, verbs.IBV_EVENT_QP_LAST_WQE_REACHED))
}

// TestTooManyReads: a client that asks for more at a time than the server answers
// is refused.
func TestTooManyReads(t *testing.T) {
	client, server := unconnected(t, setup{apart: true})
	l := typical()
	l.answers = 1
	server.toRTR(l, l.clientPSN)
	server.toRTS(l, l.serverPSN)
	l.reads, l.answers = 16, 1
	client.toRTR(l, l.serverPSN)
	client.toRTS(l, l.clientPSN)
	var wrs []libmlx5.SendWR
	for i := range uint64(8) {
		wr := signaled(i, verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 1<<15))
		wr.RDMA = server.mem.remote(0)
		wrs = append(wrs, wr)
	}
	client.post(wrs...)
	client.exhaust()
	wcs := client.sent()
	require.Len(t, wcs, 8)
	for i, wc := range wcs {
		if wc.Status != good {
			require.Equal(t, libmlx5.IBV_WC_REM_INV_REQ_ERR, wc.Status)
			for _, later := range wcs[i+1:] {
				require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, later.Status)
			}
			require.Equal(t, requestEvent, server.events())
			return
		}
	}
	require.Fail(t, "all were answered")
}

// TestUnreliableFailures: a request that fails by its own fault stops an
// unreliable send queue, which goes on when it is taken back to RTS; receives go
// on all the time. Of what fails at the server nobody tells the client.
func TestUnreliableFailures(t *testing.T) {
	bad := func(client *end) map[string]libmlx5.SendWR {
		wrongKey := client.mem.sge(0, 8)
		wrongKey.LKey ^= 1
		long := signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 1<<29), client.mem.sge(0, 1<<29), client.mem.sge(0, 1))
		return map[string]libmlx5.SendWR{
			"local key": signaled(1, verbs.IBV_WR_SEND, wrongKey),
			"too long":  long,
			"operation": signaled(1, verbs.IBV_WR_RDMA_READ, client.mem.sge(0, 8)),
		}
	}
	for service, typ := range map[string]verbs.QPType{"UC": verbs.IBV_QPT_UC, "UD": verbs.IBV_QPT_UD} {
		for name, status := range map[string]libmlx5.Status{
			"local key": libmlx5.IBV_WC_LOC_PROT_ERR, "too long": libmlx5.IBV_WC_LOC_LEN_ERR, "operation": libmlx5.IBV_WC_LOC_QP_OP_ERR,
		} {
			t.Run(service+"/"+name, func(t *testing.T) {
				client, server := pair(t, setup{typ: typ, apart: true})
				server.receive(server.into(1, 0, 8), server.into(2, 0, 8))
				good := signaled(2, verbs.IBV_WR_SEND, client.mem.sge(0, 8))
				client.post(bad(client)[name], good)
				wcs := client.sent()
				require.Len(t, wcs, 2)
				require.Equal(t, status, wcs[0].Status)
				require.Equal(t, vendorErrors[status], wcs[0].VendorErr)
				require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, wcs[1].Status)
				require.Equal(t, verbs.IBV_QPS_SQE, client.state(client.qp))
				client.post(good)
				require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, client.one(client.sent()).Status)

				client.receive(client.into(3, 0x100, 8))
				server.post(signaled(4, verbs.IBV_WR_SEND, server.mem.sge(0, 8)))
				client.succeeded(client.received(), 3)

				client.modify(client.qp, verbs.QPAttr{QPState: verbs.IBV_QPS_RTS}, verbs.IBV_QP_STATE)
				client.post(good)
				client.succeeded(client.sent(), 2)
				server.succeeded(server.received(), 1)
			})
		}
	}
}

// TestUnreliableServerIsSilent: messages for which the server has no receive, and
// writes that it does not allow, are gone, and both ends live on.
func TestUnreliableServerIsSilent(t *testing.T) {
	for service, typ := range map[string]verbs.QPType{"UC": verbs.IBV_QPT_UC, "UD": verbs.IBV_QPT_UD} {
		t.Run(service, func(t *testing.T) {
			client, server := pair(t, setup{typ: typ, apart: true})
			client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
			client.succeeded(client.sent(), 1)
			if typ == verbs.IBV_QPT_UC {
				wr := signaled(2, verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 8))
				wr.RDMA = server.mem.remote(server.mem.size)
				client.post(wr)
				client.succeeded(client.sent(), 2)
			}
			server.receive(server.into(1, 0, 8))
			client.post(signaled(3, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
			client.succeeded(client.sent(), 3)
			server.succeeded(server.received(), 1)
			require.Equal(t, verbs.IBV_QPS_RTS, server.state(server.qp))
		})
	}
}

// TestWrongQKey: a datagram with another Q_Key than its receiver's is dropped.
func TestWrongQKey(t *testing.T) {
	client, server := pair(t, setup{typ: verbs.IBV_QPT_UD, apart: true})
	server.receive(server.into(1, 0, 8))
	wr := client.addressed(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	wr.UD.RemoteQKey++
	_, err := client.qp.PostSend(&wr)
	require.NoError(t, err)
	client.succeeded(client.sent(), 1)
	require.Empty(t, server.received())
	// One with the highest bit stands for the sender's own.
	wr.UD.RemoteQKey = 1 << 31
	_, err = client.qp.PostSend(&wr)
	require.NoError(t, err)
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 1)
}

// TestFlushByHand: a program takes a queue pair to ERR: everything comes back once,
// in order, on both queues.
func TestFlushByHand(t *testing.T) {
	eachService(t, func(t *testing.T, s setup) {
		client, server := pair(t, s)
		server.toState(server.target, verbs.IBV_QPS_RESET) // nobody answers
		const n = 8
		for i := range uint64(n) {
			if client.srq == nil {
				client.receive(client.into(100+i, 0, 8))
			}
		}
		client.toState(client.qp, verbs.IBV_QPS_ERR)
		if client.target != client.qp {
			client.toState(client.target, verbs.IBV_QPS_ERR)
		}
		for i := range uint64(n) {
			client.post(libmlx5.SendWR{WRID: i, Opcode: verbs.IBV_WR_SEND, SGList: []verbs.SGE{client.mem.sge(0, 8)}})
		}
		wcs := client.sent()
		require.Len(t, wcs, n)
		for i, wc := range wcs {
			require.EqualValues(t, i, wc.WRID)
			require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, wc.Status)
		}
		wcs = client.received()
		if client.srq != nil {
			require.Empty(t, wcs, "a shared queue is not flushed")
			return
		}
		require.Len(t, wcs, n)
		for i, wc := range wcs {
			require.EqualValues(t, 100+i, wc.WRID)
			require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, wc.Status)
		}
	})
}

// TestResetForgets: a queue pair that is reset loses its requests and their
// completions, also those that wait in the queues.
func TestResetForgets(t *testing.T) {
	client, server := pair(t, setup{})
	client.receive(client.into(1, 0, 8), client.into(2, 0, 8))
	server.receive(server.into(3, 0, 8))
	client.post(signaled(4, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	server.post(signaled(5, verbs.IBV_WR_SEND, server.mem.sge(0, 8)))
	client.settle()
	client.toState(client.qp, verbs.IBV_QPS_RESET)
	require.Empty(t, client.sent())
	require.Empty(t, client.received())
	server.succeeded(server.received(), 3)
	server.succeeded(server.sent(), 5)
	reconnect(client, server)
	client.receive(client.into(6, 0, 8))
	server.post(signaled(7, verbs.IBV_WR_SEND, server.mem.sge(0, 8)))
	server.succeeded(server.sent(), 7)
	client.succeeded(client.received(), 6)
}
