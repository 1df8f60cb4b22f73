package hw

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// A frame goes out and comes back: what is inline and what is in memory, and what
// the completions say of it.
func TestFrameToItself(t *testing.T) {
	r := newEtherRig(t)
	r.everything()
	data := udp(1234, 5678, []byte("hello, world"))
	f := frameOf(macGroup, macA, be16(etherIPv4), ip4(protoUDP, len(data), "192.0.2.1", "192.0.2.2"), data)
	r.post(0, 0x800)
	r.send(ethWQE{inline: f[:18], data: f[18:], flags: ethSumL3 | ethSumL4})
	r.ethSent()
	got, cqe := r.arrived(0, 0)
	// Reckoned by hand after RFC 791 and 768.
	want := bytes.Clone(f)
	copy(want[24:], be16(^onesSum(want[14:34])))
	pseudo := append(append(bytes.Clone(want[26:34]), 0, protoUDP, 0, byte(len(data))), data...)
	copy(want[40:], be16(^onesSum(pseudo)))
	require.Equal(t, want, got)

	be := binary.BigEndian
	require.Equal(t, uint8(cqeL2OK|cqeL3OK|cqeL4OK), cqe[28])
	require.Equal(t, uint8(2<<4|2<<2), cqe[29], "UDP over IPv4")
	require.Equal(t, uint32(0x80), be.Uint32(cqe[32:]), "user index")
	require.Zero(t, be.Uint32(cqe[56:]), "no rule has given it a tag")
	require.Equal(t, onesSum(want[14:]), be.Uint16(cqe[20:]), "sum of all behind the Ethernet header")
	require.NotZero(t, be.Uint64(cqe[48:]), "time stamp")
	require.Zero(t, be.Uint32(cqe[12:]), "no hash")

	// The same without the check sums: the receiver sees that they are wrong.
	r.post(0, 0x800)
	f[24]++
	f[40] = 1
	r.send(ethWQE{data: f})
	got, cqe = r.arrived(0, 1)
	require.Equal(t, f, got)
	require.Equal(t, uint8(cqeL2OK), cqe[28])
	require.Equal(t, uint16(1), be.Uint16(cqe[60:]), "WQE counter")
}

// onesSum is the folded one's complement sum, reckoned another way than the device
// does.
func onesSum(b []byte) uint16 {
	s := 0
	for i, v := range b {
		if i%2 == 0 {
			s += int(v) << 8
		} else {
			s += int(v)
		}
	}
	for s > 0xffff {
		s = s&0xffff + s>>16
	}
	return uint16(s)
}

func TestFrameTypes(t *testing.T) {
	r := newEtherRig(t)
	r.everything()
	for i, tt := range []struct {
		name     string
		rest     [][]byte
		ok, kind uint8
	}{
		{"nothing known", [][]byte{be16(0x88b5), make([]byte, 60)}, cqeL2OK, 0},
		{"IPv6, TCP without acknowledgement", [][]byte{be16(etherIPv6), ip6(protoTCP, 20, "2001:db8::1", "2001:db8::2"), tcp(1, 2, 3, 0x02, nil)},
			cqeL2OK | cqeL3OK | cqeL4OK, 1<<4 | 1<<2},
		{"TCP, acknowledgement alone", [][]byte{be16(etherIPv4), ip4(protoTCP, 20, "192.0.2.1", "192.0.2.2"), tcp(1, 2, 3, 0x10, nil)},
			cqeL2OK | cqeL3OK | cqeL4OK, 3<<4 | 2<<2},
		{"TCP, acknowledgement and data", [][]byte{be16(etherIPv4), ip4(protoTCP, 24, "192.0.2.1", "192.0.2.2"), tcp(1, 2, 3, 0x10, make([]byte, 4))},
			cqeL2OK | cqeL3OK | cqeL4OK, 4<<4 | 2<<2},
		{"a fragment", [][]byte{be16(etherIPv4), func() []byte { b := ip4(protoUDP, 8, "192.0.2.1", "192.0.2.2"); b[7] = 1; return b }(), udp(1, 2, nil)},
			cqeL2OK | cqeL3OK, 2 << 2},
		{"a header that is cut off", [][]byte{be16(etherIPv4), ip4(protoUDP, 8, "192.0.2.1", "192.0.2.2")[:19]}, cqeL2OK, 0},
	} {
		r.post(0, 0x800)
		r.send(ethWQE{data: frameOf(macGroup, macA, tt.rest...), flags: ethSumL3 | ethSumL4})
		_, cqe := r.arrived(0, i)
		require.NotNil(t, cqe, tt.name)
		require.Equal(t, tt.ok, cqe[28], tt.name)
		require.Equal(t, tt.kind, cqe[29], tt.name)
	}
}

