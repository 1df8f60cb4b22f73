package ifc

import (
	"encoding/binary"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/watchdog"
)

// Where the reference device's notes say that fields lie: byte, bit in the byte
// from the most significant one, width.
func TestKnownPlaces(t *testing.T) {
	for _, tt := range []struct {
		layout, path     string
		byte, bit, width uint32
	}{
		{"create_cq_in", "cq_context.cqe_sz", 17, 0, 3},
		{"create_cq_in", "cq_context.oi", 17, 6, 1},
		{"create_cq_in", "cq_context.log_cq_size", 28, 3, 5},
		{"create_cq_in", "cq_context.uar_page", 29, 0, 24},
		{"create_cq_in", "cq_context.cq_period", 32, 4, 12},
		{"create_cq_in", "cq_context.cq_max_count", 34, 0, 16},
		{"create_cq_in", "cq_context.c_eqn_or_apu_element", 36, 0, 32},
		{"create_cq_in", "cq_context.log_page_size", 40, 3, 5},
		{"create_cq_in", "cq_context.dbr_addr", 72, 0, 64},
		{"create_cq_in", "pas", 272, 0, 64},
		{"create_eq_in", "eq_context_entry.log_eq_size", 28, 3, 5},
		{"create_eq_in", "eq_context_entry.uar_page", 29, 0, 24},
		{"create_eq_in", "eq_context_entry.intr", 38, 4, 12},
		{"create_eq_in", "eq_context_entry.log_page_size", 40, 3, 5},
		{"create_eq_in", "event_bitmask", 88, 0, 64},
		{"query_issi_out", "supported_issi_dw0", 108, 0, 32},
		{"query_pages_out", "num_pages", 12, 0, 32},
		{"query_special_contexts_out", "dump_fill_mkey", 8, 0, 32},
		{"query_special_contexts_out", "resd_lkey", 12, 0, 32},
		{"create_mkey_in", "memory_key_mkey_entry.pd", 29, 0, 24},
		{"create_mkey_in", "memory_key_mkey_entry.start_addr", 32, 0, 64},
		{"create_mkey_in", "memory_key_mkey_entry.len", 40, 0, 64},
		{"modify_nic_vport_context_in", "field_select.roce_en", 15, 6, 1},
		{"modify_nic_vport_context_in", "nic_vport_context", 256, 0, 2048},
		{"cmd_hca_cap", "log_max_cq_sz", 25, 0, 8},
	} {
		f := Must(tt.layout).Field(tt.path)
		require.Equal(t, tt.byte*8+tt.bit, f.Off, "%s.%s", tt.layout, tt.path)
		require.Equal(t, tt.width, f.Width, "%s.%s", tt.layout, tt.path)
	}
}

func TestGetSet(t *testing.T) {
	for _, tt := range []struct {
		name       string
		off, width uint32
		before     string
		v          uint64
		after      string
	}{
		{"a bit", 3, 1, "\x00\x00", 1, "\x10\x00"},
		{"a bit among ones", 3, 1, "\xff\xff", 0, "\xef\xff"},
		{"a byte", 8, 8, "\x11\x22\x33", 0xab, "\x11\xab\x33"},
		{"across a byte", 15, 2, "\x00\x00\x00", 3, "\x00\x01\x80"},
		{"twelve bits", 4, 12, "\xff\xff\xff", 0x123, "\xf1\x23\xff"},
		{"four bytes", 0, 32, "\x00\x00\x00\x00", 0x12345678, "\x12\x34\x56\x78"},
		{"eight bytes", 0, 64, "\x00\x00\x00\x00\x00\x00\x00\x00", 0x123456789abcdef0, "\x12\x34\x56\x78\x9a\xbc\xde\xf0"},
		{"too wide a number is cut", 8, 4, "\x00\x00", 0x12, "\x00\x20"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := Field{Off: tt.off, Width: tt.width, Count: 1}
			b := []byte(tt.before)
			f.Set(b, tt.v)
			require.Equal(t, []byte(tt.after), b)
			want := tt.v
			if tt.width < 64 {
				want &= 1<<tt.width - 1
			}
			require.Equal(t, want, f.Get(b))
		})
	}
}

// bitAt is the slow way to the same number.
func bitAt(b []byte, i uint32) uint64 { return uint64(b[i/8] >> (7 - i%8) & 1) }

