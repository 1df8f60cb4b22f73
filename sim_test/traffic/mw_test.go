package traffic

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// allocMW makes a memory window.
func (p *program) allocMW(typ verbs.MWType) *verbs.MW {
	p.Helper()
	mw, err := p.pd.AllocMW(typ)
	require.NoError(p, err)
	p.atEnd(mw.Dealloc)
	return mw
}

// piece is what a window is bound to: a piece of an end's memory.
func (e *end) piece(off, n uint64, access uint32) libmlx5.BindInfo {
	return libmlx5.BindInfo{MR: e.mem.MR, Addr: e.mem.iova + off, Length: n, MWAccessFlags: access}
}

// bind1 binds a window of type 1, and returns how that ended.
func (e *end) bind1(mw *verbs.MW, info libmlx5.BindInfo) libmlx5.Status {
	e.Helper()
	require.NoError(e, e.qp.BindMW(mw, &libmlx5.MWBind{WRID: 77, SendFlags: verbs.IBV_SEND_SIGNALED, BindInfo: info}))
	wc := e.one(e.sent())
	require.EqualValues(e, 77, wc.WRID)
	if wc.Status == good {
		require.Equal(e, libmlx5.IBV_WC_BIND_MW, wc.Opcode)
	}
	return wc.Status
}

// bind2 makes the request that binds a window of type 2, which gets the next key.
func (e *end) bind2(mw *verbs.MW, info libmlx5.BindInfo) libmlx5.SendWR {
	wr := signaled(78, verbs.IBV_WR_BIND_MW)
	wr.BindMW = libmlx5.BindMWWR{MW: mw, RKey: verbs.IncRKey(mw.RKey), BindInfo: info}
	return wr
}

func invalidate(rkey uint32) libmlx5.SendWR {
	wr := signaled(79, verbs.IBV_WR_LOCAL_INV)
	wr.InvalidateRKey = rkey
	return wr
}

// window is what the other end calls the byte at an offset of a piece.
func (e *end) window(rkey uint32, off uint64) libmlx5.RDMAWR {
	return libmlx5.RDMAWR{RemoteAddr: e.mem.iova + off, RKey: rkey}
}

// TestWindowBounds: through a window its piece is reached with the window's rights,
// and nothing else.
func TestWindowBounds(t *testing.T) {
	for _, typ := range []verbs.MWType{verbs.IBV_MW_TYPE_1, verbs.IBV_MW_TYPE_2} {
		client, server := pair(t, setup{apart: true})
		bind := func(info libmlx5.BindInfo) uint32 {
			mw := server.allocMW(typ)
			if typ == verbs.IBV_MW_TYPE_1 {
				require.Equal(t, good, server.bind1(mw, info))
				return mw.RKey
			}
			wr := server.bind2(mw, info)
			server.post(wr)
			wc := server.one(server.sent())
			require.Equal(t, good, wc.Status)
			require.Equal(t, libmlx5.IBV_WC_BIND_MW, wc.Opcode)
			mw.RKey = wr.BindMW.RKey
			return mw.RKey
		}
		for name, tt := range map[string]struct {
			access      uint32
			write, read libmlx5.Status
		}{
			"writing": {verbs.IBV_ACCESS_REMOTE_WRITE, good, forbidden},
			"reading": {verbs.IBV_ACCESS_REMOTE_READ, forbidden, good},
			"both":    {verbs.IBV_ACCESS_REMOTE_READ | verbs.IBV_ACCESS_REMOTE_WRITE, good, good},
		} {
			rkey := bind(server.piece(0x1003, 0x1500, tt.access))
			msg := texture(0x1500, 3)
			client.mem.store(0, msg)
			require.Equal(t, tt.write, client.write(0x1500, server.window(rkey, 0x1003)), name)
			if typ == verbs.IBV_MW_TYPE_2 && tt.write != good {
				continue // the queue pair that the window belongs to was reset
			}
			if tt.write == good {
				require.Equal(t, msg, server.mem.load(0x1003, 0x1500))
			}
			require.Equal(t, tt.read, client.read(0x1500, server.window(rkey, 0x1003)), name)
		}
		for _, at := range []struct{ off, n uint64 }{{0x1002, 1}, {0x1002, 10}, {0x1003, 0x1501}, {0x2503, 1}, {0, 8}} {
			rkey := bind(server.piece(0x1003, 0x1500, remoteOps))
			require.Equal(t, forbidden, client.write(at.n, server.window(rkey, at.off)), "%#x bytes at %#x", at.n, at.off)
		}
	}
}

// TestAtomicThroughWindow: a window can allow atomic operations.
func TestAtomicThroughWindow(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	mw := server.allocMW(verbs.IBV_MW_TYPE_1)
	server.mem.setWord(number, 5)
	require.Equal(t, good, server.bind1(mw, server.piece(number, 8, verbs.IBV_ACCESS_REMOTE_ATOMIC)))
	require.Equal(t, good, client.try(verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, 8, server.window(mw.RKey, number)))
	require.EqualValues(t, 6, server.mem.word(number))
	require.Equal(t, good, server.bind1(mw, server.piece(number, 8, verbs.IBV_ACCESS_REMOTE_READ)))
	require.Equal(t, forbidden, client.try(verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, 8, server.window(mw.RKey, number)))
}

