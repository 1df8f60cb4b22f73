package hw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where QUERY_Q_COUNTER answers with what: 4 bytes each.
var qCounterBytes = map[qCounter]int{
	rxWriteRequests: 16, rxReadRequests: 24, rxAtomicRequests: 32, rxDCTConnect: 40, outOfBuffer: 48, outOfSequence: 56,
	duplicateRequest: 64, rnrNakRetryErr: 72, packetSeqErr: 80, impliedNakSeqErr: 88, localAckTimeoutErr: 96,
	reqRNRRetriesExceeded: 112, respLocalLengthError: 120, reqLocalLengthError: 124, respLocalQPError: 128,
	localOperationError: 132, respLocalProtection: 136, reqLocalProtection: 140, respCQEError: 144, reqCQEError: 148,
	reqMWBinding: 152, reqBadResponse: 156, reqRemoteInvalidRequest: 160, respRemoteInvalidRequest: 164,
	reqRemoteAccessErrors: 168, respRemoteAccessErrors: 172, reqRemoteOperationErrors: 176, reqTransportRetriesExceeded: 180,
	cqOverflow: 184, respCQEFlushError: 188, reqCQEFlushError: 192,
}

func TestQCounters(t *testing.T) {
	require.Len(t, qCounterBytes, int(numQCounters))
	r := newRig(t, ConnectX6Dx)
	a := r.made(Input(0x771, 0xffff, 0, 0))
	b := r.made(Input(0x771, 0xffff, 0, 0))
	ask := func(set uint32, flags uint64) []byte {
		return cmd(0x773, 0, 0, 0, at{24, 1, flags}, at{31, 1, uint64(set)})
	}
	const clear, aggregate = 1 << 7, 1 << 6
	r.answers(ask(a, 0))
	var want, sums []at
	for c, where := range qCounterBytes {
		for range int(c) + 1 {
			r.count(uint8(a), c)
		}
		want = append(want, at{where, 4, uint64(c) + 1})
		sums = append(sums, at{where, 4, uint64(c) + 2})
		r.count(uint8(b), c)
		r.count(0, c)   // no set
		r.count(200, c) // nobody's
	}
	r.answers(ask(a, 0), want...)
	r.answers(ask(0, aggregate), sums...)
	r.answers(ask(a, clear), want...)
	r.answers(ask(a, 0))
	r.refused(ask(0, 0), noSuchQCounter)
	r.refused(ask(200, 0), noSuchQCounter)

	uid := uint16(r.made(Input(0xa04, 0, 0, 0)))
	r.refused(cmd(0x772, uid, 0, 0, at{8, 4, uint64(b)}), noSuchObject)
	r.answers(query(0x772, b))
	r.refused(ask(b, 0), noSuchQCounter)
	r.count(uint8(b), outOfBuffer)
	require.Equal(t, b, r.made(Input(0x771, 0xffff, 0, 0)))
	r.answers(ask(b, 0))
}

func TestVportCounters(t *testing.T) {
	r := newRig(t, ConnectX6Dx)
	ask := func(flags uint64) []byte { return cmd(0x770, 0, 0, 0, at{24, 1, flags}) }
	r.answers(ask(0))
	r.countPort(false, false, 1, 100)
	r.countPort(false, false, 1, 50)
	r.countPort(true, false, 1, 7)
	r.countPort(false, true, 1, 8)
	r.countPort(true, true, 1, 9)
	want := []at{
		{48, 8, 2}, {56, 8, 150}, // received_ib_unicast: packets, octets
		{64, 8, 1}, {72, 8, 7}, // transmitted_ib_unicast
		{80, 8, 1}, {88, 8, 8}, // received_ib_multicast
		{96, 8, 1}, {104, 8, 9}, // transmitted_ib_multicast
	}
	r.answers(ask(0), want...)
	r.answers(ask(1<<7), want...)
	r.answers(ask(0))
}
