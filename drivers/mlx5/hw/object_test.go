package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// at is a number at a byte of a command or of its answer: big-endian, of n bytes.
type at struct {
	byte, n int
	v       uint64
}

func (a at) put(p []byte) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], a.v)
	copy(p[a.byte:a.byte+a.n], b[8-a.n:])
}

// cmd is the input of a command with those numbers in it, and extra bytes behind
// its structure.
func cmd(op, uid, opMod uint16, extra int, numbers ...at) []byte {
	in := Input(op, uid, opMod, extra)
	for _, a := range numbers {
		a.put(in)
	}
	return in
}

// answers runs a command that must succeed, and holds its answer to numbers; all
// the rest of it must be zero.
func (r *rig) answers(in []byte, numbers ...at) {
	r.t.Helper()
	out, s := r.exec(in)
	require.Equal(r.t, MLX5_CMD_STAT_OK, s)
	want := make([]byte, len(out))
	for _, a := range numbers {
		a.put(want)
	}
	require.Equal(r.t, want, out)
}

// refused runs a command and says that it is refused for that reason.
func (r *rig) refused(in []byte, why *refusal) {
	r.t.Helper()
	out, _ := r.exec(in)
	s, syndrome := Result(out)
	require.NotEqual(r.t, MLX5_CMD_STAT_OK, s, "want: %s", why.why)
	require.Equal(r.t, why.why, SyndromeText(syndrome))
	require.Equal(r.t, why.status, s)
}

// objectRig is a rig on a device that checks everything, with objects that others
// need, and an event queue for all that happens.
type objectRig struct {
	*rig
	pd, xrcd, td, cqn, eqn uint32
}

func newObjectRig(t testing.TB) *objectRig {
	p, err := ConnectX6Dx.With(map[string]uint64{"dct": 1, "tag_matching": 1})
	require.NoError(t, err)
	r := &objectRig{rig: newRig(t, p)}
	r.eqn = r.createEQ(eqOptions{mask: 1<<64 - 2})
	r.pd = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0))
	r.made(Input(ifc.MLX5_CMD_OP_ALLOC_XRCD, 0, 0, 0))
	r.xrcd = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_XRCD, 0, 0, 0))
	r.td = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, 0, 0, 0))
	r.cqn = r.createCQ(cqOptions{log: 4, eqn: r.eqn})
	return r
}

// happened delivers the events that wait and returns them.
func (r *objectRig) happened() []EQE {
	r.events = nil
	for r.Step() {
	}
	return r.events
}

// event is an event with a number in its data.
func event(typ, subtype uint8, a at) EQE {
	e := EQE{Type: typ, Subtype: subtype}
	a.put(e.Data[:])
	return e
}

const noObject = 0xabcdef // a number that no object has
