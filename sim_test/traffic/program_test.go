package traffic

import (
	"encoding/binary"
	"slices"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// program is a process that has opened a device, with a protection domain. What
// it makes by these methods it destroys in reverse order when it ends.
type program struct {
	*machine
	dev   *mlx5.Device
	proc  *process.Process
	ctx   *libmlx5.Context
	pd    *libmlx5.PD
	gid   [16]byte // of the device's IPv4 address
	owned []func() error
	ended bool
}

// atEnd has something done when the program ends.
func (p *program) atEnd(do func() error) { p.owned = append(p.owned, do) }

// forget says that the object that was made last has been destroyed.
func (p *program) forget() { p.owned = p.owned[:len(p.owned)-1] }

// end destroys what the program has made, closes the device, and exits.
func (p *program) end() {
	if p.ended {
		return
	}
	p.ended = true
	for _, do := range slices.Backward(p.owned) {
		require.NoError(p, do())
	}
	p.ctx.Close()
	p.proc.Exit()
}

// exit ends the program as a crash does: everything that it has made is left to
// the kernel.
func (p *program) exit() {
	p.ended = true
	p.proc.Exit()
}

func (p *program) allocPD() *libmlx5.PD {
	p.Helper()
	pd, err := p.ctx.AllocPD()
	require.NoError(p, err)
	p.atEnd(pd.Dealloc)
	return pd
}

// createCQ makes a completion queue; change may be nil.
func (p *program) createCQ(cqe uint32, change func(*libmlx5.CQInitAttr)) *libmlx5.CQ {
	p.Helper()
	attr := libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: cqe}}
	if change != nil {
		change(&attr)
	}
	cq, err := p.ctx.CreateCQ(&attr)
	require.NoError(p, err)
	p.atEnd(cq.Destroy)
	return cq
}

// channel makes a completion channel.
func (p *program) channel() *verbs.CompChannel {
	p.Helper()
	ch, err := p.ctx.CreateCompChannel()
	require.NoError(p, err)
	p.atEnd(ch.Destroy)
	return ch
}

// createQP makes a queue pair in RESET.
func (p *program) createQP(attr *libmlx5.QPInitAttr) *libmlx5.QP {
	p.Helper()
	qp, err := p.ctx.CreateQP(attr)
	require.NoError(p, err)
	p.atEnd(qp.Destroy)
	return qp
}

func (p *program) createSRQ(attr *libmlx5.SRQInitAttr) *libmlx5.SRQ {
	p.Helper()
	srq, err := p.pd.CreateSRQ(attr)
	require.NoError(p, err)
	p.atEnd(srq.Destroy)
	return srq
}

// createAH makes an address handle of the path to a GID.
func (p *program) createAH(to [16]byte) *libmlx5.AH {
	p.Helper()
	attr := path(to)
	ah, err := p.pd.CreateAH(&attr)
	require.NoError(p, err)
	p.atEnd(ah.Destroy)
	return ah
}

// path is the way to a GID.
func path(to [16]byte) verbs.AHAttr {
	return verbs.AHAttr{IsGlobal: true, PortNum: port, GRH: verbs.GlobalRoute{DGID: to, SGIDIndex: gidIndex, HopLimit: 64}}
}

// What memory of a program may be used for.
const (
	everything = verbs.IBV_ACCESS_LOCAL_WRITE | verbs.IBV_ACCESS_REMOTE_WRITE | verbs.IBV_ACCESS_REMOTE_READ |
		verbs.IBV_ACCESS_REMOTE_ATOMIC | verbs.IBV_ACCESS_MW_BIND
	remoteOps = verbs.IBV_ACCESS_REMOTE_WRITE | verbs.IBV_ACCESS_REMOTE_READ | verbs.IBV_ACCESS_REMOTE_ATOMIC
)

// memory is memory of a program with a region over it.
type memory struct {
	*verbs.MR
	p    *program
	at   copyuser.Addr
	size uint64
	iova uint64 // what the region calls the first byte

	dropped bool
}

