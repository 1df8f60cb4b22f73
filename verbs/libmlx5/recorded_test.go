package libmlx5_test

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// conversation is a system whose kernel answers as the recorded one did, and
// fails the test when it is asked anything else.
type conversation struct {
	*copyuser.AddressSpace
	t      *testing.T
	script []call
	opened string
	closed []int
}

// call is a recorded system call.
type call struct {
	line  string // its first line
	errno syscall.Errno
	attrs []attr
}

// attr is an attribute of a recorded ioctl.
type attr struct {
	id, len, flags uint16
	in, out        string // hex; "**" in in is any byte
	data, becomes  uint64
}

func readConversation(t *testing.T, file string) *conversation {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	c := &conversation{AddressSpace: copyuser.NewAddressSpace(), t: t}
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  attr"):
			last := &c.script[len(c.script)-1]
			last.attrs = append(last.attrs, parseAttr(t, line))
		default:
			what, result, _ := strings.Cut(line, " = ")
			next := call{line: what}
			if result == "ENOSPC" {
				next.errno = syscall.ENOSPC
			}
			c.script = append(c.script, next)
		}
	}
	return c
}

func parseAttr(t *testing.T, line string) (a attr) {
	fields := strings.Fields(line)
	_, err := fmt.Sscanf(strings.Join(fields[1:4], " "), "%v len=%d fl=%d", &a.id, &a.len, &a.flags)
	require.NoError(t, err, line)
	a.becomes = 1<<64 - 1
	for _, f := range fields[4:] {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "in":
			a.in = value
		case "out":
			a.out = value
		case "data":
			_, err = fmt.Sscan(value, &a.data)
		case "becomes":
			_, err = fmt.Sscan(value, &a.becomes)
		default:
			t.Fatalf("unknown member in %q", line)
		}
		require.NoError(t, err, line)
	}
	return a
}

// next is the next call of the recording, which the library has to make now.
func (c *conversation) next(line string) *call {
	require.NotEmpty(c.t, c.script, "after the recording's end: %s", line)
	want := &c.script[0]
	c.script = c.script[1:]
	require.Equal(c.t, want.line, line)
	return want
}

func (c *conversation) Ioctl(_ int, _ uint32, arg copyuser.Addr) (int64, error) {
	buf := make([]byte, 24)
	require.True(c.t, c.Load(arg, buf))
	le := binary.LittleEndian
	want := c.next(fmt.Sprintf("ioctl object=%#x method=%#x", le.Uint16(buf[2:]), le.Uint16(buf[4:])))
	require.Equal(c.t, uint64(1), le.Uint64(buf[16:]), "the driver's id, and nothing behind it")
	require.Equal(c.t, len(want.attrs), int(le.Uint16(buf[6:])), "%s: attributes", want.line)
	for i := range want.attrs {
		c.answer(want.line, &want.attrs[i], arg+24+16*copyuser.Addr(i), want.errno == 0)
	}
	if want.errno != 0 {
		return -1, want.errno
	}
	return 0, nil
}

// answer compares an attribute with the recorded one and does what the kernel
// did with it.
func (c *conversation) answer(call string, want *attr, at copyuser.Addr, succeeded bool) {
	b := make([]byte, 16)
	require.True(c.t, c.Load(at, b))
	le := binary.LittleEndian
	what := fmt.Sprintf("%s, attribute %#x", call, want.id)
	flags := want.flags &^ 2
	require.Equal(c.t, []uint16{want.id, want.len, flags, 0},
		[]uint16{le.Uint16(b), le.Uint16(b[2:]), le.Uint16(b[4:]), le.Uint16(b[6:])}, what)
	switch {
	case want.out != "":
		out, err := hex.DecodeString(want.out)
		require.NoError(c.t, err)
		if succeeded {
			out = append(out, make([]byte, int(want.len)-len(out))...)
			require.True(c.t, c.Store(copyuser.Addr(le.Uint64(b[8:])), out), what)
			require.True(c.t, c.Store(at+4, []byte{byte(flags) | 2}))
		}
	case want.in != "":
		in := b[8 : 8+min(8, want.len)]
		if want.len > 8 {
			in = make([]byte, want.len)
			require.True(c.t, c.Load(copyuser.Addr(le.Uint64(b[8:])), in), what)
		}
		require.True(c.t, matches(want.in, in), "%s: is %x, was %s", what, in, want.in)
	default:
		require.Equal(c.t, want.data, le.Uint64(b[8:]), what)
		if want.becomes != 1<<64-1 {
			require.True(c.t, c.Store(at+8, le.AppendUint64(nil, want.becomes)))
		}
	}
}

