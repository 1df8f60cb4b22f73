package pingpong

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// end is one of the two processes, with its device.
type end struct {
	name string
	dev  *mlx5.Device
	proc *process.Process
	ctx  *libmlx5.Context
	pd   *libmlx5.PD
	cq   *libmlx5.CQ
	qp   *libmlx5.QP
	mr   *verbs.MR
	gid  [16]byte

	buf        copyuser.Addr // the message to send, and behind it the one that comes
	size       uint64
	want, got  []byte
	wc         [depth]libmlx5.WC
	sent, came int // messages whose completions were polled
	cqes       int
}

// depth is how many work requests of a kind are posted at once at most.
const depth = 16

// newEnd makes the n-th device of a machine and a process that has opened it.
func newEnd(m *kernel.Machine, f *hw.Fabric, n int, size uint64) (*end, error) {
	e := &end{name: fmt.Sprintf("mlx5_%d", n), size: size}
	last := byte(n + 1)
	var err error
	e.dev, err = mlx5.New(m, mlx5.Config{
		Name:    e.name,
		Profile: hw.ConnectX6Dx.WithMAC([6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, last}),
		Addrs:   []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, last})},
		MTU:     jumbo,
		Fabric:  f,
	})
	if err != nil {
		return nil, err
	}
	e.proc = m.NewProcess(process.Options{})
	if e.ctx, err = libmlx5.OpenDevice(e.proc, fmt.Sprintf("/dev/infiniband/uverbs%d", n)); err != nil {
		return nil, err
	}
	if e.gid, err = e.ctx.QueryGID(1, gidIndex); err != nil {
		return nil, err
	}
	e.want, e.got = make([]byte, size), make([]byte, size)
	return e, e.prepare()
}

const (
	jumbo    = 9000 // an Ethernet MTU that a path MTU of 4096 fits into
	gidIndex = 1    // of the IPv4 address
)

// prepare makes the objects that a connection needs.
func (e *end) prepare() (err error) {
	if e.pd, err = e.ctx.AllocPD(); err != nil {
		return err
	}
	if e.buf, err = verbs.Alloc(e.proc, 2*e.size); err != nil {
		return err
	}
	if e.mr, err = e.pd.RegMR(e.buf, 2*e.size, uint64(e.buf), verbs.IBV_ACCESS_LOCAL_WRITE); err != nil {
		return err
	}
	if e.cq, err = e.ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 4 * depth}}); err != nil {
		return err
	}
	e.qp, err = e.ctx.CreateQP(&libmlx5.QPInitAttr{PD: e.pd, SendCQ: e.cq, RecvCQ: e.cq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: 1, MaxRecvSGE: 1}})
	return err
}

// connect takes the queue pair to RTS.
func (e *end) connect(to *end) error {
	steps := []struct {
		attr verbs.QPAttr
		mask uint32
	}{
		{verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1},
			verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT | verbs.IBV_QP_ACCESS_FLAGS},
		{verbs.QPAttr{QPState: verbs.IBV_QPS_RTR, PathMTU: verbs.IBV_MTU_4096, DestQPNum: to.qp.Num, MaxDestRdAtomic: 1, MinRNRTimer: 12,
			AHAttr: verbs.AHAttr{IsGlobal: true, PortNum: 1, GRH: verbs.GlobalRoute{DGID: to.gid, SGIDIndex: gidIndex, HopLimit: 64}}},
			verbs.IBV_QP_STATE | verbs.IBV_QP_AV | verbs.IBV_QP_PATH_MTU | verbs.IBV_QP_DEST_QPN | verbs.IBV_QP_RQ_PSN |
				verbs.IBV_QP_MAX_DEST_RD_ATOMIC | verbs.IBV_QP_MIN_RNR_TIMER},
		{verbs.QPAttr{QPState: verbs.IBV_QPS_RTS, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MaxRdAtomic: 1},
			verbs.IBV_QP_STATE | verbs.IBV_QP_SQ_PSN | verbs.IBV_QP_TIMEOUT | verbs.IBV_QP_RETRY_CNT | verbs.IBV_QP_RNR_RETRY |
				verbs.IBV_QP_MAX_QP_RD_ATOMIC},
	}
	for i := range steps {
		if err := e.qp.Modify(&steps[i].attr, steps[i].mask); err != nil {
			return err
		}
	}
	return nil
}

// receive posts the receive of the next message.
func (e *end) receive() error {
	_, err := e.qp.PostRecv(&libmlx5.RecvWR{SGList: []verbs.SGE{{
		Addr: e.buf + copyuser.Addr(e.size), Length: uint32(e.size), LKey: e.mr.LKey}}})
	return err
}

// send posts message number n.
func (e *end) send(n int) error {
	if err := verbs.Store(e.proc, e.buf, fill(e.want, n)); err != nil {
		return err
	}
	_, err := e.qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_SIGNALED,
		SGList: []verbs.SGE{{Addr: e.buf, Length: uint32(e.size), LKey: e.mr.LKey}}})
	return err
}

// poll takes the completions that are there.
func (e *end) poll() error {
	for {
		n, err := e.cq.Poll(e.wc[:])
		if err != nil {
			return err
		}
		for i := range e.wc[:n] {
			if err := e.take(&e.wc[i]); err != nil {
				return err
			}
		}
		if n < len(e.wc) {
			return nil
		}
	}
}

func (e *end) take(wc *libmlx5.WC) error {
	e.cqes++
	if wc.Status != libmlx5.IBV_WC_SUCCESS {
		return fmt.Errorf("pingpong: %s: a work request failed with status %d, vendor syndrome %#x", e.name, wc.Status, wc.VendorErr)
	}
	if wc.Opcode != libmlx5.IBV_WC_RECV {
		e.sent++
		return nil
	}
	if uint64(wc.ByteLen) != e.size {
		return fmt.Errorf("pingpong: %s: message %d has %d bytes of %d", e.name, e.came, wc.ByteLen, e.size)
	}
	e.came++
	return nil
}

// check looks at message number n, which has come in.
func (e *end) check(n int) error {
	if err := verbs.Load(e.proc, e.buf+copyuser.Addr(e.size), e.got); err != nil {
		return err
	}
	if !bytes.Equal(e.got, fill(e.want, n)) {
		return fmt.Errorf("pingpong: %s: message %d came with another content than it was sent with", e.name, n)
	}
	return nil
}

// fill writes what message number n consists of.
func fill(p []byte, n int) []byte {
	const step = 0x9e3779b97f4a7c15
	x := uint64(n) * step
	var word [8]byte
	for i := 0; i < len(p); i += len(word) {
		x += step
		binary.LittleEndian.PutUint64(word[:], x^x>>29)
		copy(p[i:], word[:])
	}
	return p
}
