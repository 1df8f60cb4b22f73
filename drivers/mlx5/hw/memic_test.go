package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Where the recorded device has memory for users in its address range, and how
// much.
const (
	memicAt   = 0x100_0000
	memicRoom = 0x4_0000
)

// memicInput is an ALLOC_MEMIC as the driver writes it.
func memicInput(align byte, first uint64, room, size uint32) []byte {
	be := binary.BigEndian
	in := make([]byte, 32)
	be.PutUint16(in, ifc.MLX5_CMD_OP_ALLOC_MEMIC)
	in[15] = align
	be.PutUint64(in[16:], first)
	be.PutUint32(in[24:], room)
	be.PutUint32(in[28:], size)
	return in
}

func deallocInput(start uint64, size uint32) []byte {
	be := binary.BigEndian
	in := make([]byte, 32)
	be.PutUint16(in, ifc.MLX5_CMD_OP_DEALLOC_MEMIC)
	be.PutUint64(in[16:], start)
	be.PutUint32(in[24:], size)
	return in
}

func opInput(opMod uint16, op byte, start uint64) []byte {
	in := Input(ifc.MLX5_CMD_OP_MODIFY_MEMIC, 0, opMod, 0)
	in[15] = op
	binary.BigEndian.PutUint64(in[16:], start)
	return in
}

func TestMemicCommands(t *testing.T) {
	r := newRig(t, nil)
	alloc := func(align byte, first uint64, room, size uint32) (uint64, Status) {
		out, s := r.exec(memicInput(align, first, room, size))
		return binary.BigEndian.Uint64(out[8:]), s
	}
	for _, tt := range []struct {
		name       string
		align      byte
		first      uint64
		room, size uint32
		at         uint64
		want       Status
	}{
		{"the beginning of the range", 0, memicAt + 0x2000, 0x1000, 100, memicAt + 0x2000, MLX5_CMD_STAT_OK},
		{"behind what is taken", 0, memicAt + 0x2000, 0x1000, 64, memicAt + 0x2080, MLX5_CMD_STAT_OK},
		{"aligned behind it", 2, memicAt + 0x2000, 0x1000, 1, memicAt + 0x2100, MLX5_CMD_STAT_OK},
		{"the gap before", 0, memicAt + 0x2000, 0x1000, 64, memicAt + 0x20c0, MLX5_CMD_STAT_OK},
		{"no room", 0, memicAt + 0x2000, 0x1000, 0xec1, 0, MLX5_CMD_STAT_NO_RES_ERR},
		{"the rest", 0, memicAt + 0x2000, 0x1000, 0xec0, memicAt + 0x2140, MLX5_CMD_STAT_OK},
		{"the last of all", 0, memicAt + memicRoom - 0x1000, 0x1000, 0x1000, memicAt + memicRoom - 0x1000, MLX5_CMD_STAT_OK},
		{"before all", 0, memicAt - 0x1000, 0x1000, 0x1000, 0, MLX5_CMD_STAT_BAD_PARAM_ERR},
		{"behind all", 0, memicAt + memicRoom - 0x1000, 0x1001, 0x1000, 0, MLX5_CMD_STAT_BAD_PARAM_ERR},
		{"nothing", 0, memicAt, 0x1000, 0, 0, MLX5_CMD_STAT_BAD_PARAM_ERR},
		{"more than the range", 0, memicAt, 0x1000, 0x1001, 0, MLX5_CMD_STAT_NO_RES_ERR},
		{"an alignment without end", 0xff, memicAt, 0x1000, 64, 0, MLX5_CMD_STAT_NO_RES_ERR},
		{"a range around the end of addresses", 0, ^uint64(0) - 0xfff, 0x2000, 64, 0, MLX5_CMD_STAT_BAD_PARAM_ERR},
	} {
		at, s := alloc(tt.align, tt.first, tt.room, tt.size)
		require.Equal(t, tt.want, s, tt.name)
		require.Equal(t, tt.at, at, tt.name)
	}
	require.Equal(t, 6, r.Counts()["memic"])
	r.ends(deallocInput(memicAt+0x2000, 64), MLX5_CMD_STAT_BAD_RES_ERR)
	r.ends(deallocInput(memicAt+0x2001, 100), MLX5_CMD_STAT_BAD_RES_ERR)
	r.ends(deallocInput(memicAt+0x2000, 100), MLX5_CMD_STAT_OK)
	r.ends(deallocInput(memicAt+0x2000, 100), MLX5_CMD_STAT_BAD_RES_ERR)
	at, _ := alloc(0, memicAt+0x2000, 0x1000, 128)
	require.Equal(t, uint64(memicAt+0x2000), at)
	_, err := Shutdown(nil, r.Device)
	require.NoError(t, err)
	require.Empty(t, r.Counts())
}