// matches compares bytes with hex text in which ** is any byte.
func matches(pattern string, b []byte) bool {
	if len(pattern) != 2*len(b) {
		return false
	}
	for i := range b {
		if p := pattern[2*i : 2*i+2]; p != "**" && p != hex.EncodeToString(b[i:i+1]) {
			return false
		}
	}
	return true
}

func (c *conversation) Open(path string, flags int) (int, error) {
	require.Equal(c.t, syscall.O_RDWR|syscall.O_CLOEXEC, flags)
	c.opened = path
	return 3, nil
}

func (c *conversation) Close(fd int) error {
	c.closed = append(c.closed, fd)
	return nil
}

func (c *conversation) Mmap(fd int, length uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	if flags&syscall.MAP_ANONYMOUS == 0 {
		c.next(fmt.Sprintf("mmap len=%#x prot=%d fd=%d off=%#x", length, prot, fd, off))
		require.Equal(c.t, syscall.MAP_SHARED, flags)
	}
	return c.AddressSpace.Mmap(nil, copyuser.MmapRequest{Length: length, Prot: prot, Flags: syscall.MAP_PRIVATE})
}

func (c *conversation) Munmap(at copyuser.Addr, length uint64) error {
	return c.AddressSpace.Munmap(nil, at, length)
}

func (c *conversation) Read(int, copyuser.Addr, uint64) (int64, error)  { return 0, syscall.EAGAIN }
func (c *conversation) Write(int, copyuser.Addr, uint64) (int64, error) { return 0, syscall.EBADF }
func (c *conversation) Poll(int, time.Duration) (uint16, error)         { return 0, nil }

// TestRecordedConversation holds the library to what the real one asked of a
// real kernel: every system call of the device, each attribute, each byte that
// is no address.
func TestRecordedConversation(t *testing.T) {
	k := readConversation(t, "testdata/rc_pingpong.txt")
	before := k.Areas()
	c, err := libmlx5.OpenDevice(k, "/dev/infiniband/uverbs0")
	require.NoError(t, err)
	require.Equal(t, uint32(64), c.Resp.CacheLineSize)
	require.Equal(t, uint32(1), c.NumCompVectors)
	require.Equal(t, uint32(0x3fffff), c.Device.Base.MaxCQE)
	ch, err := c.CreateCompChannel()
	require.NoError(t, err)
	pd, err := c.AllocPD()
	require.NoError(t, err)
	require.Equal(t, []uint32{1, 6}, []uint32{pd.Handle, pd.PDN})
	buf, err := verbs.Alloc(k, 4096)
	require.NoError(t, err)
	mr, err := pd.RegMR(buf, 4096, uint64(buf), 1)
	require.NoError(t, err)
	require.Equal(t, []uint32{2, 0x10507, 0x10507}, []uint32{mr.Handle, mr.LKey, mr.RKey})
	cq, err := c.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 501, Channel: ch}})
	require.NoError(t, err)
	require.Equal(t, []uint32{3, 511, 12}, []uint32{cq.Handle, cq.CQE, cq.CQN})
	cq.AckEvents(5)
	require.NoError(t, cq.Destroy())
	require.NoError(t, mr.Dereg())
	require.NoError(t, pd.Dealloc())
	require.NoError(t, ch.Destroy())
	c.Close()

	require.Empty(t, k.script, "calls that the real library made and this one did not")
	require.Equal(t, "/dev/infiniband/uverbs0", k.opened)
	require.Equal(t, []int{5, 3, 4}, k.closed)
	require.NoError(t, k.Munmap(buf, 4096))
	require.Equal(t, before, k.Areas(), "all memory is given back")
}
