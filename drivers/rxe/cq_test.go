package rxe

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestCreateCQ follows the recorded cases cq/cqe-…, cq/uhw-out-24 and
// cq/uhw-in-ignored: how many entries a CQ gets and how long its queue is.
func TestCreateCQ(t *testing.T) {
	for _, c := range []struct {
		name      string
		cqe       uint32
		in, out   int
		got, size uint32
	}{
		{"cq/cqe-15", 15, 0, 16, 15, 0x1000},
		{"cq/create-destroy", 16, 0, 16, 31, 0x2000},
		{"cq/cqe-17", 17, 0, 16, 31, 0x2000},
		{"cq/cqe-32767", 32767, 0, 16, 32767, 0x401000},
		{"cq/uhw-out-24", 16, 0, 24, 31, 0x2000},
		{"cq/uhw-in-ignored", 16, 8, 16, 31, 0x2000},
	} {
		r := newRig(t, Config{})
		u := r.udata(make([]byte, c.in), c.out)
		cq, err := r.cq(c.cqe, u)
		require.NoError(t, err, c.name)
		require.Equal(t, c.got, cq.CQE.Load(), c.name)
		mi := r.mminfo(u.Out)
		require.Equal(t, spec.RxeMminfo{Offset: copyuser.PageSize, Size: c.size}, mi, c.name)
		for _, b := range r.bytes(u.Out+16, c.out-16) {
			require.Equal(t, byte(0xa5), b, c.name)
		}
		require.Equal(t, map[string]int{"uc": 1, "pd": 1, "cq": 1, "pending_mmaps": 1}, r.counts(), c.name)

		require.NoError(t, r.dev.Ops.DestroyCQ(cq, r.udata(nil, 0)), c.name)
		require.Equal(t, map[string]int{"uc": 1, "pd": 1}, r.counts(), c.name)
	}
}

// TestCreateCQRefusals follows the recorded cases that it names. A refused
// creation leaves nothing behind.
func TestCreateCQRefusals(t *testing.T) {
	r := newRig(t, Config{Memory: 1 << 20})
	for _, c := range []struct {
		name       string
		cqe, flags uint32
		u          *core.Udata
		want       error
	}{
		{"cq/no-uhw-out", 16, 0, r.udata(nil, 0), rule.RxeCreateCQUdata},
		{"a response of 15 bytes", 16, 0, r.udata(nil, 15), rule.RxeCreateCQUdata},
		{"cq/order-driver-before-cqe", 0, 0, r.udata(nil, 0), rule.RxeCreateCQUdata},
		{"cq/flags-before-uhw-check", 16, 1, r.udata(nil, 0), rule.RxeCreateCQUdata},
		{"flags/cq-timestamp", 16, 1, r.udata(nil, 16), rule.RxeCreateCQFlags},
		{"flags/cq-ignore-overrun", 16, 2, r.udata(nil, 16), rule.RxeCreateCQFlags},
		{"flags before the number of entries", 0, 2, r.udata(nil, 16), rule.RxeCreateCQFlags},
		{"cq/cqe-0", 0, 0, r.udata(nil, 16), rule.RxeCQEmpty},
		{"cq/cqe-2147483648", 1 << 31, 0, r.udata(nil, 16), rule.RxeCQEmpty},
		{"cq/cqe-4294967295", 1<<32 - 1, 0, r.udata(nil, 16), rule.RxeCQEmpty},
		{"one more than the largest", 32768, 0, r.udata(nil, 16), rule.RxeCQTooLarge},
		{"a queue of 4 MiB on a machine with 1 MiB", 32767, 0, r.udata(nil, 16), rule.RxeCreateCQNoMemory},
		{"the response faults", 16, 0, r.outAt(r.none, 16), rule.RxeMmapInfoFault},
		{"no response at address 0: no queue to map", 16, 0, r.outAt(0, 16), nil},
	} {
		before := r.counts()
		cq := &core.CQ{Device: r.dev}
		err := r.dev.Ops.CreateCQ(cq, &core.CQInitAttr{CQE: c.cqe, Flags: c.flags}, c.u.Attrs)
		refused(t, c.want, err, c.name)
		if err == nil {
			require.NoError(t, r.dev.Ops.DestroyCQ(cq, r.udata(nil, 0)), c.name)
		}
		require.Equal(t, before, r.counts(), c.name)
	}
}

// TestMmapOffsets: no offset is given out twice, also not that of a creation
// that failed after it had one (recorded case mmap/failed-create-not-pending).
func TestMmapOffsets(t *testing.T) {
	r := newRig(t, Config{})
	var offsets []uint64
	for range 2 {
		u := r.udata(nil, 16)
		_, err := r.cq(16, u)
		require.NoError(t, err)
		offsets = append(offsets, r.mminfo(u.Out).Offset)
		_, err = r.cq(16, r.outAt(r.none, 16))
		require.ErrorIs(t, err, rule.RxeMmapInfoFault)
	}
	require.Equal(t, []uint64{0x1000, 0x1000 + 2*0x2000}, offsets)
}

