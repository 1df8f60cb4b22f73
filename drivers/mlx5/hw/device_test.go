package hw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/trace"
)

// ram is memory by bus address. It remembers every write, and refuses the pages
// in bad.
type ram struct {
	mu     sync.Mutex
	pages  map[Addr][]byte
	bad    map[Addr]bool
	writes []ramWrite
}

type ramWrite struct {
	addr Addr
	n    int
}

const ramPage = 4096

var errBus = errors.New("nothing answers at this address")

func newRAM() *ram { return &ram{pages: map[Addr][]byte{}, bad: map[Addr]bool{}} }

func (r *ram) move(p []byte, addr Addr, step func(mem, p []byte)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for done := 0; done < len(p); {
		page, at := (addr+uint64(done))/ramPage, (addr+uint64(done))%ramPage
		if r.bad[page] {
			return errBus
		}
		if r.pages[page] == nil {
			r.pages[page] = make([]byte, ramPage)
		}
		n := min(len(p)-done, int(ramPage-at))
		step(r.pages[page][at:], p[done:done+n])
		done += n
	}
	return nil
}

func (r *ram) ReadAt(p []byte, addr Addr) error {
	return r.move(p, addr, func(mem, p []byte) { copy(p, mem) })
}

func (r *ram) WriteAt(p []byte, addr Addr) error {
	r.mu.Lock()
	r.writes = append(r.writes, ramWrite{addr, len(p)})
	r.mu.Unlock()
	return r.move(p, addr, func(mem, p []byte) { copy(mem, p) })
}

func (r *ram) get(addr Addr, n int) []byte {
	p := make([]byte, n)
	if err := r.ReadAt(p, addr); err != nil {
		panic(err)
	}
	return p
}

func (r *ram) set(addr Addr, p []byte) {
	if err := r.move(p, addr, func(mem, p []byte) { copy(mem, p) }); err != nil {
		panic(err)
	}
}

func (r *ram) put32(addr Addr, v uint32) {
	r.set(addr, binary.BigEndian.AppendUint32(nil, v))
}

// rig is a device that has been booted, and what it told its driver.
type rig struct {
	*Device
	t      testing.TB
	mem    *ram
	irqs   []int
	events []EQE
	uar    uint32
	told   func(in, out []byte) // hears of each command; may be nil
}

func newRig(t testing.TB, p *Profile) *rig { return newRigOn(t, p, nil) }

func newRigIn(t testing.TB, f *Fabric) *rig { return newRigOn(t, checking, f) }

func newRigOn(t testing.TB, p *Profile, f *Fabric) *rig {
	r := &rig{t: t, mem: newRAM()}
	r.Device = New(Config{
		Profile:   p,
		Fabric:    f,
		Bus:       r.mem,
		Interrupt: func(v int) { r.irqs = append(r.irqs, v) },
		Event:     func(eqn uint32, e EQE) { r.events = append(r.events, e) },
	})
	require.NoError(t, Boot(nil, r.Device, somePages))
	r.uar = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_UAR, 0, 0, 0))
	return r
}

func somePages(n int) (pages []Addr) {
	for i := range n {
		pages = append(pages, Addr(0x100000+i*ramPage))
	}
	return pages
}

// exec runs a command and returns its answer and how it ended.
func (r *rig) exec(in []byte) ([]byte, Status) {
	r.t.Helper()
	out := Output(binary.BigEndian.Uint16(in), 0)
	require.NoError(r.t, r.Exec(nil, in, out))
	if r.told != nil {
		r.told(in, out)
	}
	s, syndrome := Result(out)
	require.Equal(r.t, s == MLX5_CMD_STAT_OK, syndrome == 0)
	if s != MLX5_CMD_STAT_OK {
		require.NotEmpty(r.t, SyndromeText(syndrome))
	}
	return out, s
}

