package rxe

import (
	"net/netip"
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Config says on what machine and what network interface a device is made. The
// zero value is the device whose answers were recorded.
type Config struct {
	// Kernel is the version of the kernel that the driver is part of,
	// spec.Linux6_12 if nil: the one that the machine runs.
	Kernel *spec.Kernel
	// Name is the device's name, "rxe0" if empty.
	Name string
	// MAC is the interface's address, 02:00:5e:00:53:01 if zero. The device's
	// GUIDs and its first GID are made of it.
	MAC [6]byte
	// MTU is the interface's, in bytes, 1500 if zero.
	MTU int
	// Addrs are the interface's IP addresses beside the link-local one that is
	// made of MAC: one GID each, in this order. Nil is 192.0.2.1 alone.
	Addrs []netip.Addr
	// NoCarrier: the interface is up, but nothing is connected to it.
	NoCarrier bool
	// CPUs is how many processors the machine can have, 1 if zero. The device
	// has a completion vector for each.
	CPUs uint32
	// Memory is the machine's, in bytes, 1 GiB if zero. A larger queue cannot
	// be made.
	Memory uint64
	// Key gives the random low bytes of memory keys. Nil is a sequence that
	// begins alike for each device.
	Key func() uint8
	// Work has a part of a queue pair's work done, later and not by the caller,
	// who holds locks. Nil is a goroutine that does one part after the other. A
	// queue pair can be destroyed or reset only when none of its work waits.
	Work func(func())
}

const defaultMemory = 1 << 30

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	if c.Kernel == nil {
		c.Kernel = spec.Linux6_12
	}
	if c.Name == "" {
		c.Name = "rxe0"
	}
	if c.MAC == [6]byte{} {
		c.MAC = [6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, 0x01}
	}
	if c.MTU == 0 {
		c.MTU = 1500
	}
	if c.Addrs == nil {
		c.Addrs = []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, 1})}
	}
	if c.CPUs == 0 {
		c.CPUs = 1
	}
	if c.Memory == 0 {
		c.Memory = defaultMemory
	}
	if c.Key == nil {
		c.Key = keySequence()
	}
	if c.Work == nil {
		c.Work = new(workqueue).queue
	}
	return c
}

// keySequence returns a generator of bytes that look random and take each value
// once before they repeat.
func keySequence() func() uint8 {
	var n atomic.Uint32
	return func() uint8 {
		x := uint8(n.Add(1))*0x8d + 0x65
		return x ^ x>>3
	}
}

// rxeDev is a struct rxe_dev.
type rxeDev struct {
	ib        *core.Device
	kernel    *spec.Kernel
	attr      core.DeviceAttr
	memory    uint64
	key       func() uint8
	queueWork func(func())

	usdevLock trace.Mutex // usdev_lock, over changes of port
	port      atomic.Pointer[core.PortAttr]

	ucPool, pdPool, ahPool, srqPool, qpPool, cqPool, mrPool, mwPool pool

	pendingLock  trace.Mutex // pending_lock
	pendingMmaps []*mmapInfo

	atomicOps trace.Mutex // atomic_ops_lock

	mmapOffsetLock trace.Mutex // mmap_offset_lock
	mmapOffset     uint64      // the next to be given out, in bytes

	mcgLock   trace.Mutex // mcg_lock
	mcgTree   map[[16]byte]*mcg
	mcgAttach uint32 // how often a QP is in a group
}

func toRdev(dev *core.Device) *rxeDev { return dev.Driver.(*rxeDev) }

// New makes a device, ready for kernel.Machine's Register, which takes what New
// returns. The driver has no definitions of its own. New models rxe_add in
// drivers/infiniband/sw/rxe/rxe.c and rxe_register_device in rxe_verbs.c, up to
// the registration.
func New(cfg Config) (*core.Device, kernel.Definitions) {
	cfg = cfg.withDefaults()
	d := &rxeDev{kernel: cfg.Kernel, memory: cfg.Memory, key: cfg.Key, queueWork: cfg.Work}
	d.init(&cfg)
	d.setMTU(cfg.MTU)
	net := network{mac: cfg.MAC}
	d.ib = &core.Device{
		Name:           cfg.Name,
		Ops:            d.ops(),
		DriverID:       spec.RDMA_DRIVER_RXE,
		UverbsABI:      uverbsABIVersion,
		NumCompVectors: cfg.CPUs,
		PhysPorts:      numPorts,
		NodeType:       nodeIBCA,
		UverbsCmdMask: spec.DefaultUverbsCmdMask |
			1<<spec.IB_USER_VERBS_CMD_POST_SEND | 1<<spec.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
		LinkLayer:   core.LinkLayerEthernet,
		Attr:        d.attr,
		GIDTblLen:   portGIDTblLen,
		GIDs:        gidTable(&cfg),
		ResolveAddr: net.resolve,
		Kernel:      d.kernel,
		Sysfs:       d.sysfsInfo(&cfg),
		Driver:      d,
	}
	d.reserveMAD()
	return d.ib, kernel.Definitions{}
}

const (
	uverbsABIVersion = 2 // RXE_UVERBS_ABI_VERSION, rxe.h
	nodeIBCA         = 1 // RDMA_NODE_IB_CA, enum rdma_node_type of include/rdma/ib_verbs.h
)

