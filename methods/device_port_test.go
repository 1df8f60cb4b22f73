package methods

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

const queryPortID = spec.UVERBS_METHOD_QUERY_PORT

func portAttrsOf(r *rig, port uint64, size int) []spec.IoctlAttr {
	return []spec.IoctlAttr{
		num(spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, port),
		ptr(spec.UVERBS_ATTR_QUERY_PORT_RESP, size, r.buf(size)),
	}
}

// TestQueryPort holds the answer to the members of struct
// ib_uverbs_query_port_resp_ex, each at its place in the C struct.
func TestQueryPort(t *testing.T) {
	r := newContext(t, nil)
	attrs := portAttrsOf(r, 1, 56)
	r.ok(device, queryPortID, attrs...)
	got := r.hex(addrOf(attrs[1]), 56)
	require.Equal(t, ""+
		"00000104"+ // port_cap_flags: bit 16, and 26 for ip_gids
		"00008000"+ // max_msg_sz
		"00000000"+"00000000"+ // bad_pkey_cntr, qkey_viol_cntr
		"00040000"+ // gid_tbl_len
		"0100"+"3412"+"7856"+ // pkey_tbl_len, lid, sm_lid
		"04"+"05"+"03"+ // state, max_mtu, active_mtu
		"00"+"01"+"00"+"00"+"00"+ // lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply
		"01"+"80"+"05"+ // active_width, active_speed (XDR does not fit and is told as NDR), phys_state
		"02"+"01"+"00"+ // link_layer Ethernet, flags GRH_REQUIRED, reserved
		"2b00"+"0000"+ // port_cap_flags2, reserved
		"00010000"+ // active_speed_ex: XDR
		"0000000000000000", // what this kernel does not know is cleared
		got)
	require.Equal(t, ".!", r.written())
}

// TestQueryPortRefused follows the recorded case ctx/query-port-before, and
// the order of the handler's checks.
func TestQueryPortRefused(t *testing.T) {
	r := newRig(t, nil)
	r.refused(rule.ContextNone, device, queryPortID, portAttrsOf(r, 0x100, 48)...)
	r.ok(device, getContextID)
	r.refused(rule.ConstRange, device, queryPortID, portAttrsOf(r, 0x100, 48)...)
	for _, port := range []uint64{0, 2, 255} {
		attrs := portAttrsOf(r, port, 48)
		r.refused(rule.PortInvalid, device, queryPortID, attrs...)
		require.Equal(t, "a5a5a5a5", r.hex(addrOf(attrs[1]), 4))
	}

	r = newContext(t, nil, lacking(func(ops *core.DeviceOps) { ops.QueryPort = nil }))
	r.refused(rule.QueryPortUnsupported, device, queryPortID, portAttrsOf(r, 0x100, 48)...)
}

func TestQueryPortAllocatesNothing(t *testing.T) {
	r := newContext(t, nil)
	r.put(device, queryPortID, portAttrsOf(r, 1, 48)...)
	require.NoError(t, r.again())
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if err := r.again(); err != nil {
			t.Error(err)
		}
	}))
}

func BenchmarkQueryPort(b *testing.B) {
	r := newContext(b, nil)
	r.put(device, queryPortID, portAttrsOf(r, 1, 48)...)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.again(); err != nil {
			b.Fatal(err)
		}
	}
}