// made runs a command that makes something and returns its number.
func (r *rig) made(in []byte) uint32 {
	r.t.Helper()
	out, s := r.exec(in)
	require.Equal(r.t, MLX5_CMD_STAT_OK, s)
	return binary.BigEndian.Uint32(out[8:])
}

// named is the input of a command that names an object at byte 8.
func named(op, uid uint16, n uint32) []byte {
	in := Input(op, uid, 0, 0)
	binary.BigEndian.PutUint32(in[8:], n)
	return in
}

func (r *rig) ends(in []byte, want Status) {
	r.t.Helper()
	_, s := r.exec(in)
	require.Equal(r.t, want, s)
}

func TestBootAndShutdown(t *testing.T) {
	d := New(Config{Bus: newRAM()})
	require.Empty(t, d.Counts())
	require.NoError(t, Boot(nil, d, somePages))
	require.Equal(t, map[string]int{"page": 12}, d.Counts())
	require.NoError(t, Do(nil, d, Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0), Output(ifc.MLX5_CMD_OP_ALLOC_PD, 0)))
	pages, err := Shutdown(nil, d)
	require.NoError(t, err)
	require.ElementsMatch(t, append(somePages(4), somePages(8)...), pages)
	require.Empty(t, d.Counts())
	require.NoError(t, Boot(nil, d, somePages), "and up again")
}

func TestCommandsNeedTheFunctionUp(t *testing.T) {
	d := New(Config{Bus: newRAM()})
	status := func(op uint16) Status {
		out := Output(op, 0)
		require.NoError(t, d.Exec(nil, Input(op, 0, 0, 0), out))
		s, _ := Result(out)
		return s
	}
	require.Equal(t, MLX5_CMD_STAT_BAD_SYS_STATE_ERR, status(ifc.MLX5_CMD_OP_QUERY_ISSI))
	require.Equal(t, MLX5_CMD_STAT_OK, status(ifc.MLX5_CMD_OP_ENABLE_HCA))
	require.Equal(t, MLX5_CMD_STAT_OK, status(ifc.MLX5_CMD_OP_QUERY_ISSI))
	require.Equal(t, MLX5_CMD_STAT_BAD_SYS_STATE_ERR, status(ifc.MLX5_CMD_OP_ALLOC_PD))
	require.Equal(t, MLX5_CMD_STAT_BAD_SYS_STATE_ERR, status(ifc.MLX5_CMD_OP_TEARDOWN_HCA))
	require.Equal(t, MLX5_CMD_STAT_OK, status(ifc.MLX5_CMD_OP_INIT_HCA))
	require.Equal(t, MLX5_CMD_STAT_BAD_SYS_STATE_ERR, status(ifc.MLX5_CMD_OP_INIT_HCA))
	require.Equal(t, MLX5_CMD_STAT_OK, status(ifc.MLX5_CMD_OP_ALLOC_PD))
	require.Equal(t, MLX5_CMD_STAT_OK, status(ifc.MLX5_CMD_OP_DISABLE_HCA))
	require.Empty(t, d.Counts(), "disabling ends everything")
	require.Equal(t, MLX5_CMD_STAT_BAD_SYS_STATE_ERR, status(ifc.MLX5_CMD_OP_QUERY_ISSI))
}

