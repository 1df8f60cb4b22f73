package traffic

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// write has the client write what lies at the beginning of its memory, and returns
// how that ended. The connection is made anew if it failed.
func (e *end) write(n uint64, to libmlx5.RDMAWR) libmlx5.Status {
	e.Helper()
	return e.try(verbs.IBV_WR_RDMA_WRITE, n, to)
}

// read has the client read to the beginning of its memory.
func (e *end) read(n uint64, from libmlx5.RDMAWR) libmlx5.Status {
	e.Helper()
	return e.try(verbs.IBV_WR_RDMA_READ, n, from)
}

func (e *end) try(op verbs.WROpcode, n uint64, remote libmlx5.RDMAWR) libmlx5.Status {
	e.Helper()
	wr := signaled(1, op, e.mem.sge(0, n))
	wr.RDMA = remote
	wr.Atomic = libmlx5.AtomicWR{RemoteAddr: remote.RemoteAddr, RKey: remote.RKey, CompareAdd: 1}
	e.post(wr)
	status := e.one(e.sent()).Status
	if status != libmlx5.IBV_WC_SUCCESS {
		reconnect(e, e.peer)
		e.peer.events()
	}
	return status
}

const (
	good      = libmlx5.IBV_WC_SUCCESS
	forbidden = libmlx5.IBV_WC_REM_ACCESS_ERR
)

// TestBounds: a region begins and ends at a byte, not at a page.
func TestBounds(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	at := server.alloc(3 * 4096)
	const first, size = 0x123, 0x1800
	region := server.registerAt(server.pd, at+first, size, uint64(at+first), everything)
	for _, tt := range []struct {
		off  int64
		n    uint64
		want libmlx5.Status
	}{
		{0, 1, good}, {0, size, good}, {size - 1, 1, good}, {0xedc, 2, good}, {-1, 1, forbidden}, {-1, 2, forbidden},
		{0, size + 1, forbidden}, {size, 1, forbidden}, {1, size, forbidden}, {0x100000, 8, forbidden},
		{size, 0, good}, {0x100000, 0, good}, // of no bytes the place does not matter
	} {
		remote := libmlx5.RDMAWR{RemoteAddr: uint64(int64(region.iova) + tt.off), RKey: region.RKey}
		client.mem.store(0, texture(tt.n, 3))
		require.Equal(t, tt.want, client.write(tt.n, remote), "write %d bytes at %d", tt.n, tt.off)
		if tt.want == good && tt.n > 0 {
			require.Equal(t, texture(tt.n, 3), server.load(at+first+copyuser.Addr(tt.off), tt.n))
		}
		require.Equal(t, tt.want, client.read(tt.n, remote), "read %d bytes at %d", tt.n, tt.off)
	}
	require.Equal(t, make([]byte, first), server.load(at, first))
	require.Equal(t, make([]byte, 100), server.load(at+first+size, 100))
}

// TestAccessRights: what a region was registered for can be done, and nothing
// else. An atomic operation needs a right of its own.
func TestAccessRights(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	const local = verbs.IBV_ACCESS_LOCAL_WRITE
	ops := map[verbs.WROpcode]uint32{
		verbs.IBV_WR_RDMA_WRITE: verbs.IBV_ACCESS_REMOTE_WRITE, verbs.IBV_WR_RDMA_READ: verbs.IBV_ACCESS_REMOTE_READ,
		verbs.IBV_WR_ATOMIC_FETCH_AND_ADD: verbs.IBV_ACCESS_REMOTE_ATOMIC,
	}
	for _, rights := range []uint32{0, local, local | verbs.IBV_ACCESS_REMOTE_WRITE, verbs.IBV_ACCESS_REMOTE_READ,
		local | verbs.IBV_ACCESS_REMOTE_ATOMIC, local | remoteOps} {
		region := server.register(4096, rights)
		for op, right := range ops {
			want := forbidden
			if rights&right != 0 {
				want = good
			}
			require.Equal(t, want, client.try(op, 8, region.remote(0)), "opcode %d with rights %#x", op, rights)
		}
	}
	relaxed := server.register(4096, local|remoteOps|verbs.IBV_ACCESS_RELAXED_ORDERING)
	require.Equal(t, good, client.write(8, relaxed.remote(0)), "an optional flag changes nothing that a program sees")
	for _, rights := range []uint32{verbs.IBV_ACCESS_REMOTE_WRITE, verbs.IBV_ACCESS_REMOTE_ATOMIC} {
		_, err := server.pd.RegMR(server.mem.at, 4096, uint64(server.mem.at), rights)
		require.ErrorIs(t, err, syscall.EINVAL, "these need local write")
	}
}