func FuzzGetSet(f *testing.F) {
	f.Add(uint32(13), uint32(7), uint64(0x55), int64(1))
	f.Add(uint32(0), uint32(64), uint64(1<<63), int64(2))
	f.Fuzz(func(t *testing.T, off, width uint32, v uint64, seed int64) {
		watchdog.On(t)
		off, width = off%128, width%64+1
		b := make([]byte, 32)
		rand.New(rand.NewSource(seed)).Read(b)
		before := append([]byte(nil), b...)
		fl := Field{Off: off, Width: width, Count: 1}
		fl.Set(b, v)
		for i := range uint32(len(b) * 8) {
			want := bitAt(before, i)
			if i >= off && i < off+width {
				want = v >> (off + width - 1 - i) & 1
			}
			if bitAt(b, i) != want {
				t.Fatalf("bit %d of a field at %d, %d wide, is wrong", i, off, width)
			}
		}
		if width < 64 {
			v &= 1<<width - 1
		}
		if got := fl.Get(b); got != v {
			t.Fatalf("set %#x, got %#x", v, got)
		}
	})
}

func TestElemAndBytes(t *testing.T) {
	l := Must("create_eq_in")
	mask := l.Field("event_bitmask")
	b := make([]byte, l.Size()+16)
	mask.Elem(2).Set(b, 0xabc)
	require.Equal(t, uint64(0xabc), binary.BigEndian.Uint64(b[88+16:]))
	require.Len(t, mask.Bytes(b), 32)
	require.Len(t, l.Field("eq_context_entry").Bytes(b), Must("eqc").Size())
	require.Len(t, l.Field("pas").Bytes(b), 16, "a list reaches to the end")
}

func TestLookup(t *testing.T) {
	l := Must("flow_table_nic_cap")
	in, ok := l.Lookup("flow_table_properties_nic_receive.max_ft_level")
	require.True(t, ok)
	out, ok := l.Lookup("flow_table_properties_nic_transmit.max_ft_level")
	require.True(t, ok)
	require.Greater(t, out.Off, in.Off)
	for _, path := range []string{"", "nothing", "flow_table_properties_nic_receive.nothing", "flow_table_properties_nic_receive.max_ft_level.x"} {
		_, ok := l.Lookup(path)
		require.False(t, ok, path)
	}
	require.Panics(t, func() { l.Field("nothing") })
	require.Panics(t, func() { Must("nothing") })
	require.Nil(t, Find("nothing"))
}

// Fields lie inside their layout, what lies at a field is as large as it, and no
// two fields overlap but the members of a union, which begin at the same place; a
// structure in a union goes on from there.
func TestLayoutsHoldTogether(t *testing.T) {
	for name, l := range layouts {
		require.Equal(t, name, l.Name)
		require.Zero(t, l.Bits%8, name)
		begins, end := map[uint32]bool{}, uint32(0)
		for _, f := range l.Fields {
			require.LessOrEqual(t, f.Off+f.Width*f.Count, l.Bits, "%s.%s", name, f.Name)
			if f.Of != "" {
				require.NotNil(t, Find(f.Of), "%s.%s", name, f.Name)
				require.Equal(t, Find(f.Of).Bits, f.Width, "%s.%s", name, f.Name)
			}
			if begins[f.Off] {
				end = f.Off
			}
			require.GreaterOrEqual(t, f.Off, end, "%s.%s", name, f.Name)
			begins[f.Off], end = true, f.Off+f.Width*f.Count
		}
	}
}

func TestCommands(t *testing.T) {
	for i, c := range commands {
		if i > 0 {
			require.Greater(t, c.Opcode, commands[i-1].Opcode)
		}
		got, ok := FindCommand(c.Opcode)
		require.True(t, ok)
		require.Equal(t, c, got)
	}
	for _, op := range []uint16{0, 0x106, 0xb77, 0xffff} {
		_, ok := FindCommand(op)
		require.False(t, ok, "%#x", op)
	}
	for _, tt := range []Command{
		{MLX5_CMD_OP_ENABLE_HCA, "ENABLE_HCA", 16, 12},
		{MLX5_CMD_OP_QUERY_ISSI, "QUERY_ISSI", 16, 112},
		{MLX5_CMD_OP_QUERY_HCA_CAP, "QUERY_HCA_CAP", 16, 4112},
		{MLX5_CMD_OP_SET_HCA_CAP, "SET_HCA_CAP", 4112, 16},
		{MLX5_CMD_OP_CREATE_EQ, "CREATE_EQ", 272, 16},
		{MLX5_CMD_OP_CREATE_CQ, "CREATE_CQ", 272, 16},
		{MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT, "QUERY_NIC_VPORT_CONTEXT", 16, 272},
		{MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT, "MODIFY_NIC_VPORT_CONTEXT", 512, 16},
		{MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS, "QUERY_SPECIAL_CONTEXTS", 16, 32},
		{MLX5_CMD_OP_QUERY_ADAPTER, "QUERY_ADAPTER", 16, 272},
	} {
		got, _ := FindCommand(tt.Opcode)
		require.Equal(t, tt, got)
	}
}

func BenchmarkGet(b *testing.B) {
	f := Must("cqc").Field("log_cq_size")
	ctx := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		f.Get(ctx)
	}
}