// A tag that goes in on the way out, and one that is taken out on the way in.
func TestVLAN(t *testing.T) {
	r := newEtherRig(t)
	r.everything()
	f := frameOf(macGroup, macA, be16(0x88b5), []byte("payload"))
	r.post(0, 0x800)
	r.send(ethWQE{data: f, vlan: 1<<31 | 0xa123})
	got, cqe := r.arrived(0, 0)
	tagged := frameOf(macGroup, macA, be16(etherVLAN, 0xa123, 0x88b5), []byte("payload"))
	require.Equal(t, tagged, got)
	require.Zero(t, cqe[29]&1)

	_, s := r.exec(r.build(ifc.MLX5_CMD_OP_MODIFY_RQ, 0, "modify_rq_in", "rqn", r.rq[0], "rq_state", 1, "ctx.state", 1, "modify_bitmask", 2))
	require.Equal(t, MLX5_CMD_STAT_OK, s)
	r.post(0, 0x800)
	r.send(ethWQE{data: tagged})
	got, cqe = r.arrived(0, 1)
	require.Equal(t, f, got)
	require.Equal(t, uint8(1), cqe[29]&1)
	require.Equal(t, uint16(0xa123), binary.BigEndian.Uint16(cqe[30:]))
	r.post(0, 0x800)
	r.send(ethWQE{data: f, vlan: 1<<31 | 1<<16 | 5}) // one of a provider
	_, cqe = r.arrived(0, 2)
	require.Equal(t, uint16(5), binary.BigEndian.Uint16(cqe[30:]))
}

// The check sum of the wire comes behind the frame where the queue wants it.
func TestScatterFCS(t *testing.T) {
	r := newEtherRig(t)
	r.everything()
	_, s := r.exec(r.build(ifc.MLX5_CMD_OP_MODIFY_RQ, 0, "modify_rq_in", "rqn", r.rq[0], "rq_state", 1, "ctx.state", 1, "modify_bitmask", 4, "ctx.scatter_fcs", 1))
	require.Equal(t, MLX5_CMD_STAT_OK, s)
	f := frameOf(macGroup, macA, be16(0x88b5), make([]byte, 100))
	r.post(0, 0x800)
	r.send(ethWQE{data: f})
	got, _ := r.arrived(0, 0)
	require.Equal(t, binary.LittleEndian.AppendUint32(f, crc32.ChecksumIEEE(f)), got)
}

// A message of TCP is cut into segments, whose headers count on.
func TestTSO(t *testing.T) {
	r := newEtherRig(t)
	r.everything()
	data := make([]byte, 2500)
	for i := range data {
		data[i] = byte(i * 7)
	}
	for _, v6 := range []bool{false, true} {
		head := tcp(80, 81, 0xfffffff0, 0x19, nil) // acknowledgement, push and end
		hdr := frameOf(macGroup, macA, be16(etherIPv4), ip4(protoTCP, 20, "192.0.2.1", "192.0.2.2"), head)
		if v6 {
			hdr = frameOf(macGroup, macA, be16(etherIPv6), ip6(protoTCP, 20, "2001:db8::1", "2001:db8::2"), head)
		}
		first := int(r.received[0])
		for range 3 {
			r.post(0, 0x800)
		}
		r.send(ethWQE{opcode: ifc.MLX5_OPCODE_TSO, mss: 1000, inline: hdr, data: data, flags: ethSumL3 | ethSumL4})
		r.ethSent()
		var all []byte
		for i := range 3 {
			got, cqe := r.arrived(0, first+i)
			require.Equal(t, uint8(cqeL2OK|cqeL3OK|cqeL4OK), cqe[28], "lengths and sums are right")
			l4 := len(hdr) - 20
			require.Equal(t, uint32(0xfffffff0)+uint32(1000*i), binary.BigEndian.Uint32(got[l4+4:]), "sequence number")
			flags := uint8(0x10)
			if i == 2 {
				flags = 0x19
			}
			require.Equal(t, flags, got[l4+13])
			if !v6 {
				require.Equal(t, uint16(i), binary.BigEndian.Uint16(got[18:]), "identification")
				require.Equal(t, uint16(len(got)-14), binary.BigEndian.Uint16(got[16:]), "total length")
			}
			all = append(all, got[len(hdr):]...)
		}
		require.Equal(t, data, all)
	}
	for _, w := range []ethWQE{{mss: 0, data: data}, {mss: 1400, data: make([]byte, 1<<16+1)}} { // max_lso_cap is 16
		r = newEtherRig(t)
		w.opcode, w.inline = ifc.MLX5_OPCODE_TSO, frameOf(macGroup, macA, be16(etherIPv4), ip4(protoTCP, 20, "192.0.2.1", "192.0.2.2"), tcp(1, 2, 3, 0, nil))
		r.send(w)
		require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR), r.cqe(0, 0)[55])
	}
}

