package core

// Flow is a struct ib_flow, a steering rule.
type Flow struct {
	Device *Device
	QP     *QP // nil for a rule without one
	Driver any
}

// FlowAttr is a struct ib_flow_attr. Specs are the parsed filters and actions.
type FlowAttr struct {
	Type     uint32
	Priority uint16
	Flags    uint32
	Port     uint8
	Specs    []FlowSpec
}

// FlowSpec is one struct ib_flow_spec: a filter with value and mask of the
// same length, or an action.
type FlowSpec struct {
	Type        uint32
	Value, Mask []byte
	Action      *FlowAction
	Counters    *Counters
	TagID       uint32
}

// FlowAction is a struct ib_flow_action.
type FlowAction struct {
	Device *Device
	Type   uint32
	Usecnt Usecnt
	Driver any
}

// Counters is a struct ib_counters, a set of flow counters.
type Counters struct {
	Device *Device
	Usecnt Usecnt
	Driver any
}

// CountersReadAttr is a struct ib_counters_read_attr.
type CountersReadAttr struct {
	Buf   []uint64
	Flags uint32
}
