package verbs_test

import (
	"encoding/hex"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
	"uverbsim/verbs"
)

// TestCreateSRQByWrite: a queue that is not basic has another command.
func TestCreateSRQByWrite(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(*verbs.SRQInitAttr)
		command byte
		want    string // from behind the header and the address of the answer on
	}{
		{"basic", func(*verbs.SRQInitAttr) {}, spec.IB_USER_VERBS_CMD_CREATE_SRQ,
			"0100000000000000 11000000 0a000000 02000000 03000000"},
		{"XRC", func(a *verbs.SRQInitAttr) { a.Type = verbs.IBV_SRQT_XRC }, spec.IB_USER_VERBS_CMD_CREATE_XSRQ,
			"0100000000000000 01000000 11000000 0a000000 02000000 03000000 00000000 44000000 22000000"},
		{"tag matching", func(a *verbs.SRQInitAttr) { a.Type, a.MaxNumTags = verbs.IBV_SRQT_TM, 6 }, spec.IB_USER_VERBS_CMD_CREATE_XSRQ,
			"0100000000000000 02000000 11000000 0a000000 02000000 03000000 06000000 00000000 22000000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newKernel(t)
			k.write = func(req []byte) (int, error) {
				respond(k, req, 8, wire(t, "07000000 0f000000 04000000 99000000"))
				return len(req), nil
			}
			c := context(t, k, false)
			k.ioctl = func([]byte) error { return syscall.ENOTTY }
			pd, cq, _, xrcd := k.objects(c)
			attr := verbs.SRQInitAttr{PD: pd, CQ: cq, XRCD: xrcd, Attr: verbs.SRQAttr{MaxWR: 10, MaxSGE: 2, SRQLimit: 3}}
			tt.change(&attr)
			srq := new(verbs.SRQ)
			require.NoError(t, c.CmdCreateSRQ(srq, &attr, verbs.UHW{}))
			require.Equal(t, tt.command, k.writes[0][0])
			require.Equal(t, hex.EncodeToString(wire(t, tt.want)), hex.EncodeToString(k.writes[0][16:]))
			require.Equal(t, []uint32{7, 0x99}, []uint32{srq.Handle, srq.Num})
			require.Equal(t, verbs.SRQAttr{MaxWR: 15, MaxSGE: 4, SRQLimit: 3}, attr.Attr)
		})
	}
}

// TestCreateSRQRefused: parts that a queue of a type needs.
func TestCreateSRQRefused(t *testing.T) {
	k := newKernel(t)
	c := context(t, k, true)
	pd, cq, _, xrcd := k.objects(c)
	for name, attr := range map[string]verbs.SRQInitAttr{
		"XRC without a domain": {PD: pd, Type: verbs.IBV_SRQT_XRC, CQ: cq},
		"XRC without a queue":  {PD: pd, Type: verbs.IBV_SRQT_XRC, XRCD: xrcd},
		"tags without a queue": {PD: pd, Type: verbs.IBV_SRQT_TM, MaxNumTags: 1},
		"no tags":              {PD: pd, Type: verbs.IBV_SRQT_TM, CQ: cq},
	} {
		require.ErrorIs(t, c.CmdCreateSRQ(new(verbs.SRQ), &attr, verbs.UHW{}), verbs.ErrSRQParts, name)
	}
	require.Empty(t, k.ioctls)
}