// Commands of the reference device with the bytes that it answers.
func TestAnswers(t *testing.T) {
	zeros := func(n int) string { return string(make([]byte, n)) }
	for _, tt := range []struct {
		name string
		in   string // zeros follow
		out  string
	}{
		{"an opcode without a name", "\x0b\x77", "\x02\x00\x00\x00\xca\xfe\x00\x02" + zeros(8)},
		{"a name without a command here", "\x01\x15", "\x02\x00\x00\x00\xca\xfe\x00\x02" + zeros(8)},
		{"QUERY_ISSI", "\x01\x0a", zeros(10) + "\x00\x01" + zeros(96) + "\x00\x00\x00\x03"},
		{"SET_ISSI 1", "\x01\x0b" + zeros(8) + "\x00\x01", zeros(16)},
		{"SET_ISSI 2", "\x01\x0b" + zeros(8) + "\x00\x02", "\x03\x00\x00\x00\xca\xfe\x10\x09" + zeros(8)},
		{"QUERY_PAGES for booting", "\x01\x07" + zeros(4) + "\x00\x01", zeros(12) + "\x00\x00\x00\x04"},
		{"QUERY_PAGES for INIT_HCA", "\x01\x07" + zeros(4) + "\x00\x02", zeros(12) + "\x00\x00\x00\x08"},
		{"QUERY_PAGES at run time", "\x01\x07" + zeros(4) + "\x00\x03", zeros(16)},
		{"MANAGE_PAGES with an unknown modifier", "\x01\x08" + zeros(4) + "\x00\x03", "\x03\x00\x00\x00\xca\xfe\x01\x08" + zeros(8)},
		{"MANAGE_PAGES with a page too few", "\x01\x08" + zeros(4) + "\x00\x01" + zeros(4) + "\x00\x00\x00\x02" + zeros(8), "\x03\x00\x00\x00\xca\xfe\x10\x0a" + zeros(8)},
		{"QUERY_SPECIAL_CONTEXTS", "\x02\x03", zeros(8) + "\x00\x00\x06\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00\x07\x00" + zeros(8)},
		{"QUERY_VPORT_STATE", "\x07\x50", zeros(15) + "\x11"},
		{"NOP", "\x08\x0d", zeros(16)},
		{"ALLOC_PD", "\x08\x00", zeros(8) + "\x00\x00\x00\x01" + zeros(4)},
		{"ALLOC_UAR", "\x08\x02", zeros(8) + "\x00\x00\x00\x11" + zeros(4)},
		{"CREATE_MKEY", "\x02\x00", zeros(8) + "\x00\x00\x01\x00" + zeros(4)},
		{"ALLOC_Q_COUNTER", "\x07\x71", zeros(8) + "\x00\x00\x00\x01" + zeros(4)},
		{"CREATE_UCTX", "\x0a\x04" + zeros(14) + "\x00\x00\x00\x03", zeros(8) + "\x00\x00\x00\x01" + zeros(4)},
		{"CREATE_UCTX with too much", "\x0a\x04" + zeros(14) + "\x00\x00\x00\x08", "\x03\x00\x00\x00\xca\xfe\x10\x0c" + zeros(8)},
		{"DEALLOC_PD of none", "\x08\x01" + zeros(6) + "\x00\x00\x00\x63", "\x05\x00\x00\x00\xca\xfe\x10\x07" + zeros(8)},
		{"a uid that nobody has", "\x08\x00\x00\x07", "\x05\x00\x00\x00\xca\xfe\x10\x06" + zeros(8)},
		{"QUERY_HCA_CAP of no page", "\x01\x00" + zeros(4) + "\x00\x7f", "\x03\x00\x00\x00\xca\xfe\x01\x00" + zeros(8)},
		{"SET_HCA_CAP of no page", "\x01\x09" + zeros(4) + "\x00\x7e", "\x03\x00\x00\x00\xca\xfe\x01\x09" + zeros(8)},
		{"ACCESS_REG reads the node description", "\x08\x05" + zeros(4) + "\x00\x01" + zeros(2) + "\x60\x01", zeros(16) + "mlx5virt" + zeros(56)},
		{"ACCESS_REG writes the host's endianness", "\x08\x05" + zeros(8) + "\x70\x04" + zeros(4) + "\x12\x34", zeros(16) + "\x12\x34" + zeros(14)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, nil)
			out := bytes.Repeat([]byte{0xa5}, len(tt.out))
			in := append([]byte(tt.in), make([]byte, max(0, 16-len(tt.in)))...)
			require.NoError(t, r.Exec(nil, in, out))
			require.Equal(t, []byte(tt.out), out)
		})
	}
}

