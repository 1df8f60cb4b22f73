package hw

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// etherRig is a device with a raw send queue and two receive queues, each with a
// completion queue and an interface of its own.
type etherRig struct {
	*rig
	pd, key       uint32
	sq            uint32
	rq, tir       [2]uint32
	td            [2]uint32 // of the sender and the first interface, and of the second
	cqs           [3]uint32 // of the sender, and of the receivers
	posted        uint16
	received      [2]uint16
	sent          int
	table, groups uint32
}

// Where the rig has what on its bus.
const (
	etherCQs    = 0x500000 // a page each
	etherSQ     = 0x510000
	etherRQs    = 0x520000 // a page each
	etherRecord = 0x530000 // 64 bytes each
	etherData   = 0x800000
	etherSize   = 0x40000
	etherIn     = 0x10000 // received frames, 0x8000 from one queue to the next
	etherSlot   = 0x800   // of an entry

	etherLogRQ = 4
	etherLogSQ = 6
	etherLogCQ = 5
)

func newEtherRig(t testing.TB) *etherRig { return newEtherRigOn(t, ConnectX6Dx, nil) }

func newEtherRigOn(t testing.TB, p *Profile, f *Fabric) *etherRig {
	r := &etherRig{rig: newRigOn(t, p, f)}
	eqn := r.createEQ(eqOptions{mask: 1<<64 - 2})
	r.pd = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0))
	for i := range r.td {
		r.td[i] = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, 0, 0, 0))
	}
	r.key = r.createKey(r.pd, etherData, etherSize)
	for i := range r.cqs {
		r.cqs[i] = r.createCQ(cqOptions{log: etherLogCQ, eqn: eqn, buffer: []Addr{Addr(etherCQs + i*ramPage)}, record: Addr(etherRecord + 0x400 + i*64)})
		r.mem.set(Addr(etherCQs+i*ramPage), invalidCQEs[:])
	}
	r.mem.set(etherSQ, make([]byte, ramPage))
	r.sq = r.made(r.sqIn(r.made(r.build(ifc.MLX5_CMD_OP_CREATE_TIS, 0, "create_tis_in", "ctx.transport_domain", r.td[0]))))
	r.move(ifc.MLX5_CMD_OP_MODIFY_SQ, "modify_sq_in", r.sq, 0, 1)
	for i := range r.rq {
		r.mem.set(Addr(etherRQs+i*ramPage), make([]byte, ramPage))
		r.rq[i] = r.made(r.rqIn(i))
		r.move(ifc.MLX5_CMD_OP_MODIFY_RQ, "modify_rq_in", r.rq[i], 0, 1)
		r.tir[i] = r.made(r.build(ifc.MLX5_CMD_OP_CREATE_TIR, 0, "create_tir_in", "ctx.transport_domain", r.td[i], "ctx.inline_rqn", r.rq[i], "ctx.self_lb_block", 3))
	}
	return r
}

// build is a command with fields by their names.
func (r *rig) build(op uint16, extra int, layout string, fields ...any) []byte {
	in := Input(op, 0, 0, extra)
	for i := 0; i < len(fields); i += 2 {
		var v uint64
		switch n := fields[i+1].(type) {
		case int:
			v = uint64(n)
		case uint32:
			v = uint64(n)
		case uint64:
			v = n
		}
		ifc.Must(layout).Field(fields[i].(string)).Set(in, v)
	}
	return in
}

func (r *etherRig) sqIn(tis uint32) []byte {
	in := r.build(ifc.MLX5_CMD_OP_CREATE_SQ, 8, "create_sq_in", "ctx.cqn", r.cqs[0], "ctx.tis_lst_sz", 1, "ctx.tis_num_0", tis,
		"ctx.user_index", 0x77, "ctx.wq.wq_type", 1, "ctx.wq.pd", r.pd, "ctx.wq.uar_page", r.uar, "ctx.wq.log_wq_stride", 6,
		"ctx.wq.log_wq_sz", etherLogSQ, "ctx.wq.dbr_addr", etherRecord)
	binary.BigEndian.PutUint64(in[sqPas:], etherSQ)
	return in
}

func (r *etherRig) rqIn(i int, more ...any) []byte {
	in := r.build(ifc.MLX5_CMD_OP_CREATE_RQ, 8, "create_rq_in", append([]any{"ctx.cqn", r.cqs[1+i], "ctx.vsd", 1,
		"ctx.user_index", 0x80 + i, "ctx.wq.wq_type", 1, "ctx.wq.pd", r.pd, "ctx.wq.log_wq_stride", 6,
		"ctx.wq.log_wq_sz", etherLogRQ, "ctx.wq.dbr_addr", etherRecord + 64*(1+i)}, more...)...)
	binary.BigEndian.PutUint64(in[rqPas:], uint64(etherRQs+i*ramPage))
	return in
}

