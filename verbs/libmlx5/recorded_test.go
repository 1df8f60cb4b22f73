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

// open opens the recorded device.
func (c *conversation) open() *libmlx5.Context {
	ctx, err := libmlx5.OpenDevice(c, "/dev/infiniband/uverbs0")
	require.NoError(c.t, err)
	require.Equal(c.t, "/dev/infiniband/uverbs0", c.opened)
	return ctx
}

// recordedGID is the GID that the recorded programs used: ::ffff:192.0.2.1.
var recordedGID = [16]byte{10: 0xff, 11: 0xff, 12: 192, 14: 2, 15: 1}

// The masks of the recorded programs' transitions.
const (
	maskInit = verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT | verbs.IBV_QP_ACCESS_FLAGS
	maskRTR  = verbs.IBV_QP_STATE | verbs.IBV_QP_AV | verbs.IBV_QP_PATH_MTU | verbs.IBV_QP_DEST_QPN |
		verbs.IBV_QP_RQ_PSN | verbs.IBV_QP_MAX_DEST_RD_ATOMIC | verbs.IBV_QP_MIN_RNR_TIMER
	maskRTS = verbs.IBV_QP_STATE | verbs.IBV_QP_TIMEOUT | verbs.IBV_QP_RETRY_CNT | verbs.IBV_QP_RNR_RETRY |
		verbs.IBV_QP_SQ_PSN | verbs.IBV_QP_MAX_QP_RD_ATOMIC
)

// recordedPath is the path of the recorded programs.
func recordedPath() verbs.AHAttr {
	return verbs.AHAttr{IsGlobal: true, PortNum: 1,
		GRH: verbs.GlobalRoute{DGID: recordedGID, SGIDIndex: 1, HopLimit: 1}}
}

// pingpongInit, pingpongAddress and pingpongConnect are the steps of the recorded
// programs with queue pairs of connections.
func pingpongInit(t *testing.T, qp *libmlx5.QP) {
	attr, sigAll, err := qp.Query(verbs.IBV_QP_CAP)
	require.NoError(t, err)
	require.False(t, sigAll)
	require.Equal(t, verbs.QPCap{MaxSendWR: 1, MaxRecvWR: attr.Cap.MaxRecvWR, MaxSendSGE: 1,
		MaxRecvSGE: attr.Cap.MaxRecvSGE, MaxInlineData: 60}, attr.Cap)
	require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1}, maskInit))
}

func pingpongAddress(t *testing.T, c *libmlx5.Context) {
	port, err := c.QueryPort(1)
	require.NoError(t, err)
	require.Equal(t, uint8(4), port.LegacyResp.State)
	gid, err := c.QueryGID(1, 1)
	require.NoError(t, err)
	require.Equal(t, recordedGID, gid)
}

func pingpongConnect(t *testing.T, qp *libmlx5.QP, dest, rqPSN, sqPSN uint32) {
	rtr := verbs.QPAttr{QPState: verbs.IBV_QPS_RTR, PathMTU: verbs.IBV_MTU_1024, DestQPNum: dest, RQPSN: rqPSN,
		MaxDestRdAtomic: 1, MinRNRTimer: 12, AHAttr: recordedPath()}
	require.NoError(t, qp.Modify(&rtr, maskRTR))
	rts := verbs.QPAttr{QPState: verbs.IBV_QPS_RTS, Timeout: 14, RetryCnt: 7, RNRRetry: 7, SQPSN: sqPSN, MaxRdAtomic: 1}
	require.NoError(t, qp.Modify(&rts, maskRTS))
}

// TestRecordedConversation holds the library to what the real one asked of a
// real kernel: every system call of the device, each attribute, each byte that
// is no address.
func TestRecordedConversation(t *testing.T) {
	k := readConversation(t, "testdata/rc_pingpong.txt")
	before := k.Areas()
	c := k.open()
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
	attr := libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 500, MaxSendSGE: 1, MaxRecvSGE: 1}}
	qp, err := c.CreateQP(&attr)
	require.NoError(t, err)
	require.Equal(t, []uint32{5, 0x43}, []uint32{qp.Handle, qp.Num})
	require.Equal(t, verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 512, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 60}, attr.Cap)
	pingpongInit(t, qp)
	pingpongAddress(t, c)
	pingpongConnect(t, qp, 0x42, 0x581981, 0x150643)
	require.NoError(t, qp.Destroy())
	cq.AckEvents(5)
	require.NoError(t, cq.Destroy())
	require.NoError(t, mr.Dereg())
	require.NoError(t, pd.Dealloc())
	require.NoError(t, ch.Destroy())
	c.Close()
	require.Empty(t, k.script, "calls that the real library made and this one did not")
	require.Equal(t, []int{5, 3, 4}, k.closed)
	require.NoError(t, k.Munmap(buf, 4096))
	require.Equal(t, before, k.Areas(), "all memory is given back")
}