func TestQueryAdapter(t *testing.T) {
	r := newRig(t, nil)
	out, _ := r.exec(Input(ifc.MLX5_CMD_OP_QUERY_ADAPTER, 0, 0, 0))
	require.Equal(t, "SIM0000000001\x00\x00\x00", string(out[256:272]))
	require.Equal(t, []byte{0, 0x02, 0xc9}, out[41:44])
}

func TestLengths(t *testing.T) {
	r := newRig(t, nil)
	out := bytes.Repeat([]byte{0xa5}, 16)
	require.NoError(t, r.Exec(nil, []byte{0x01, 0x04}, out))
	s, _ := Result(out)
	require.Equal(t, MLX5_CMD_STAT_BAD_INP_LEN_ERR, s, "an input without an operation modifier")

	out = bytes.Repeat([]byte{0xa5}, 9)
	require.NoError(t, r.Exec(nil, Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0), out))
	require.Equal(t, make([]byte, 9), out, "an answer is cut to the room there is")
	require.Equal(t, 1, r.Counts()["pd"])
	require.NoError(t, r.Exec(nil, Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0), nil))
	require.Equal(t, 2, r.Counts()["pd"])

	long := bytes.Repeat([]byte{0xa5}, 4096)
	require.NoError(t, r.Exec(nil, Input(ifc.MLX5_CMD_OP_NOP, 0, 0, 0), long))
	require.Equal(t, make([]byte, 4096), long, "what lies beyond an answer is zero")
}

func TestCapabilities(t *testing.T) {
	r := newRig(t, nil)
	ask := func(typ ifc.CapType, mode uint16) []byte {
		out, s := r.exec(Input(ifc.MLX5_CMD_OP_QUERY_HCA_CAP, 0, uint16(typ)<<1|mode, 0))
		require.Equal(t, MLX5_CMD_STAT_OK, s)
		return out[16:]
	}
	general := ifc.Must("cmd_hca_cap")
	for name, want := range map[string]uint64{"log_max_cq_sz": 22, "cqe_version": 1, "uctx_cap": 7, "pg": 0} {
		require.Equal(t, want, general.Field(name).Get(ask(ifc.MLX5_CAP_GENERAL, ifc.HCA_CAP_OPMOD_GET_MAX)), name)
		require.Equal(t, want, Recorded.Cap(name), name)
	}
	require.Equal(t, uint64(6), ifc.Must("roce_cap").Field("l3_type").Get(ask(ifc.MLX5_CAP_ROCE, 1)))

	// The driver sets a page: only the current one changes.
	in := Input(ifc.MLX5_CMD_OP_SET_HCA_CAP, 0, uint16(ifc.MLX5_CAP_GENERAL)<<1, 0)
	copy(in[16:], ask(ifc.MLX5_CAP_GENERAL, ifc.HCA_CAP_OPMOD_GET_MAX))
	general.Field("log_max_cq_sz").Set(in[16:], 4)
	r.ends(in, MLX5_CMD_STAT_OK)
	require.Equal(t, uint64(4), general.Field("log_max_cq_sz").Get(ask(ifc.MLX5_CAP_GENERAL, ifc.HCA_CAP_OPMOD_GET_CUR)))
	require.Equal(t, uint64(22), general.Field("log_max_cq_sz").Get(ask(ifc.MLX5_CAP_GENERAL, ifc.HCA_CAP_OPMOD_GET_MAX)))
	eqn := r.createEQ(eqOptions{})
	_, s := r.tryCQ(cqOptions{log: 5, eqn: eqn})
	require.Equal(t, MLX5_CMD_STAT_BAD_PARAM_ERR, s, "and the device goes by it")

	// The atomic page carries one field; the rest stays.
	in = Input(ifc.MLX5_CMD_OP_SET_HCA_CAP, 0, uint16(ifc.MLX5_CAP_ATOMIC)<<1, 0)
	atomic := ifc.Must("atomic_caps")
	atomic.Field("atomic_req_8B_endianness_mode").Set(in[16:], 1)
	r.ends(in, MLX5_CMD_STAT_OK)
	page := ask(ifc.MLX5_CAP_ATOMIC, ifc.HCA_CAP_OPMOD_GET_CUR)
	require.Equal(t, uint64(1), atomic.Field("atomic_req_8B_endianness_mode").Get(page))
	require.Equal(t, uint64(8), atomic.Field("atomic_size_qp").Get(page))
}

