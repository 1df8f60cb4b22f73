package firmware

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/drivers/mlx5/hw/words"
)

// TestSegment: what the driver finds before it has said anything (struct
// mlx5_init_seg; cmdif_rev 5 is the only one that mlx5_core takes).
func TestSegment(t *testing.T) {
	f := newFirmware(hw.Recorded, &memory{}, make([]byte, segmentSize), nil, nil)
	for off, want := range map[int]uint32{
		0x000: 35<<16 | 22,
		0x004: 5<<16 | 1010,
		0x010: 0,
		0x014: 0x56, // 32 slots of 64 bytes
		0x1fc: 0,    // not initializing
		0x200: 0,    // healthy
		0xffc: 0,    // no time-outs of its own
	} {
		require.Equalf(t, want, words.Load32(f.bar, off), "offset %#x", off)
	}
	require.False(t, f.poll(), "no command queue yet")
}

// TestTick: the timer runs at 156.25 MHz and the health counter moves.
func TestTick(t *testing.T) {
	f := newFirmware(hw.Recorded, &memory{}, make([]byte, segmentSize), nil, nil)
	timer := func() uint64 { return uint64(words.Load32(f.bar, 0x1000))<<32 | uint64(words.Load32(f.bar, 0x1004)) }
	f.begun = f.begun.Add(-time.Hour)
	f.tick()
	before, life := timer(), words.Load32(f.bar, 0x1010)
	require.InDelta(t, 3600*156.25e6, float64(before), 156.25e6)
	require.InDelta(t, time.Hour, f.dev.Fabric().Now(), float64(time.Second), "the device's timers run with it")
	f.tick()
	require.Equal(t, life, words.Load32(f.bar, 0x1010), "not every time")
	f.begun = f.begun.Add(-healthPeriod)
	f.tick()
	require.Equal(t, life+1, words.Load32(f.bar, 0x1010))
	require.Greater(t, timer(), before)
}

// TestCommands: inputs and outputs of any length get through.
func TestCommands(t *testing.T) {
	r := newRig(t)
	r.command(hw.Input(ifc.MLX5_CMD_OP_ENABLE_HCA, 0, 0, 0), 12) // the driver has no room for more

	issi := r.command(hw.Input(ifc.MLX5_CMD_OP_QUERY_ISSI, 0, 0, 0), 112)
	require.EqualValues(t, 3, be.Uint32(issi[108:]), "supported_issi_dw0, in the first mailbox")

	const pages = 300 // 2400 bytes of addresses: five mailboxes
	in := hw.Input(ifc.MLX5_CMD_OP_MANAGE_PAGES, 0, 1, 8*pages)
	be.PutUint32(in[12:], pages)
	for i := range pages {
		be.PutUint64(in[16+8*i:], uint64(0x100000+i*4096))
	}
	r.command(in, 16)
	require.Equal(t, pages, r.dev.Counts()["page"])
	in = hw.Input(ifc.MLX5_CMD_OP_MANAGE_PAGES, 0, 2, 0)
	be.PutUint32(in[12:], pages)
	out := r.command(in, 16+8*pages)
	require.EqualValues(t, pages, be.Uint32(out[8:]))
	seen := map[uint64]bool{}
	for i := range pages {
		seen[be.Uint64(out[16+8*i:])] = true
	}
	require.Len(t, seen, pages)
	require.True(t, seen[0x100000] && seen[0x100000+(pages-1)*4096])

	caps := r.command(hw.Input(ifc.MLX5_CMD_OP_QUERY_HCA_CAP, 0, 1, 0), 4112)
	require.EqualValues(t, 22, ifc.Must("cmd_hca_cap").Field("log_max_cq_sz").Get(caps[16:]))

	r.give(5, hw.Input(0xfff, 0, 0, 0), 16)
	r.give(31, hw.Input(ifc.MLX5_CMD_OP_QUERY_ISSI, 0, 0, 0), 112)
	require.True(t, r.poll())
	status, _ := hw.Result(r.taken(5, 16))
	require.Equal(t, hw.MLX5_CMD_STAT_BAD_OP_ERR, status)
	require.EqualValues(t, 3, be.Uint32(r.taken(31, 112)[108:]), "two commands at once")
	require.False(t, r.poll())
}

