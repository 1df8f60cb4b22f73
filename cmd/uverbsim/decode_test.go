package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
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
	Answer                       struct {
		Ret, Errno, Cannot, Seen string
		Agrees                   *bool
		Matters                  []string
		Rule                     struct{ ID string }
	}
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
	for _, d := range []decoded{
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
	require.Equal(t, "EINVAL", d.Answer.Errno) // no cqe
	require.Contains(t, strings.Join(d.Answer.Matters, "\n"), "40 bytes at 0x7f0000001000, UVERBS_ATTR_CORE_IN, are readable, and zero")
	d = decodeJSON(t, create, "--data", "0x7f0000001000="+strings.Repeat("00", 32)+"0000000000000001")
	require.Equal(t, "EOPNOTSUPP", d.Answer.Errno, "a tail that is not zero")
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
	out, err = execute(newTraceCmd(), out, "-")
	require.NoError(t, err)
	require.Contains(t, out, "cq/comp-vector")
}

func TestDecodeRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		stdin, want string
		args        []string
	}{
		"nothing":        {"", "standard input: no bytes", nil},
		"no hex":         {"28 00\nhello", `standard input: line 2, column 1: "hello" is neither`, nil},
		"an argument":    {"", `the arguments: line 1, column 7: "0" has 1 digits`, []string{"28", "00", "0"}},
		"no file":        {"", "open nothing.txt: no such file", []string{"nothing.txt"}},
		"either":         {strings.Repeat("00", 24), "say which with --ioctl or --write", nil},
		"contradiction":  {`write(3, "\3\0\0\0\4\0\2\0\20 0\0\0\0\0\0", 16) = 16`, "the line of strace is a write, and --ioctl says otherwise", []string{"--ioctl"}},
		"driver":         {probeDigits, `no driver "mlx4"`, []string{"--driver", "mlx4"}},
		"kernel":         {probeDigits, `no kernel "2.6"`, []string{"--kernel", "2.6"}},
		"data":           {probeDigits, "--data 12: it is ADDR=HEX", []string{"--data", "12"}},
		"data's address": {probeDigits, `--data x=00: "x" is no address`, []string{"--data", "x=00"}},
		"data's bytes":   {probeDigits, `--data 0x1000=0: line 1, column 1: "0" has 1 digits`, []string{"--data", "0x1000=0"}},
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