func TestProfileWith(t *testing.T) {
	p, err := Recorded.With(map[string]uint64{"cqe_version": 0, "roce_cap.l3_type": 2, "log_max_pd": 1,
		"flow_table_nic_cap.flow_table_properties_nic_receive.ft_support": 0})
	require.NoError(t, err)
	require.Equal(t, uint64(0), p.Cap("cqe_version"))
	require.Equal(t, uint64(2), p.Cap("roce_cap.l3_type"))
	require.Equal(t, uint64(0), p.Cap("flow_table_nic_cap.flow_table_properties_nic_receive.ft_support"))
	require.Equal(t, uint64(1), Recorded.Cap("cqe_version"), "the profile it came from is as it was")
	for name, v := range map[string]uint64{"nothing": 1, "nothing.at_all": 1, "roce_cap.nothing": 1, "cqe_version": 16} {
		_, err := Recorded.With(map[string]uint64{name: v})
		require.Error(t, err, name)
	}
	require.Panics(t, func() { Recorded.Cap("nothing") })

	r := newRig(t, p)
	for range 2 {
		r.made(Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0))
	}
	r.ends(Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0), MLX5_CMD_STAT_LIM_ERR)
}

func TestNICVport(t *testing.T) {
	r := newRig(t, nil)
	ctx := ifc.Must("query_nic_vport_context_out")
	get := func(name string) uint64 {
		out, s := r.exec(Input(ifc.MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT, 0, 0, 0))
		require.Equal(t, MLX5_CMD_STAT_OK, s)
		return ctx.Field("nic_vport_context." + name).Get(out)
	}
	require.Equal(t, uint64(0x02005efffe005301), get("port_guid"))
	require.Equal(t, uint64(0x5e005301), get("permanent_address.mac_addr_31_0"))
	require.Zero(t, get("roce_en"))

	in := Input(ifc.MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT, 0, 0, 0)
	m := ifc.Must("modify_nic_vport_context_in")
	m.Field("field_select.roce_en").Set(in, 1)
	m.Field("nic_vport_context.roce_en").Set(in, 1)
	m.Field("nic_vport_context.mtu").Set(in, 9000)
	r.ends(in, MLX5_CMD_STAT_OK)
	require.Equal(t, uint64(1), get("roce_en"))
	require.Equal(t, uint64(1500), get("mtu"), "only what is selected changes")
}

func TestNodeDescriptionStays(t *testing.T) {
	r := newRig(t, nil)
	in := Input(ifc.MLX5_CMD_OP_ACCESS_REG, 0, 0, 64)
	binary.BigEndian.PutUint16(in[10:], MLX5_REG_NODE_DESC)
	copy(in[16:], "here")
	r.ends(in, MLX5_CMD_STAT_OK)
	read := Input(ifc.MLX5_CMD_OP_ACCESS_REG, 0, 1, 64)
	binary.BigEndian.PutUint16(read[10:], MLX5_REG_NODE_DESC)
	out := make([]byte, 80)
	require.NoError(t, r.Exec(nil, read, out))
	require.Equal(t, append([]byte("here"), make([]byte, 60)...), out[16:])
}

func TestQueryMKey(t *testing.T) {
	r := newRig(t, nil)
	in := Input(ifc.MLX5_CMD_OP_CREATE_MKEY, 0, 0, 8)
	for i := range in[16:80] {
		in[16+i] = byte(i + 1)
	}
	n := r.made(in)
	out, s := r.exec(named(ifc.MLX5_CMD_OP_QUERY_MKEY, 0, n))
	require.Equal(t, MLX5_CMD_STAT_OK, s)
	require.Equal(t, in[16:80], out[16:80])
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, 0, n), MLX5_CMD_STAT_OK)
	r.ends(named(ifc.MLX5_CMD_OP_QUERY_MKEY, 0, n), MLX5_CMD_STAT_BAD_RES_ERR)
}