// TestBadSlots: a slot that leads nowhere stays the device's, and others go on.
func TestBadSlots(t *testing.T) {
	r := newRig(t)
	query := hw.Input(ifc.MLX5_CMD_OP_QUERY_ISSI, 0, 0, 0)
	r.give(0, append(query, 0), 112)
	be.PutUint64(r.at(queueAt+8, 8), ramEnd) // the input's mailbox
	r.give(1, query, 112)
	be.PutUint32(r.at(queueAt+slotSize+56, 4), 1<<31) // the output's length
	r.give(2, hw.Input(ifc.MLX5_CMD_OP_ENABLE_HCA, 0, 0, 0), 16)
	require.True(t, r.poll())
	require.EqualValues(t, 1, r.at(queueAt, 64)[63])
	require.EqualValues(t, 1, r.at(queueAt+slotSize, 64)[63])
	r.taken(2, 16)

	words.Store32(r.bar, segQueueLow, ramEnd)
	require.False(t, r.poll(), "the queue itself leads nowhere")
}

// TestCommandEvents: once the driver has an event queue for them, commands end
// with an event; the one that makes the queue does not.
func TestCommandEvents(t *testing.T) {
	r := newRig(t)
	r.boot()
	uar := r.uar()
	eqn := r.eq(uar, ifc.MLX5_EVENT_TYPE_CMD)
	require.Empty(t, r.raised)
	arm := store{uar, ifc.MLX5_EQ_DOORBELL, string([]byte{byte(eqn), 0, 0, 0})}
	require.Equal(t, []store{arm}, r.stores, "the queue is armed from its beginning")

	for i := range 130 { // twice around the queue
		slot := i % 32
		r.give(slot, hw.Input(ifc.MLX5_CMD_OP_QUERY_ISSI, 0, 0, 0), 112)
		require.True(t, r.poll())
		r.taken(slot, 112)
		e, owner := hw.DecodeEQE(r.at(eqAt+i%64*64, 64))
		require.EqualValues(t, 0x0a, e.Type)
		require.EqualValues(t, 1<<slot, be.Uint32(e.Data[:]))
		require.EqualValues(t, i/64%2, owner)
		require.Len(t, r.raised, i+1)
		require.Equal(t, testVector, r.raised[i])
		require.Equal(t, string([]byte{byte(eqn), 0, 0, byte(i + 1)}), r.stores[len(r.stores)-1].b, "consumed and armed again")
	}
	destroy := hw.Input(ifc.MLX5_CMD_OP_DESTROY_EQ, 0, 0, 0)
	be.PutUint32(destroy[8:], eqn)
	r.command(destroy, 16)
	require.Empty(t, r.queues)
}

// TestArming: a completion queue's doorbell is found in its record.
func TestArming(t *testing.T) {
	r := newRig(t)
	r.boot()
	uar := r.uar()
	eqn := r.eq(uar)
	first, second := r.cq(uar, eqn, recordAt), r.cq(uar, eqn, recordAt+8)
	r.stores = nil

	be.PutUint32(r.at(recordAt+4, 4), 2<<28)
	require.False(t, r.poll(), "the kernel's way to say that the queue is new")
	require.Empty(t, r.stores)

	word := func(v, cqn uint32) store {
		b := be.AppendUint32(nil, v)
		return store{uar, ifc.MLX5_CQ_DOORBELL, string(be.AppendUint32(b, cqn))}
	}
	be.PutUint32(r.at(recordAt+4, 4), 1<<28|5)
	require.True(t, r.poll())
	require.Equal(t, []store{word(1<<28|5, first)}, r.stores)
	require.False(t, r.poll(), "once")

	// The very first word may be 0, which the record has anyhow.
	register := r.bar[uint64(uar)*uarPage+0x20:][:8]
	arm := func(cqn uint32) { be.PutUint32(register[4:], cqn) }
	arm(first)
	r.poll()
	require.Len(t, r.stores, 1, "another queue, armed long since")
	arm(second)
	r.poll()
	require.Equal(t, word(0, second), r.stores[1])
	require.Len(t, r.stores, 2)
	arm(second)
	third := r.cq(uar, eqn, recordAt+16)
	r.poll()
	require.Len(t, r.stores, 2, "the register's content is older than the third queue")
	arm(third)
	r.poll()
	require.Equal(t, word(0, third), r.stores[2])

	// Of a user's queues only the last one that was armed is to be seen.
	r.stores = nil
	r.queues = []*queue{
		{kind: cqQueue, number: 20, uid: 5, uar: uar, record: r.at(recordAt+24, 8)},
		{kind: cqQueue, number: 21, uid: 5, uar: uar, record: r.at(recordAt+32, 8)},
		{kind: cqQueue, number: 22, uid: 6, uar: uar, record: r.at(recordAt+40, 8)},
	}
	arm(21)
	r.poll()
	require.Equal(t, []store{word(0, 20), word(0, 21)}, r.stores)

	for opcode := range makers { // a command may be shorter than its structure
		r.note(be.AppendUint16(nil, opcode), make([]byte, 16))
	}
	r.command(hw.Input(ifc.MLX5_CMD_OP_TEARDOWN_HCA, 0, 0, 0), 16)
	be.PutUint32(r.at(recordAt+4, 4), 7)
	require.False(t, r.poll(), "nothing is left to look at")
}