// The memory is one, through keys and through the address range.
func TestMemicKeys(t *testing.T) {
	r := newRig(t, nil)
	who := user{pd: r.pd(0)}
	r.made(memicInput(0, memicAt+0x3000, 0x2000, 0x1800))
	key := r.key(keyOptions{flags: mkcAll, mode: 5, pd: who.pd, start: memicAt + 0x3100, length: 0x1000})
	require.Equal(t, keyOK, r.store(key, who, 0xef0, texture(0x20, 3)))
	require.Empty(t, r.mem.writes, "it is not on the bus")
	p := make([]byte, 0x20)
	r.MemoryPage(memicAt+0x3000).Load(0xff0, p[:0x10])
	r.MemoryPage(memicAt+0x4000).Load(0, p[0x10:])
	require.Equal(t, texture(0x20, 3), p)
	r.MemoryPage(memicAt+0x3000).Store(0x100, texture(8, 50))
	got, e := r.load(key, who, 0, 8)
	require.Equal(t, keyOK, e)
	require.Equal(t, texture(8, 50), got)
	require.Equal(t, keyBounds, r.reaches(key, who, remoteWrite, 0xfff, 2))
	require.Equal(t, keyBounds, r.reaches(key, who, remoteWrite, memicAt+0x3100, 1), "addresses count from 0")

	beyond := r.key(keyOptions{flags: mkcAll, mode: 5, pd: who.pd, start: memicAt + 0x4000, length: 0x1000})
	require.Equal(t, keyOK, r.reaches(beyond, who, remoteWrite, 0, 0x800))
	require.Equal(t, keyBounds, r.reaches(beyond, who, remoteWrite, 0, 0x801), "only what was given out")

	r.MemoryPage(memicAt+0x4000).Store(0x7fc, []byte{1, 2, 3, 4, 5})
	r.MemoryPage(memicAt+0x4000).Load(0x7fc, p[:5])
	require.Equal(t, make([]byte, 5), p[:5], "an access that leaves it is lost")
	r.MemoryPage(0).Store(0, []byte{1})
	r.MemoryPage(0).Load(0, p[:1])
	require.Zero(t, p[0])

	// Keys for memory that is given back lead nowhere; what was in it stays.
	r.ends(deallocInput(memicAt+0x3000, 0x1800), MLX5_CMD_STAT_OK)
	require.Equal(t, keyBounds, r.reaches(key, who, remoteRead, 0, 8))
	r.made(memicInput(0, memicAt+0x3000, 0x2000, 0x1800))
	got, e = r.load(key, who, 0, 8)
	require.Equal(t, keyOK, e)
	require.Equal(t, texture(8, 50), got)
}

// barMemory is an address range that somebody else keeps.
type barMemory struct{ *ram }

func TestMemicInSomebodysMemory(t *testing.T) {
	bar := barMemory{newRAM()}
	d := New(Config{Bus: newRAM(), BAR: bar})
	require.NoError(t, Boot(nil, d, somePages))
	r := &rig{Device: d, t: t}
	who := user{pd: r.pd(0)}
	r.made(memicInput(0, memicAt, 0x1000, 0x1000))
	key := r.key(keyOptions{flags: mkcAll, mode: 5, pd: who.pd, start: memicAt, length: 0x1000})
	require.Equal(t, keyOK, r.store(key, who, 16, texture(8, 1)))
	require.Equal(t, texture(8, 1), bar.get(memicAt+16, 8))
	bar.set(memicAt+64, texture(8, 2))
	got, e := r.load(key, who, 64, 8)
	require.Equal(t, keyOK, e)
	require.Equal(t, texture(8, 2), got)
	bar.bad = map[Addr]bool{memicAt / ramPage: true}
	require.Equal(t, keyBus, r.store(key, who, 16, texture(8, 1)))
}