// TestResizeCQ follows the recorded cases write/resize-cq and mmap/resize-cq.
// What is in the queue moves to the new one.
func TestResizeCQ(t *testing.T) {
	r := newRig(t, Config{})
	u := r.udata(nil, 16)
	ibcq, err := r.cq(16, u)
	require.NoError(t, err)
	old := r.mminfo(u.Out)
	cq := toRcq(ibcq)
	for i := range uint64(3) {
		require.True(t, cq.post(nil, &spec.WC{WRID: i}, false))
	}
	for _, c := range []struct {
		cqe       int32
		got, size uint32
	}{{4, 7, 0x1000}, {100, 127, 0x5000}} {
		u := r.udata(nil, 16)
		require.NoError(t, r.dev.Ops.ResizeCQ(ibcq, c.cqe, u))
		require.Equal(t, c.got, ibcq.CQE.Load())
		mi := r.mminfo(u.Out)
		require.Equal(t, c.size, mi.Size)
		require.NotEqual(t, old.Offset, mi.Offset)
		_, err := r.d.takePending(nil, r.ctx, old.Offset, copyuser.PageSize)
		refused(t, rule.RxeMmapNoObject, err, "the old queue cannot be mapped any more")
		old = mi
	}
	wcs, err := r.dev.Ops.PollCQ(r.task, ibcq, 8)
	require.NoError(t, err)
	require.Len(t, wcs, 3)
	for i, wc := range wcs {
		require.Equal(t, uint64(i), wc.WRID)
	}
	require.Equal(t, 1, r.counts()["pending_mmaps"])
}

// TestResizeCQRefusals: the queue stays as it was (recorded case
// write/resize-cq).
func TestResizeCQRefusals(t *testing.T) {
	r := newRig(t, Config{Memory: 1 << 20})
	ibcq := r.newCQ(16)
	for range 5 {
		require.True(t, toRcq(ibcq).post(nil, new(spec.WC), false))
	}
	before := r.counts()
	for _, c := range []struct {
		name string
		cqe  int32
		u    *core.Udata
		want error
	}{
		{"no room", 4, r.udata(nil, 15), rule.RxeResizeCQUdata},
		{"write/resize-cq to 0", 0, r.udata(nil, 16), rule.RxeCQEmpty},
		{"negative", -1, r.udata(nil, 16), rule.RxeCQEmpty},
		{"too large", 32768, r.udata(nil, 16), rule.RxeCQTooLarge},
		{"less than it holds", 4, r.udata(nil, 16), rule.RxeCQTooSmall},
		{"no memory", 32767, r.udata(nil, 16), rule.RxeQueueResizeNoMemory},
		{"fault", 100, r.outAt(r.none, 16), rule.RxeMmapInfoFault},
	} {
		refused(t, c.want, r.dev.Ops.ResizeCQ(ibcq, c.cqe, c.u), c.name)
		require.Equal(t, uint32(31), ibcq.CQE.Load(), c.name)
		require.Equal(t, before, r.counts(), c.name)
	}
	require.Equal(t, uint32(5), toRcq(ibcq).queue.count(toClient))
}

// TestDestroyCQInUse: a CQ goes after its QPs (the core refuses before that,
// recorded case busy/pd-cq-with-qp).
func TestDestroyCQInUse(t *testing.T) {
	r := newRig(t, Config{})
	cq := r.newCQ(16)
	qp := r.newQP(r.rcInit(cq))
	refused(t, rule.RxeCQInUse, r.dev.Ops.DestroyCQ(cq, r.udata(nil, 0)), "in use")
	require.NoError(t, r.dev.Ops.DestroyQP(qp, r.udata(nil, 0)))
	require.NoError(t, r.dev.Ops.DestroyCQ(cq, r.udata(nil, 0)))
}

// TestNotify follows the recorded cases ev/arm-twice, ev/solicited-then-any,
// ev/any-then-solicited and ev/solicited-arm-error: how often a CQ that was
// armed so tells of three completions, of which the second is solicited.
func TestNotify(t *testing.T) {
	for _, c := range []struct {
		name  string
		arm   []core.NotifyFlags
		comps int
	}{
		{"not armed", nil, 0},
		{"ev/arm-twice", []core.NotifyFlags{core.NotifyNextComp, core.NotifyNextComp}, 1},
		{"solicited", []core.NotifyFlags{core.NotifySolicited}, 1},
		{"ev/solicited-then-any", []core.NotifyFlags{core.NotifySolicited, core.NotifyNextComp}, 1},
		{"ev/any-then-solicited", []core.NotifyFlags{core.NotifyNextComp, core.NotifySolicited}, 1},
	} {
		r := newRig(t, Config{})
		cq := r.newCQ(16)
		for _, f := range c.arm {
			require.NoError(t, r.dev.Ops.ReqNotifyCQ(r.task, cq, f))
		}
		var told []int
		for i := range 3 {
			before := len(r.raised())
			require.True(t, toRcq(cq).post(nil, new(spec.WC), i == 1))
			if len(r.raised()) > before {
				told = append(told, i)
			}
		}
		require.Len(t, told, c.comps, c.name)
		if c.name == "solicited" {
			require.Equal(t, []int{1}, told)
		}
	}
}

// TestCQOverflow follows the recorded case ev/cq-overflow-destroy-reports: a
// completion that finds the queue full is lost, and the owner is told.
func TestCQOverflow(t *testing.T) {
	r := newRig(t, Config{})
	ibcq := r.newCQ(3)
	cq := toRcq(ibcq)
	for range 3 {
		require.True(t, cq.post(nil, new(spec.WC), false))
	}
	require.False(t, cq.post(nil, new(spec.WC), false))
	require.Equal(t, []uint32{spec.IB_EVENT_CQ_ERR}, r.raised())

	cq.queue.buf.setWord(bufConsumerIndex, 1) // the user took one out
	require.True(t, cq.post(nil, &spec.WC{WRID: 77, Status: 5, QPNum: 9}, false))
	at := cq.queue.at(3)
	var b [cqeSize]byte
	cq.queue.buf.load(at, b[:])
	require.Equal(t, uint64(77), binary.LittleEndian.Uint64(b[:]), "struct ib_uverbs_wc")
	require.Equal(t, uint32(5), binary.LittleEndian.Uint32(b[8:]))
	require.Equal(t, uint32(9), binary.LittleEndian.Uint32(b[28:]))
	require.Equal(t, uint32(0), cq.queue.buf.word(bufProducerIndex), "the index went round")
}
