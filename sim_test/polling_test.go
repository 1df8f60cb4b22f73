package sim_test

import (
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/spec"
)

// TestPollingAllocatesNothing holds the budget of what a program asks for again and
// again while there is nothing: an event of an event file, read without waiting and
// looked for by poll, and to be told of the next completion.
func TestPollingAllocatesNothing(t *testing.T) {
	c := newCaller(t, "rxe")
	at := c.call(t, spec.UVERBS_OBJECT_ASYNC_EVENT, spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC,
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE})
	c.do(t, at)
	word, ok := c.task.Mem.GetUint64(at + spec.IoctlHdrSize + spec.IoctlAttrDataOffset)
	require.True(t, ok)
	events := int(int32(word))
	require.NoError(t, c.task.SetNonblock(events, true))
	l := c.cqLife(t)
	c.do(t, l.create)
	cq, ok := c.task.Mem.GetUint64(l.from)
	require.True(t, ok)
	req := spec.ReqNotifyCQ{CQHandle: uint32(cq)}
	cmd := binary.LittleEndian.AppendUint32(nil, spec.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ)
	cmd = binary.LittleEndian.AppendUint16(cmd, 16/4)
	cmd = append(binary.LittleEndian.AppendUint16(cmd, 0), spec.Bytes(&req)...)
	arm, buf := c.alloc(t, uint64(len(cmd))), c.alloc(t, 64)
	require.True(t, c.task.Mem.Store(arm, cmd))
	for name, f := range map[string]func(){
		"read of an event file": func() {
			if _, err := c.task.Read(events, buf, 16); rule.Errno(err) != syscall.EAGAIN {
				t.Fatal(err)
			}
		},
		"poll of an event file": func() {
			if got, err := c.task.Poll(events, 0); err != nil || got != 0 {
				t.Fatal(got, err)
			}
		},
		"REQ_NOTIFY_CQ": func() {
			if _, err := c.task.Write(c.fd, arm, uint64(len(cmd))); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { require.Zero(t, testing.AllocsPerRun(200, f)) })
	}
}
