package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// qCounter is a counter of a set, in the order of the answer to QUERY_Q_COUNTER.
type qCounter uint8

// The counters of a set.
const (
	rxWriteRequests qCounter = iota
	rxReadRequests
	rxAtomicRequests
	rxDCTConnect
	outOfBuffer
	outOfSequence
	duplicateRequest
	rnrNakRetryErr
	packetSeqErr
	impliedNakSeqErr
	localAckTimeoutErr
	reqRNRRetriesExceeded
	respLocalLengthError
	reqLocalLengthError
	respLocalQPError
	localOperationError
	respLocalProtection
	reqLocalProtection
	respCQEError
	reqCQEError
	reqMWBinding
	reqBadResponse
	reqRemoteInvalidRequest
	respRemoteInvalidRequest
	reqRemoteAccessErrors
	respRemoteAccessErrors
	reqRemoteOperationErrors
	reqTransportRetriesExceeded
	cqOverflow
	respCQEFlushError
	reqCQEFlushError
	numQCounters
)

// qCounterFields has where each counter stands in the answer.
var qCounterFields = func() (fs [numQCounters]ifc.Field) {
	for c, name := range [numQCounters]string{
		"rx_write_requests", "rx_read_requests", "rx_atomic_requests", "rx_dct_connect",
		"out_of_buffer", "out_of_sequence", "duplicate_request", "rnr_nak_retry_err", "packet_seq_err",
		"implied_nak_seq_err", "local_ack_timeout_err", "req_rnr_retries_exceeded",
		"resp_local_length_error", "req_local_length_error", "resp_local_qp_error", "local_operation_error",
		"resp_local_protection", "req_local_protection", "resp_cqe_error", "req_cqe_error", "req_mw_binding",
		"req_bad_response", "req_remote_invalid_request", "resp_remote_invalid_request",
		"req_remote_access_errors", "resp_remote_access_errors", "req_remote_operation_errors",
		"req_transport_retries_exceeded", "cq_overflow", "resp_cqe_flush_error", "req_cqe_flush_error",
	} {
		fs[c] = ifc.Must("query_q_counter_out").Field(name)
	}
	return fs
}()

// counterSet is a set of counters, which queue pairs name by its number.
type counterSet [numQCounters]uint32

// The fields of QUERY_Q_COUNTER.
var (
	qCounterSet       = ifc.Must("query_q_counter_in").Field("counter_set_id")
	qCounterClear     = ifc.Must("query_q_counter_in").Field("clear")
	qCounterAggregate = ifc.Must("query_q_counter_in").Field("aggregate")
)

// allocQCounter makes a set. Set 0, which queue pairs have that name none, does
// not exist and counts nothing.
func allocQCounter(d *Device, c *command) *refusal {
	s := new(counterSet)
	n, r := d.add(kindQCounter, c.uid, s)
	if r != nil {
		return r
	}
	d.port.sets[uint8(n)] = s
	putNumber(c.out, n)
	return nil
}

func deallocQCounter(d *Device, c *command) *refusal {
	n := c.number(kindQCounter, 8)
	r := destroy(kindQCounter, 8)(d, c)
	if r == nil {
		d.port.sets[uint8(n)] = nil
	}
	return r
}

// queryQCounter answers with the counters of a set, or with the sums over all
// sets of this uid, and can set them to 0.
func queryQCounter(d *Device, c *command) *refusal {
	if qCounterAggregate.Get(c.in) != 0 {
		for n := range uint32(len(d.port.sets)) {
			if s := d.counterSet(n, c.uid); s != nil {
				s.addTo(c.out)
				s.clearIf(qCounterClear.Get(c.in) != 0)
			}
		}
		return nil
	}
	s := d.counterSet(uint32(qCounterSet.Get(c.in)), c.uid)
	if s == nil {
		return noSuchQCounter
	}
	s.addTo(c.out)
	s.clearIf(qCounterClear.Get(c.in) != 0)
	return nil
}

// counterSet returns a set if the uid may see it.
func (d *Device) counterSet(n uint32, uid uint16) *counterSet {
	o, _ := d.find(kindQCounter, n, uid, toRead)
	s, _ := o.as.(*counterSet)
	return s
}

func (s *counterSet) addTo(out []byte) {
	for c, f := range qCounterFields {
		f.Set(out, f.Get(out)+uint64(s[c]))
	}
}

func (s *counterSet) clearIf(wanted bool) {
	if wanted {
		*s = counterSet{}
	}
}

// count counts one more in a set.
func (d *Device) count(set uint8, c qCounter) {
	if s := d.port.sets[set]; s != nil {
		s[c]++
	}
}

// traffic is what has passed the port one way: packets and their bytes.
type traffic struct{ packets, octets uint64 }

// trafficCounter is one of the counters of QUERY_VPORT_COUNTER that move here.
type trafficCounter struct{ tx, multicast bool }

// trafficFields has where each stands in the answer.
var trafficFields = map[trafficCounter]struct{ packets, octets ifc.Field }{
	{tx: false, multicast: false}: trafficField("received_ib_unicast"),
	{tx: false, multicast: true}:  trafficField("received_ib_multicast"),
	{tx: true, multicast: false}:  trafficField("transmitted_ib_unicast"),
	{tx: true, multicast: true}:   trafficField("transmitted_ib_multicast"),
}

func trafficField(name string) struct{ packets, octets ifc.Field } {
	l := ifc.Must("query_vport_counter_out")
	return struct{ packets, octets ifc.Field }{l.Field(name + ".packets"), l.Field(name + ".octets")}
}

// at returns the counter's index among the port's.
func (c trafficCounter) at() (i int) {
	if c.tx {
		i |= 1
	}
	if c.multicast {
		i |= 2
	}
	return i
}

// countPort counts packets of that many bytes together that were sent or received.
func (d *Device) countPort(tx bool, multicast bool, packets, bytes int) {
	t := &d.port.traffic[trafficCounter{tx, multicast}.at()]
	t.packets += uint64(packets)
	t.octets += uint64(bytes)
}

var vportCounterClear = ifc.Must("query_vport_counter_in").Field("clear")

func queryVportCounter(d *Device, c *command) *refusal {
	for counter, f := range trafficFields {
		t := d.port.traffic[counter.at()]
		f.packets.Set(c.out, t.packets)
		f.octets.Set(c.out, t.octets)
	}
	for way, fields := range frameFields {
		for cast, f := range fields {
			t := d.port.frames[way][cast]
			f.packets.Set(c.out, t.packets)
			f.octets.Set(c.out, t.octets)
		}
	}
	if vportCounterClear.Get(c.in) != 0 {
		d.port.traffic, d.port.frames = [4]traffic{}, [2][3]traffic{}
	}
	return nil
}