// TestRebindType1: a window of type 1 can be bound again at any time, and has
// another key each time; bound to nothing it serves nobody.
func TestRebindType1(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	mw := server.allocMW(verbs.IBV_MW_TYPE_1)
	require.Equal(t, forbidden, client.write(1, server.window(mw.RKey, 0)), "it is not bound")
	require.Equal(t, good, server.bind1(mw, server.piece(0, 100, remoteOps)))
	first := mw.RKey
	require.Equal(t, good, client.write(100, server.window(first, 0)))
	require.Equal(t, good, server.bind1(mw, server.piece(200, 100, remoteOps)))
	require.NotEqual(t, first, mw.RKey)
	require.Equal(t, first>>8, mw.RKey>>8)
	require.Equal(t, forbidden, client.write(1, server.window(first, 0)))
	require.Equal(t, forbidden, client.write(1, server.window(first, 200)))
	require.Equal(t, good, client.write(100, server.window(mw.RKey, 200)))
	require.Equal(t, good, server.bind1(mw, libmlx5.BindInfo{}))
	require.Equal(t, forbidden, client.write(1, server.window(mw.RKey, 200)))
	require.Equal(t, good, server.bind1(mw, server.piece(0, 300, remoteOps)))
	require.Equal(t, good, client.write(300, server.window(mw.RKey, 0)))
	// Every queue pair of the domain leads to it.
	other, others := client.newEnd(setup{}), server.newEnd(setup{})
	other.peer, others.peer = others, other
	connect(other, others)
	require.Equal(t, good, other.write(300, server.window(mw.RKey, 0)))
	require.ErrorIs(t, server.qp.BindMW(mw, &libmlx5.MWBind{BindInfo: libmlx5.BindInfo{MWAccessFlags: verbs.IBV_ACCESS_ZERO_BASED}}), libmlx5.ErrBindZeroBased)
}

// TestType2Life: a window of type 2 is bound once, belongs to the queue pair that
// bound it, and can be bound again when it was invalidated.
func TestType2Life(t *testing.T) {
	for how, built := range map[string]bool{"posted": false, "built": true} {
		t.Run(how, func(t *testing.T) { type2Life(t, built) })
	}
}

func type2Life(t *testing.T, built bool) {
	client, server := pair(t, setup{apart: true, ops: everyOp[verbs.IBV_QPT_RC]})
	post := server.post
	if built {
		post = server.build
	}
	mw := server.allocMW(verbs.IBV_MW_TYPE_2)
	wr := server.bind2(mw, server.piece(0, 100, remoteOps))
	post(wr)
	require.Equal(t, good, server.one(server.sent()).Status)
	mw.RKey = wr.BindMW.RKey
	require.Equal(t, good, client.write(100, server.window(mw.RKey, 0)))

	post(invalidate(mw.RKey))
	wc := server.one(server.sent())
	require.Equal(t, good, wc.Status)
	require.Equal(t, libmlx5.IBV_WC_LOCAL_INV, wc.Opcode)
	require.Equal(t, forbidden, client.write(1, server.window(mw.RKey, 0)))

	wr = server.bind2(mw, server.piece(100, 100, remoteOps))
	post(wr)
	require.Equal(t, good, server.one(server.sent()).Status)
	mw.RKey = wr.BindMW.RKey
	require.Equal(t, good, client.write(100, server.window(mw.RKey, 100)))

	post(server.bind2(mw, server.piece(200, 100, remoteOps)), signaled(80, verbs.IBV_WR_SEND))
	wcs := server.sent()
	require.Len(t, wcs, 2)
	require.Equal(t, libmlx5.IBV_WC_MW_BIND_ERR, wcs[0].Status, "it is bound")
	require.Equal(t, vendorErrors[libmlx5.IBV_WC_MW_BIND_ERR], wcs[0].VendorErr)
	require.Equal(t, libmlx5.IBV_WC_WR_FLUSH_ERR, wcs[1].Status)
	require.Equal(t, verbs.IBV_QPS_ERR, server.state(server.qp))
}

// TestType2BelongsToItsQueuePair: another queue pair of the same domain does not
// lead to the window, and cannot invalidate it.
func TestType2BelongsToItsQueuePair(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	stranger, strangers := client.newEnd(setup{}), server.newEnd(setup{})
	stranger.peer, strangers.peer = strangers, stranger
	connect(stranger, strangers)
	mw := server.allocMW(verbs.IBV_MW_TYPE_2)
	wr := server.bind2(mw, server.piece(0, 100, remoteOps))
	server.post(wr)
	require.Equal(t, good, server.one(server.sent()).Status)
	require.Equal(t, forbidden, stranger.write(1, server.window(wr.BindMW.RKey, 0)))
	strangers.post(invalidate(wr.BindMW.RKey))
	require.NotEqual(t, good, strangers.one(strangers.sent()).Status)
	require.Equal(t, good, client.write(1, server.window(wr.BindMW.RKey, 0)))
	// A region is everybody's.
	reconnect(stranger, strangers)
	require.Equal(t, good, stranger.write(1, server.mem.remote(0)))
}

