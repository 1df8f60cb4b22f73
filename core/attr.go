package core

// DeviceAttr is a struct ib_device_attr: what QUERY_DEVICE tells. GUIDs are
// big-endian bytes; the page size bitmap is in bytes.
type DeviceAttr struct {
	FwVer                 uint64
	NodeGUID              [8]byte // struct ib_device's node_guid
	SysImageGUID          [8]byte
	MaxMRSize             uint64
	PageSizeCap           uint64
	VendorID              uint32
	VendorPartID          uint32
	HwVer                 uint32
	MaxQP, MaxQPWR        uint32
	DeviceCapFlags        uint64
	KernelCapFlags        uint64
	MaxSendSGE            uint32
	MaxRecvSGE            uint32
	MaxSGERd              uint32
	MaxCQ, MaxCQE         uint32
	MaxMR, MaxPD          uint32
	MaxQPRdAtom           uint32
	MaxEERdAtom           uint32
	MaxResRdAtom          uint32
	MaxQPInitRdAtom       uint32
	MaxEEInitRdAtom       uint32
	AtomicCap             uint32
	MaskedAtomicCap       uint32
	MaxEE, MaxRDD, MaxMW  uint32
	MaxRawIPv6QP          uint32
	MaxRawEthyQP          uint32
	MaxMcastGrp           uint32
	MaxMcastQPAttach      uint32
	MaxTotalMcastQPAttach uint32
	MaxAH                 uint32
	MaxSRQ, MaxSRQWR      uint32
	MaxSRQSGE             uint32
	MaxPkeys              uint16
	LocalCAAckDelay       uint8
	ODP                   ODPCaps
	TimestampMask         uint64
	HcaCoreClock          uint64 // kHz
	RSS                   RSSCaps
	MaxWQTypeRQ           uint32
	RawPacketCaps         uint32
	TM                    TMCaps
	CQModeration          CQCaps
	MaxDMSize             uint64
	MaxSGLRd              uint32
}

// ODPCaps is a struct ib_odp_caps.
type ODPCaps struct {
	General         uint64
	RC, UC, UD, XRC uint32
}

// RSSCaps is a struct ib_rss_caps.
type RSSCaps struct {
	SupportedQPTs, MaxRWQIndirectionTables, MaxRWQIndirectionTableSize uint32
}

// TMCaps is a struct ib_tm_caps.
type TMCaps struct {
	MaxRndvHdrSize, MaxNumTags, Flags, MaxOps, MaxSGE uint32
}

// CQCaps is a struct ib_cq_caps.
type CQCaps struct {
	MaxCQModerationCount, MaxCQModerationPeriod uint16
}

// PortAttr is a struct ib_port_attr: what QUERY_PORT tells.
type PortAttr struct {
	SubnetPrefix  uint64
	State         uint8 // enum ib_port_state
	MaxMTU        uint8 // enum ib_mtu
	ActiveMTU     uint8
	PhysMTU       uint32 // bytes
	GIDTblLen     uint32
	IPGIDs        bool
	PortCapFlags  uint32
	MaxMsgSz      uint32 // bytes
	BadPkeyCntr   uint32
	QkeyViolCntr  uint32
	PkeyTblLen    uint16
	SMLID, LID    uint32
	LMC           uint8
	MaxVLNum      uint8
	SMSL          uint8
	SubnetTimeout uint8
	InitTypeReply uint8
	ActiveWidth   uint8
	ActiveSpeed   uint16
	PhysState     uint8
	PortCapFlags2 uint16
}

// Link layers (enum rdma_link_layer, as the ABI has them).
const (
	LinkLayerUnspecified = 0
	LinkLayerInfiniband  = 1
	LinkLayerEthernet    = 2
)
