package explain

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/spec"
)

func TestShownAsC(t *testing.T) {
	tests := []struct{ cond, want string }{
		{"a.len < 4", "a.len < 4"},
		// C compares before it takes bits, and adds before it shifts.
		{"flags & ~allowed != 0", "(flags & ~allowed) != 0"},
		{"mask != A | B", "mask != (A | B)"},
		{"n > 1 << 32 - 1", "n > (1 << 32) - 1"},
		{"x & 1 != 0 && y | 2 == z", "(x & 1) != 0 && (y | 2) == z"},
		{"access & (A | B) != 0", "(access & (A | B)) != 0"},
		// The kernel's functions answer what was not copied.
		{"!copy_from_user(task.mem, raw, u.in)", "copy_from_user(raw, u.in)"},
		{"m.has_resp && !get_user64(task.mem, buf)", "m.has_resp && get_user(buf)"},
		{"!udata.copy_from(bytes(ucmd))", "ib_copy_from_udata(ucmd, udata)"},
		{"!dev.is_port(uint32(port))", "!rdma_is_port_valid(dev, uint32(port))"},
		{"has(IB_QP_PORT) && !is_port(cmd.port_num)", "(attr_mask & IB_QP_PORT) && !rdma_is_port_valid(dev, cmd.port_num)"},
		{"ucmd.sqwqe_count > 1", "ucmd.sq_wqe_count > 1"},
		{"attr.max_wr > device_attr.max_srqwr", "attr->max_wr > device_attr.max_srq_wr"},
		{"c.max_send_sge > device_attr.max_send_sge", "cap->max_send_sge > device_attr.max_send_sge"},
		{"usecnt.load() != 0", "atomic_read(&usecnt) != 0"},
		{`usecnt.read("ib_pd") != 0`, "atomic_read(&usecnt) != 0"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, shown("drivers/rxe.x", tt.cond))
	}
}

func TestSpelledOut(t *testing.T) {
	require.Equal(t, "!resp_addr(udata, 16)", spelledOut("!ok", []string{"ok", "resp_addr(udata, 16)"}))
	require.Equal(t, "m && !ok", spelledOut("m && !ok", []string{"ok", "table[_]"}), "what it was set to cannot be written")
	require.Equal(t, "!ok", spelledOut("!ok", nil))
}

func TestMaskedOut(t *testing.T) {
	tests := []struct{ cond, flags, allowed string }{
		{"flags & ~allowed != 0", "flags", "allowed"},
		{"ucmd.flags & ~(A | B) != 0", "ucmd.flags", "(A | B)"},
		{"access & ~A != 0 && kernel.has(B)", "access", "A"},
		{"flags & A != 0", "", ""},
		{"(end + MASK) & ~MASK < end", "", ""},
	}
	for _, tt := range tests {
		flags, allowed := maskedOut(tt.cond)
		require.Equal(t, [2]string{tt.flags, tt.allowed}, [2]string{flags, allowed}, tt.cond)
	}
}

func TestIsMask(t *testing.T) {
	require.True(t, isMask("access & ~A != 0", "access"))
	require.True(t, isMask("access & ~A != 0", "A"))
	require.False(t, isMask("access & ~A != 0 && n > 4", "n"))
	require.False(t, isMask("n > f(x) & 1", "x"), "what a function is handed")
}

func TestImplied(t *testing.T) {
	tests := []struct {
		cond string
		want []Value
	}{
		{"c.devx_uid == 0", []Value{text("devx_uid", "0")}},
		{"b.lib_uar_dyn", []Value{text("lib_uar_dyn", "true")}},
		{"!c.free_running && m.max_index == 0", []Value{text("free_running", "false"), text("max_index", "0")}},
		{"m.a == 1 || m.b == 2", nil}, // either may have held
		{"cq.eq == nil", nil},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, implied(&item{check: &node{cond: tt.cond}}), tt.cond)
	}
}

// TestTablesAreOfRules: what the tables say of a rule is of one that there is, and that a check answers.
func TestTablesAreOfRules(t *testing.T) {
	answered := map[string]bool{}
	for _, f := range functions {
		eachNode(f, func(n *node) {
			for _, id := range n.rules {
				answered[id] = true
			}
		})
	}
	for id := range wholeConditions {
		if strings.HasPrefix(id, "stub/") {
			continue // the stub driver's are a test's
		}
		require.NotNilf(t, rule.Find(id), "wholeConditions: %s", id)
		require.Truef(t, answered[id], "wholeConditions: %s", id)
	}
	for id, names := range speaksOf {
		require.NotNilf(t, rule.Find(id), "speaksOf: %s", id)
		require.Truef(t, answered[id], "speaksOf: %s", id)
		require.NotEmpty(t, names, id)
		require.Nilf(t, special[id], "%s has values of its own", id)
	}
	for id := range special {
		require.NotNilf(t, rule.Find(id), "special: %s", id)
	}
}

func TestNextSteps(t *testing.T) {
	// qp_state_table of verbs.c.
	require.Equal(t, "from IB_QPS_ERR to IB_QPS_RESET; to IB_QPS_ERR", nextSteps(&step{cur: spec.IB_QPS_ERR, typ: spec.IB_QPT_RC}))
	require.Equal(t,
		"from IB_QPS_SQE to IB_QPS_RESET; to IB_QPS_RTS with IB_QP_STATE, and takes IB_QP_CUR_STATE|IB_QP_QKEY; to IB_QPS_ERR",
		nextSteps(&step{cur: spec.IB_QPS_SQE, typ: spec.IB_QPT_UD}))
}