// What cannot be sent ends the queue.
func TestBadFrames(t *testing.T) {
	for name, tt := range map[string]struct {
		w    ethWQE
		want uint8
	}{
		"too short":          {ethWQE{data: make([]byte, 13)}, ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR},
		"too long":           {ethWQE{data: make([]byte, 20000)}, ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR},
		"no such opcode":     {ethWQE{opcode: ifc.MLX5_OPCODE_RDMA_WRITE, data: make([]byte, 64)}, ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR},
		"segments of others": {ethWQE{opcode: ifc.MLX5_OPCODE_TSO, mss: 100, inline: make([]byte, 64), data: make([]byte, 64)}, ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR},
	} {
		r := newEtherRig(t)
		r.send(tt.w)
		b := r.cqe(0, 0)
		require.Equal(t, uint8(ifc.MLX5_CQE_REQ_ERR), b[63]>>4, name)
		require.Equal(t, tt.want, b[55], name)
	}
	r := newEtherRig(t)
	r.key++
	r.send(ethWQE{data: make([]byte, 64)})
	require.Equal(t, uint8(ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR), r.cqe(0, 0)[55], "no such key")
}

// Without an entry a frame is dropped and counted; into one that is too small it
// does not fit, and the queue ends.
func TestReceiveQueueEnds(t *testing.T) {
	r := newEtherRig(t)
	r.everything()
	set := r.made(Input(ifc.MLX5_CMD_OP_ALLOC_Q_COUNTER, 0, 0, 0))
	_, s := r.exec(r.build(ifc.MLX5_CMD_OP_MODIFY_RQ, 0, "modify_rq_in", "rqn", r.rq[0], "rq_state", 1, "ctx.state", 1, "modify_bitmask", 8, "ctx.counter_set_id", set))
	require.Equal(t, MLX5_CMD_STAT_OK, s)
	f := frameOf(macGroup, macA, be16(0x88b5), make([]byte, 100))
	r.send(ethWQE{data: f})
	r.ethSent()
	got, _ := r.arrived(0, 0)
	require.Nil(t, got)
	out, _ := r.exec(r.build(ifc.MLX5_CMD_OP_QUERY_Q_COUNTER, 0, "query_q_counter_in", "counter_set_id", set))
	require.Equal(t, uint64(1), ifc.Must("query_q_counter_out").Field("out_of_buffer").Get(out))

	r.post(0, len(f)-1)
	r.post(0, 0x800)
	r.send(ethWQE{data: f})
	for i, syndrome := range []uint8{ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR} {
		b := r.cqe(1, i)
		require.Equal(t, uint8(ifc.MLX5_CQE_RESP_ERR), b[63]>>4)
		require.Equal(t, syndrome, b[55])
		require.Equal(t, r.rq[0], binary.BigEndian.Uint32(b[56:])&bits24)
	}
	r.send(ethWQE{data: f})
	require.Nil(t, r.cqe(1, 2), "a queue in error takes nothing")
}