// TestAsyncEvents: an event leads to its object by the handle that the kernel was
// given, and its object waits in its destruction until it is acknowledged.
func TestAsyncEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		c := context(t, k, true)
		c.AsyncFD = 4
		pd, cq, _, _ := k.objects(c)
		handles := map[uint16]byte{}
		k.ioctl = func(buf []byte) error {
			switch key(buf) {
			case [2]uint16{spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE}:
				handles[spec.UVERBS_OBJECT_QP] = attr(t, buf, spec.UVERBS_ATTR_CREATE_QP_USER_HANDLE)[8]
			case [2]uint16{spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_CREATE}:
				handles[spec.UVERBS_OBJECT_SRQ] = attr(t, buf, spec.UVERBS_ATTR_CREATE_SRQ_USER_HANDLE)[8]
			case [2]uint16{spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_DESTROY}:
				k.put(buf, spec.UVERBS_ATTR_DESTROY_QP_RESP, wire(t, "02000000"))
			case [2]uint16{spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_DESTROY}:
				k.put(buf, spec.UVERBS_ATTR_DESTROY_SRQ_RESP, wire(t, "01000000"))
			}
			return nil
		}
		qp, srq := new(verbs.QP), new(verbs.SRQ)
		require.NoError(t, c.CmdCreateQP(qp, &verbs.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC}, verbs.UHW{}))
		require.NoError(t, c.CmdCreateSRQ(srq, &verbs.SRQInitAttr{PD: pd}, verbs.UHW{}))
		event := func(element, typ byte) (*verbs.AsyncEvent, error) {
			k.read = func(fd int) []byte {
				require.Equal(t, 4, fd)
				return []byte{element, 7: 0, 8: typ, 15: 0}
			}
			return c.GetAsyncEvent()
		}
		var events []*verbs.AsyncEvent
		for _, tt := range []struct {
			element byte
			want    verbs.AsyncEvent
		}{
			{handles[spec.UVERBS_OBJECT_QP], verbs.AsyncEvent{Type: verbs.IBV_EVENT_QP_FATAL, QP: qp}},
			{handles[spec.UVERBS_OBJECT_QP], verbs.AsyncEvent{Type: verbs.IBV_EVENT_QP_LAST_WQE_REACHED, QP: qp}},
			{handles[spec.UVERBS_OBJECT_SRQ], verbs.AsyncEvent{Type: verbs.IBV_EVENT_SRQ_LIMIT_REACHED, SRQ: srq}},
			{1, verbs.AsyncEvent{Type: verbs.IBV_EVENT_PORT_ACTIVE, PortNum: 1}},
		} {
			ev, err := event(tt.element, byte(tt.want.Type))
			require.NoError(t, err)
			require.Equal(t, &tt.want, ev)
			events = append(events, ev)
		}
		_, err := event(handles[spec.UVERBS_OBJECT_SRQ], byte(verbs.IBV_EVENT_QP_FATAL))
		require.Error(t, err, "the handle is not that of a queue pair")
		k.read = func(int) []byte { return make([]byte, 8) }
		_, err = c.GetAsyncEvent()
		require.Error(t, err)

		done := make(chan error, 2)
		go func() { done <- qp.CmdDestroyQP() }()
		synctest.Wait()
		events[0].Ack()
		synctest.Wait()
		require.Empty(t, done, "one of two is acknowledged")
		events[1].Ack()
		require.NoError(t, <-done)
		go func() { done <- srq.CmdDestroySRQ() }()
		synctest.Wait()
		require.Empty(t, done)
		events[2].Ack()
		require.NoError(t, <-done)
		events[3].Ack()
	})
}

// TestDestroyByWrite: destructions that have a write() form.
func TestDestroyByWrite(t *testing.T) {
	k := newKernel(t)
	k.write = func(req []byte) (int, error) { return len(req), nil }
	c := context(t, k, false)
	k.ioctl = func([]byte) error { return syscall.ENOTTY }
	_, _, _, xrcd := k.objects(c)
	for _, tt := range []struct {
		command byte
		destroy func() error
	}{
		{spec.IB_USER_VERBS_CMD_CLOSE_XRCD, xrcd.Close},
		{spec.IB_USER_VERBS_CMD_DEALLOC_MW, (&verbs.MW{Context: c, Handle: 0x44}).Dealloc},
		{spec.IB_USER_VERBS_CMD_DESTROY_AH, (&verbs.AH{Context: c, Handle: 0x44}).CmdDestroyAH},
	} {
		k.writes = nil
		require.NoError(t, tt.destroy())
		require.Equal(t, []byte{tt.command, 0x44}, []byte{k.writes[0][0], k.writes[0][8]})
	}
	k.writes = nil
	qp := new(verbs.QP)
	pd, cq, _, _ := k.objects(c)
	k.write = func(req []byte) (int, error) {
		respond(k, req, 8, make([]byte, 4))
		return len(req), nil
	}
	require.NoError(t, c.CmdCreateQP(qp, &verbs.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC}, verbs.UHW{}))
	require.NoError(t, qp.CmdDestroyQP())
	require.Equal(t, byte(spec.IB_USER_VERBS_CMD_DESTROY_QP), k.writes[1][0])
}

// TestModifyQPEx: a rate limit goes by the extended command, with the driver's
// parts.
func TestModifyQPEx(t *testing.T) {
	k := newKernel(t)
	c := context(t, k, true)
	qp := &verbs.QP{Context: c, Handle: 0x55}
	require.ErrorIs(t, qp.CmdModifyQP(&verbs.QPAttr{}, verbs.IBV_QP_RATE_LIMIT), verbs.ErrQPAttrMask)
	require.ErrorIs(t, qp.CmdModifyQP(&verbs.QPAttr{}, verbs.IBV_QP_RATE_LIMIT), syscall.EOPNOTSUPP)
	out := make([]byte, 16)
	k.ioctl = func(buf []byte) error {
		in := k.at(buf, spec.UVERBS_ATTR_CORE_IN)
		require.Len(t, in, 120)
		require.Equal(t, wire(t, "78563412"), in[112:116])
		require.Equal(t, make([]byte, 16), k.at(buf, spec.UVERBS_ATTR_UHW_IN))
		k.put(buf, spec.UVERBS_ATTR_UHW_OUT, []byte{9, 15: 8})
		return nil
	}
	uhw := verbs.UHW{In: make([]byte, 16), Out: out}
	require.NoError(t, qp.CmdModifyQPEx(&verbs.QPAttr{RateLimit: 0x12345678}, verbs.IBV_QP_RATE_LIMIT, uhw))
	require.Equal(t, []byte{9, 15: 8}, out)
}