// TestRing: what was posted to a queue pair, or to a user's send queue, is rung for
// on its page.
func TestRing(t *testing.T) {
	r := newRig(t)
	r.boot()
	r.queues = []*queue{{kind: qpQueue, number: 0x45, uar: 0x11, record: r.at(recordAt, 8)}}
	be.PutUint32(r.at(recordAt+4, 4), 3)
	r.poll()
	require.Equal(t, []store{{0x11, 0x800, string([]byte{0, 0, 2, 0, 0, 0, 0x45, 0})}}, r.stores, "the index of the third, and the queue")

	r.queues, r.stores = nil, nil
	create := hw.Input(ifc.MLX5_CMD_OP_CREATE_SQ, 7, 0, 8)
	ifc.Must("create_sq_in").Field("ctx.wq.dbr_addr").Set(create, recordAt+8)
	ifc.Must("create_sq_in").Field("ctx.wq.uar_page").Set(create, 0x12)
	r.note(create, be.AppendUint32(make([]byte, 8), 0x46))
	be.PutUint32(r.at(recordAt+12, 4), 1)
	r.poll()
	require.Equal(t, []store{{0x12, 0x800, string([]byte{0, 0, 0, 0, 0, 0, 0x46, 0})}}, r.stores)
}

// TestProfiles: a device is the recorded one unless it is asked for otherwise.
func TestProfiles(t *testing.T) {
	for name, want := range map[string]*hw.Profile{"": hw.Recorded, "recorded": hw.Recorded, "connectx6dx": hw.ConnectX6Dx} {
		p, err := (&Config{Profile: name, Caps: map[string]uint64{"log_max_uctx": 3}}).profile()
		require.NoError(t, err)
		require.Equal(t, want.Name(), p.Name())
		require.EqualValues(t, 3, p.Cap("log_max_uctx"))
	}
	require.ErrorContains(t, (&Config{Profile: "bluefield"}).Check(), `no profile "bluefield": there are connectx6dx, `)
	require.ErrorContains(t, (&Config{Caps: map[string]uint64{"bluefield": 1}}).Check(), "no capability bluefield")
}

// TestSends: the network driver's send queues complete what asks for it.
func TestSends(t *testing.T) {
	r := newRig(t)
	r.boot()
	uar := r.uar()
	cqn := r.cq(uar, r.eq(uar), recordAt)
	sqn := r.sq(uar, cqn, recordAt+8)

	const nop, send = 0x00, 0x0a
	wqe := func(b []byte, index uint16, opcode, units, flags byte) {
		clear(b[:16])
		be.PutUint32(b, uint32(index)<<8|uint32(opcode))
		be.PutUint32(b[4:], sqn<<8|uint32(units))
		b[11] = flags
	}
	block := func(i int) []byte { return r.at(sqAt+i*64, 64) }
	wqe(block(0), 0, nop, 1, 0)
	wqe(block(1), 1, send, 5, 8) // 80 bytes, two blocks
	wqe(block(3), 3, nop, 1, 0)
	wqe(r.bar[uint64(uar)*uarPage+0x900:], 3, nop, 1, 8) // the same, pushed through BlueFlame and asking for a completion
	be.PutUint32(r.at(recordAt+12, 4), 4)
	require.True(t, r.poll())

	for i, want := range []struct {
		index  uint16
		opcode uint8
	}{{1, send}, {3, nop}} {
		cqe := r.at(cqAt+i*64, 64)
		require.Equal(t, want.index, be.Uint16(cqe[60:]))
		require.Equal(t, uint32(want.opcode)<<24|sqn, be.Uint32(cqe[56:]))
		require.Zero(t, cqe[63], "a requester's, of the first round")
	}
	require.Equal(t, make([]byte, 64), r.at(cqAt+2*64, 64), "no third completion")

	wqe(r.bar[uint64(uar)*uarPage+0x900:], 4, nop, 1, 0) // rung for, not pushed
	wqe(block(4), 4, nop, 1, 8)
	be.PutUint32(r.at(recordAt+12, 4), 5)
	require.True(t, r.poll())
	require.EqualValues(t, 4, be.Uint16(r.at(cqAt+2*64, 64)[60:]), "what stands in memory counts")

	be.PutUint32(r.at(recordAt+12, 4), 0)
	require.True(t, r.poll())
	require.Equal(t, make([]byte, 64), r.at(cqAt+3*64, 64), "a queue that begins anew has nothing to complete")
}