// Entries with a signature have their data segments behind it.
func TestReceiveSignature(t *testing.T) {
	r := newEtherRig(t)
	r.rq[0] = r.made(r.rqIn(0, "ctx.wq.wq_signature", 1))
	r.move(ifc.MLX5_CMD_OP_MODIFY_RQ, "modify_rq_in", r.rq[0], 0, 1)
	r.tir[0] = r.made(r.build(ifc.MLX5_CMD_OP_CREATE_TIR, 0, "create_tir_in", "ctx.transport_domain", r.td[1], "ctx.inline_rqn", r.rq[0]))
	r.everything()
	r.post(0, 0x800)
	entry := r.mem.get(etherRQs, 48)
	r.mem.set(etherRQs, append(bytes.Repeat([]byte{0xee}, 16), entry...))
	f := frameOf(macGroup, macA, be16(0x88b5), make([]byte, 50))
	r.send(ethWQE{data: f})
	got, _ := r.arrived(0, 0)
	require.Equal(t, f, got)
}

// An interface takes what its own transport domain sends only where it says so, and
// the vport may keep the device from hearing itself at all.
func TestLoopBack(t *testing.T) {
	r := newEtherRig(t)
	table := r.newTable(tableNICRX)
	g := r.group(table, 0, 63)
	r.setRule(ruleIn{table: table, group: g, actions: actionForward, tirs: r.tir[:]})
	count := func(dst [6]byte) (got [2]bool) {
		t.Helper()
		before := [2]int{int(r.received[0]), int(r.received[1])}
		for i := range before {
			r.post(i, 0x800)
		}
		r.send(ethWQE{data: frameOf(dst, macA, be16(0x88b5), make([]byte, 50))})
		for i := range before {
			frame, _ := r.arrived(i, before[i])
			if got[i] = frame != nil; !got[i] {
				r.received[i]--
			}
		}
		return got
	}
	lb := func(bits int) {
		_, s := r.exec(r.build(ifc.MLX5_CMD_OP_MODIFY_TIR, 0, "modify_tir_in", "tirn", r.tir[0], "bitmask.self_lb_en", 1, "ctx.self_lb_block", bits))
		require.Equal(t, MLX5_CMD_STAT_OK, s)
	}
	for bits, want := range [4][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} { // unicast, multicast
		lb(bits)
		require.Equal(t, [2]bool{want[0], true}, count(macA), "unicast %d", bits)
		require.Equal(t, [2]bool{want[1], true}, count(macGroup), "multicast %d", bits)
	}
	vport := func(uc, mc int) {
		_, s := r.exec(r.build(ifc.MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT, 0, "modify_nic_vport_context_in", "field_select.disable_uc_local_lb", 1,
			"field_select.disable_mc_local_lb", 1, "nic_vport_context.disable_uc_local_lb", uc, "nic_vport_context.disable_mc_local_lb", mc))
		require.Equal(t, MLX5_CMD_STAT_OK, s)
	}
	vport(1, 0)
	require.Equal(t, [2]bool{}, count(macA))
	require.Equal(t, [2]bool{true, true}, count(macGroup))
	vport(0, 1)
	require.Equal(t, [2]bool{true, true}, count(macA))
	require.Equal(t, [2]bool{}, count(macGroup))
}

