package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// decodeGolden compares with a golden file of the tests of decode.
func decodeGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "decode", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// TestDecodeGolden: what is printed of each request in testdata/decode, in text
// and as JSON. The text was read against the headers and the kernel's source.
func TestDecodeGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/decode/*.req")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".req")
		t.Run(name, func(t *testing.T) {
			out, err := execute(newDecodeCmd(), "", f)
			require.NoError(t, err)
			decodeGolden(t, name+".txt", out)
			out, err = execute(newDecodeCmd(), "", "--json", f)
			require.NoError(t, err)
			require.True(t, json.Valid([]byte(out)))
			decodeGolden(t, name+".json", out)
		})
	}
}

// decoded is what tests look at of the JSON.
type decoded struct {
	Call, Driver, Kernel, Method string
	Memory                       []string
	Answer                       decodedAnswer
	Then                         *decodedAnswer
}

type decodedAnswer struct {
	On, Ret, Errno, Cannot, Seen string
	Agrees                       *bool
	Matters                      []string
	Rule                         struct{ ID string }
}

func decodeJSON(t *testing.T, stdin string, args ...string) (d decoded) {
	t.Helper()
	out, err := execute(newDecodeCmd(), stdin, append([]string{"--json"}, args...)...)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	return d
}

const probeDigits = "2800000000000100 0000000000000000 0100000000000000 0200080001000000 0100000000000000"

// TestDecodeInputs: the bytes as arguments, from the standard input, from a
// file.
func TestDecodeInputs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "request")
	require.NoError(t, os.WriteFile(file, []byte(probeDigits), 0o600))
	b, err := hex.DecodeString(strings.ReplaceAll(probeDigits, " ", ""))
	require.NoError(t, err)
	for _, d := range []decoded{
		decodeJSON(t, string(b)),
		decodeJSON(t, "", strings.Fields(probeDigits)...),
		decodeJSON(t, "", probeDigits),
		decodeJSON(t, probeDigits),
		decodeJSON(t, probeDigits, "-"),
		decodeJSON(t, "", file),
	} {
		require.Equal(t, "UVERBS_METHOD_INVOKE_WRITE", d.Method)
		require.Equal(t, "ioctl", d.Call)
		require.Equal(t, "ENOSPC", d.Answer.Errno)
	}
}

// TestDecodeOneArgument: bytes in one argument are read whatever their form and
// length, and a name that no file has is told as one.
func TestDecodeOneArgument(t *testing.T) {
	const must = spec.UVERBS_ATTR_F_MANDATORY
	attrs := make([]spec.IoctlAttr, 7)
	for i := range attrs {
		attrs[i] = spec.IoctlAttr{AttrID: uint16(i), Flags: must}
	}
	long := requestDigits(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, attrs...)
	require.Len(t, long, 2*(24+7*16))
	require.Equal(t, "UVERBS_METHOD_CQ_CREATE", decodeJSON(t, "", long).Method)
	escaped := ""
	for i := 0; i < len(long); i += 2 {
		escaped += `\x` + long[i:i+2]
	}
	require.Equal(t, "UVERBS_METHOD_CQ_CREATE", decodeJSON(t, "", `ioctl(3, RDMA_VERBS_IOCTL, "`+escaped+`") = -1 EINVAL (I`).Method)

	const alloc = "IB_USER_VERBS_CMD_ALLOC_PD"
	for _, text := range []string{
		"0x7ffd8ec7be80: 0x0002000400000003 0x00007ffd8ec7c000",
		"0x7ffd8ec7be80:\t0x03\t0x00\t0x00\t0x00\n0x7ffd8ec7be84:\t0x04\t0x00\t0x02\t0x00\n0x7ffd8ec7be88:\t0x7ffd8ec7c000",
		"00000000: 0300 0000 0400 0200 00c0 c78e fd7f 0000  ................",
		"00000000  03 00 00 00 04 00 02 00  00 c0 c7 8e fd 7f 00 00  |................|",
		"03000000 04000200 00c0c78efd7f0000 // ALLOC_PD",
		"char b[] = {0x03, 0x00, 0x00, 0x00, 0x04, 0x00, 0x02, 0x00, 0x00, 0xc0, 0xc7, 0x8e, 0xfd, 0x7f, 0x00, 0x00};",
	} {
		require.Equal(t, alloc, decodeJSON(t, "", "--write", text).Method, text)
	}
}

// endless is a text without end.
type endless string

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e[i%len(e)]
	}
	return len(p), nil
}

// TestDecodeEndless: what has no end is refused.
func TestDecodeEndless(t *testing.T) {
	for _, text := range []string{"\x00", "00\n", "\n"} {
		_, _, err := decodeInput(endless(text), nil)
		require.EqualError(t, err, "standard input: more than 16 MiB: decode takes one request, and what it points to")
	}
	_, _, err := decodeInput(nil, []string{"/dev/zero"})
	require.EqualError(t, err, "/dev/zero: more than 16 MiB: decode takes one request, and what it points to")
}

// TestDecodeNumberOfAttributes: a case has no attributes that the request does not
// have, whatever its header says.
func TestDecodeNumberOfAttributes(t *testing.T) {
	for digits, want := range map[string]int{
		"180003000000ffff 0000000000000000 0e00000000000000":                                      0,
		"180003000000ffff 0000000000000000 0e00000000000000 0000 0000 0100 0000 0000000000000000": 1,
		"180003000000ffff 0000000000000000 0e00000000000000 0000 0000 0100":                       1,
		"2800100000000100 0000000000000000 0e00000000000000":                                      0, // it makes a descriptor
		"1800030000000300 0000000000000000 0e00":                                                  0,
	} {
		out, err := execute(newDecodeCmd(), "", "--ioctl", "--case", digits)
		require.NoError(t, err)
		c, err := casefile.Unmarshal([]byte(out))
		require.NoError(t, err)
		a := c.Steps[2].Do.(*casefile.Ioctl)
		require.Len(t, a.Attrs, want)
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		require.NoError(t, err)
		require.Equal(t, uint16(b[6])|uint16(b[7])<<8, *a.Hdr.NumAttrs)
		require.Equal(t, len(b), *a.ArgEdge)
	}
}

// TestDecodeDevice: the header's driver is the default, and the kernel counts.
func TestDecodeDevice(t *testing.T) {
	rxe := strings.Replace(probeDigits, "0100000000000000 02", "0e00000000000000 02", 1)
	d := decodeJSON(t, rxe)
	require.Equal(t, "rxe", d.Driver)
	require.Equal(t, "invoke-write/core-size", d.Answer.Rule.ID)
	d = decodeJSON(t, rxe, "--driver", "mlx5")
	require.Equal(t, "header/driver-id", d.Answer.Rule.ID)
	d = decodeJSON(t, probeDigits, "--driver", "stub", "--kernel", "6.1")
	require.Equal(t, "stub", d.Driver)
	require.Equal(t, "6.1", d.Kernel)
	// A method of mlx5's that the stub does not have.
	const uar = "2800081000100100 0000000000000000 0100000000000000 0010000001000000 0000000000000000"
	require.Equal(t, "method/unknown", decodeJSON(t, uar, "--driver", "stub").Answer.Rule.ID)
	require.Equal(t, "attr/missing", decodeJSON(t, uar).Answer.Rule.ID)
}

// TestDecodeData: memory that is added decides, and without it the answer hangs
// on an assumption.
func TestDecodeData(t *testing.T) {
	// INVOKE_WRITE of DEALLOC_PD, whose request of 16 bytes is longer than the
	// kernel knows it, lies at 0x7f0000001000.
	const dealloc = "3800000000000200 0000000000000000 0100000000000000" +
		"0200080001000000 0400000000000000" + "0000100001000000 0010000000 7f0000"
	d := decodeJSON(t, dealloc)
	require.Equal(t, "object/not-found", d.Answer.Rule.ID)
	d = decodeJSON(t, dealloc, "--data", "0x7f0000001000=00000000 00000000 00000000 01000000")
	require.Equal(t, "cmd/request-tail", d.Answer.Rule.ID)

	const create = "3800000000000200 0000000000000000 0e00000000000000" +
		"0200080001000000 1200008000000000" + "0000280001000000 0010000000 7f0000"
	d = decodeJSON(t, create)
	require.Equal(t, "EBADF", d.Answer.Errno, "descriptor 0 is no completion channel")
	require.Contains(t, strings.Join(d.Memory, "\n"), "40 bytes at 0x7f0000001000, UVERBS_ATTR_CORE_IN, are readable, and zero")
	d = decodeJSON(t, create, "--data", "0x7f0000001000="+strings.Repeat("00", 32)+"0000000000000001")
	require.Equal(t, "EOPNOTSUPP", d.Answer.Errno, "a tail that is not zero")
}

// TestDecodeContinued: more of the request can lie elsewhere.
func TestDecodeContinued(t *testing.T) {
	b, err := hex.DecodeString(strings.ReplaceAll(probeDigits, " ", ""))
	require.NoError(t, err)
	for n := 8; n < len(b); n++ {
		args := []string{fmt.Sprintf("7f0000001000  % x", b[:n]), "--data", fmt.Sprintf("%#x=%x", 0x7f0000001000+n, b[n:])}
		require.Equal(t, "ENOSPC", decodeJSON(t, "", args...).Answer.Errno, n)
	}
}

func TestDecodeContext(t *testing.T) {
	const getContext = "1800000003000000 0000000000000000 0e00000000000000"
	require.Equal(t, "0", decodeJSON(t, getContext).Answer.Ret, "on a file without one")
	const destroy = "2800010000000100 0000000000000000 0e00000000000000 0000000001000000 0000000000000000"
	require.Equal(t, "object/not-found", decodeJSON(t, destroy).Answer.Rule.ID)
	create := "3800030000000200 0000000000000000 0e00000000000000 0000000001000000 0000000000000000 0100040001000000 1000000000000000"
	require.Equal(t, "context/none", decodeJSON(t, create, "--no-context").Answer.Rule.ID)
	require.Equal(t, "attr/missing", decodeJSON(t, create).Answer.Rule.ID)
}

// TestDecodeSeen: what a line of strace says is compared.
func TestDecodeSeen(t *testing.T) {
	d := decodeJSON(t, "ioctl(3, RDMA_VERBS_IOCTL, 0x7ffd8ec7be80) = -1 ENOSPC (No space left on device)\n"+probeDigits)
	require.Equal(t, "ENOSPC", d.Answer.Seen)
	require.True(t, *d.Answer.Agrees)
	d = decodeJSON(t, "ioctl(3, RDMA_VERBS_IOCTL, 0x7ffd8ec7be80) = -1 EINVAL (Invalid argument)\n"+probeDigits)
	require.False(t, *d.Answer.Agrees)
	require.Nil(t, decodeJSON(t, probeDigits).Answer.Agrees)
}

// requestDigits are the digits of an ioctl.
func requestDigits(driver uint32, object, method uint16, attrs ...spec.IoctlAttr) string {
	return hex.EncodeToString(spec.EncodeMethod(driver, object, method, attrs...))
}

// TestDecodeObjects: objects that a request names do not exist, and the answer
// if they do is told too: here each is destroyed.
func TestDecodeObjects(t *testing.T) {
	const somewhere = 0x7ffd00001000
	for _, driver := range []uint32{spec.RDMA_DRIVER_MLX5, spec.RDMA_DRIVER_RXE} {
		for object, name := range map[uint16]string{spec.UVERBS_OBJECT_PD: "PD", spec.UVERBS_OBJECT_CQ: "CQ", spec.UVERBS_OBJECT_QP: "QP",
			spec.UVERBS_OBJECT_SRQ: "SRQ", spec.UVERBS_OBJECT_MR: "MR"} {
			_, m := spec.FindMethod(spec.Core(), object, spec.UVERBS_METHOD_CQ_DESTROY)
			if object != spec.UVERBS_OBJECT_CQ { // the others' first method, or the second
				for id := range uint16(3) {
					if _, m = spec.FindMethod(spec.Core(), object, id); m != nil && strings.HasSuffix(m.Name, "_DESTROY") {
						break
					}
				}
			}
			attrs := []spec.IoctlAttr{{AttrID: m.Attrs[0].ID, Data: 3}}
			if len(m.Attrs) > 1 {
				attrs = append(attrs, spec.IoctlAttr{AttrID: m.Attrs[1].ID, Len: m.Attrs[1].Len, Data: somewhere})
			}
			d := decodeJSON(t, requestDigits(driver, object, m.ID, attrs...))
			require.Equal(t, "object/not-found", d.Answer.Rule.ID, m.Name)
			require.Len(t, d.Answer.Matters, 1)
			require.NotNil(t, d.Then, m.Name)
			require.Equal(t, "0", d.Then.Ret, m.Name)
			require.True(t, strings.HasSuffix(d.Then.On, " and with "+name+" 3"), d.Then.On)
		}
	}

	// A PD that a QP uses, and of which there is none, cannot be told apart here:
	// the same number for two types of objects.
	pd, cq := spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE, Data: 1}, spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, Data: 1}
	require.Nil(t, decodeJSON(t, requestDigits(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, pd, cq)).Then)
	// No AH is made here, and no object with a number like this.
	ah := spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_DESTROY_AH_HANDLE}
	require.Nil(t, decodeJSON(t, requestDigits(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_AH, spec.UVERBS_METHOD_AH_DESTROY, ah)).Then)
	pd = spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_DESTROY_PD_HANDLE, Data: 1 << 20}
	require.Nil(t, decodeJSON(t, requestDigits(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY, pd)).Then)
}

// TestDecodeDescriptors: those of event files are made, and named instead.
func TestDecodeDescriptors(t *testing.T) {
	const must, somewhere = spec.UVERBS_ATTR_F_MANDATORY, 0x7ffd00001000
	for _, attr := range []uint16{spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, spec.UVERBS_ATTR_CREATE_CQ_EVENT_FD} {
		d := decodeJSON(t, requestDigits(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE,
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_HANDLE, Flags: must},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_CQE, Len: 4, Flags: must, Data: 16},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, Len: 8, Flags: must},
			spec.IoctlAttr{AttrID: attr, Flags: must, Data: 9},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, Len: 4, Flags: must},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, Len: 4, Flags: must, Data: somewhere},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 16, Flags: must, Data: somewhere + 64}))
		require.Equal(t, "EBADF", d.Answer.Errno)
		require.NotNil(t, d.Then)
		require.Equal(t, "0", d.Then.Ret)
	}
}

// TestDecodeCase: the case that is printed is the request, and replay plays it.
func TestDecodeCase(t *testing.T) {
	out, err := execute(newDecodeCmd(), "", "--case", "testdata/decode/cq-vector.req")
	require.NoError(t, err)
	c, err := casefile.Unmarshal([]byte(out))
	require.NoError(t, err)
	require.Len(t, c.Steps, 3)
	require.Equal(t, "mlx5", c.Driver)
	b, _, err := c.Steps[2].Do.(*casefile.Ioctl).Bytes(c.Driver, placesOf(c))
	require.NoError(t, err)
	require.Len(t, b, 136)
	require.Empty(t, c.Kernel)
	out, err = execute(newTraceCmd(), out, "-")
	require.NoError(t, err)
	require.Contains(t, out, "cq/comp-vector")
	out, err = execute(newDecodeCmd(), "", "--case", "--kernel", "6.1", "testdata/decode/cq-vector.req")
	require.NoError(t, err)
	c, err = casefile.Unmarshal([]byte(out))
	require.NoError(t, err)
	k, ok := spec.KernelByRelease(c.Kernel)
	require.True(t, ok)
	require.Equal(t, "6.1", k.Name)
}

// TestDecodeHints: a dump that strace cut is not said to be a short struct; a
// write() that no flag gives a driver to says so; a refusal that explain can say
// more of names it, and its case is refused by the same rule.
func TestDecodeHints(t *testing.T) {
	const cut = `write(3, "\x12\0\0\0\x0a\0\x06\0\0\0\0\xd0\xff\x07\0\0\x07\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"..., 40) = -1 EINVAL (Invalid argument)`
	out, err := execute(newDecodeCmd(), cut, "-")
	require.NoError(t, err)
	require.NotContains(t, out, "short of the struct")
	require.Contains(t, out, "it has 32 of 40 bytes, strace -s 40 shows all of them")
	require.Contains(t, out, "--driver reads them for rxe or stub)")
	require.NotContains(t, out, "uverbsim explain", "nothing is known to be refused")

	whole := strings.Replace(cut, `"...`, strings.Repeat(`\xff`, 4)+strings.Repeat(`\0`, 4)+`"`, 1)
	out, err = execute(newDecodeCmd(), whole, "-")
	require.NoError(t, err)
	require.Contains(t, out, "mlx5-cq/request-size")
	require.Contains(t, out, "uverbsim decode --case - | uverbsim explain -")
	explained, err := execute(newDecodeCmd(), whole, "--case")
	require.NoError(t, err)
	explained, err = execute(newExplainCmd(), explained, "-")
	require.NoError(t, err)
	require.Contains(t, explained, "mlx5-cq/request-size")

	// With a channel: descriptor 3, which there is not.
	channel := strings.Replace(cut, `"...`, `\3`+strings.Repeat(`\0`, 7)+`"`, 1)
	out, err = execute(newDecodeCmd(), channel, "-")
	require.NoError(t, err)
	require.Contains(t, out, "there is no descriptor 3, which comp_channel names")
	require.NotContains(t, out, "and on mlx5")

	out, err = execute(newDecodeCmd(), whole, "--driver", "rxe", "-")
	require.NoError(t, err)
	require.NotContains(t, out, "do not tell the driver")
	flat := strings.Join(strings.Fields(out), " ")
	require.NotContains(t, out, "mlx5-cq/request-size")
	require.Contains(t, flat, "seen EINVAL, which is not what is to be expected here: the program's objects, memory,")
}

func TestDecodeRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		stdin, want string
		args        []string
	}{
		"nothing":        {"", "standard input: no bytes", nil},
		"no hex":         {"28 00\nhello", `standard input: line 2, column 1: "hello" is neither`, nil},
		"an argument":    {"", `the arguments: line 1, column 7: "0" has an odd number of digits`, []string{"28", "00", "0"}},
		"no file":        {"", "open nothing.txt: no such file", []string{"nothing.txt"}},
		"either":         {strings.Repeat("00", 24), "say which with --ioctl or --write", nil},
		"contradiction":  {`write(3, "\3\0\0\0\4\0\2\0\20 0\0\0\0\0\0", 16) = 16`, "the line of strace is a write, and --ioctl says otherwise", []string{"--ioctl"}},
		"driver":         {probeDigits, `--driver mlx4: one of mlx5, rxe, stub`, []string{"--driver", "mlx4"}},
		"kernel":         {probeDigits, `--kernel 2.6: one of `, []string{"--kernel", "2.6"}},
		"data":           {probeDigits, "--data 12: it is ADDR=HEX", []string{"--data", "12"}},
		"data's address": {probeDigits, `--data x=00: "x" is no address`, []string{"--data", "x=00"}},
		"data's bytes":   {probeDigits, `--data 0x1000=0: line 1, column 1: "0" has an odd number of digits`, []string{"--data", "0x1000=0"}},
		"both":           {probeDigits, "none of the others can be", []string{"--ioctl", "--write"}},
	} {
		t.Run(name, func(t *testing.T) {
			args := tt.args
			if args == nil {
				args = []string{}
			}
			_, err := execute(newDecodeCmd(), tt.stdin, args...)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	var out, errs strings.Builder
	require.Equal(t, 2, run([]string{"decode", "zz"}, strings.NewReader(""), &out, &errs))
	require.Equal(t, 1, strings.Count(errs.String(), "\n"))
}