func TestOwnership(t *testing.T) {
	r := newRig(t, nil)
	a := uint16(r.made(Input(ifc.MLX5_CMD_OP_CREATE_UCTX, 0, 0, 0)))
	b := uint16(r.made(Input(ifc.MLX5_CMD_OP_CREATE_UCTX, 0, 0, 0)))
	const shared = ifc.MLX5_SHARED_RESOURCE_UID
	for _, tt := range []struct {
		owner, uid      uint16
		query, destroys bool
	}{
		{0, 0, true, true},
		{a, a, true, true},
		{a, b, false, false},
		{a, 0, true, false},
		{a, shared, false, false},
		{0, a, true, false},
		{shared, shared, true, true},
		{shared, 0, true, true},
		{shared, a, true, false},
	} {
		n := r.made(Input(ifc.MLX5_CMD_OP_CREATE_MKEY, tt.owner, 0, 0))
		_, s := r.exec(named(ifc.MLX5_CMD_OP_QUERY_MKEY, tt.uid, n))
		require.Equal(t, tt.query, s == MLX5_CMD_STAT_OK, "query of %d's by %d", tt.owner, tt.uid)
		_, s = r.exec(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, tt.uid, n))
		require.Equal(t, tt.destroys, s == MLX5_CMD_STAT_OK, "destroy of %d's by %d", tt.owner, tt.uid)
		if !tt.destroys {
			r.ends(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, tt.owner, n), MLX5_CMD_STAT_OK)
		}
	}
	n := r.made(Input(ifc.MLX5_CMD_OP_ALLOC_PD, a, 0, 0))
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_UCTX, 0, uint32(a)), MLX5_CMD_STAT_RES_BUSY)
	r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_PD, a, n), MLX5_CMD_STAT_OK)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_UCTX, 0, uint32(a)), MLX5_CMD_STAT_OK)
	r.ends(Input(ifc.MLX5_CMD_OP_ALLOC_PD, a, 0, 0), MLX5_CMD_STAT_BAD_RES_ERR)
}