// Frames between devices: to the one with the address, to all if it is a group's or
// nobody's; short ones are filled up on the wire.
func TestFramesBetweenDevices(t *testing.T) {
	f := NewFabric(Link{})
	a := newEtherRigOn(t, ConnectX6Dx, f)
	b := newEtherRigOn(t, ConnectX6Dx.WithMAC(macB), f)
	c := newEtherRigOn(t, ConnectX6Dx.WithMAC([6]byte{0x02, 0, 0x5e, 0, 0x53, 0x12}), f)
	rigs := []*etherRig{a, b, c}
	for _, r := range rigs {
		r.everything()
	}
	for _, tt := range []struct {
		name string
		dst  [6]byte
		want [3]bool
	}{
		{"to one", macB, [3]bool{false, true, false}},
		{"to itself", macA, [3]bool{true, false, false}},
		{"to a group", macGroup, [3]bool{true, true, true}},
		{"to nobody", [6]byte{2, 1, 1, 1, 1, 1}, [3]bool{true, true, true}},
		{"to everybody", [6]byte{255, 255, 255, 255, 255, 255}, [3]bool{true, true, true}},
	} {
		var first [3]int
		for i, r := range rigs {
			first[i] = int(r.received[0])
			r.post(0, 0x800)
		}
		frame := frameOf(tt.dst, macA, be16(0x88b5), []byte("abc"))
		a.send(ethWQE{data: frame})
		for i, r := range rigs {
			r.Drain()
			got, _ := r.arrived(0, first[i])
			require.Equal(t, tt.want[i], got != nil, "%s: %d", tt.name, i)
			switch {
			case got == nil:
				r.received[0]--
			case i == 0:
				require.Equal(t, frame, got, tt.name)
			default:
				require.Equal(t, append(bytes.Clone(frame), make([]byte, 60-len(frame))...), got, tt.name)
			}
		}
	}
	counter := func(r *etherRig, name string) uint64 {
		out, _ := r.exec(Input(ifc.MLX5_CMD_OP_QUERY_VPORT_COUNTER, 0, 0, 0))
		return ifc.Must("query_vport_counter_out").Field(name).Get(out)
	}
	require.Equal(t, uint64(3), counter(a, "transmitted_eth_unicast.packets"))
	require.Equal(t, uint64(1), counter(a, "transmitted_eth_multicast.packets"))
	require.Equal(t, uint64(17), counter(a, "transmitted_eth_broadcast.octets"))
	require.Equal(t, uint64(60), counter(b, "received_eth_broadcast.octets"))
	require.Equal(t, uint64(2), counter(b, "received_eth_unicast.packets"))

	// A port that is down lets nothing out, and what is longer than the port takes is
	// lost without a word.
	a.PortUp(false)
	lost := f.Lost()
	a.send(ethWQE{data: frameOf(macB, macA, be16(0x88b5), make([]byte, 50))})
	require.Equal(t, lost+1, f.Lost())
	a.PortUp(true)
	a.send(ethWQE{data: frameOf(macB, macA, be16(0x88b5), make([]byte, 9978))})
	b.post(0, 0x8000)
	b.Drain()
	got, _ := b.arrived(0, int(b.received[0])-1)
	require.Len(t, got, 9978+14)
	a.send(ethWQE{data: frameOf(macB, macA, be16(0x88b5), make([]byte, 9978+9))})
	require.Equal(t, lost+2, f.Lost())
}

// A table of receive queues is entered by the hash of the frame: Microsoft's
// verification of the function.
func TestRSS(t *testing.T) {
	key := []byte{
		0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
		0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa}
	const ips, all = selectSrcIP | selectDstIP, selectSrcIP | selectDstIP | selectSport | selectDport
	frame4 := frameOf(macGroup, macA, be16(etherIPv4), ip4(protoTCP, 20, "66.9.149.187", "161.142.100.80"), tcp(2794, 1766, 0, 0, nil))
	frame6 := frameOf(macGroup, macA, be16(etherIPv6), ip6(protoTCP, 20, "3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1"), tcp(2794, 1766, 0, 0, nil))
	udp4 := frameOf(macGroup, macA, be16(etherIPv4), ip4(protoUDP, 8, "66.9.149.187", "161.142.100.80"), udp(2794, 1766, nil))
	for _, tt := range []struct {
		name   string
		frame  []byte
		v6     int
		udp    int
		fields int
		fn     int
		want   uint32
		typ    uint8
	}{
		{"IPv4", frame4, 0, 0, ips, hashToeplitz, 0x323e8fc2, 1<<2 | 1},
		{"IPv4 and TCP", frame4, 0, 0, all, hashToeplitz, 0x51ccc178, 1<<6 | 1<<4 | 1<<2 | 1},
		{"IPv6", frame6, 1, 0, ips, hashToeplitz, 0x2cc18cd5, 2<<2 | 2},
		{"IPv6 and TCP", frame6, 1, 0, all, hashToeplitz, 0x40207d3d, 1<<6 | 1<<4 | 2<<2 | 2},
		{"IPv4 and UDP", udp4, 0, 1, all, hashToeplitz, 0x51ccc178, 2<<6 | 2<<4 | 1<<2 | 1},
		{"UDP, but TCP is hashed", udp4, 0, 0, all, hashToeplitz, 0x323e8fc2, 1<<2 | 1},
		{"IPv6, but IPv4 is hashed", frame6, 0, 0, ips, hashToeplitz, 0, 0},
		{"the other function", frame4, 0, 0, selectSport, hashXOR8, uint32(^byte(0x0a ^ 0xea)), 1 << 4},
		{"no function", frame4, 0, 0, all, 0, 0, 0},
	} {
		r := newEtherRig(t)
		in := r.build(ifc.MLX5_CMD_OP_CREATE_RQT, 8, "create_rqt_in", "rqt_context.rqt_max_size", 2, "rqt_context.rqt_actual_size", 2)
		binary.BigEndian.PutUint32(in[272:], r.rq[0])
		binary.BigEndian.PutUint32(in[276:], r.rq[1])
		rqt := r.made(in)
		in = r.build(ifc.MLX5_CMD_OP_CREATE_TIR, 0, "create_tir_in", "ctx.transport_domain", r.td[1], "ctx.disp_type", 1, "ctx.indirect_table", rqt,
			"ctx.rx_hash_fn", tt.fn, "ctx.rx_hash_field_selector_outer.l3_prot_type", tt.v6, "ctx.rx_hash_field_selector_outer.l4_prot_type", tt.udp,
			"ctx.rx_hash_field_selector_outer.selected_fields", tt.fields)
		copy(in[72:], key)
		table := r.newTable(tableNICRX)
		r.setRule(ruleIn{table: table, group: r.group(table, 0, 63), actions: actionForward, tirs: []uint32{r.made(in)}})
		r.post(0, 0x800)
		r.post(1, 0x800)
		r.send(ethWQE{data: tt.frame})
		_, cqe := r.arrived(int(tt.want%2), 0)
		require.NotNil(t, cqe, tt.name)
		require.Equal(t, tt.want, binary.BigEndian.Uint32(cqe[12:]), tt.name)
		require.Equal(t, tt.typ, cqe[16], tt.name)
		_, cqe = r.arrived(1-int(tt.want%2), 0)
		require.Nil(t, cqe, tt.name)
	}
}

