package request_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/request"
)

// probe is the request with which rdma-core asks whether the kernel takes
// write() commands by ioctl: INVOKE_WRITE with one attribute.
var probe = func() []byte {
	b, _ := hex.DecodeString("2800000000000100" + "0000000000000000" + "0100000000000000" +
		"0200080001000000" + "0100000000000000")
	return b
}()

// TestPrograms: the same 40 bytes as the programs print them whose names the
// files have. All but those of dmesg, crash and lldb are what the programs
// printed; those follow print_hex_dump, the manual of crash, and lldb.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.Greater(t, len(files), 20)
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			r, err := request.Parse(string(text))
			require.NoError(t, err)
			require.Equal(t, hex.EncodeToString(probe), hex.EncodeToString(r.Bytes))
			require.Len(t, r.Memory, 1)
			require.Equal(t, request.Ioctl, request.Guess(r.Bytes, len(r.Bytes)))
			switch name := filepath.Base(f); {
			case strings.HasPrefix(name, "gdb"), name == "strace-gdb.txt":
				require.EqualValues(t, 0x555555558020, r.At)
				require.True(t, r.Addressed)
			case name == "crash-rd.txt", name == "lldb.txt", name == "strace-hexdump.txt":
				require.True(t, r.Addressed)
			default:
				require.Zero(t, r.At)
				require.False(t, r.Addressed)
			}
		})
	}
}

func TestDigits(t *testing.T) {
	for _, text := range []string{
		string(probe),
		"28000000000001000000000000000000010000000000000002000800010000000100000000000000",
		"2800 0000 0000 0100 0000000000000000 01000000 00000000 02 00 0800 0100 0000 0100000000000000",
		"28,00,00,00,00,00,01,00, 00,00,00,00,00,00,00,00,\n01,00,00,00,00,00,00,00, 02,00,08,00,01,00,00,00,\n01,00,00,00,00,00,00,00",
		"0x28 0x0 0x0 0x0 0x0 0x0 0x1 0x0 0000000000000000 0100000000000000 0x0002 0x0008 0x0001 0x0000 0x0000000000000001",
		"0x0001000000000028, 0x0000000000000000, 0x0000000000000001UL, 0x0000000100080002ULL, 0x0000000000000001",
		"0x28000000000001000000000000000000010000000000000002000800010000000100000000000000",
		`\x28\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00` + "\n" + `\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x08\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00`,
		`"\x28\x00\x00\x00\x00\x00\x01\x00" "\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x08\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"`,
		"# the probe\n[28 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 02 00 08 00 01 00 00 00 01 00 00 00 00 00 00 00]\n\n",
		"\ufeff28000000 // length, object_id\n0x00, 0x00, 0x01, 0x00, // method_id, num_attrs\n" +
			"0000000000000000//reserved1\n01000000 00000000 0200 0800 0100 0000 0100000000000000",
		"  28 00 00 00 00 00 01 00 | 00000000 00000000\r\n01000000 00000000 0200 0800 0100 0000 01000000 00000000\r\n",
	} {
		r, err := request.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, hex.EncodeToString(probe), hex.EncodeToString(r.Bytes), text)
		require.False(t, r.Addressed)
		require.Equal(t, request.Unknown, r.Kind)
	}
}

// TestSessions: what is copied from a session of gdb, of lldb or of Python has
// prompts and commands between the bytes.
func TestSessions(t *testing.T) {
	words := "0x7fff0010:\t0x0001000000000028\t0x0000000000000000\n0x7fff0020:\t0x0000000000000001\t0x0000000100080002\n" +
		"0x7fff0030:\t0x0000000000000001\n"
	literal := `\x28\x00\x00\x00\0\0\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00` +
		`\x02\x00\x08\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00`
	repr := strings.ReplaceAll(literal, `\x28`, "(")
	for name, text := range map[string]string{
		"gdb":                   "(gdb) x/5xg $rsp\n" + words + "(gdb) \n",
		"gdb, on one line":      "(gdb) " + words,
		"lldb":                  "(lldb) memory read -f x -s 8 -c 5 $rsp\n" + words,
		"python":                ">>> request\nb'" + repr + "'\n>>> \n",
		"python, on one line":   ">>> b\"" + repr + "\"\n",
		"python, a variable":    "request = b'" + literal + "'  # the probe\n",
		"python, a bytearray":   "bytearray(b'" + repr + "')",
		"python, several parts": "request = (b'" + repr[:17] + "' b'" + repr[17:41] + "'\n   b'" + repr[41:] + "')\n",
		"python, as digits":     ">>> request.hex()\n'" + hex.EncodeToString(probe) + "'\n",
	} {
		r, err := request.Parse(text)
		require.NoError(t, err, name)
		require.Equal(t, hex.EncodeToString(probe), hex.EncodeToString(r.Bytes), name)
	}
}