// Every command that makes an object has one that ends it, and numbers are the
// lowest free ones.
func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		make, end uint16
		kind      string
		at        int // of the number in the answer
		named     int // and in the command that ends it
		first     uint32
		user      uint32 // a DEVX user's first
	}{
		{ifc.MLX5_CMD_OP_ALLOC_PD, ifc.MLX5_CMD_OP_DEALLOC_PD, "pd", 8, 8, 1, 2},
		{ifc.MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, ifc.MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, "td", 8, 8, 1, 2},
		{ifc.MLX5_CMD_OP_ALLOC_XRCD, ifc.MLX5_CMD_OP_DEALLOC_XRCD, "xrcd", 8, 8, 1, 2},
		{ifc.MLX5_CMD_OP_ALLOC_UAR, ifc.MLX5_CMD_OP_DEALLOC_UAR, "uar", 8, 8, 0x11, 0x12},
		{ifc.MLX5_CMD_OP_CREATE_MKEY, ifc.MLX5_CMD_OP_DESTROY_MKEY, "mkey", 8, 8, 0x100, 0x101},
		{ifc.MLX5_CMD_OP_ALLOC_Q_COUNTER, ifc.MLX5_CMD_OP_DEALLOC_Q_COUNTER, "q_counter", 8, 8, 1, 2},
		{ifc.MLX5_CMD_OP_CREATE_RMP, ifc.MLX5_CMD_OP_DESTROY_RMP, "srq", 8, 8, 1, 2},
		{ifc.MLX5_CMD_OP_CREATE_XRC_SRQ, ifc.MLX5_CMD_OP_DESTROY_XRC_SRQ, "srq", 8, 8, 1, 2},
		{ifc.MLX5_CMD_OP_CREATE_TIS, ifc.MLX5_CMD_OP_DESTROY_TIS, "tis", 8, 8, 1, 0x1000},
		{ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT, ifc.MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, "general_object", 8, 8, 1, 0x1000},
		{ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE, ifc.MLX5_CMD_OP_DESTROY_FLOW_TABLE, "flow_table", 8, 20, 1, 2},
		{ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP, "flow_group", 8, 24, 1, 2},
		{ifc.MLX5_CMD_OP_CREATE_SCHEDULING_ELEMENT, ifc.MLX5_CMD_OP_DESTROY_SCHEDULING_ELEMENT, "scheduling_element", 16, 12, 1, 2},
	} {
		spec, _ := ifc.FindCommand(tt.make)
		t.Run(spec.Name, func(t *testing.T) {
			r := newRig(t, nil)
			uid := uint16(r.made(Input(ifc.MLX5_CMD_OP_CREATE_UCTX, 0, 0, 0)))
			before := r.Counts()
			make := func(uid uint16) uint32 {
				out, s := r.exec(Input(tt.make, uid, 0, 0))
				require.Equal(t, MLX5_CMD_STAT_OK, s)
				return binary.BigEndian.Uint32(out[tt.at:])
			}
			end := func(uid uint16, n uint32, want Status) {
				in := Input(tt.end, uid, 0, 16)
				binary.BigEndian.PutUint32(in[tt.named:], n)
				r.ends(in, want)
			}
			require.Equal(t, tt.first, make(0))
			require.Equal(t, tt.user, make(uid))
			third, fourth := make(0), make(0)
			require.Equal(t, third+1, fourth)
			require.Equal(t, before[tt.kind]+4, r.Counts()[tt.kind])
			end(0, fourth, MLX5_CMD_STAT_OK)
			end(0, tt.first, MLX5_CMD_STAT_OK)
			end(0, tt.first, MLX5_CMD_STAT_BAD_RES_ERR)
			require.Equal(t, tt.first, make(0), "the lowest free number")
			require.Equal(t, fourth, make(0))
			for _, n := range []uint32{tt.first, third, fourth} {
				end(0, n, MLX5_CMD_STAT_OK)
			}
			end(0, tt.user, MLX5_CMD_STAT_BAD_RES_ERR)
			end(uid, tt.user, MLX5_CMD_STAT_OK)
			require.Equal(t, before, r.Counts())
		})
	}
}

// TestTaken: numbers that are taken are not handed out, nor when the function has been
// brought up anew, and no objects count for them.
func TestTaken(t *testing.T) {
	d := New(Config{Bus: newRAM(), Taken: map[string]int{"pd": 3}})
	for range 2 {
		require.NoError(t, Boot(nil, d, somePages))
		require.Zero(t, d.Counts()["pd"])
		r := &rig{t: t, Device: d}
		require.Equal(t, uint32(4), r.made(Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0)))
		require.Equal(t, uint32(5), r.made(Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0)))
		require.Equal(t, uint32(1), r.made(Input(ifc.MLX5_CMD_OP_ALLOC_XRCD, 0, 0, 0)))
		_, err := Shutdown(nil, d)
		require.NoError(t, err)
	}
}

func TestUIDsEndBeforeTheSharedOne(t *testing.T) {
	r := newRig(t, nil)
	seen := map[uint32]bool{}
	for {
		out, s := r.exec(Input(ifc.MLX5_CMD_OP_CREATE_UCTX, 0, 0, 0))
		if s != MLX5_CMD_STAT_OK {
			require.Equal(t, MLX5_CMD_STAT_LIM_ERR, s)
			break
		}
		seen[binary.BigEndian.Uint32(out[8:])] = true
	}
	require.Len(t, seen, 0xfffe)
	require.False(t, seen[0] || seen[0xffff])
}