// register allocates memory and registers all of it.
func (p *program) register(size uint64, access uint32) *memory {
	p.Helper()
	at := p.alloc(size)
	return p.registerAt(p.pd, at, size, uint64(at), access)
}

// alloc maps memory of the program.
func (p *program) alloc(size uint64) copyuser.Addr {
	p.Helper()
	at, err := verbs.Alloc(p.proc, size)
	require.NoError(p, err)
	return at
}

// registerAt registers memory that is there.
func (p *program) registerAt(pd *libmlx5.PD, at copyuser.Addr, size, iova uint64, access uint32) *memory {
	p.Helper()
	mr, err := pd.RegMR(at, size, iova, access)
	require.NoError(p, err)
	b := &memory{MR: mr, p: p, at: at, size: size, iova: iova}
	p.atEnd(b.drop)
	return b
}

// drop ends the region. The memory stays.
func (b *memory) drop() error {
	if b.dropped {
		return nil
	}
	b.dropped = true
	return b.Dereg()
}

// sge is n bytes of the memory from an offset on.
func (b *memory) sge(off, n uint64) verbs.SGE {
	return verbs.SGE{Addr: copyuser.Addr(b.iova + off), Length: uint32(n), LKey: b.LKey}
}

// remote is what another program calls the byte at an offset.
func (b *memory) remote(off uint64) libmlx5.RDMAWR {
	return libmlx5.RDMAWR{RemoteAddr: b.iova + off, RKey: b.RKey}
}

// store and load are the program's own instructions.
func (b *memory) store(off uint64, data []byte) {
	b.p.Helper()
	b.p.store(b.at+copyuser.Addr(off), data)
}

func (b *memory) load(off, n uint64) []byte {
	b.p.Helper()
	return b.p.load(b.at+copyuser.Addr(off), n)
}

// word is a number of 8 bytes, as the host has it.
func (b *memory) word(off uint64) uint64 { return binary.LittleEndian.Uint64(b.load(off, 8)) }

func (b *memory) setWord(off, v uint64) { b.store(off, binary.LittleEndian.AppendUint64(nil, v)) }

func (p *program) store(at copyuser.Addr, data []byte) {
	p.Helper()
	require.NoError(p, verbs.Store(p.proc, at, data))
}

func (p *program) load(at copyuser.Addr, n uint64) []byte {
	p.Helper()
	data := make([]byte, n)
	require.NoError(p, verbs.Load(p.proc, at, data))
	return data
}

// texture is n bytes that differ from each other and from those of another seed.
func texture(n uint64, seed byte) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*7+i>>8) ^ seed
	}
	return data
}

// poll takes the completions that are in a queue.
func (p *program) poll(cq *libmlx5.CQ) (all []libmlx5.WC) {
	p.Helper()
	wc := make([]libmlx5.WC, 5)
	for {
		n, err := cq.Poll(wc)
		require.NoError(p, err)
		all = append(all, wc[:n]...)
		if n < len(wc) {
			return all
		}
	}
}

// nextEvent reads an asynchronous event and acknowledges it.
func (p *program) nextEvent() *verbs.AsyncEvent {
	p.Helper()
	require.True(p, p.readable(p.ctx.AsyncFD), "an asynchronous event waits")
	ev, err := p.ctx.GetAsyncEvent()
	require.NoError(p, err)
	ev.Ack()
	return ev
}

// events reads all asynchronous events and acknowledges them.
func (p *program) events() (types []verbs.EventType) {
	p.Helper()
	for p.readable(p.ctx.AsyncFD) {
		types = append(types, p.nextEvent().Type)
	}
	return types
}

// readable says whether a read of a descriptor would not wait.
func (p *program) readable(fd int) bool {
	p.Helper()
	const pollIn = 1
	revents, err := p.proc.Poll(fd, 0)
	require.NoError(p, err)
	return revents&pollIn != 0
}
