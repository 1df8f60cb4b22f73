package traffic

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// devxObject makes an object by a firmware command and returns the answer, as
// mlx5dv_devx_obj_create does.
func (p *program) devxObject(in []byte, outLen int) (handle uint32, out []byte) {
	p.Helper()
	f := p.ctx.Frame()
	defer f.Leave()
	out = make([]byte, outLen)
	cmd := f.CommandBuffer(spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_CREATE, 3, nil)
	attr := cmd.FillAttrOutObj(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE)
	cmd.FillAttrIn(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in)
	cmd.FillAttrOut(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out)
	require.NoError(p, p.ctx.ExecuteIoctl(cmd))
	handle = verbs.ReadAttrObj(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, attr)
	p.atEnd(func() error {
		f := p.ctx.Frame()
		defer f.Leave()
		cmd := f.CommandBuffer(spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_DESTROY, 1, nil)
		cmd.FillAttrInObj(spec.MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, handle)
		return p.ctx.ExecuteIoctl(cmd)
	})
	return handle, out
}

// indirectKey makes a key that can stand for pieces of other keys, as
// mlx5dv_create_mkey does. It is free until a work request fills it in.
func (p *program) indirectKey(entries uint64) (key uint32) {
	p.Helper()
	layout := ifc.Must("create_mkey_in")
	in := make([]byte, layout.Size())
	layout.Field("opcode").Set(in, ifc.MLX5_CMD_OP_CREATE_MKEY)
	const variant, klms = 0x42, 2
	for name, v := range map[string]uint64{
		"free": 1, "umr_en": 1, "access_mode_1_0": klms, "pd": uint64(p.pd.PDN), "qpn": 0xffffff, "mkey_7_0": variant, "lr": 1,
		"translations_octword_size": entries,
	} {
		layout.Field("memory_key_mkey_entry."+name).Set(in, v)
	}
	_, out := p.devxObject(in, ifc.Must("create_mkey_out").Size())
	return uint32(ifc.Must("create_mkey_out").Field("mkey_index").Get(out))<<8 | variant
}

// fillKey makes the work request that gives an indirect key its pieces
// (mlx5dv_wr_mr_list), as the library would write it into the queue.
func fillKey(qpn, key uint32, pieces ...verbs.SGE) []byte {
	const (
		opcode, signal      = 0x25, 2 << 2
		control, umr, ctx   = 16, 48, 64
		inline              = 1 << 7
		length, free        = 1 << 0, 1 << 29
		lw, rr, rw          = 1 << 18, 1 << 19, 1 << 20
		mayLW, mayRR, mayRW = 1 << 3, 1 << 4, 1 << 5
		mayLR               = 1 << 2
		octo, octosAtOnce   = 16, 4
		count               = 4
	)
	octos := (len(pieces) + octosAtOnce - 1) / octosAtOnce * octosAtOnce
	wqe := make([]byte, control+umr+ctx+octos*octo)
	be := binary.BigEndian
	be.PutUint32(wqe[0:], opcode)
	be.PutUint32(wqe[4:], qpn<<8|uint32(len(wqe)/16))
	wqe[11] = signal
	be.PutUint32(wqe[12:], key)
	u := wqe[control:]
	u[0] = inline
	be.PutUint16(u[4:], uint16(octos))
	be.PutUint64(u[8:], length|lw|rr|rw|free)
	c := wqe[control+umr:]
	c[2] = mayLR | mayLW | mayRR | mayRW
	be.PutUint32(c[4:], 0xffffff<<8|key&0xff)
	var total uint64
	for i, p := range pieces {
		klm := wqe[control+umr+ctx+i*octo:]
		be.PutUint32(klm, p.Length)
		be.PutUint32(klm[count:], p.LKey)
		be.PutUint64(klm[2*count:], uint64(p.Addr))
		total += uint64(p.Length)
	}
	be.PutUint64(c[24:], total)
	return wqe
}

// postRaw stores a work request at the beginning of a queue that nothing was
// posted to, and rings.
func (e *end) postRaw(wqe []byte) {
	e.Helper()
	buf := e.qp.Buffer()
	e.store(buf.SQ, wqe)
	var blocks [4]byte
	binary.BigEndian.PutUint32(blocks[:], uint32(len(wqe)+63)/64)
	e.store(buf.Record+4, blocks[:])
	e.store(buf.Register, wqe[:8])
	e.settle()
}