// TestIOVA: a region's addresses are what its program says, with the offset in the
// page kept. That it calls the region zero-based changes nothing: it says where
// that begins.
func TestIOVA(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	at := server.alloc(4 * 4096)
	for name, tt := range map[string]struct {
		off, iova uint64
		access    uint32
	}{
		"elsewhere":            {0, 0x7000_0000_0000, everything},
		"at 0":                 {0, 0, everything},
		"in a page":            {0x80, 0x5_0000_0080, everything},
		"at the end":           {0, ^uint64(0) - 0x2fff, everything},
		"zero based":           {0x80, 0x80, everything | verbs.IBV_ACCESS_ZERO_BASED},
		"zero based at a page": {0, 0, everything | verbs.IBV_ACCESS_ZERO_BASED},
	} {
		t.Run(name, func(t *testing.T) {
			const size = 0x2f00
			region := server.registerAt(server.pd, at+copyuser.Addr(tt.off), size, tt.iova, tt.access)
			msg := texture(size, byte(tt.off)+byte(len(name)))
			client.mem.store(0, msg)
			require.Equal(t, good, client.write(size, region.remote(0)))
			require.Equal(t, msg, server.load(at+copyuser.Addr(tt.off), size))
			require.Equal(t, good, client.read(1, region.remote(size-1)))
			require.Equal(t, msg[size-1:], client.mem.load(0, 1))
			require.Equal(t, forbidden, client.read(1, region.remote(size)))
			if region.iova > 0 {
				require.Equal(t, forbidden, client.read(1, libmlx5.RDMAWR{RemoteAddr: region.iova - 1, RKey: region.RKey}))
			}
			// The region's own program uses the same addresses.
			server.receive(libmlx5.RecvWR{WRID: 1, SGList: []verbs.SGE{region.sge(5, 10)}})
			client.mem.store(0, []byte("ten  bytes"))
			client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 10)))
			client.succeeded(client.sent(), 1)
			server.succeeded(server.received(), 1)
			require.Equal(t, "ten  bytes", string(server.load(at+copyuser.Addr(tt.off)+5, 10)))
		})
	}
}

// TestRegionsOverTheSameMemory: each has rights of its own, and the end of one
// does not concern the other.
func TestRegionsOverTheSameMemory(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	at := server.alloc(4096)
	writable := server.registerAt(server.pd, at, 4096, uint64(at), everything)
	readable := server.registerAt(server.pd, at, 4096, uint64(at), verbs.IBV_ACCESS_REMOTE_READ)
	require.NotEqual(t, writable.RKey, readable.RKey)
	client.mem.store(0, []byte("shared"))
	require.Equal(t, good, client.write(6, writable.remote(0)))
	client.mem.store(0, make([]byte, 6))
	require.Equal(t, good, client.read(6, readable.remote(0)))
	require.Equal(t, "shared", string(client.mem.load(0, 6)))
	require.Equal(t, forbidden, client.write(6, readable.remote(0)))
	require.NoError(t, readable.drop())
	require.Equal(t, forbidden, client.read(6, readable.remote(0)))
	require.Equal(t, good, client.write(6, writable.remote(0)))
}