// TestRanges: a dump with addresses shows the request and what it points to.
func TestRanges(t *testing.T) {
	r, err := request.Parse("0x7fff0010:\t0x28\t0x00\n0x7fff0012:\t0x01\t0x00\n0x7ffe0000:\t0x1122334455667788\n")
	require.NoError(t, err)
	require.Equal(t, []byte{0x28, 0, 1, 0}, r.Bytes)
	require.Equal(t, []request.Range{
		{Addr: 0x7ffe0000, Bytes: []byte{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}},
		{Addr: 0x7fff0010, Bytes: []byte{0x28, 0, 1, 0}},
	}, r.Memory)
	require.EqualValues(t, 0x7fff0010, r.At)

	// The request is where strace says.
	r, err = request.Parse("ioctl(3, 0xc0181b01, 0x7fff0012) = 0\n0x7ffe0000:\t0x1122334455667788\n0x7fff0010:\t0x28\t0x00 0x01 0x00\n")
	require.NoError(t, err)
	require.Equal(t, []byte{1, 0}, r.Bytes)
	require.Equal(t, "0", r.Returned)

	// A string has the request, and a dump what it points to.
	w, err := request.Parse(`write(3, "\3\0\0\0\4\0\2\0\20 0\0\0\0\0\0", 16) = 16` + "\n302010:\t0x11 0x22\n")
	require.NoError(t, err)
	require.Len(t, w.Bytes, 16)
	require.Equal(t, []request.Range{{Addr: 0, Bytes: w.Bytes}, {Addr: 0x302010, Bytes: []byte{0x11, 0x22}}}, w.Memory)
	require.False(t, w.Addressed)
	require.Len(t, w.Placed().Memory, 2)

	require.NoError(t, r.AddMemory(0x7fff0014, []byte{9}))
	require.Len(t, r.Memory, 2)
	require.NoError(t, r.AddMemory(0x7fff0013, []byte{0, 9, 8}))
	require.Equal(t, []byte{0x28, 0, 1, 0, 9, 8}, r.Memory[1].Bytes)
	require.Equal(t, []byte{1, 0, 9, 8}, r.Bytes, "the request goes on there")
	require.ErrorContains(t, r.AddMemory(0x7fff0013, []byte{1}), "the byte at 0x7fff0013 is shown twice, as 00 and as 01")
	require.ErrorContains(t, r.AddMemory(1<<64-1, []byte{1, 2}), "beyond the last address")
}

func TestSqueezed(t *testing.T) {
	want := append(bytes.Clone(probe), make([]byte, 56)...)
	for _, text := range []string{
		"00000000  28 00 00 00 00 00 01 00  00 00 00 00 00 00 00 00  |(...............|\n" +
			"00000010  01 00 00 00 00 00 00 00  02 00 08 00 01 00 00 00  |................|\n" +
			"00000020  01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n" +
			"00000030  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n00000060\n",
		"0000000 0028 0000 0000 0001 0000 0000 0000 0000\n0000010 0001 0000 0000 0000 0002 0008 0001 0000\n" +
			"0000020 0001 0000 0000 0000 0000 0000 0000 0000\n0000030 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000060\n",
		"0000000 28 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00\n0000020 01 00 00 00 00 00 00 00 02 00 08 00 01 00 00 00\n" +
			"0000040 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n0000060 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n*\n0000140\n",
	} {
		r, err := request.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(r.Bytes), text)
	}
}