// TestIndirectKey: a key that stands for pieces of two regions is one piece to
// those who use it, local and remote.
func TestIndirectKey(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	key := server.indirectKey(4)
	other := server.register(8192, everything)
	require.Equal(t, forbidden, client.write(1, libmlx5.RDMAWR{RKey: key}), "it is free")
	server.postRaw(fillKey(server.qp.Num, key, server.mem.sge(0x1234, 1000), other.sge(5, 3000), server.mem.sge(0x8000, 96)))
	wc := server.one(server.sent())
	require.Equal(t, good, wc.Status)

	msg := texture(4096, 1)
	client.mem.store(0, msg)
	require.Equal(t, good, client.write(4096, libmlx5.RDMAWR{RKey: key}))
	require.Equal(t, msg[:1000], server.mem.load(0x1234, 1000))
	require.Equal(t, msg[1000:4000], other.load(5, 3000))
	require.Equal(t, msg[4000:], server.mem.load(0x8000, 96))
	client.mem.store(0, make([]byte, 4096))
	require.Equal(t, good, client.read(196, libmlx5.RDMAWR{RKey: key, RemoteAddr: 3900}))
	require.Equal(t, msg[3900:4096], client.mem.load(0, 196))
}

// TestIndirectKeyBounds: it ends where its pieces end, and a piece that goes takes
// it along.
func TestIndirectKeyBounds(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	key := server.indirectKey(4)
	gone := server.register(4096, everything)
	server.postRaw(fillKey(server.qp.Num, key, server.mem.sge(0, 100), gone.sge(0, 100)))
	require.Equal(t, good, server.one(server.sent()).Status)
	server.receive(libmlx5.RecvWR{WRID: 1, SGList: []verbs.SGE{{Addr: 50, Length: 100, LKey: key}}})
	client.mem.store(0, texture(100, 2))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 100)))
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 1)
	require.Equal(t, texture(100, 2)[50:], gone.load(0, 50), "receives use it too")
	require.NoError(t, gone.drop())
	write := signaled(2, verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 100))
	write.RDMA.RKey = key
	client.post(write)
	client.succeeded(client.sent(), 2)
	require.Equal(t, texture(100, 2), server.mem.load(0, 100))
	write.RDMA.RemoteAddr = 101
	client.post(write)
	require.Equal(t, forbidden, client.one(client.sent()).Status)
}

// TestMalformedUMR: a work request that changes a key of another's, or that a user
// may not change, fails and changes nothing.
func TestMalformedUMR(t *testing.T) {
	for name, tt := range map[string]func(server *end, wqe []byte){
		"a region":       func(server *end, wqe []byte) { binary.BigEndian.PutUint32(wqe[12:], server.mem.LKey) },
		"no key":         func(server *end, wqe []byte) { wqe[13] ^= 0x40 },
		"too many":       func(server *end, wqe []byte) { binary.BigEndian.PutUint16(wqe[20:], 64) },
		"cut off":        func(server *end, wqe []byte) { wqe[7] = 5 },
		"another domain": func(server *end, wqe []byte) { binary.BigEndian.PutUint64(wqe[24:], 1<<7|1<<29) },
	} {
		t.Run(name, func(t *testing.T) {
			client, server := pair(t, setup{apart: true})
			key := server.indirectKey(4)
			wqe := fillKey(server.qp.Num, key, server.mem.sge(0, 100))
			tt(server, wqe)
			server.postRaw(wqe)
			wcs := server.sent()
			require.NotEmpty(t, wcs)
			require.Equal(t, libmlx5.IBV_WC_MW_BIND_ERR, wcs[0].Status)
			require.Equal(t, verbs.IBV_QPS_ERR, server.state(server.qp))
			reconnect(client, server)
			require.Equal(t, good, client.write(8, server.mem.remote(0)), "the region is as it was")
			require.Equal(t, forbidden, client.write(1, libmlx5.RDMAWR{RKey: key}))
		})
	}
}