// recorder is a sink that makes chosen commands fail.
type recorder struct {
	fail  string
	notes []trace.Event
}

func (s *recorder) Event(_ *trace.Task, e *trace.Event) { s.notes = append(s.notes, *e) }
func (s *recorder) Fail(_ *trace.Task, step trace.Step, what string) bool {
	return step == trace.Command && what == s.fail
}

func TestTraceAndInjection(t *testing.T) {
	r := newRig(t, nil)
	s := &recorder{fail: "ALLOC_XRCD"}
	task := trace.NewTask(1, s)
	out := make([]byte, 16)
	for _, in := range [][]byte{
		Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0), Input(ifc.MLX5_CMD_OP_ALLOC_XRCD, 0, 0, 0), {0x0b, 0x77, 15: 0},
	} {
		require.NoError(t, r.Exec(task, in, out))
	}
	require.Equal(t, []trace.Event{
		{Kind: trace.Firmware, Name: "ALLOC_PD", A: 0x800},
		{Kind: trace.Firmware, Name: "ALLOC_XRCD", A: 0x80e, B: 1, C: 0xcafe1001},
		{Kind: trace.Firmware, Name: "unknown command opcode", A: 0xb77, B: 2, C: 0xcafe0002},
	}, s.notes)
	require.Zero(t, r.Counts()["xrcd"])
}

func TestTraceOfDMA(t *testing.T) {
	r := newRig(t, nil)
	s := &recorder{}
	cqn := r.createCQ(cqOptions{log: 0, eqn: r.createEQ(eqOptions{})})
	r.cfg.Trace = trace.NewTask(0, s)
	require.NoError(t, r.Complete(cqn, Completion{}))
	entry := []trace.Event{
		{Kind: trace.DMA, Name: "cqe", A: cqBuffer, B: 64, C: 1},
	}
	require.Equal(t, entry, s.notes)
	s.notes = nil
	r.mem.put32(cqRecord, 1)
	require.NoError(t, r.Complete(cqn, Completion{}))
	require.Equal(t, append([]trace.Event{{Kind: trace.DMA, Name: "cq doorbell record", A: cqRecord, B: 4}}, entry...), s.notes,
		"the record is read when the queue seems full")
}

func TestAcknowledgedCommandsAnswerZeros(t *testing.T) {
	seen := map[uint16]bool{}
	r := newRig(t, nil)
	for _, op := range acknowledged {
		require.False(t, seen[op], "%#x", op)
		seen[op] = true
		out, s := r.exec(Input(op, 0, 0, 0))
		require.Equal(t, MLX5_CMD_STAT_OK, s, "%#x", op)
		require.Equal(t, make([]byte, len(out)), out, "%#x", op)
	}
}

func TestBrokenDevice(t *testing.T) {
	r := newRig(t, nil)
	cqn := r.createCQ(cqOptions{log: 2, eqn: r.createEQ(eqOptions{})})
	r.Fail()
	out := []byte{0xa5}
	require.ErrorIs(t, r.Exec(nil, Input(ifc.MLX5_CMD_OP_NOP, 0, 0, 0), out), ErrDevice)
	require.Equal(t, []byte{0xa5}, out)
	require.ErrorIs(t, r.Complete(cqn, Completion{}), ErrDevice)
	require.ErrorIs(t, Boot(nil, r.Device, somePages), ErrDevice)
}

func TestCommandErrorSaysWhy(t *testing.T) {
	r := newRig(t, nil)
	err := Do(nil, r.Device, named(ifc.MLX5_CMD_OP_DEALLOC_PD, 0, 99), make([]byte, 16))
	var ce *CommandError
	require.ErrorAs(t, err, &ce)
	require.Equal(t, MLX5_CMD_STAT_BAD_RES_ERR, ce.Status)
	require.EqualError(t, err, "hw: DEALLOC_PD: bad resource, syndrome 0xcafe1007: no object of this kind and number is visible to this uid")
}
