package hw

import (
	"uverbsim/drivers/mlx5/hw/ifc"
)

const (
	eventComp    = ifc.MLX5_EVENT_TYPE_COMP
	eventCQError = ifc.MLX5_EVENT_TYPE_CQ_ERROR
)

// The fields of the event queues' commands and context.
var (
	eqContextIn  = ifc.Must("create_eq_in").Field("eq_context_entry")
	eqContextOut = ifc.Must("query_eq_out").Field("eq_context_entry")
	eqBitmaskIn  = ifc.Must("create_eq_in").Field("event_bitmask")
	eqBitmaskOut = ifc.Must("query_eq_out").Field("event_bitmask").Byte()
	eqNumber     = ifc.Must("create_eq_out").Field("eq_number")
	capLogMaxEQ  = ifc.Must("cmd_hca_cap").Field("log_max_eq_sz")

	eqc = struct{ status, st, pageOffset, logSize, uarPage, intr, logPageSize, consumer, producer ifc.Field }{
		status:      ifc.Must("eqc").Field("status"),
		st:          ifc.Must("eqc").Field("st"),
		pageOffset:  ifc.Must("eqc").Field("page_offset"),
		logSize:     ifc.Must("eqc").Field("log_eq_size"),
		uarPage:     ifc.Must("eqc").Field("uar_page"),
		intr:        ifc.Must("eqc").Field("intr"),
		logPageSize: ifc.Must("eqc").Field("log_page_size"),
		consumer:    ifc.Must("eqc").Field("consumer_counter"),
		producer:    ifc.Must("eqc").Field("producer_counter"),
	}
)

// eq is an event queue. Entries wait in the device until Step writes them.
type eq struct {
	n       uint32
	ctx     []byte // eqc as it was given
	bitmask []byte // event types that come here, 4 x be64, bit 0 the lowest
	uar     uint32
	vector  int
	buf     buffer // no pages: events go to Config.Event
	logSize uint
	pi, ci  uint32
	status  uint8
	st      uint8
	cqs     int // completion queues that report here
}

// takes says whether the driver asked for that type of event here.
func (e *eq) takes(typ uint8) bool {
	word := eqBitmaskIn.Elem(int(typ / 64))
	word.Off -= eqBitmaskIn.Off
	return word.Get(e.bitmask)>>(typ%64)&1 != 0
}

// isHeard says whether any event queue takes a type of events.
func (d *Device) isHeard(typ uint8) bool {
	for _, o := range d.objects[kindEQ].live {
		if o.as.(*eq).takes(typ) {
			return true
		}
	}
	return false
}

// full says that the driver has yet to consume a whole queue of entries.
func (e *eq) full() bool { return (e.pi-e.ci)&bits24 >= 1<<e.logSize }

func createEQ(d *Device, c *command) *refusal {
	ctx := eqContextIn.Bytes(c.in)
	e := &eq{
		ctx:     append([]byte(nil), ctx...),
		bitmask: append([]byte(nil), eqBitmaskIn.Bytes(c.in)...),
		uar:     uint32(eqc.uarPage.Get(ctx)),
		vector:  int(eqc.intr.Get(ctx)),
		buf:     newBuffer(eqc.logPageSize.Get(ctx), eqc.pageOffset.Get(ctx), c.in[pas:]),
		logSize: uint(eqc.logSize.Get(ctx)),
	}
	if uint64(e.logSize) > d.cap(capLogMaxEQ) {
		return badEQSize
	}
	if len(e.buf.pages) > 0 && !e.buf.reaches(EQESize<<e.logSize) {
		return shortEQPages
	}
	n, r := d.add(kindEQ, c.uid, e)
	if r != nil {
		return r
	}
	e.n = n
	eqNumber.Set(c.out, uint64(n))
	return nil
}

// eq finds the queue that stands at byte 8 of a command.
func (c *command) eq(d *Device, a access) *eq {
	if o, ok := d.find(kindEQ, c.number(kindEQ, 8), c.uid, a); ok {
		return o.as.(*eq)
	}
	return nil
}

func destroyEQ(d *Device, c *command) *refusal {
	e := c.eq(d, toChange)
	if e == nil {
		return noSuchObject
	}
	if e.cqs > 0 {
		return eqBusy
	}
	d.remove(kindEQ, e.n)
	d.forget(func(p *pending) bool { return p.eq == e })
	return nil
}

func queryEQ(d *Device, c *command) *refusal {
	e := c.eq(d, toRead)
	if e == nil {
		return noSuchObject
	}
	ctx := eqContextOut.Bytes(c.out)
	copy(ctx, e.ctx)
	eqc.status.Set(ctx, uint64(e.status))
	eqc.st.Set(ctx, uint64(e.st))
	eqc.consumer.Set(ctx, uint64(e.ci))
	eqc.producer.Set(ctx, uint64(e.pi))
	copy(c.out[eqBitmaskOut:], e.bitmask)
	return nil
}

// moveEQ is the doorbell of an event queue: queue number in bits 31:24, consumer
// index below. Arming asks for an interrupt at the next entry, or at once if
// there is one beyond the index.
func (d *Device) moveEQ(uar, word uint32, arm bool) {
	o, ok := d.objects[kindEQ].live[word>>24]
	if !ok {
		return
	}
	e := o.as.(*eq)
	if e.uar != uar {
		return
	}
	e.ci = word & bits24
	if arm {
		e.st = ifc.MLX5_EQC_ST_ARMED
		if (e.pi-e.ci)&bits24 != 0 {
			d.push(pending{eq: e, interrupt: true})
		}
	}
	d.kick()
}
