package methods

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/spec"
)

// The two entries of the fake device as struct ib_uverbs_gid_entry.
const (
	entry0 = "fe800000000000000000000000000001" + "00000000" + "01000000" + "02000000" + "03000000"
	entry1 = "00000000000000000000ffffc0000201" + "01000000" + "01000000" + "02000000" + "03000000"
)

// TestQueryGIDTable follows the recorded cases query/gid-table… of rxe.
func TestQueryGIDTable(t *testing.T) {
	const table = spec.UVERBS_METHOD_QUERY_GID_TABLE
	untouched := func(n int) string { return strings.Repeat("a5", n) }
	tests := []struct {
		name    string
		size    uint64
		length  int
		want    *rule.Rule
		entries string
	}{
		{"query/gid-table", 32, 96, nil, entry0 + entry1 + untouched(32)},
		{"query/gid-table-size-0-len-64", 0, 64, rule.QueryGIDTableEntrySize, untouched(64)},
		{"query/gid-table-size-20-len-65", 32, 65, rule.AttrArraySize, untouched(65)},
		{"query/gid-table-size-ffffffffffffffff-len-64", math.MaxUint64, 64, rule.AttrArraySize, untouched(64)},
		{"no room at all", 32, 0, rule.QueryGIDTableEmpty, ""},
		{"room for one of two", 32, 32, rule.GIDTableTooSmall, untouched(32)},
		{"longer entries", 40, 80, nil, entry0 + "0000000000000000" + entry1 + "0000000000000000"},
		{"shorter entries", 20, 40, nil, entry0[:40] + entry1[:40]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newContext(t, nil)
			e, n := r.buf(tt.length), r.buf(8)
			err := r.call(device, table,
				num(spec.UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 8, tt.size),
				ptr(spec.UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, tt.length, e),
				ptr(spec.UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8, n))
			require.Equal(t, tt.entries, r.hex(e, tt.length))
			if tt.want != nil {
				require.Equal(t, error(tt.want), err)
				require.Equal(t, "...", r.written())
				require.Equal(t, untouched(8), r.hex(n, 8))
				return
			}
			require.NoError(t, err)
			require.Equal(t, ".!!", r.written())
			require.Equal(t, "0200000000000000", r.hex(n, 8))
		})
	}

	entries := func(r *rig, at spec.IoctlAttr, more ...spec.IoctlAttr) []spec.IoctlAttr {
		return append([]spec.IoctlAttr{num(0, 8, 32), at, ptr(3, 8, r.buf(8))}, more...)
	}
	t.Run("query/gid-table-flags", func(t *testing.T) {
		r := newContext(t, nil)
		r.refused(rule.FlagsUnknown, device, table, entries(r, ptr(2, 64, r.buf(64)), num(1, 4, 1))...)
		r.ok(device, table, entries(r, ptr(2, 64, r.buf(64)), num(1, 8, 0))...)
	})
	t.Run("query/gid-table-number-fault", func(t *testing.T) {
		r := newContext(t, nil)
		e := r.buf(64)
		r.refused(rule.AttrOutputFault, device, table, num(0, 8, 32), ptr(2, 64, e), ptr(3, 8, r.unplug))
		require.Equal(t, ".!.", r.written())
		require.Equal(t, entry0, r.hex(e, 32))
	})
	t.Run("a longer entry cannot be written", func(t *testing.T) {
		r := newContext(t, nil)
		r.refused(rule.QueryGIDTableEntryFault, device, table, num(0, 8, 40), ptr(2, 80, r.unplug), ptr(3, 8, r.buf(8)))
	})
	t.Run("query/gid-table-order-context", func(t *testing.T) {
		r := newRig(t, nil)
		r.refused(rule.QueryGIDTableEntrySize, device, table, num(0, 8, 0), ptr(2, 64, r.buf(64)), ptr(3, 8, r.buf(8)))
		r.refused(rule.ContextNone, device, table, entries(r, ptr(2, 64, r.buf(64)))...)
	})
}

// TestQueryGIDEntry follows the recorded cases query/gid-entry… of rxe, whose
// table has 1024 entries too.
func TestQueryGIDEntry(t *testing.T) {
	const method = spec.UVERBS_METHOD_QUERY_GID_ENTRY
	tests := []struct {
		name               string
		port, index, flags uint64
		want               *rule.Rule
	}{
		{"query/gid-entry", 1, 0, 0, nil},
		{"query/gid-entry-p2-i0-f0", 2, 0, 0, rule.QueryGIDEntryPort},
		{"query/gid-entry-p0-i0-f0", 0, 0, 0, rule.QueryGIDEntryPort},
		{"query/gid-entry-p1-i3e8-f0", 1, 1000, 0, rule.GIDEmpty},
		{"beyond the table", 1, 1024, 0, rule.GIDIndex},
		{"a negative index", 1, math.MaxUint32, 0, rule.GIDIndex},
		{"query/gid-entry-p1-i0-f1", 1, 0, 1, rule.FlagsUnknown},
		{"query/gid-entry-p100000001-i0-f0", 1<<32 + 1, 0, 0, rule.ConstRange},
		{"query/gid-entry-order-flags-port", 9, 0, 2, rule.FlagsUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newContext(t, nil)
			e := r.buf(40)
			err := r.call(device, method, num(0, 8, tt.port), num(1, 8, tt.index), num(2, 4, tt.flags), ptr(3, 40, e))
			if tt.want != nil {
				require.Equal(t, error(tt.want), err)
				require.Equal(t, strings.Repeat("a5", 40), r.hex(e, 40))
				return
			}
			require.NoError(t, err)
			require.Equal(t, entry0+"0000000000000000", r.hex(e, 40))
		})
	}
	t.Run("query/gid-entry-before-context", func(t *testing.T) {
		r := newRig(t, nil)
		r.refused(rule.ContextNone, device, method, num(0, 8, 1), num(1, 8, 0), num(2, 4, 0), ptr(3, 32, r.buf(32)))
	})
}