func (r *rig) move(op uint16, layout string, n uint32, from, to int) {
	r.t.Helper()
	kind := layout[7:9] // modify_sq_in, modify_rq_in
	_, s := r.exec(r.build(op, 0, layout, kind+"n", n, kind+"_state", from, "ctx.state", to))
	require.Equal(r.t, MLX5_CMD_STAT_OK, s)
}

// newTable makes a table of 64 rules that frames come to first, without a way out.
func (r *etherRig) newTable(typ int) uint32 {
	r.t.Helper()
	n := r.made(r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, 0, "create_flow_table_in", "table_type", typ, "flow_table_context.log_size", 6))
	_, s := r.exec(r.build(ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ROOT, 0, "set_flow_table_root_in", "table_type", typ, "table_id", n))
	require.Equal(r.t, MLX5_CMD_STAT_OK, s)
	return n
}

// match is fields of a struct fte_match_param: name, mask, value.
type match struct {
	field       string
	mask, value uint64
}

// group makes a group of rules that compare those fields.
func (r *rig) group(table uint32, first, last int, fields ...match) uint32 {
	r.t.Helper()
	in := r.build(ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, 0, "create_flow_group_in", "table_id", table, "start_flow_index", first, "end_flow_index", last,
		"match_criteria_enable", 0xf)
	for _, f := range fields {
		ifc.Must("create_flow_group_in").Field("match_criteria."+f.field).Set(in, f.mask)
	}
	return r.made(in)
}

// ruleIn is a rule of a table.
type ruleIn struct {
	table, group uint32
	index        int
	actions      int
	tag          int
	tirs, tables []uint32
	counters     []uint32
	match        []match
	modify       int // what to change of one that is there, 0 to make one
}

func (r *rig) ruleInput(o ruleIn) []byte {
	in := r.build(ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, 8*(len(o.tirs)+len(o.tables)+len(o.counters)), "set_fte_in",
		"table_id", o.table, "flow_index", o.index, "modify_enable_mask", o.modify, "flow_context.group_id", o.group, "flow_context.action", o.actions,
		"flow_context.flow_tag", o.tag, "flow_context.destination_list_size", len(o.tirs)+len(o.tables),
		"flow_context.flow_counter_list_size", len(o.counters))
	if o.modify != 0 {
		in[7] = 1
	}
	for _, f := range o.match {
		ifc.Must("set_fte_in").Field("flow_context.match_value."+f.field).Set(in, f.value)
	}
	list := in[fteContext+flowList:]
	put := func(word uint32) {
		binary.BigEndian.PutUint32(list, word)
		list = list[8:]
	}
	for _, n := range o.tirs {
		put(2<<24 | n)
	}
	for _, n := range o.tables {
		put(1<<24 | n)
	}
	for _, n := range o.counters {
		put(n)
	}
	return in
}

func (r *rig) setRule(o ruleIn) {
	r.t.Helper()
	_, s := r.exec(r.ruleInput(o))
	require.Equal(r.t, MLX5_CMD_STAT_OK, s)
}

// everything lets all frames come to the first interface.
func (r *etherRig) everything() {
	r.table = r.newTable(tableNICRX)
	r.groups = r.group(r.table, 0, 63)
	r.setRule(ruleIn{table: r.table, group: r.groups, actions: actionForward, tirs: r.tir[:1]})
}

// post gives a receive queue an entry of n bytes.
func (r *etherRig) post(i, n int) {
	b := make([]byte, 64)
	binary.BigEndian.PutUint32(b, uint32(n))
	binary.BigEndian.PutUint32(b[4:], r.key)
	binary.BigEndian.PutUint64(b[8:], uint64(r.slot(i, int(r.received[i]))))
	binary.BigEndian.PutUint32(b[20:], ifc.MLX5_INVALID_LKEY)
	r.mem.set(Addr(etherRQs+i*ramPage+int(r.received[i]%(1<<etherLogRQ))*64), b)
	r.received[i]++
	r.mem.put32(Addr(etherRecord+64*(1+i)), uint32(r.received[i]))
}

func (r *etherRig) slot(i, index int) Addr {
	return Addr(etherData + etherIn + i*0x8000 + index%(1<<etherLogRQ)*etherSlot)
}

// ethWQE is a work request to send frames.
type ethWQE struct {
	opcode, flags uint8
	mss           int
	inline        []byte
	vlan          uint32 // type and number of what goes in
	data          []byte
}

