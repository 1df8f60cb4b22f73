package gen

import (
	"math"
	"strings"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// values are the numbers that a member of a request has: mostly one of usual,
// which a valid call has, seldom one of odd.
type values struct{ usual, odd []uint64 }

// oddly is how often an odd value is taken.
const oddly = 0.015

// members are the values of members of requests and of attributes, by the
// names of the wire structs; an attribute has its member's name.
var members = map[string]values{
	"CQE":           {[]uint64{1, 2, 4, 7, 16, 63, 100}, []uint64{0, 1 << 15, 1<<20 + 1, math.MaxUint32}},
	"CompVector":    {[]uint64{0}, []uint64{1, math.MaxUint32}},
	"MaxSendWR":     {[]uint64{1, 2, 4, 9}, []uint64{0, 1<<20 + 1, math.MaxUint32}},
	"MaxRecvWR":     {[]uint64{1, 2, 4, 9}, []uint64{0, 1<<20 + 1, math.MaxUint32}},
	"MaxWR":         {[]uint64{1, 2, 4, 9}, []uint64{0, 1<<20 + 1, math.MaxUint32}},
	"MaxSendSGE":    {[]uint64{1, 2, 3}, []uint64{0, 32, 33, math.MaxUint32}},
	"MaxRecvSGE":    {[]uint64{1, 2, 3}, []uint64{0, 32, 33, math.MaxUint32}},
	"MaxSGE":        {[]uint64{1, 2, 3}, []uint64{0, 27, 33, math.MaxUint32}},
	"MaxInlineData": {[]uint64{0, 16, 64}, []uint64{400, 512, 513, math.MaxUint32}},
	"SRQLimit":      {[]uint64{0, 1}, []uint64{5, 1 << 21}},
	"SQSigAll":      {[]uint64{0, 1}, []uint64{2}},
	"IsSRQ":         {[]uint64{0}, []uint64{1, 2}},
	"QPType":        {[]uint64{qpRC, qpUC, qpUD, qpRC}, []uint64{0, 1, 5, 6, 8, 9, 10, 255}},
	"SRQType":       {[]uint64{0}, []uint64{1, 2, 3}},
	"MWType":        {[]uint64{1, 2}, []uint64{0, 3}},
	"AccessFlags":   {[]uint64{0, 1, 3, 5, 7, 15}, []uint64{2, 8, 16, 32, 64, 1 << 20, 1 << 30, math.MaxUint32}},
	"Flags":         {[]uint64{0}, []uint64{1, 2, 4, 7, 8}},
	"CreateFlags":   {[]uint64{0}, []uint64{1, 2, 32, 1 << 31}},
	"CompMask":      {[]uint64{0}, []uint64{1, 2, 1 << 31}},
	"Reserved":      {[]uint64{0}, []uint64{1}},
	"PortNum":       {[]uint64{1}, []uint64{0, 2, 255}},
	"SolicitedOnly": {[]uint64{0, 1}, []uint64{2}},
	"Ne":            {[]uint64{0, 1, 3}, []uint64{100}},
	"WRCount":       {[]uint64{0}, []uint64{1}},
	"SGECount":      {[]uint64{0}, []uint64{1}},
	"WQESize":       {[]uint64{56, 16}, []uint64{0, 7}},
	"SGIDIndex":     {[]uint64{0, 1}, []uint64{2, 255}},
	"IsGlobal":      {[]uint64{1}, []uint64{0}},
	"HopLimit":      {[]uint64{1, 64}, nil},
	"FlowLabel":     {[]uint64{0, 5}, []uint64{1 << 24}},
	"TrafficClass":  {[]uint64{0, 8}, nil},
	"DLID":          {[]uint64{0}, []uint64{1}},
	"Sl":            {[]uint64{0, 1}, nil},
	"SrcPathBits":   {[]uint64{0}, []uint64{1}},
	"StaticRate":    {[]uint64{0, 2}, nil},
	"Mlid":          {[]uint64{0xc000, 0}, []uint64{1, 0xffff}},

	"QPState":         {[]uint64{0, 1, 2, 3, 6}, []uint64{4, 5, 7, 255}},
	"CurQPState":      {[]uint64{0, 1, 2, 3, 6}, []uint64{4, 5, 7, 255}},
	"PathMtu":         {[]uint64{1, 2, 3}, []uint64{0, 4, 5, 6, 255}},
	"PathMigState":    {[]uint64{0}, []uint64{1, 2, 255}},
	"Qkey":            {[]uint64{0, 1, 0x11111111}, []uint64{0x80000001}},
	"RQPSN":           {[]uint64{0, 1, 0xabcdef}, []uint64{1 << 24, math.MaxUint32}},
	"SQPSN":           {[]uint64{0, 1, 0xabcdef}, []uint64{1 << 24, math.MaxUint32}},
	"DestQPNum":       {[]uint64{17, 18, 0x1234}, []uint64{0, 1 << 24, math.MaxUint32}},
	"QPAccessFlags":   {[]uint64{0, 1, 7, 15}, []uint64{16, 1 << 20, math.MaxUint32}},
	"PkeyIndex":       {[]uint64{0}, []uint64{1, 64, 0xffff}},
	"AltPkeyIndex":    {[]uint64{0}, []uint64{1, 0xffff}},
	"MaxRdAtomic":     {[]uint64{0, 1, 4}, []uint64{128, 129, 255}},
	"MaxDestRdAtomic": {[]uint64{0, 1, 4}, []uint64{128, 129, 255}},
	"MinRnrTimer":     {[]uint64{0, 12, 31}, []uint64{255}},
	"Timeout":         {[]uint64{0, 14, 31}, []uint64{255}},
	"RetryCnt":        {[]uint64{0, 7}, []uint64{8, 255}},
	"RnrRetry":        {[]uint64{0, 7}, []uint64{8, 255}},
	"AltPortNum":      {[]uint64{1}, []uint64{0, 2, 255}},
	"AltTimeout":      {[]uint64{0, 14}, []uint64{255}},

	"Object":    {[]uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, []uint64{0x1000, 0xffff, 0x10000}},
	"EntrySize": {[]uint64{spec.GIDEntrySize}, []uint64{0, 24, 40, 1 << 32}},
	"GIDIndex":  {[]uint64{0, 1}, []uint64{2, 1023, 1024, math.MaxUint32}},
	"Port":      {[]uint64{1}, []uint64{0, 2, 255, 1<<32 + 1}},
	// Of the commands whose answers vary in nothing.
	"Command": {[]uint64{1, 2, 3, 4, 20, 27, 33}, []uint64{55, 255, 1 << 31, 1 << 32}},
	"Advice":  {[]uint64{0, 1, 2}, []uint64{3, 1 << 32}},
}

// attributeMembers are the members that attributes are, by the end of their
// names.
var attributeMembers = []struct{ end, member string }{
	{"_CQ_CQE", "CQE"}, {"_COMP_VECTOR", "CompVector"}, {"_MAX_WR", "MaxWR"}, {"_MAX_SGE", "MaxSGE"}, {"_LIMIT", "SRQLimit"},
	{"CREATE_QP_TYPE", "QPType"}, {"CREATE_SRQ_TYPE", "SRQType"}, {"ACCESS_FLAGS", "AccessFlags"}, {"_FLAGS", "Flags"},
	{"_PORT_NUM", "PortNum"}, {"INFO_OBJECT_ID", "Object"}, {"_ENTRY_SIZE", "EntrySize"}, {"_GID_INDEX", "GIDIndex"},
	{"GID_ENTRY_PORT", "Port"}, {"_ADVICE", "Advice"}, {"ATTR_WRITE_CMD", "Command"},
}

// The types of QPs (enum ib_qp_type, include/rdma/ib_verbs.h).
const (
	qpRC = 2
	qpUC = 3
	qpUD = 4
)

func memberOf(attribute string) string {
	for _, a := range attributeMembers {
		if strings.HasSuffix(attribute, a.end) {
			return a.member
		}
	}
	return attribute
}

// number returns a value of a member, and whether it is a usual one.
func (m *maker) number(member string) (n uint64, usual bool) {
	v, known := members[member]
	switch {
	case !known:
		return pick(m, []uint64{0, 1, 7, 0x55}), true
	case len(v.odd) > 0 && m.chance(oddly):
		return pick(m, v.odd), false
	}
	return pick(m, v.usual), true
}

// handles are the types of the objects that members of requests name.
var handles = map[string]uint16{
	"PDHandle": spec.UVERBS_OBJECT_PD, "CQHandle": spec.UVERBS_OBJECT_CQ, "SendCQHandle": spec.UVERBS_OBJECT_CQ,
	"RecvCQHandle": spec.UVERBS_OBJECT_CQ, "SRQHandle": spec.UVERBS_OBJECT_SRQ, "QPHandle": spec.UVERBS_OBJECT_QP,
	"MRHandle": spec.UVERBS_OBJECT_MR, "MWHandle": spec.UVERBS_OBJECT_MW, "AHHandle": spec.UVERBS_OBJECT_AH,
	"XRCDHandle": spec.UVERBS_OBJECT_XRCD, "WQHandle": spec.UVERBS_OBJECT_WQ, "IndTblHandle": spec.UVERBS_OBJECT_RWQ_IND_TBL,
	"RWQIndTblHandle": spec.UVERBS_OBJECT_RWQ_IND_TBL, "FlowHandle": spec.UVERBS_OBJECT_FLOW,
}

// handle returns a handle of a type, and the object that it should be of, nil
// for one that is not there.
func (m *maker) handle(f *file, typ uint16) (uint64, *object) {
	if have := f.of(typ); len(have) > 0 && !m.chance(oddly) {
		o := pick(m, have)
		return o.number, o
	}
	return pick(m, []uint64{0, 1, 2, 3, 5, 100, math.MaxUint32}), nil
}

// gids are what addresses in requests are, with the index of the device's own
// GID that goes with each: the device's two, somebody else's, a multicast
// group, and none.
var gids = []struct {
	gid   [16]byte
	index uint64
}{
	{[16]byte{0: 0xfe, 1: 0x80, 10: 0x5e, 11: 0xff, 12: 0xfe, 14: 0x53, 15: 0x01}, 0},
	{[16]byte{10: 0xff, 11: 0xff, 12: 192, 14: 2, 15: 1}, 1},
	{[16]byte{10: 0xff, 11: 0xff, 12: 192, 14: 2, 15: 77}, 1},
	{[16]byte{0: 0xff, 1: 0x12, 15: 0x01}, 0},
	{[16]byte{}, 0},
}

// memory is a piece of user memory that can be registered.
func (m *maker) memory() (addr casefile.Value, length uint64) {
	size := pick(m, []int{64, 64, 64, 200, 4200})
	b := casefile.Buf{Len: size, Edge: m.chance(0.2)}
	if m.chance(0.1) {
		b.Prot = "r"
	}
	name := m.buffer(b)
	off := pick(m, []int64{0, 0, 0, 8, 1})
	return casefile.PtrTo(name, off), pick(m, []uint64{uint64(size) - uint64(off), 8, 1, 0})
}