func TestMemicOperations(t *testing.T) {
	r := newRig(t, nil)
	r.made(memicInput(0, memicAt+0x3000, 0x1000, 0x1000))
	address := func(op byte) uint64 {
		out, s := r.exec(opInput(0, op, memicAt+0x3000))
		require.Equal(t, MLX5_CMD_STAT_OK, s)
		return binary.BigEndian.Uint64(out[16:])
	}
	increment, testAndSet := address(0), address(1)
	require.Zero(t, increment%0x1000)
	require.NotEqual(t, increment, testAndSet)
	for _, a := range []uint64{increment, testAndSet} {
		require.GreaterOrEqual(t, a, uint64(memicAt+memicRoom), "where no memory is")
	}
	// As rdma-core's test of these operations goes.
	memory := r.MemoryPage(memicAt + 0x3000)
	memory.Store(0x40, make([]byte, 8))
	add := func(off int, p ...byte) { r.MemoryPage(increment).Store(off, p) }
	set := func(off, n int) []byte {
		p := make([]byte, n)
		r.MemoryPage(testAndSet).Load(off, p)
		return p
	}
	add(0x40, 1)
	add(0x40, 1)
	require.Equal(t, []byte{2}, set(0x40, 1))
	require.Equal(t, []byte{1}, set(0x40, 1))
	add(0x40, 0xff, 0, 0, 0)
	require.Equal(t, []byte{0, 1, 0, 0}, set(0x40, 4))
	p := make([]byte, 8)
	memory.Load(0x40, p)
	require.Equal(t, []byte{1, 0, 0, 0, 0, 0, 0, 0}, p)

	r.MemoryPage(increment).Load(0x40, p)
	require.Equal(t, make([]byte, 8), p, "an address for incrementing is not read")
	r.MemoryPage(testAndSet).Store(0x40, []byte{9})
	memory.Load(0x40, p)
	require.Equal(t, byte(1), p[0])

	r.ends(opInput(1, 0, memicAt+0x3000), MLX5_CMD_STAT_OK)
	r.ends(opInput(2, 0, memicAt+0x3000), MLX5_CMD_STAT_BAD_PARAM_ERR)
	r.ends(opInput(0, 2, memicAt+0x3000), MLX5_CMD_STAT_BAD_PARAM_ERR)
	r.ends(opInput(0, 200, memicAt+0x3000), MLX5_CMD_STAT_BAD_PARAM_ERR)
	r.ends(opInput(0, 0, memicAt+0x5000), MLX5_CMD_STAT_BAD_RES_ERR)
}

// Steering memory has the device's own addresses.
func TestSWICMKeys(t *testing.T) {
	r := newRig(t, nil)
	who := user{pd: r.pd(0)}
	for _, at := range []uint64{0x1_0000_0000, 0x2_0000_0000} {
		const room = 1 << 24
		key := r.key(keyOptions{flags: mkcAll, mode: 4, pd: who.pd, start: at + room - 0x2000, length: 0x3000})
		require.Equal(t, keyOK, r.store(key, who, 0xffc, texture(8, byte(at>>32))))
		got, e := r.load(key, who, 0xff8, 16)
		require.Equal(t, keyOK, e)
		require.Equal(t, append(append(make([]byte, 4), texture(8, byte(at>>32))...), make([]byte, 4)...), got)
		require.Equal(t, keyOK, r.reaches(key, who, remoteWrite, 0x1fff, 1))
		require.Equal(t, keyBounds, r.reaches(key, who, remoteWrite, 0x1fff, 2))
	}
	require.Empty(t, r.mem.writes)
	key := r.key(keyOptions{flags: mkcAll, mode: 4, pd: who.pd, length: 0x1000})
	require.Equal(t, keyBounds, r.reaches(key, who, localRead, 0, 8))
}