func TestStrace(t *testing.T) {
	alloc := "\x03\x00\x00\x00\x04\x00\x02\x00\x10\x20\x30\x00\x00\x00\x00\x00"
	for name, tt := range map[string]struct {
		text     string
		kind     request.Kind
		bytes    string
		count    int
		returned string
	}{
		"octal": {`write(3, "\3\0\0\0\4\0\2\0\20 0\0\0\0\0\0", 16) = 16`, request.Write, alloc, 16, "16"},
		"hexadecimal": {`4711  12:00:01 write(3</dev/infiniband/uverbs0<char 231:192>>, "\x03\x00\x00\x00\x04\x00\x02\x00\x10\x20\x30\x00\x00\x00\x00\x00", 16) = -1 EINVAL (Invalid argument)`,
			request.Write, alloc, 16, "EINVAL"},
		"cut": {`write(3</dev/infiniband/uverbs0>, "\3\0\0\0\4\0\2\0"..., 16) = 16`, request.Write, alloc[:8], 16, "16"},
		"cut, with a dump": {`write(3, "\3\0\0\0\4\0\2\0"..., 16) = 16` + "\n" +
			" | 00000  03 00 00 00 04 00 02 00  10 20 30 00 00 00 00 00  ......... 0..... |\n", request.Write, alloc, 16, "16"},
		"a dump": {`write(3, 0x7ffc12345678, 16) = ?` + "\n0300000004000200 1020300000000000", request.Write, alloc, 16, ""},
		"as strings of ioctl": {`ioctl(3, RDMA_VERBS_IOCTL, "\x28\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00...") = -1 ENOSPC (No space left on device)`,
			request.Ioctl, string(append(bytes.Clone(probe[:16]), 0, 0, 0, 0)), -1, "ENOSPC"},
		"other calls": {"openat(AT_FDCWD, \"/dev/infiniband/uverbs0\", O_RDWR) = 3\nioctl(1, TCGETS, 0x7ffc12345678) = 0\n" +
			`[pid 12] write(1, "hello, world", 12) = 12` + "\n" + `write(3, "\3\0\0\0\4\0\2\0\20 0\0\0\0\0\0", 16) = 16` + "\n+++ exited with 0 +++\n",
			request.Write, alloc, 16, "16"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := request.Parse(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.kind, r.Kind)
			require.Equal(t, hex.EncodeToString([]byte(tt.bytes)), hex.EncodeToString(r.Bytes))
			require.Equal(t, tt.count, r.Count)
			require.Equal(t, tt.returned, r.Returned)
		})
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "no bytes",
		"# nothing\n\n":                  "no bytes",
		"28 0":                           `line 1, column 4: "0" has an odd number of digits: a byte has two`,
		"28 00\n00 0g":                   `line 2, column 4: "0g" is neither hexadecimal digits nor a line of hexdump, xxd, od, gdb or strace`,
		"(gdb) x/5xg $rsp\n":             "line 1 is a command behind a prompt, and nothing that it printed follows",
		"(gdb) x/2xb 0\n0x7fff0000: 0x2": `line 2, column 13: "0x2" has an odd number of digits`,
		">>> b'\\x2'":                    `line 1, column 7: \x without two digits`,
		"b'(' x":                         `line 1, column 6: "x" behind bytes of Python`,
		"hello":                          `line 1, column 1: "hello" is neither`,
		`28 \x0`:                         `line 1, column 4: "\\x0" is not \x and two digits`,
		"0x7fff0000:\t0x28\tCannot":      `line 1, column 18: "Cannot" is not a byte in hexadecimal`,
		"0000000 000050 000000\n":        "line 1, column 9: 6 digits: words in octal cannot be read",
		"*":                              "line 1: * before any bytes",
		"28 00\n*\n":                     "line 2: no line behind this one says",
		`{"v":1,"name":"x"}`:             "line 1: this is JSON: a case is for uverbsim explain",
		"00000000: 2800\n00000010: 2":    `line 2, column 11: "2" has an odd number of digits`,
		"00000000: 2800\n00000010: 28\n": "the dump lacks the bytes between 0x0 and 0x10",
		"7fff0000: 2800\n28\n":           "line 2: bytes without an address behind lines that have one",
		"7fff0000: 2800\n7fff0001: 01\n": "the byte at 0x7fff0001 is shown twice, as 00 and as 01",
		"fffffffffffffff8: 28000000 00000000 00\n":                                        "line 1: bytes beyond the last address",
		"ioctl(3, TCGETS, 0x7ffc00) = 0":                                                  `line 1: the ioctl "TCGETS" is not RDMA_VERBS_IOCTL, 0xc0181b01`,
		"close(3) = 0":                                                                    "line 1 is not an ioctl or a write",
		"ioctl(3, RDMA_VERBS_IOCTL, 0x7ffc1000) = -1 EINVAL (I":                           "line 1: this shows where the request lies, 0x7ffc1000, but not its bytes",
		"ioctl(3, 0xc0181b01, NULL) = -1 EFAULT (Bad address)":                            "line 1, column 22: the request lies at NULL",
		"\xff\xfe2\x008\x00 \x000\x000\x00":                                               "the text is in UTF-16: convert it to UTF-8",
		"\xfe\xff\x002\x008\x00\n":                                                        "the text is in UTF-16: convert it to UTF-8",
		`write(3, "\3\0\0\0"..., 24) = 24`:                                                "line 1: strace shows 4 of the 24 bytes of this write, and the header alone has 8: strace -s 24",
		`write(3, "\3\0\0\0", 4) = -1 EINVAL (I`:                                          "line 1: this is not a write to a uverbs device",
		`write(3, "hello", 5) = 5`:                                                        "line 1: this is not a write to a uverbs device",
		`write(3</tmp/x>, "\3\0\0\0\2\0\0\0", 8) = 8`:                                     "line 1: this is not a write to a uverbs device",
		`write(3, "\3\0\0\0`:                                                              "line 1, column 10: the string has no end",
		`write(3, "\3\0\0\0\4\0\2\0"..., `:                                                "line 1, column 28: bytes are left out, and how many is not said",
		`ioctl(3, RDMA_VERBS_IOCTL, 0x10) = -1 EFAULT (Bad address)`:                      "line 1: the request lies at 0x10, where no program has memory",
		`write(3, "\q", 1)`:                                                               `line 1, column 11: \q is no escape of C`,
		`ioctl(3</dev/infiniband/uverbs0>, RDMA_VERBS_IOCTL, {x}) =`:                      "line 1, column 53: neither an address nor a string",
		"ioctl(3, RDMA_VERBS_IOCTL, 0x1000) = 0\nioctl(3, RDMA_VERBS_IOCTL, 0x2000) = 0":  "line 2: a second request, after that of line 1",
		"ioctl(3, RDMA_VERBS_IOCTL, 0x1000) = 0\n0x2000:\t0x28":                           "line 1: the request lies at 0x1000, which no line shows",
		"28 00\n" + strings.Repeat(strings.Repeat("00", 1<<16)+"\n", 17):                  "line 17: more than 1048576 bytes",
		"00000000  28 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |(.|\n*\n0ffffff0\n": "line 3: the address does not fit behind the line with *",
	} {
		_, err := request.Parse(text)
		var e *request.Error
		require.ErrorAs(t, err, &e, text[:min(len(text), 80)])
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
}

// TestNoText: bytes that begin as a mark of UTF-16 or UTF-8 does are still bytes.
func TestNoText(t *testing.T) {
	for _, b := range []string{"\xff\xfe\x00\x00", "\xfe\xff\x01\x00", "\xef\xbb\xbf\x00\x03"} {
		r, err := request.Parse(b)
		require.NoError(t, err)
		require.Equal(t, []byte(b), r.Bytes)
	}
}

func TestGuess(t *testing.T) {
	le := binary.LittleEndian
	alloc := le.AppendUint64(le.AppendUint16(le.AppendUint16(le.AppendUint32(nil, 3), 4), 2), 0x302010)
	ex := append(le.AppendUint16(le.AppendUint16(le.AppendUint32(nil, 0x80000001), 1), 20), make([]byte, 24)...)
	for _, tt := range []struct {
		b    []byte
		want request.Kind
	}{
		{probe, request.Ioctl}, {probe[:8], request.Ioctl}, {alloc, request.Write}, {ex, request.Write},
		{probe[:7], request.Unknown}, {make([]byte, 24), request.Unknown}, {[]byte("hello, world"), request.Unknown},
	} {
		require.Equal(t, tt.want, request.Guess(tt.b, len(tt.b)), "%x", tt.b)
	}
}
