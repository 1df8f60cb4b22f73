package traffic

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// What device memory may be used for: its regions always begin at 0.
const deviceAccess = verbs.IBV_ACCESS_ZERO_BASED | verbs.IBV_ACCESS_LOCAL_WRITE | remoteOps

// allocDM allocates memory of the device.
func (p *program) allocDM(length uint64) *libmlx5.DM {
	p.Helper()
	dm, err := p.ctx.AllocDM(&verbs.DMAttr{Length: length})
	require.NoError(p, err)
	p.atEnd(dm.Free)
	return dm
}

// registerDM registers a part of it.
func (p *program) registerDM(dm *libmlx5.DM, off, length uint64, access uint32) *memory {
	p.Helper()
	mr, err := p.pd.RegDMMR(dm, off, length, access)
	require.NoError(p, err)
	p.atEnd(mr.Dereg)
	return &memory{MR: mr, p: p, size: length}
}

// content copies what is in device memory to the program's.
func (p *program) content(dm *libmlx5.DM, off, n uint64) []byte {
	p.Helper()
	at := p.alloc(n)
	require.NoError(p, dm.MemcpyFrom(at, off, n))
	return p.load(at, n)
}

// TestDeviceMemory: messages go to and from memory of the device as they do with
// the program's own.
func TestDeviceMemory(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	const size = 1024
	mine, theirs := client.allocDM(size), server.allocDM(size)
	from, to := client.registerDM(mine, 0, size, deviceAccess), server.registerDM(theirs, 0, size, deviceAccess)
	msg := texture(size, 7)
	client.mem.store(0, msg)
	require.NoError(t, mine.MemcpyTo(0, client.mem.at, size))

	server.receive(libmlx5.RecvWR{WRID: 1, SGList: []verbs.SGE{to.sge(0, size)}})
	client.post(signaled(1, verbs.IBV_WR_SEND, from.sge(0, size)))
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 1)
	require.Equal(t, msg, server.content(theirs, 0, size))

	write := signaled(2, verbs.IBV_WR_RDMA_WRITE, from.sge(100, 200))
	write.RDMA = to.remote(512)
	read := signaled(3, verbs.IBV_WR_RDMA_READ, from.sge(0, 100), client.mem.sge(target, 100))
	read.RDMA = to.remote(512)
	client.post(write, read)
	client.succeeded(client.sent(), 2, 3)
	require.Equal(t, msg[100:300], server.content(theirs, 512, 200))
	require.Equal(t, msg[100:200], client.content(mine, 0, 100))
	require.Equal(t, msg[200:300], client.mem.load(target, 100))

	server.store(server.mem.at, []byte{41, 0, 0, 0, 0, 0, 0, 0})
	require.NoError(t, theirs.MemcpyTo(8, server.mem.at, 8))
	require.Equal(t, good, client.try(verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, 8, to.remote(8)))
	require.EqualValues(t, 41, client.mem.word(0))
	require.Equal(t, []byte{42, 0, 0, 0, 0, 0, 0, 0}, server.content(theirs, 8, 8))
}

// TestDeviceMemoryBounds: a region is a part of the memory and reaches no further.
func TestDeviceMemoryBounds(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	dm := server.allocDM(512)
	part := server.registerDM(dm, 64, 128, deviceAccess)
	client.mem.store(0, texture(128, 1))
	require.Equal(t, good, client.write(128, part.remote(0)))
	require.Equal(t, texture(128, 1), server.content(dm, 64, 128))
	require.Equal(t, make([]byte, 64), server.content(dm, 0, 64))
	require.Equal(t, make([]byte, 64), server.content(dm, 192, 64))
	require.Equal(t, forbidden, client.write(1, part.remote(128)))
	require.Equal(t, forbidden, client.write(129, part.remote(0)))
	readable := server.registerDM(dm, 0, 64, verbs.IBV_ACCESS_ZERO_BASED|verbs.IBV_ACCESS_REMOTE_READ)
	require.Equal(t, good, client.read(64, readable.remote(0)))
	require.Equal(t, forbidden, client.write(1, readable.remote(0)))
	for name, tt := range map[string]struct {
		off, n uint64
		access uint32
	}{
		"longer than the memory": {0, 513, deviceAccess}, "beyond it": {512, 1, deviceAccess}, "around": {500, 100, deviceAccess},
		"not zero-based": {0, 64, verbs.IBV_ACCESS_LOCAL_WRITE}, "windows": {0, 64, deviceAccess | verbs.IBV_ACCESS_MW_BIND},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := server.pd.RegDMMR(dm, tt.off, tt.n, tt.access)
			require.ErrorIs(t, err, syscall.EINVAL)
		})
	}
}

// TestDeviceMemoryRunsOut: programs share the memory of the device; what is freed
// can be had again, and what others have in theirs stays apart.
func TestDeviceMemoryRunsOut(t *testing.T) {
	m := boot(t, options{})
	a, b := m.start(0), m.start(0)
	first, second := a.allocDM(64), b.allocDM(64)
	fill := a.alloc(64)
	a.store(fill, texture(64, 1))
	require.NoError(t, first.MemcpyTo(0, fill, 64))
	require.Equal(t, make([]byte, 64), b.content(second, 0, 64))
	require.Equal(t, texture(64, 1), a.content(first, 0, 64))
	_, err := a.ctx.AllocDM(&verbs.DMAttr{Length: 1 << 30})
	require.Error(t, err)
	var taken []*libmlx5.DM
	for {
		dm, err := a.ctx.AllocDM(&verbs.DMAttr{Length: 1 << 14})
		if err != nil {
			require.ErrorIs(t, err, syscall.ENOMEM)
			break
		}
		require.Less(t, len(taken), 1000)
		taken = append(taken, dm)
	}
	require.NotEmpty(t, taken)
	require.NoError(t, taken[0].Free())
	again, err := b.ctx.AllocDM(&verbs.DMAttr{Length: 1 << 14})
	require.NoError(t, err)
	for _, dm := range append(taken[1:], again) {
		require.NoError(t, dm.Free())
	}
	mr, err := a.pd.RegDMMR(first, 0, 64, deviceAccess)
	require.NoError(t, err)
	require.ErrorIs(t, first.CmdFreeDM(), syscall.EBUSY)
	require.NoError(t, mr.Dereg())
}