func TestMemory(t *testing.T) {
	m := &memory{bytes: make([]byte, 0x4000), ram: []span{{0x1000, 0x2000}, {0x3000, 0x4000}}}
	require.NoError(t, m.WriteAt([]byte{1, 2}, 0x1ffe))
	var b [2]byte
	require.NoError(t, m.ReadAt(b[:], 0x1ffe))
	require.Equal(t, [2]byte{1, 2}, b)
	for _, addr := range []uint64{0, 0xfff, 0x1fff, 0x2000, 0x2fff, 0x3fff, 0x4000, 1<<64 - 1} {
		require.ErrorIsf(t, m.ReadAt(b[:], addr), errNoRAM, "%#x", addr)
		require.ErrorIsf(t, m.WriteAt(b[:], addr), errNoRAM, "%#x", addr)
	}
	bar := barMemory(make([]byte, 4))
	require.NoError(t, bar.WriteAt([]byte{3}, 3))
	require.NoError(t, bar.ReadAt(b[:], 2))
	require.Equal(t, [2]byte{0, 3}, b)
	require.ErrorIs(t, bar.ReadAt(b[:], 3), errNoRAM)
	require.ErrorIs(t, bar.WriteAt(b[:], 1<<63), errNoRAM)
}

// TestBooks: a driver has to end what it has made, and to take its pages back.
func TestBooks(t *testing.T) {
	simple := func(opcode uint16) []byte { return hw.Input(opcode, 0, 0, 0) }
	r := newRig(t)
	require.ErrorContains(t, r.books(), "has not torn the device down")
	give := hw.Input(ifc.MLX5_CMD_OP_MANAGE_PAGES, 0, 1, 8)
	be.PutUint32(give[12:], 1)
	r.command(simple(ifc.MLX5_CMD_OP_ENABLE_HCA), 16)
	r.command(give, 16)
	r.command(simple(ifc.MLX5_CMD_OP_INIT_HCA), 16)
	pd := r.number(simple(ifc.MLX5_CMD_OP_ALLOC_PD))
	r.command(simple(ifc.MLX5_CMD_OP_TEARDOWN_HCA), 16)
	require.EqualError(t, r.books(), "firmware: the driver has left objects: map[pd:1]")

	r.command(simple(ifc.MLX5_CMD_OP_INIT_HCA), 16)
	require.Equal(t, pd, r.number(simple(ifc.MLX5_CMD_OP_ALLOC_PD)))
	dealloc := simple(ifc.MLX5_CMD_OP_DEALLOC_PD)
	be.PutUint32(dealloc[8:], pd)
	r.command(dealloc, 16)
	r.command(simple(ifc.MLX5_CMD_OP_TEARDOWN_HCA), 16)
	require.EqualError(t, r.books(), "firmware: the driver has gone and the device still has map[page:1]")

	take := hw.Input(ifc.MLX5_CMD_OP_MANAGE_PAGES, 0, 2, 0)
	be.PutUint32(take[12:], 1)
	r.command(take, 24)
	require.NoError(t, r.books())

	r.command(simple(ifc.MLX5_CMD_OP_DISABLE_HCA), 12)
	require.EqualValues(t, 0x56, words.Load32(r.bar, segQueueLow), "as before the driver came")
	r.give(0, simple(ifc.MLX5_CMD_OP_ENABLE_HCA), 12)
	require.False(t, r.poll(), "the memory is not the queue's any more")
	words.Store32(r.bar, segQueueLow, queueAt)
	r.command(simple(ifc.MLX5_CMD_OP_ENABLE_HCA), 12)
}