// send posts a work request and lets the device do it.
func (r *etherRig) send(w ethWQE) {
	r.t.Helper()
	be := binary.BigEndian
	b := make([]byte, 32)
	if w.opcode == 0 {
		w.opcode = ifc.MLX5_OPCODE_SEND
	}
	b[3], b[11] = w.opcode, ifc.MLX5_WQE_CTRL_CQ_UPDATE
	b[16+4] = w.flags
	be.PutUint16(b[16+6:], uint16(w.mss))
	be.PutUint32(b[16+12:], w.vlan)
	if len(w.inline) > 0 {
		be.PutUint16(b[16+12:], uint16(len(w.inline)))
		b = append(b[:16+14], w.inline...)
		b = append(b, make([]byte, -len(b)&15)...)
	}
	if len(w.data) > 0 {
		r.mem.set(etherData, w.data)
		b = be.AppendUint32(b, uint32(len(w.data)))
		b = be.AppendUint32(b, r.key)
		b = be.AppendUint64(b, etherData)
	}
	be.PutUint32(b[4:], r.sq<<8|uint32(len(b)/16))
	for off := 0; off < len(b); off += 64 {
		at := (int(r.posted) + off/64) % (1 << etherLogSQ)
		r.mem.set(Addr(etherSQ+at*64), b[off:min(off+64, len(b))])
	}
	r.posted += uint16((len(b) + 63) / 64)
	r.mem.put32(etherRecord+4, uint32(r.posted))
	r.UARPage(r.uar).Store(0x800, append(make([]byte, 4), byte(r.sq>>16), byte(r.sq>>8), byte(r.sq), 0))
	r.Drain()
}

// cqe is the n-th entry of a completion queue, nil while it is not there.
func (r *etherRig) cqe(i, n int) []byte {
	b := r.mem.get(Addr(etherCQs+i*ramPage+n%(1<<etherLogCQ)*CQESize), CQESize)
	if b[63]>>4 == ifc.MLX5_CQE_INVALID {
		return nil
	}
	return b
}

// arrived returns the n-th frame that a receive queue has got, nil for none, and
// its completion.
func (r *etherRig) arrived(i, n int) (frame, cqe []byte) {
	r.t.Helper()
	cqe = r.cqe(1+i, n)
	if cqe == nil {
		return nil, nil
	}
	require.Equal(r.t, uint8(ifc.MLX5_CQE_RESP_SEND), cqe[63]>>4)
	return r.mem.get(r.slot(i, n), int(binary.BigEndian.Uint32(cqe[44:]))), cqe
}

// ethSent says that the sender's next completion is a good one.
func (r *etherRig) ethSent() {
	r.t.Helper()
	b := r.cqe(0, r.sent)
	require.NotNil(r.t, b)
	require.Zero(r.t, b[63]>>4, "opcode; syndrome %#x", b[55])
	require.Equal(r.t, r.sq, binary.BigEndian.Uint32(b[56:])&bits24)
	r.sent++
}

// Addresses of frames in tests.
var (
	macA     = [6]byte{0x02, 0, 0x5e, 0, 0x53, 0x10} // of ConnectX6Dx
	macB     = [6]byte{0x02, 0, 0x5e, 0, 0x53, 0x11}
	macGroup = [6]byte{0x01, 0, 0x5e, 1, 2, 3}
)

// frameOf puts a frame together: addresses, then what follows.
func frameOf(dst, src [6]byte, rest ...[]byte) []byte {
	b := append(dst[:], src[:]...)
	for _, p := range rest {
		b = append(b, p...)
	}
	return b
}

func be16(v ...uint16) (b []byte) {
	for _, n := range v {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return b
}

// ip4 is an IPv4 header without its check sum, for that much behind it.
func ip4(proto uint8, n int, src, dst string) []byte {
	b := make([]byte, 20)
	b[0], b[8], b[9] = 0x45, 64, proto
	binary.BigEndian.PutUint16(b[2:], uint16(20+n))
	copy(b[12:], netip.MustParseAddr(src).AsSlice())
	copy(b[16:], netip.MustParseAddr(dst).AsSlice())
	return b
}

func ip6(proto uint8, n int, src, dst string) []byte {
	b := make([]byte, 40)
	b[0], b[6], b[7] = 0x60, proto, 64
	binary.BigEndian.PutUint16(b[4:], uint16(n))
	copy(b[8:], netip.MustParseAddr(src).AsSlice())
	copy(b[24:], netip.MustParseAddr(dst).AsSlice())
	return b
}

func udp(sport, dport uint16, data []byte) []byte {
	return append(be16(sport, dport, uint16(8+len(data)), 0), data...)
}

func tcp(sport, dport uint16, seq uint32, flags uint8, data []byte) []byte {
	b := append(be16(sport, dport), make([]byte, 16)...)
	binary.BigEndian.PutUint32(b[4:], seq)
	b[12], b[13] = 5<<4, flags
	return append(b, data...)
}