// TestRecordedDatagrams is the same with datagrams and an address handle.
func TestRecordedDatagrams(t *testing.T) {
	k := readConversation(t, "testdata/ud_pingpong.txt")
	c := k.open()
	_, err := c.QueryPort(1)
	require.NoError(t, err)
	pd, err := c.AllocPD()
	require.NoError(t, err)
	buf, err := verbs.Alloc(k, 8192)
	require.NoError(t, err)
	mr, err := pd.RegMR(buf, 1024+40, uint64(buf), 1)
	require.NoError(t, err)
	cq, err := c.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 501}})
	require.NoError(t, err)
	qp, err := c.CreateQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_UD,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 500, MaxSendSGE: 1, MaxRecvSGE: 1}})
	require.NoError(t, err)
	_, _, err = qp.Query(verbs.IBV_QP_CAP)
	require.NoError(t, err)
	const mask = verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT | verbs.IBV_QP_QKEY
	require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1, QKey: 0x11111111}, mask))
	pingpongAddress(t, c)
	require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RTR}, verbs.IBV_QP_STATE))
	rts := verbs.QPAttr{QPState: verbs.IBV_QPS_RTS, SQPSN: 0xd8a95d}
	require.NoError(t, qp.Modify(&rts, verbs.IBV_QP_STATE|verbs.IBV_QP_SQ_PSN))
	path := recordedPath()
	ah, err := pd.CreateAH(&path)
	require.NoError(t, err)
	require.NoError(t, qp.Destroy())
	require.NoError(t, cq.Destroy())
	require.NoError(t, mr.Dereg())
	require.NoError(t, ah.Destroy())
	require.NoError(t, pd.Dealloc())
	c.Close()
	require.Empty(t, k.script, "calls that the real library made and this one did not")
}

// TestRecordedSharedQueue is the same with sixteen queue pairs and their shared
// receive queue: which doorbell register each one gets stands in the recording.
func TestRecordedSharedQueue(t *testing.T) {
	k := readConversation(t, "testdata/srq_pingpong.txt")
	c := k.open()
	pd, err := c.AllocPD()
	require.NoError(t, err)
	buf, err := verbs.Alloc(k, 4096)
	require.NoError(t, err)
	mr, err := pd.RegMR(buf, 4096, uint64(buf), 1)
	require.NoError(t, err)
	cq, err := c.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 516}})
	require.NoError(t, err)
	attr := libmlx5.SRQInitAttr{Attr: verbs.SRQAttr{MaxWR: 500, MaxSGE: 1}}
	srq, err := pd.CreateSRQ(&attr)
	require.NoError(t, err)
	require.Equal(t, verbs.SRQAttr{MaxWR: 511, MaxSGE: 1}, attr.Attr, "the places that wait are not the program's")
	require.Equal(t, uint32(4), srq.SRQN)
	var qps []*libmlx5.QP
	for range 16 {
		qp, err := c.CreateQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, SRQ: srq, Type: verbs.IBV_QPT_RC,
			Cap: verbs.QPCap{MaxSendWR: 1, MaxSendSGE: 1}})
		require.NoError(t, err)
		_, _, err = qp.Query(verbs.IBV_QP_CAP)
		require.NoError(t, err)
		qps = append(qps, qp)
	}
	for _, qp := range qps {
		require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1}, maskInit))
	}
	_, err = c.QueryPort(1)
	require.NoError(t, err)
	for range qps {
		_, err := c.QueryGID(1, 1)
		require.NoError(t, err)
	}
	for i, qp := range qps {
		pingpongConnect(t, qp, 0x42+uint32(i), 0, 0)
	}
	for _, qp := range qps {
		require.NoError(t, qp.Destroy())
	}
	require.NoError(t, srq.Destroy())
	require.NoError(t, cq.Destroy())
	require.NoError(t, mr.Dereg())
	require.NoError(t, pd.Dealloc())
	c.Close()
	require.Empty(t, k.script, "calls that the real library made and this one did not")
}
