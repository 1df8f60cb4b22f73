package casefile_test

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

// world is what a player would know.
type world struct{}

func (world) BufAddr(name string) (uint64, bool) {
	a, ok := map[string]uint64{"b": 0x7000, "c": 0x9000}[name]
	return a, ok
}

func (world) BufNumber(name string, off, size int) (uint64, bool) {
	if name != "b" || off != 8 {
		return 0, false
	}
	return map[int]uint64{4: 0x11223344, 8: 0x5566778811223344}[size], true
}

func (world) Symbol(name string) (uint64, bool, bool) {
	switch name {
	case "cq":
		return 6, false, true
	case "ch":
		return 11, true, true
	}
	return 0, false, false
}

func (world) MapAddr(name string) (uint64, bool) { return 0x20000, name == "m" }

func TestResolve(t *testing.T) {
	sum := func(a, b casefile.Value) casefile.Value {
		return casefile.Value{Kind: casefile.Plus, Sum: &[2]casefile.Value{a, b}}
	}
	minus1 := casefile.Value{Kind: casefile.Number, N: 1<<64 - 1, Form: casefile.Negative}
	tests := []struct {
		name  string
		value casefile.Value
		want  casefile.Resolved
	}{
		{"absent", casefile.Value{}, casefile.Resolved{}},
		{"number", casefile.NumberOf(1 << 63), casefile.Resolved{N: 1 << 63}},
		{"address", casefile.PtrTo("b", -1), casefile.Resolved{N: 0x6fff, Varies: true, Bufs: []string{"b"}}},
		{"unmapped", casefile.Value{Kind: casefile.Bad, Name: "unmapped"}, casefile.Resolved{N: 0x5ead00000000, Varies: true}},
		{"kernel", casefile.Value{Kind: casefile.Bad, Name: "kernel"}, casefile.Resolved{N: 0xffff800000000000, Varies: true}},
		{"null", casefile.Value{Kind: casefile.Bad, Name: "null"}, casefile.Resolved{}},
		{"handle", casefile.HandleOf("cq"), casefile.Resolved{N: 6}},
		{"descriptor", casefile.HandleOf("ch"), casefile.Resolved{N: 11, Varies: true}},
		{"4 bytes of a buffer", casefile.Value{Kind: casefile.Content, Name: "b", Off: 8, Size: 4}, casefile.Resolved{N: 0x11223344, Varies: true}},
		{"8 bytes of a buffer", casefile.Value{Kind: casefile.Content, Name: "b", Off: 8, Size: 8}, casefile.Resolved{N: 0x5566778811223344, Varies: true}},
		{"mapping", casefile.Value{Kind: casefile.Mapped, Name: "m", Off: 16}, casefile.Resolved{N: 0x20010, Varies: true}},
		{"sum", sum(casefile.HandleOf("cq"), minus1), casefile.Resolved{N: 5}},
		{"sum of addresses", sum(casefile.PtrTo("b", 0), sum(casefile.PtrTo("c", 1), casefile.NumberOf(2))), casefile.Resolved{N: 0x10003, Varies: true, Bufs: []string{"b", "c"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.value.Resolve(world{})
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	for want, v := range map[string]casefile.Value{
		`no buffer "x"`:                 casefile.PtrTo("x", 0),
		`no handle "x"`:                 sum(casefile.NumberOf(1), casefile.HandleOf("x")),
		`no handle "y"`:                 sum(casefile.HandleOf("y"), casefile.NumberOf(1)),
		`no mapping "x"`:                {Kind: casefile.Mapped, Name: "x"},
		`no 4 bytes at 0 of buffer "b"`: {Kind: casefile.Content, Name: "b", Size: 4},
		`no bad address "x"`:            {Kind: casefile.Bad, Name: "x"},
		`no kind of value 99`:           {Kind: 99},
	} {
		_, err := v.Resolve(world{})
		require.EqualError(t, err, want)
	}
}

// do reads an operation.
func do[A casefile.Action](t *testing.T, step string) A {
	t.Helper()
	pre := []string{
		`{"op":"ioctl","fd":"f",` + hdr + `,"attrs":[{"id":0,"flags":1}],"save":{"cq":{"attr":0}},"save_fd":{"ch":{"attr":0}}}`,
		`{"op":"mmap","fd":"f","len":1,"prot":"r","as":"m"}`,
	}
	c, err := casefile.Unmarshal([]byte(with(`"b":{"zero":16},"c":{"zero":16}`, append(pre, step)...)))
	require.NoError(t, err)
	return c.Steps[3].Do.(A)
}

func TestIoctlBytes(t *testing.T) {
	tests := []struct {
		name, driver, step, want string
	}{
		{"the shortest", "rxe", `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":4097}}`,
			"1800" + "0300" + "0110" + "0000" + "0000000000000000" + "0e000000" + "00000000"},
		{"another driver", "stub", `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":1}}`,
			"1800" + "0300" + "0100" + "0000" + "0000000000000000" + "01000000" + "00000000"},
		{"a header all of its own", "mlx5", `{"op":"ioctl","fd":"f","hdr":{"object_id":1,"method_id":2,"length":3,"num_attrs":4,"reserved1":"0x0102030405060708","driver_id":6,"reserved2":4294967294}}`,
			"0300" + "0100" + "0200" + "0400" + "0807060504030201" + "06000000" + "feffffff"},
		{"attributes", "rxe", `{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},"attrs":[` +
			`{"id":4096,"len":8,"flags":1,"data":{"ptr":"b","off":1}},{"id":1,"flags":65535,"reserved":258,"inline":"0a0b0c"},{"id":2,"len":0,"flags":0,"enum":7,"reserved":258,"data":-1},` +
			`{"id":3,"len":4,"flags":1,"inline":"0100000000000002","data":5}]}`,
			"5800" + "0000" + "0000" + "0400" + "0000000000000000" + "0e000000" + "00000000" +
				"0010" + "0800" + "0100" + "0000" + "0170000000000000" +
				"0100" + "0300" + "ffff" + "0201" + "0a0b0c0000000000" +
				"0200" + "0000" + "0000" + "0702" + "ffffffffffffffff" +
				"0300" + "0400" + "0100" + "0000" + "0100000000000002"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := do[*casefile.Ioctl](t, tt.step)
			b, data, err := a.Bytes(tt.driver, world{})
			require.NoError(t, err)
			require.Equal(t, tt.want, hex.EncodeToString(b))
			require.Len(t, data, len(a.Attrs))
		})
	}
	a := do[*casefile.Ioctl](t, `{"op":"ioctl","fd":"f",`+hdr+`}`)
	_, _, err := a.Bytes("efa", world{})
	require.EqualError(t, err, `no driver "efa"`)
	a.Attrs = []casefile.Attr{{}, {Data: casefile.HandleOf("x")}}
	_, _, err = a.Bytes("rxe", world{})
	require.EqualError(t, err, `attrs[1]: no handle "x"`)
	a.Hdr.Reserved1 = casefile.PtrTo("x", 0)
	_, _, err = a.Bytes("rxe", world{})
	require.EqualError(t, err, `reserved1: no buffer "x"`)
}

// TestIoctlTooManyAttrs: 4094 attributes are the most whose length, 24 + 16 * n,
// 16 bits hold. Beyond it, the case has to say what stands in the header.
func TestIoctlTooManyAttrs(t *testing.T) {
	length, num := uint16(0xfff8), uint16(0xffff)
	for _, tt := range []struct {
		attrs       int
		length, num *uint16
		want        string
	}{
		{attrs: 4094},
		{attrs: 4095, want: "length would be 65544, and has 16 bits: give one in hdr"},
		{attrs: 4095, num: &num, want: "length would be 65544, and has 16 bits: give one in hdr"},
		{attrs: 4095, length: &length},
		{attrs: 65535, length: &length},
		{attrs: 65536, length: &length, want: "num_attrs would be 65536, and has 16 bits: give one in hdr"},
		{attrs: 65536, length: &length, num: &num},
	} {
		a := casefile.Ioctl{Hdr: casefile.Hdr{Length: tt.length, NumAttrs: tt.num}, Attrs: make([]casefile.Attr, tt.attrs)}
		b, _, err := a.Bytes("rxe", world{})
		if tt.want != "" {
			require.EqualError(t, err, tt.want, tt.attrs)
			continue
		}
		require.NoError(t, err, tt.attrs)
		require.Equal(t, uint16(0xfff8), binary.LittleEndian.Uint16(b), tt.attrs)
		require.Len(t, b, 24+16*tt.attrs)
	}
}

func TestIoctlCommand(t *testing.T) {
	for cmd, want := range map[string]uint32{``: 0xc0181b01, `,"cmd":"0xc0181b02"`: 0xc0181b02, `,"cmd":{"handle":"cq"}`: 6} {
		got, err := do[*casefile.Ioctl](t, `{"op":"ioctl","fd":"f",`+hdr+cmd+`}`).Command(world{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestIoctlReport(t *testing.T) {
	a := do[*casefile.Ioctl](t, `{"op":"ioctl","fd":"f",`+hdr+`,"attrs":[`+
		`{"id":0,"flags":1,"data":7},{"id":1,"flags":1,"data":{"ptr":"b"}},{"id":2,"flags":1,"data":{"ptr":"b"}},{"id":3,"flags":1,"data":{"handle":"ch"}},`+
		`{"id":4,"flags":1,"data":{"handle":"cq"}},{"id":5,"flags":1},{"id":6,"flags":1},{"id":7,"flags":1}],"save_fd":{"n":{"attr":5},"o":{"attr":6},"p":{"buf":"b","size":4}}}`)
	b, data, err := a.Bytes("rxe", world{})
	require.NoError(t, err)
	b[24+16*1+4] = 3     // flags of the second attribute
	b[24+16*2+8] = 1     // the third: its address has changed
	b[24+16*5+8] = 12    // the sixth: a new descriptor
	b[24+16*0+8+7] = 128 // the first: its upper half too
	got := a.Report(b[:len(b)-1], data)
	require.Equal(t, []casefile.GotAttr{
		{Flags: "1", Data: "0x8000000000000007"},
		{Flags: "3", Data: "*"},
		{Flags: "1", Data: "0x7001"},
		{Flags: "1", Data: "*"},
		{Flags: "1", Data: "0x6"},
		{Flags: "1", Data: "*"},
		{Flags: "1", Data: "0x0"},
	}, got, "the last attribute is not all mapped")
	require.Nil(t, a.Report(nil, data))
}

func TestWriteBytes(t *testing.T) {
	a := do[*casefile.Write](t, `{"op":"write","fd":"f","hex":"00000000111111112222222222222222","reloc":[{"at":4,"size":4,"value":{"handle":"cq"}},{"at":8,"size":8,"value":{"ptr":"c"}}]}`)
	b, bufs, err := a.Bytes(world{})
	require.NoError(t, err)
	require.Equal(t, "00000000"+"06000000"+"0090000000000000", hex.EncodeToString(b))
	require.Equal(t, []string{"c"}, bufs)
	again, _, err := a.Bytes(world{})
	require.NoError(t, err)
	require.Equal(t, b, again, "the case itself is not changed")
	a.Reloc[1].Value.Name = "x"
	_, _, err = a.Bytes(world{})
	require.EqualError(t, err, `reloc[1]: no buffer "x"`)
}

func TestBufBytes(t *testing.T) {
	for text, want := range map[string]string{`{"hex":"00ff"}`: "00ff", `{"zero":2}`: "0000", `{"fill":"a5","len":3}`: "a5a5a5", `{"hex":""}`: ""} {
		c, err := casefile.Unmarshal([]byte(with(`"b":` + text)))
		require.NoError(t, err)
		b := c.Bufs["b"].Bytes()
		require.Equal(t, want, hex.EncodeToString(b))
		require.Equal(t, len(b), c.Bufs["b"].Len)
		if len(b) > 0 {
			b[0] = 7
			require.Equal(t, want, hex.EncodeToString(c.Bufs["b"].Bytes()), "the caller's own")
		}
	}
}

func TestMaskHex(t *testing.T) {
	b := []byte{0, 1, 2, 3}
	require.Equal(t, "00010203", casefile.MaskHex(b, nil))
	require.Equal(t, "00****03", casefile.MaskHex(b, []casefile.Range{{Off: 1, Len: 2}}))
	require.Equal(t, "**0102**", casefile.MaskHex(b, []casefile.Range{{Off: 3, Len: 9}, {Off: 0, Len: 1}, {Off: 9, Len: 1}}))
	require.Equal(t, "00010203", casefile.MaskHex(b, []casefile.Range{{Off: 1, Len: 0}}))
	require.Equal(t, "00010203", casefile.MaskHex(b, []casefile.Range{{Off: 1, Len: 1<<63 - 1}}), "no range at all: its end overflows")
}

func TestDriverID(t *testing.T) {
	for driver, want := range map[string]uint32{"mlx5": 1, "stub": 1, "rxe": 14} {
		id, ok := casefile.DriverID(driver)
		require.True(t, ok)
		require.Equal(t, want, id)
	}
	_, ok := casefile.DriverID("efa")
	require.False(t, ok)
}
