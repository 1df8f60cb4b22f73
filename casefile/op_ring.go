package casefile

// The operations on rxe's mapped queues (include/uapi/rdma/rdma_user_rxe.h),
// which its user library would do.

// SGE is one scatter entry of a work request.
type SGE struct {
	Addr, Len, LKey Value
}

func sgeItem(it item, s *SGE) {
	l := [3]Value{s.Addr, s.Len, s.LKey}
	tuple(it, l[:], func(it item, v *Value) { v.code(it) })
	if it.c.reading {
		s.Addr, s.Len, s.LKey = l[0], l[1], l[2]
	}
}

// RxeRecv puts a struct rxe_recv_wqe into a ring; ENOMEM when that is full.
type RxeRecv struct {
	Map  string
	WrID uint64
	SGE  []SGE
}

func (a *RxeRecv) members(o *object) {
	o.uses(mappings, "map", &a.Map, must)
	integerMember(o, "wr_id", &a.WrID, may)
	listMember(o, "sge", &a.SGE, may, sgeItem)
}

// RxeSend puts a struct rxe_send_wqe into a ring; ENOMEM when that is full.
type RxeSend struct {
	Map       string
	WrID      uint64
	Opcode    uint32 // enum ib_wr_opcode
	SendFlags uint32
	Imm       uint32
	RAddr     Value
	RKey      Value
	SGE       []SGE
}

func (a *RxeSend) members(o *object) {
	o.uses(mappings, "map", &a.Map, must)
	integerMember(o, "wr_id", &a.WrID, may)
	integerMember(o, "opcode", &a.Opcode, must)
	integerMember(o, "send_flags", &a.SendFlags, may)
	integerMember(o, "imm", &a.Imm, may)
	o.value("raddr", &a.RAddr, may)
	o.value("rkey", &a.RKey, may)
	listMember(o, "sge", &a.SGE, may, sgeItem)
}

// RxePoll takes completions out of a CQ's ring until it has Want of them and
// no more are there, or the time is over. They are the answer's WC, their
// number its ret.
type RxePoll struct {
	Map     string
	Want    int
	Timeout int // milliseconds; 0: 2000
}

func (a *RxePoll) members(o *object) {
	o.uses(mappings, "map", &a.Map, must)
	lengthMember(o, "want", &a.Want, must)
	lengthMember(o, "timeout", &a.Timeout, may)
}
