package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// A general object's body is what was given last. The type stands at byte 6, and
// what a body begins with says what of it a modification is about.
func TestGeneralObjects(t *testing.T) {
	p, err := ConnectX6Dx.With(map[string]uint64{"general_obj_types": 1<<8 | 1<<13})
	require.NoError(t, err)
	r := newRig(t, p)
	object := func(op, typ uint16, n uint32, body string) []byte {
		in := append(cmd(op, 0, typ, 0, at{8, 4, uint64(n)}), body...)
		return in
	}
	n := r.made(object(0xa00, 13, 0, "selects.first body"))
	body := func(typ uint16, n uint32) string {
		out := Output(0xa02, 32)
		require.NoError(t, r.Exec(nil, object(0xa02, typ, n, ""), out))
		s, _ := Result(out)
		require.Equal(t, MLX5_CMD_STAT_OK, s)
		require.Zero(t, binary.BigEndian.Uint64(out[8:]))
		return string(out[16:])
	}
	zeros := func(n int) string { return string(make([]byte, n)) }
	require.Equal(t, zeros(8)+"first body"+zeros(14), body(13, n))
	r.answers(object(0xa01, 13, n, "selects.second"))
	require.Equal(t, zeros(8)+"secondbody"+zeros(14), body(13, n))

	for _, op := range []uint16{0xa01, 0xa02, 0xa03} {
		r.refused(object(op, 8, n, ""), noSuchObject) // of another type
		r.refused(object(op, 13, n+1, ""), noSuchObject)
	}
	r.refused(object(0xa00, 12, 0, ""), badObjectType)
	r.refused(object(0xa00, 64+13, 0, ""), badObjectType)
	in := object(0xa00, 13, 0, "")
	in[12] = 1 // log_obj_range
	r.refused(in, badObjectRange)
	r.answers(object(0xa03, 13, n, ""))
	r.refused(object(0xa02, 13, n, ""), noSuchObject)
}
