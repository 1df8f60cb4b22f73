package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// The fields of the commands about flow counters.
var (
	fcBulkLog = ifc.Must("alloc_flow_counter_in").Field("flow_counter_bulk_log_size")
	fcBulk    = ifc.Must("alloc_flow_counter_in").Field("flow_counter_bulk")
	fcClear   = ifc.Must("query_flow_counter_in").Field("clear")
	fcCount   = ifc.Must("query_flow_counter_in").Field("num_of_counters")
	fcID      = ifc.Must("query_flow_counter_in").Field("flow_counter_id")
	fcOut     = ifc.Must("query_flow_counter_out").Field("flow_statistics").Byte()
	fcPackets = ifc.Must("traffic_counter").Field("packets")
	fcOctets  = ifc.Must("traffic_counter").Field("octets")
	fcSize    = ifc.Must("traffic_counter").Size()
)

// flowCounter counts the frames that rules with it are for.
type flowCounter struct {
	traffic
	base uint32 // of those that were made together
}

// firstBulk is how many counters bit 0 of flow_counter_bulk stands for
// (MLX5_FC_BULK_128 in include/linux/mlx5/mlx5_ifc.h); each further bit stands for
// twice as many.
const firstBulk = 128

// mostCounters is how many counters this device makes at once.
const mostCounters = 1 << 15

// allocFlowCounter makes a counter, or many with numbers that follow each other.
// Only one whose number is the first of them can be given back.
func allocFlowCounter(d *Device, c *command) *refusal {
	many := uint32(1) << fcBulkLog.Get(c.in)
	if bulk := fcBulk.Get(c.in); bulk != 0 && many == 1 {
		many = uint32(bulk) * firstBulk
	}
	if many > mostCounters {
		return limitReached
	}
	base, r := d.addMany(kindFlowCounter, c.uid, many)
	if r != nil {
		return r
	}
	for i := range many {
		d.counters[base+i] = &flowCounter{base: base}
	}
	putNumber(c.out, base)
	return nil
}

// addMany makes a number like add, with as many behind it that nobody else gets.
func (d *Device) addMany(k kind, uid uint16, many uint32) (uint32, *refusal) {
	if many == 1 {
		return d.add(k, uid, uint32(1))
	}
	s := d.objects[k].of(uid)
	if uint64(s.next)+uint64(many) > uint64(s.end) {
		return 0, limitReached
	}
	free := s.free
	s.free = nil // one that was given back has no room behind it
	n, r := d.add(k, uid, many)
	s.free = free
	if r == nil {
		s.next += many - 1
	}
	return n, r
}

func deallocFlowCounter(d *Device, c *command) *refusal {
	base := c.number(kindFlowCounter, 8)
	many, _ := d.objects[kindFlowCounter].live[base].as.(uint32)
	if r := destroy(kindFlowCounter, 8)(d, c); r != nil {
		return r
	}
	for i := range many {
		delete(d.counters, base+i)
	}
	return nil
}

// queryFlowCounter answers with counters whose numbers follow each other, as many
// as there is room for, and can set them to 0.
func queryFlowCounter(d *Device, c *command) *refusal {
	first, many := uint32(fcID.Get(c.in)), uint32(max(1, fcCount.Get(c.in)))
	out := c.out[fcOut:]
	for i := range many {
		fc := d.counters[first+i]
		if fc == nil {
			if i == 0 {
				return noSuchObject
			}
			break
		}
		if _, ok := d.find(kindFlowCounter, fc.base, c.uid, toRead); !ok {
			return noSuchObject
		}
		if len(out) < fcSize {
			break
		}
		fcPackets.Set(out, fc.packets)
		fcOctets.Set(out, fc.octets)
		out = out[fcSize:]
		if fcClear.Get(c.in) != 0 {
			fc.traffic = traffic{}
		}
	}
	return nil
}
