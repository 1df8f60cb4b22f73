package explain

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"uverbsim/spec"
)

// qpFlagNeeds says of the driver's flags for a queue pair what they need, where
// they are not accepted always, as process_vendor_flags has it.
var qpFlagNeeds = []struct {
	flag  uint64
	name  string
	typ   uint64   // the type of queue pair, 0 for any
	caps  []string // capabilities of the firmware of which it needs one
	needs string
}{
	{spec.MLX5_QP_FLAG_DCI_STREAM, "MLX5_QP_FLAG_DCI_STREAM", 0, []string{"log_max_dci_stream_channels"}, "a device with streams of DCI"},
	{spec.MLX5_QP_FLAG_TUNNEL_OFFLOADS, "MLX5_QP_FLAG_TUNNEL_OFFLOADS", spec.IB_QPT_RAW_PACKET,
		[]string{"tunnel_stateless_vxlan", "tunnel_stateless_gre", "tunnel_stateless_geneve_rx"},
		"an IB_QPT_RAW_PACKET queue pair, and a device that takes tunnels apart"},
	{spec.MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC, "MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC", spec.IB_QPT_RAW_PACKET, nil, "an IB_QPT_RAW_PACKET queue pair"},
	{spec.MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC, "MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC", spec.IB_QPT_RAW_PACKET, nil, "an IB_QPT_RAW_PACKET queue pair"},
	{spec.MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE, "MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE", spec.IB_QPT_RC, []string{"qp_packet_based"}, "an IB_QPT_RC queue pair, and a device with that mode"},
}

// alwaysQPFlags are the flags of which none is refused for its own sake.
const alwaysQPFlags = spec.MLX5_QP_FLAG_TYPE_DCI | spec.MLX5_QP_FLAG_TYPE_DCT | spec.MLX5_QP_FLAG_SIGNATURE |
	spec.MLX5_QP_FLAG_SCATTER_CQE | spec.MLX5_QP_FLAG_ALLOW_SCATTER_CQE | spec.MLX5_QP_FLAG_BFREG_INDEX | spec.MLX5_QP_FLAG_UAR_PAGE_INDEX

// qpFlags are the driver's flags for a queue pair: all of them, and those that
// were refused, each with what it needs.
func qpFlags(r *request, _ *item) []Value {
	flags, shown := among(r.driver, "flags")
	if shown == nil {
		return nil
	}
	typ, typShown := among(r.attributes(), "type")
	if typShown == nil {
		typ, typShown = among(r.core, "qp_type")
	}
	r.blamed["flags"] = true
	out := []Value{*shown}
	if typShown != nil {
		out = append(out, *typShown)
	}
	left := flags.n.Uint64() &^ alwaysQPFlags
	for _, f := range qpFlagNeeds {
		if left&f.flag == 0 {
			continue
		}
		left &^= f.flag
		if typ.kind == numeric && (f.typ == 0 || typ.n.Uint64() == f.typ) && r.hasOneOf(f.caps) {
			continue
		}
		out = append(out, text("refused", "%s (%#x) needs %s", f.name, f.flag, f.needs))
	}
	if left != 0 {
		out = append(out, text("refused", "%#x: the driver has no such flag", left))
	}
	return out
}

func (r *request) hasOneOf(caps []string) bool {
	for _, c := range caps {
		if n, ok := r.call.Cap(c); ok && n != 0 {
			return true
		}
	}
	return len(caps) == 0
}

// refusedBits are the bits that a condition of the form flags & ~allowed != 0
// refuses, where they are not all that there are.
func (r *request) refusedBits(it *item) (out []Value) {
	for _, part := range parts(it.check.cond) {
		flags, allowed := maskedOut(part)
		if flags == "" {
			continue
		}
		v, ok, names := it.env.eval(flags), it.env.eval(allowed), r.bitsOf(it, flags)
		if v.kind != numeric && it.attr != "" {
			v, _ = r.attribute(it.attr) // it is what the callee was handed
		}
		if v.kind != numeric || ok.kind != numeric || !v.n.IsUint64() || !ok.n.IsUint64() {
			continue
		}
		bits := v.n.Uint64() &^ ok.n.Uint64()
		if bits != 0 && (bits != v.n.Uint64() || bitNames(names, bits) != fmt.Sprintf("%#x", bits)) {
			out = append(out, text("refused", "%s", withNumber(names, bits)))
		}
	}
	return out
}

// withNumber writes bits as names, and as the number that they are.
func withNumber(names []spec.Enumerator, bits uint64) string {
	s, n := bitNames(names, bits), fmt.Sprintf("%#x", bits)
	if s == n {
		return s
	}
	return s + " (" + n + ")"
}

// maskedOut takes flags & ~allowed != 0 apart, alone or beside what has to hold too.
func maskedOut(cond string) (flags, allowed string) {
	x := parse(cond)
	if x == nil {
		return "", ""
	}
	ast.Inspect(x, func(n ast.Node) bool {
		c, ok := n.(*ast.BinaryExpr)
		if !ok || c.Op != token.NEQ || cond[c.Y.Pos()-1:c.Y.End()-1] != "0" {
			return true
		}
		b, ok := c.X.(*ast.BinaryExpr)
		if !ok || b.Op != token.AND {
			return true
		}
		if u, ok := b.Y.(*ast.UnaryExpr); ok && u.Op == token.TILDE {
			flags, allowed = cond[b.X.Pos()-1:b.X.End()-1], cond[u.X.Pos()-1:u.X.End()-1]
		}
		return true
	})
	return flags, allowed
}

// isMask says whether a name of a condition is a set of bits there.
func isMask(cond, name string) bool {
	x := parse(cond)
	if x == nil {
		return false
	}
	found := false
	var walk func(n ast.Expr, bits bool)
	walk = func(n ast.Expr, bits bool) {
		switch n := n.(type) {
		case *ast.ParenExpr:
			walk(n.X, bits)
		case *ast.UnaryExpr:
			walk(n.X, bits || n.Op == token.TILDE)
		case *ast.BinaryExpr:
			inner := n.Op == token.AND || n.Op == token.OR || n.Op == token.XOR
			walk(n.X, inner)
			walk(n.Y, inner)
		case *ast.CallExpr:
			for _, a := range n.Args {
				walk(a, false)
			}
		case *ast.Ident, *ast.SelectorExpr:
			found = found || bits && cond[n.Pos()-1:n.End()-1] == name
		}
	}
	walk(x, false)
	return found
}

// bitsOf are the names of the bits of what a name of a condition stands for.
func (r *request) bitsOf(it *item, name string) []spec.Enumerator {
	if v := r.assigned(it, name); v != nil {
		if e := r.enumOf(v.Name); e != nil {
			return e
		}
	}
	if it.attr != "" {
		if a := r.sent(it.attr); a != nil {
			return spec.Enumerators(a.Spec.CType)
		}
	}
	return nil
}

// enumOf are the names of the bits of a member of the request, or of an attribute.
func (r *request) enumOf(name string) []spec.Enumerator {
	if a := r.sent(name); a != nil {
		return spec.Enumerators(a.Spec.CType)
	}
	return spec.Enumerators(memberEnums[strings.TrimPrefix(name, "the device's ")])
}

// memberEnums are the enums of members that are sets of bits in every request that
// has them.
var memberEnums = map[string]string{
	"attr_mask":    "enum ib_qp_attr_mask",
	"access_flags": "enum ib_uverbs_access_flags",
}