// TestSendWithInvalidate: the message takes the receiver's window away, and the
// completion says which.
func TestSendWithInvalidate(t *testing.T) {
	for how, built := range map[string]bool{"posted": false, "built": true} {
		t.Run(how, func(t *testing.T) {
			client, server := pair(t, setup{apart: true, ops: everyOp[verbs.IBV_QPT_RC]})
			post := client.post
			if built {
				post = client.build
			}
			mw := server.allocMW(verbs.IBV_MW_TYPE_2)
			bind := server.bind2(mw, server.piece(0, 100, remoteOps))
			server.build(bind)
			require.Equal(t, good, server.one(server.sent()).Status)
			rkey := bind.BindMW.RKey
			require.Equal(t, good, client.write(100, server.window(rkey, 0)))

			server.receive(server.into(1, incoming, 8))
			wr := signaled(2, verbs.IBV_WR_SEND_WITH_INV, client.mem.sge(0, 8))
			wr.InvalidateRKey = rkey
			post(wr)
			client.succeeded(client.sent(), 2)
			wc := server.one(server.received())
			require.Equal(t, good, wc.Status)
			require.Equal(t, libmlx5.IBV_WC_RECV, wc.Opcode)
			require.EqualValues(t, libmlx5.IBV_WC_WITH_INV, wc.Flags)
			require.Equal(t, rkey, wc.Imm)
			require.Equal(t, forbidden, client.write(1, server.window(rkey, 0)))

			// Of type 1 none can be taken away so.
			first := server.allocMW(verbs.IBV_MW_TYPE_1)
			require.Equal(t, good, server.bind1(first, server.piece(0, 100, remoteOps)))
			server.receive(server.into(1, incoming, 8))
			wr.InvalidateRKey = first.RKey
			post(wr)
			require.Equal(t, libmlx5.IBV_WC_REM_OP_ERR, client.one(client.sent()).Status)
		})
	}
}

// TestBindThenUse: requests behind a bind see the window as it makes it, without a
// fence.
func TestBindThenUse(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	mw := server.allocMW(verbs.IBV_MW_TYPE_2)
	bind := server.bind2(mw, server.piece(0, 8, remoteOps))
	client.receive(client.into(1, 0, 4))
	server.store(server.mem.at+0x100, []byte{byte(bind.BindMW.RKey >> 24), byte(bind.BindMW.RKey >> 16), byte(bind.BindMW.RKey >> 8), byte(bind.BindMW.RKey)})
	server.post(bind, signaled(2, verbs.IBV_WR_SEND, server.mem.sge(0x100, 4))) // the key for the client
	server.succeeded(server.sent(), 78, 2)
	client.succeeded(client.received(), 1)
	b := client.mem.load(0, 4)
	rkey := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	require.Equal(t, good, client.write(8, server.window(rkey, 0)))
}

// TestWindowIsNoMoreThanItsRegion: a window gives no right that its region has not,
// and goes with it.
func TestWindowIsNoMoreThanItsRegion(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	readOnly := server.registerAt(server.pd, server.mem.at, 4096, uint64(server.mem.at), verbs.IBV_ACCESS_REMOTE_READ|verbs.IBV_ACCESS_MW_BIND)
	mw := server.allocMW(verbs.IBV_MW_TYPE_1)
	info := server.piece(0, 100, verbs.IBV_ACCESS_REMOTE_WRITE)
	info.MR = readOnly.MR
	require.Equal(t, good, server.bind1(mw, info))
	require.Equal(t, forbidden, client.write(1, server.window(mw.RKey, 0)), "the region cannot be written")
	gone := server.register(4096, everything)
	reconnect(client, server)
	info = libmlx5.BindInfo{MR: gone.MR, Addr: gone.iova, Length: 4096, MWAccessFlags: remoteOps}
	require.Equal(t, good, server.bind1(mw, info))
	require.Equal(t, good, client.write(1, libmlx5.RDMAWR{RemoteAddr: gone.iova, RKey: mw.RKey}))
	require.NoError(t, gone.drop())
	require.Equal(t, forbidden, client.write(1, libmlx5.RDMAWR{RemoteAddr: gone.iova, RKey: mw.RKey}))
}

// TestDeallocWindow: a window that is gone serves nobody, and one that is bound can
// go.
func TestDeallocWindow(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	mw, err := server.pd.AllocMW(verbs.IBV_MW_TYPE_1)
	require.NoError(t, err)
	require.Equal(t, good, server.bind1(mw, server.piece(0, 100, remoteOps)))
	require.NoError(t, mw.Dealloc())
	require.Equal(t, forbidden, client.write(1, server.window(mw.RKey, 0)))
	_, err = server.pd.AllocMW(3)
	require.ErrorIs(t, err, syscall.EINVAL)
}