// A symmetric hash is the same both ways.
func TestSymmetricRSS(t *testing.T) {
	tir := make([]byte, ifc.Must("tirc").Size())
	tirHashFn.Set(tir, hashToeplitz)
	tirSymmetric.Set(tir, 1)
	tirOuter.fields.Set(tir, selectSrcIP|selectDstIP|selectSport|selectDport)
	for i, b := 0, tirKey.Bytes(tir); i < len(b); i++ {
		b[i] = byte(37 * i)
	}
	hash := func(src, dst string, sport, dport uint16) uint32 {
		p := passing{bytes: frameOf(macA, macB, be16(etherIPv4), ip4(protoTCP, 20, src, dst), tcp(sport, dport, 0, 0, nil))}
		p.layers = layersOf(p.bytes, 0)
		return hashFor(tir, &p).value
	}
	one := hash("192.0.2.1", "198.51.100.7", 1000, 22)
	require.Equal(t, one, hash("198.51.100.7", "192.0.2.1", 22, 1000))
	require.NotEqual(t, one, hash("198.51.100.7", "192.0.2.1", 22, 1001))
	tirSymmetric.Set(tir, 0)
	require.NotEqual(t, hash("192.0.2.1", "198.51.100.7", 1000, 22), hash("198.51.100.7", "192.0.2.1", 22, 1000))
}

// A frame through the device: fetched, sent, steered and received, without an
// allocation.
func BenchmarkFrame(b *testing.B) {
	r := newEtherRig(b)
	r.everything()
	for range 1 << etherLogRQ {
		r.post(0, 0x800)
	}
	f := frameOf(macGroup, macA, be16(etherIPv4), ip4(protoUDP, 8+200, "192.0.2.1", "192.0.2.2"), udp(1, 2, make([]byte, 200)))
	r.send(ethWQE{data: f, flags: ethSumL3 | ethSumL4})
	sq, rq := r.objects[kindSQ].live[r.sq].as.(*context), r.objects[kindRQ].live[r.rq[0]].as.(*context)
	sent, received := r.objects[kindCQ].live[r.cqs[0]].as.(*cq), r.objects[kindCQ].live[r.cqs[1]].as.(*cq)
	b.ReportAllocs()
	for b.Loop() {
		sq.taken, rq.taken = 0, 0 // the same work request and the same entry again
		sent.ci, received.ci = sent.pi, received.pi
		r.scanRaw(sq)
		r.Drain()
	}
	require.Equal(b, sent.pi, received.pi)
}
