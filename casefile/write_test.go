package casefile_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

func TestWriteTo(t *testing.T) {
	c := &casefile.Case{
		Name: "cq/create", Why: `a "quoted" <b> \ line é`, Driver: "rxe", Repeat: 2,
		Device: &casefile.Device{},
		Bufs:   map[string]*casefile.Buf{"z": {Len: 4}, "a": {Len: 2, Fill: 0xa5, Edge: true}, "h": {Data: []byte{1}, Len: 1, Prot: "r"}},
		Steps: []casefile.Step{
			{Do: &casefile.Open{FD: "f"}, Got: &casefile.Got{Ret: casefile.Any, Errno: new("")}},
			{Do: &casefile.Ioctl{FD: "f", Attrs: []casefile.Attr{{ID: 1, Len: new(uint16(0)), Data: casefile.PtrTo("z", 0)}}},
				Bg: "b", Got: &casefile.Got{Ret: casefile.Blocked}},
			{Do: &casefile.Join{}, Bg: "b", Mask: map[string][]casefile.Range{"z": {{0, 4}}},
				GotAny: []casefile.Outcome{{2, casefile.Got{Ret: casefile.Int(-1), Errno: new("EIO")}}, {1, casefile.Got{Ret: casefile.Uint(1 << 63)}}}},
		},
	}
	want := `{"v":1,"name":"cq/create","why":"a \"quoted\" <b> \\ line é","driver":"rxe","device":{},"repeat":2,` +
		`"bufs":{"a":{"fill":"a5","len":2,"edge":true},"h":{"hex":"01","prot":"r"},"z":{"zero":4}},"steps":[` +
		`{"op":"open","fd":"f","got":{"ret":"*","errno":""}},` +
		`{"op":"ioctl","bg":"b","fd":"f","hdr":{"object_id":0,"method_id":0},"attrs":[{"id":1,"len":0,"flags":0,"data":{"ptr":"z"}}],"got":{"ret":"blocked"}},` +
		`{"op":"join","bg":"b","mask":{"z":[[0,4]]},"got_any":[{"n":2,"got":{"ret":-1,"errno":"EIO"}},{"n":1,"got":{"ret":9223372036854775808}}]}` +
		"]}\n"
	var b bytes.Buffer
	n, err := c.WriteTo(&b)
	require.NoError(t, err)
	require.Equal(t, want, b.String())
	require.EqualValues(t, len(want), n)
	again, err := casefile.Unmarshal(bytes.TrimSpace(b.Bytes()))
	require.NoError(t, err)
	require.Equal(t, c, again)
}

func TestWriteRefuses(t *testing.T) {
	step := func(a casefile.Action) *casefile.Case {
		return &casefile.Case{Name: "a/b", Driver: "rxe", Steps: []casefile.Step{{Do: &casefile.Open{FD: "f"}}, {Do: a}}}
	}
	ioctl := func(v casefile.Value) *casefile.Case { return step(&casefile.Ioctl{FD: "f", Arg: v}) }
	tests := []struct {
		name   string
		c      *casefile.Case
		reason string
	}{
		{"nothing", &casefile.Case{}, `a case needs a name`},
		{"a name of two lines", &casefile.Case{Name: "a\nb", Driver: "rxe"}, `byte 14: a text with '\n', which is not printable`},
		{"no driver", &casefile.Case{Name: "a/b"}, `driver: "" is none of rxe, mlx5, stub`},
		{"a buffer that is nil", &casefile.Case{Name: "a/b", Driver: "rxe", Bufs: map[string]*casefile.Buf{"b": nil}}, `buffer "b" is nil and cannot be written`},
		{"a step without action", step(nil), `step "" without an action cannot be written`},
		{"a sum of nothing", ioctl(casefile.Value{Kind: casefile.Plus}), `a sum without its parts cannot be written`},
		{"a value of no kind", ioctl(casefile.Value{Kind: 99}), `a value of kind 99 cannot be written`},
		{"an unknown buffer", ioctl(casefile.PtrTo("b", 0)), `steps[1].arg: no buffer "b"`},
		{"an answer without ret", &casefile.Case{Name: "a/b", Driver: "rxe", Steps: []casefile.Step{{Do: &casefile.Open{FD: "f"}, Got: &casefile.Got{}}}}, `steps[0].got.ret: "" is neither a number nor "*"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.c.Marshal()
			require.EqualError(t, err, tt.reason)
			_, err = tt.c.WriteTo(new(bytes.Buffer))
			require.EqualError(t, err, tt.reason)
		})
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteToFullDisk(t *testing.T) {
	c, err := casefile.Unmarshal([]byte(with("")))
	require.NoError(t, err)
	_, err = c.WriteTo(fullDisk{})
	require.ErrorIs(t, err, errFull)
}
