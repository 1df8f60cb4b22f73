package core

// MR is a struct ib_mr, a memory region.
type MR struct {
	Device     *Device
	PD         *PD
	LKey, RKey uint32
	IOVA       uint64
	Length     uint64
	Type       uint8 // enum ib_mr_type: MRTypeUser, MRTypeDM
	DM         *DM
	Usecnt     Usecnt
	Driver     any
}

// The types of MRs that users make (enum ib_mr_type).
const (
	MRTypeUser = 3 // IB_MR_TYPE_USER
	MRTypeDM   = 2 // IB_MR_TYPE_DM
)

// MW is a struct ib_mw, a memory window.
type MW struct {
	Device *Device
	PD     *PD
	RKey   uint32
	Type   uint8 // enum ib_mw_type
	Driver any
}

// DM is a struct ib_dm, memory of the device.
type DM struct {
	Device *Device
	Length uint32
	Flags  uint32
	Usecnt Usecnt
	Driver any
}

// DMAllocAttr is a struct ib_dm_alloc_attr. Alignment is a power of two's
// logarithm.
type DMAllocAttr struct {
	Length    uint64
	Alignment uint32
	Flags     uint32
}

// DMMRAttr is a struct ib_dm_mr_attr.
type DMMRAttr struct {
	Length      uint64
	Offset      uint64
	AccessFlags uint32
}

// SGE is a struct ib_sge, a piece of registered memory.
type SGE struct {
	Addr   uint64
	Length uint32
	LKey   uint32
}