// TestLongRegion: pages of a long region that do not lie side by side in memory
// are found.
func TestLongRegion(t *testing.T) {
	const size = 1 << 20
	client, server := pair(t, setup{apart: true, size: size})
	for range 3 { // so that free pages are in disorder
		a, b := server.alloc(1<<16), server.alloc(1<<16)
		require.NoError(t, server.proc.Munmap(a, 1<<16))
		server.store(b, []byte{1})
	}
	region := server.register(size, everything)
	msg := texture(size, 5)
	client.mem.store(0, msg)
	require.Equal(t, good, client.write(size, region.remote(0)))
	require.Equal(t, msg, region.load(0, size))
	client.mem.store(0, make([]byte, size))
	require.Equal(t, good, client.read(size-5, region.remote(5)))
	require.Equal(t, msg[5:], client.mem.load(0, size-5))
}

// TestRegisterRefused: memory that is not there, or not writable, is not
// registered.
func TestRegisterRefused(t *testing.T) {
	p := boot(t, options{}).start(0)
	at := p.alloc(2 * 4096)
	require.NoError(t, p.proc.Munmap(at+4096, 4096))
	readOnly := p.alloc(4096)
	require.NoError(t, p.proc.Mprotect(readOnly, 4096, syscall.PROT_READ))
	for name, tt := range map[string]struct {
		at     copyuser.Addr
		size   uint64
		access uint32
		want   error
	}{
		"a hole":         {at, 2 * 4096, everything, syscall.EFAULT},
		"nothing there":  {at + 4096, 10, everything, syscall.EFAULT},
		"read-only":      {readOnly, 4096, everything, syscall.EFAULT},
		"no bytes":       {at, 0, everything, syscall.EINVAL},
		"around the end": {^copyuser.Addr(0) - 10, 100, everything, syscall.EINVAL},
		"unknown access": {at, 10, 1 << 19, syscall.EINVAL},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.pd.RegMR(tt.at, tt.size, uint64(tt.at), tt.access)
			require.ErrorIs(t, err, tt.want)
		})
	}
	mr, err := p.pd.RegMR(readOnly, 4096, uint64(readOnly), verbs.IBV_ACCESS_REMOTE_READ)
	require.NoError(t, err, "it is only read")
	require.NoError(t, mr.Dereg())
}

// TestRereg: a region's place, domain and rights can be changed, one by one and
// together; what was not changed stays.
func TestRereg(t *testing.T) {
	const trans, toPD, rights = verbs.IBV_REREG_MR_CHANGE_TRANSLATION, verbs.IBV_REREG_MR_CHANGE_PD, verbs.IBV_REREG_MR_CHANGE_ACCESS
	for name, flags := range map[string]uint32{
		"translation": trans, "domain": toPD, "access": rights, "translation and access": trans | rights,
		"domain and access": toPD | rights, "all": trans | toPD | rights,
	} {
		t.Run(name, func(t *testing.T) {
			client, server := pair(t, setup{apart: true})
			region := server.register(4096, everything)
			client.mem.store(0, []byte("before"))
			require.Equal(t, good, client.write(6, region.remote(0)))
			other, elsewhere := server.allocPD(), server.alloc(3*4096)
			server.store(elsewhere+2*4096, []byte("there"))
			require.NoError(t, region.Rereg(flags, other.PD, elsewhere, 3*4096, verbs.IBV_ACCESS_REMOTE_READ))
			// The region must go before its new domain, which was made later.
			server.atEnd(region.drop)
			at := libmlx5.RDMAWR{RemoteAddr: region.iova, RKey: region.RKey}
			if flags&trans != 0 {
				at.RemoteAddr = uint64(elsewhere) + 2*4096
			}
			want := good
			if flags&toPD != 0 {
				want = forbidden
			}
			require.Equal(t, want, client.read(5, at))
			if want == good && flags&trans != 0 {
				require.Equal(t, "there", string(client.mem.load(0, 5)))
			} else if want == good {
				require.Equal(t, "befor", string(client.mem.load(0, 5)))
			}
			if flags&rights != 0 {
				want = forbidden
			}
			require.Equal(t, want, client.write(5, at))
			if flags&trans != 0 {
				require.Equal(t, forbidden, client.read(5, region.remote(0)), "the old place is the region's no more")
			}
		})
	}
}