// init models rxe_init in drivers/infiniband/sw/rxe/rxe.c.
func (d *rxeDev) init(cfg *Config) {
	d.initDeviceParam(cfg.MAC)
	d.initPortParam(cfg.NoCarrier)
	for typ, p := range d.pools() {
		p.init(elemType(typ))
	}
	d.usdevLock.Name = "usdev_lock"
	d.pendingLock.Name, d.mmapOffsetLock.Name, d.mcgLock.Name = "pending_lock", "mmap_offset_lock", "mcg_lock"
	d.atomicOps.Name = "atomic_ops_lock"
	d.mcgTree = map[[16]byte]*mcg{}
}

// pools are the device's, by their type.
func (d *rxeDev) pools() [numTypes]*pool {
	return [numTypes]*pool{
		typeUC: &d.ucPool, typePD: &d.pdPool, typeAH: &d.ahPool, typeSRQ: &d.srqPool,
		typeQP: &d.qpPool, typeCQ: &d.cqPool, typeMR: &d.mrPool, typeMW: &d.mwPool,
	}
}

// Counts returns how many objects of each type a device of this driver has,
// the kernel's own among them, how many queues wait to be mapped, how many multicast
// groups there are and how many QPs in them, of which the device and the QPs keep count
// too.
func Counts(dev *core.Device) map[string]int {
	d := toRdev(dev)
	counts := map[string]int{}
	for _, p := range d.pools() {
		counts[p.info.name] = int(p.numElem.Load())
	}
	d.pendingLock.Lock(nil)
	counts["pending_mmaps"] = len(d.pendingMmaps)
	d.pendingLock.Unlock(nil)
	d.countMcast(counts)
	return counts
}

// reserveMAD takes the numbers of what the kernel's own client for management
// datagrams has made by the time that a user can open the device: a PD with a
// memory region, a CQ and the QP of the general services interface.
func (d *rxeDev) reserveMAD() {
	for _, p := range []*pool{&d.pdPool, &d.mrPool, &d.cqPool, &d.qpPool} {
		e := new(elem)
		if err := p.add(nil, e, e); err != nil {
			panic("rxe: a new pool is full: " + err.Error())
		}
	}
}

// initDeviceParam models rxe_init_device_param in
// drivers/infiniband/sw/rxe/rxe.c.
func (d *rxeDev) initDeviceParam(mac [6]byte) {
	guid := eui48(mac)
	d.attr = core.DeviceAttr{
		NodeGUID:              guid,
		SysImageGUID:          guid,
		VendorID:              vendorID,
		MaxMRSize:             maxMRSize,
		PageSizeCap:           pageSizeCap,
		MaxQP:                 maxQP,
		MaxQPWR:               maxQPWR,
		DeviceCapFlags:        deviceCapFlagsLow,
		KernelCapFlags:        kernelAllowsUnreg,
		MaxSendSGE:            maxSGE,
		MaxRecvSGE:            maxSGE,
		MaxSGERd:              maxSGERd,
		MaxCQ:                 maxCQ,
		MaxCQE:                1<<maxLogCQE - 1,
		MaxMR:                 maxMR,
		MaxMW:                 maxMW,
		MaxPD:                 maxPD,
		MaxQPRdAtom:           maxQPRdAtom,
		MaxResRdAtom:          maxResRdAtom,
		MaxQPInitRdAtom:       maxQPInitRdAtom,
		AtomicCap:             spec.IB_ATOMIC_HCA,
		MaxMcastGrp:           maxMcastGrp,
		MaxMcastQPAttach:      maxMcastQPAttach,
		MaxTotalMcastQPAttach: maxTotMcastQP,
		MaxAH:                 maxAH,
		MaxSRQ:                maxSRQ,
		MaxSRQWR:              maxSRQWR,
		MaxSRQSGE:             maxSRQSGE,
		MaxPkeys:              maxPkeys,
		LocalCAAckDelay:       localCAAckDelay,
	}
	if d.kernel.Has(spec.RxeFlush) {
		d.attr.DeviceCapFlags |= deviceCapFlagsHigh
	}
}

// initPortParam models rxe_init_port_param in drivers/infiniband/sw/rxe/rxe.c
// and, since the interface is up, rxe_set_port_state in rxe_net.c.
func (d *rxeDev) initPortParam(noCarrier bool) {
	port := &core.PortAttr{
		State:        spec.IB_PORT_ACTIVE,
		MaxMTU:       spec.IB_MTU_4096,
		GIDTblLen:    portGIDTblLen,
		PortCapFlags: portCapFlags,
		MaxMsgSz:     portMaxMsgSz,
		PkeyTblLen:   portPkeyTblLen,
		MaxVLNum:     portMaxVLNum,
	}
	if !d.kernel.Has(spec.RxeMaxMsgSize) {
		port.MaxMsgSz = portOldMaxMsgSz
	}
	if noCarrier {
		port.State = spec.IB_PORT_DOWN
	}
	d.port.Store(port)
}

// setMTU models rxe_set_mtu in drivers/infiniband/sw/rxe/rxe.c.
func (d *rxeDev) setMTU(mtu int) {
	port := *d.port.Load()
	port.ActiveMTU = max(ethMTU(mtu), spec.IB_MTU_256)
	d.port.Store(&port)
}

// eui48 makes an EUI-64 of a MAC address: addrconf_addr_eui48 in
// include/net/addrconf.h.
func eui48(mac [6]byte) [8]byte {
	return [8]byte{mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]}
}
