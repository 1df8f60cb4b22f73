package libmlx5_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// comparer is a process whose kernel is the model, and which holds the model's
// answers to the recorded ones.
type comparer struct {
	*process.Process
	t      *testing.T
	script []call
}

// counted are outputs that name what the device or the process counts, which
// begins elsewhere than on the recorded machine: object, method and attribute.
var counted = map[[3]uint16]bool{
	{0x1008, 0x1000, 0x1004}: true, // the UAR's page
	{0, 0, 1}:                true, // descriptors, handles and keys, in short answers to write() commands
	{0, 0, 0x1001}:           true, // the domain's number
	{3, 0, 0x1001}:           true, // the queue's number
	{3, 1, 1}:                true, // how many events the recorded program has read
	{4, 0, 0xe}:              true, // the queue pair's number
}

// longestCount is the length of the longest answer that only counts: struct
// ib_uverbs_reg_mr_resp. What a device can do is longer.
const longestCount = 12

func (c *comparer) Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error) {
	le := binary.LittleEndian
	hdr := make([]byte, 24)
	require.True(c.t, c.Load(arg, hdr))
	want := c.script[0]
	c.script = c.script[1:]
	object, method := le.Uint16(hdr[2:]), le.Uint16(hdr[4:])
	require.Equal(c.t, want.line, fmt.Sprintf("ioctl object=%#x method=%#x", object, method))
	n, err := c.Process.Ioctl(fd, cmd, arg)
	if want.errno == 0 {
		require.NoError(c.t, err, want.line)
	} else {
		require.ErrorIs(c.t, err, want.errno, want.line)
	}
	for i, a := range want.attrs {
		b := make([]byte, 16)
		require.True(c.t, c.Load(arg+24+16*copyuser.Addr(i), b))
		require.Equal(c.t, a.id, le.Uint16(b))
		if a.out == "" || a.len <= longestCount && counted[[3]uint16{object, method, a.id}] {
			continue
		}
		require.Equal(c.t, a.flags|2, le.Uint16(b[4:])|a.flags, "VALID_OUTPUT of %s, attribute %#x", want.line, a.id)
		recorded, err := hex.DecodeString(a.out)
		require.NoError(c.t, err)
		recorded = append(recorded, make([]byte, int(a.len)-len(recorded))...)
		got := make([]byte, a.len)
		require.True(c.t, c.Load(copyuser.Addr(le.Uint64(b[8:])), got))
		require.Equal(c.t, recorded, got, "%s, attribute %#x", want.line, a.id)
	}
	return n, err
}

func (c *comparer) Mmap(fd int, length uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	if flags&syscall.MAP_ANONYMOUS == 0 {
		want := c.script[0].line
		c.script = c.script[1:]
		require.Equal(c.t, want, fmt.Sprintf("mmap len=%#x prot=%d fd=3 off=%#x", length, prot, off))
	}
	return c.Process.Mmap(fd, length, prot, flags, off)
}

// TestModelAnswersAsRecorded holds the model's answers to what the real kernel
// answered the real library.
func TestModelAnswersAsRecorded(t *testing.T) {
	m := boot(t)
	m.ctx.Close()
	k := &comparer{Process: m.proc, t: t, script: readConversation(t, "testdata/rc_pingpong.txt").script}
	c, err := libmlx5.OpenDevice(k, node)
	require.NoError(t, err)
	ch, err := c.CreateCompChannel()
	require.NoError(t, err)
	pd, err := c.AllocPD()
	require.NoError(t, err)
	buf, err := verbs.Alloc(k, 4096)
	require.NoError(t, err)
	mr, err := pd.RegMR(buf, 4096, uint64(buf), 1)
	require.NoError(t, err)
	cq, err := c.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 501, Channel: ch}})
	require.NoError(t, err)
	qp, err := c.CreateQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 500, MaxSendSGE: 1, MaxRecvSGE: 1}})
	require.NoError(t, err)
	pingpongInit(t, qp)
	pingpongAddress(t, c)
	pingpongConnect(t, qp, 0x42, 0x581981, 0x150643)
	require.NoError(t, qp.Destroy())
	require.NoError(t, cq.Destroy())
	require.NoError(t, mr.Dereg())
	require.NoError(t, pd.Dealloc())
	c.Close()
	require.Empty(t, k.script)
}
