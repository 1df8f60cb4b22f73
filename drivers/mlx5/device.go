package mlx5

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Config says what device is put into a machine. The zero value is the device
// whose answers were recorded.
type Config struct {
	// Name is the device's name, "mlx5_0" if empty.
	Name string
	// Profile is what the adapter can do; nil is hw.Recorded.
	Profile *hw.Profile
	// CompVectors is how many completion vectors there are, one for each
	// processor of the machine; 1 if zero.
	CompVectors int
	// NoWriteCombining: the machine cannot combine writes to the device's
	// registers, which the driver finds out by trying.
	NoWriteCombining bool
	// MTU is that of the network device on the port, in bytes; 1500 if zero.
	MTU int
	// Addrs are its IP addresses beside the link-local one that is made of the
	// adapter's MAC: one GID each, in this order. Nil is 192.0.2.1 alone.
	Addrs []netip.Addr
	// NoCarrier: the network device is up, but nothing is connected to it.
	// Device.HW.PortUp changes that while the device lives.
	NoCarrier bool
	// Fabric is where the adapter's packets go, and has its clock; nil is one of
	// its own. Adapters of one fabric need other MAC and IP addresses.
	Fabric *hw.Fabric
	// IOEQSize and EventEQSize are how many events may be outstanding in the
	// event queue of a completion vector and in that of asynchronous events
	// (the driver's parameters io_eq_size and event_eq_size); 1024 and 4096 if
	// zero.
	IOEQSize, EventEQSize int
	// PCI is where the adapter is on the bus and what the bus calls it; nil is
	// the recorded device's function, in the first domain that no other device of
	// the machine has.
	PCI *core.PCIFunction
	// Netdev is the name of the network device on the port, "eth0" if empty.
	Netdev string
	// Clock is the adapter's free-running counter, which users can map and
	// completions are stamped with. Nil counts how often it was read.
	Clock func() uint64
	// Trace is the thread that the driver's work at probe time is reported under; nil
	// reports nothing. DMA is the one of the adapter's own work; nil is Trace.
	Trace, DMA *trace.Task
}

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = "mlx5_0"
	}
	if c.Profile == nil {
		c.Profile = hw.Recorded
	}
	if c.DMA == nil {
		c.DMA = c.Trace
	}
	if c.CompVectors == 0 {
		c.CompVectors = 1
	}
	if c.MTU == 0 {
		c.MTU = 1500
	}
	if c.Netdev == "" {
		c.Netdev = "eth0"
	}
	if c.Addrs == nil {
		c.Addrs = []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, 1})}
	}
	if c.IOEQSize == 0 {
		c.IOEQSize = compEQSize
	}
	if c.EventEQSize == 0 {
		c.EventEQSize = numAsyncEQE
	}
	if c.Clock == nil {
		var n atomic.Uint64
		c.Clock = func() uint64 { return n.Add(1) }
	}
	return c
}

// Device is an adapter with its driver: struct mlx5_core_dev and struct
// mlx5_ib_dev.
type Device struct {
	HW     *hw.Device     // the adapter
	Bus    *Bus           // the memory that it reaches
	IB     *core.Device   // what the driver registered
	Uverbs *kernel.Device // its device node

	cfg       Config
	machine   *kernel.Machine
	active    atomic.Bool // ib_active
	caps      caps
	mailboxes mailboxes
	bar       *bar
	clockInfo *copyuser.Page
	mac       [6]byte
	fwPages   int          // priv.fw_pages
	addrs     []netip.Addr // of the network device, by the index of their GIDs
	carrier   atomic.Bool  // of the network device

	bfreg   kernelBfreg // of the driver's event queues and completion queues
	fpBfreg kernelBfreg // of its queue pair for keys

	asyncEQ  eq
	compLock trace.Mutex
	compEQs  []atomic.Pointer[compEQ]
	stepMu   sync.Mutex
	irqTask  atomic.Pointer[trace.Task]

	mkeys         specialMkeys
	mkeyVar       atomic.Uint32
	slowPathMutex trace.Mutex
	xrcdn         [2]uint32
	devr          devResources
	umrc          umrCommon
	odpCaps       core.ODPCaps
	odpEQ         odpPFEQ
	odpKeys       odpKeyTable
	delayDropLock trace.Mutex
	delayDrop     bool // the device has been told how long to wait
	qps           eventTable[qp]
	srqs          eventTable[srq]
	vars          varTable
	memic         memicTable
	icm           icmTable
	rl            rlTable
	flows         flowDB
	whitelistUID  uint16 // devx_whitelist_uid
	devxEvents    devxEventTable
}

// New makes an adapter, brings it up as mlx5_core does, and registers it with
// the machine as mlx5_ib does. The error says which firmware command failed, or
// what the driver misses of the adapter. It models mlx5_init_one_devl_locked in
// drivers/net/ethernet/mellanox/mlx5/core/main.c and __mlx5_ib_add in
// drivers/infiniband/hw/mlx5/main.c, as far as users see what they do.
func New(m *kernel.Machine, cfg Config) (*Device, error) {
	cfg = cfg.withDefaults()
	if cfg.PCI == nil {
		cfg.PCI = newPCIFunction(m)
	}
	d := &Device{cfg: cfg, machine: m, Bus: new(Bus), compEQs: make([]atomic.Pointer[compEQ], cfg.CompVectors)}
	d.compLock.Name, d.slowPathMutex.Name = "comp_lock", "slow_path_mutex"
	d.rl.lock.Name, d.delayDropLock.Name, d.flows.lock.Name = "rl_lock", "delay_drop.lock", "flow_db.lock"
	d.devr.cqLock.Name, d.devr.srqLock.Name = "cq_lock", "srq_lock"
	d.umrc.initLock.Name, d.umrc.lock.Name, d.odpEQ.mutex.Name = "init_lock", "lock", "odp_eq_mutex"
	d.bar = newBar(cfg.Clock)
	taken, keys := cfg.leftOut()
	d.mkeyVar.Store(uint32(keys))
	d.HW = hw.New(hw.Config{Profile: cfg.Profile, Bus: d.Bus, BAR: d.bar, Interrupt: d.interrupt, Clock: cfg.Clock,
		Trace: cfg.DMA, Fabric: cfg.Fabric, Taken: taken})
	d.HW.PortUp(!cfg.NoCarrier)
	d.carrier.Store(!cfg.NoCarrier)
	d.bar.hw = d.HW
	t := cfg.Trace
	for _, stage := range []struct {
		name string
		run  func(*trace.Task) error
	}{
		{"bring the function up", d.boot},
		{"ask for the capabilities", d.queryHCACaps},
		{"make the table of what nobody wants", d.initFlowTables},
		{"allocate the driver's registers", func(t *trace.Task) error { return d.allocKernelBfreg(t, &d.bfreg) }},
		{"create the asynchronous event queue", d.createAsyncEQ},
		{"initialize the verbs device", d.stageInit},
		{"allocate the driver's resources", d.devResInit},
		{"say what the device can do", d.stageCaps},
		{"allocate registers of low latency", func(t *trace.Task) error { return d.allocKernelBfreg(t, &d.fpBfreg) }},
		{"make a DEVX user of its own", d.devxInit},
	} {
		if err := stage.run(t); err != nil {
			return nil, fmt.Errorf("mlx5: %s: %s: %w", cfg.Name, stage.name, err)
		}
	}
	var err error
	if d.Uverbs, err = m.Register(d.IB, d.definitions()); err != nil {
		return nil, fmt.Errorf("mlx5: %w", err)
	}
	d.active.Store(true)
	return d, nil
}

// boot brings the function up. It models mlx5_function_setup in
// drivers/net/ethernet/mellanox/mlx5/core/main.c.
func (d *Device) boot(t *trace.Task) error {
	defer t.Enter(moduleCore, "mlx5_function_setup").Leave()
	return hw.Boot(t, d.HW, func(n int) []uint64 {
		var addrs []uint64
		for range n {
			addrs = append(addrs, d.Bus.Map([]*copyuser.Page{copyuser.NewPage()}))
		}
		d.fwPages += n
		return addrs
	})
}

// createAsyncEQ models create_async_eqs in
// drivers/net/ethernet/mellanox/mlx5/core/eq.c. The queues for the completion of
// commands and for the firmware's requests of pages are left out, as those are.
func (d *Device) createAsyncEQ(t *trace.Task) error {
	defer t.Enter(moduleCore, "create_async_eqs").Leave()
	return d.createMapEQ(t, &d.asyncEQ, d.cfg.EventEQSize, irqCtrl, d.asyncEventMask())
}

// nodeIBCA is RDMA_NODE_IB_CA.
const nodeIBCA = 1

// stageInit makes the verbs device. It models mlx5_ib_stage_init_init in
// drivers/infiniband/hw/mlx5/main.c.
func (d *Device) stageInit(t *trace.Task) error {
	defer t.Enter(moduleIB, "mlx5_ib_stage_init_init").Leave()
	d.IB = &core.Device{
		Name:           d.cfg.Name,
		DriverID:       spec.RDMA_DRIVER_MLX5,
		UverbsABI:      spec.MLX5_IB_UVERBS_ABI_VERSION,
		NumCompVectors: uint32(d.cfg.CompVectors),
		PhysPorts:      uint32(d.caps.get(capNumPorts)),
		NodeType:       nodeIBCA,
		UverbsCmdMask:  spec.DefaultUverbsCmdMask,
		LinkLayer:      core.LinkLayerInfiniband,
		ResolveAddr:    d.resolveAddr,
		Driver:         d,
	}
	if d.caps.get(capPortType) == portTypeEth {
		d.IB.LinkLayer = core.LinkLayerEthernet
	}
	mac, err := d.queryVport(t, vportMAC)
	if err != nil {
		return err
	}
	var b [8]byte
	be.PutUint64(b[:], mac)
	copy(d.mac[:], b[2:])
	return d.querySpecialMkeys(t)
}

// portTypeEth is MLX5_CAP_PORT_TYPE_ETH.
const portTypeEth = 1

var errNoXRC = errors.New("the adapter has no XRC (capability xrc)")

// devResInit allocates what all users share. It models mlx5_ib_dev_res_init in
// drivers/infiniband/hw/mlx5/main.c.
func (d *Device) devResInit(t *trace.Task) (err error) {
	defer t.Enter(moduleIB, "mlx5_ib_dev_res_init").Leave()
	if !d.caps.has(capXRC) {
		return errNoXRC
	}
	for i := range d.xrcdn {
		if d.xrcdn[i], err = d.create(t, ifc.MLX5_CMD_OP_ALLOC_XRCD, 0); err != nil {
			return err
		}
	}
	return nil
}

// stageCaps says what the device can do. It models mlx5_ib_stage_caps_init in
// drivers/infiniband/hw/mlx5/main.c and setup_device in
// drivers/infiniband/core/device.c.
func (d *Device) stageCaps(t *trace.Task) error {
	defer t.Enter(moduleIB, "mlx5_ib_stage_caps_init").Leave()
	d.odpCaps = d.fillODPCaps()
	d.IB.Ops = d.ops()
	if err := d.initGIDs(t); err != nil {
		return err
	}
	d.initClockInfo()
	d.initDM()
	if d.varIsSupported() {
		d.vars.init(&d.caps)
	}
	guid, err := d.queryVport(t, nodeGUID)
	if err != nil {
		return err
	}
	be.PutUint64(d.IB.Attr.NodeGUID[:], guid)
	if err := d.fillDeviceAttr(t, &d.IB.Attr); err != nil {
		return err
	}
	d.IB.Attr.ODP = kernelODPCaps(d.IB.Attr.ODP)
	return d.initSysfs(t)
}

// Step lets the adapter's oldest event through and runs the interrupt handlers
// for it, under the task t; it says whether there was one.
func (d *Device) Step(t *trace.Task) bool {
	d.stepMu.Lock()
	defer d.stepMu.Unlock()
	d.irqTask.Store(t)
	defer d.irqTask.Store(nil)
	return d.HW.Step()
}

// Drain steps until there is nothing left to do.
func (d *Device) Drain(t *trace.Task) {
	d.stepMu.Lock()
	defer d.stepMu.Unlock()
	d.irqTask.Store(t)
	defer d.irqTask.Store(nil)
	d.HW.Drain()
}

// Run lets events through as they come, until stop is closed: for a program that
// does not care in which order things happen.
func (d *Device) Run(stop <-chan struct{}) { d.HW.Run(stop) }

// Fail puts the adapter into error, as a firmware assert does: it takes no
// commands any more, no new contexts are made, and every asynchronous event file
// is told IB_EVENT_DEVICE_FATAL. What users destroy still goes. It models
// mlx5_ib_handle_sys_error_event in drivers/infiniband/hw/mlx5/main.c.
func (d *Device) Fail(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5_ib_handle_sys_error_event").Leave()
	d.HW.Fail()
	if d.active.Swap(false) {
		d.IB.DispatchEvent(t, &core.Event{Type: spec.IB_EVENT_DEVICE_FATAL, Port: 1})
	}
}

// Remove takes the device out of the machine, from under its users if need be.
// It models __mlx5_ib_remove in drivers/infiniband/hw/mlx5/main.c and
// mlx5_uninit_one in drivers/net/ethernet/mellanox/mlx5/core/main.c. The error is
// of a firmware command; nothing is registered any more in any case.
func (d *Device) Remove(task *process.Task) error {
	t := task.Trace
	defer t.Enter(moduleIB, "__mlx5_ib_remove").Leave()
	d.active.Store(false)
	d.machine.Unregister(task, d.Uverbs)
	d.devxCleanup(t)
	d.umrResourceCleanup(t)
	d.odpDestroyEQ(t)
	d.devResCleanup(t)
	d.cleanupAnchors(t)
	for i := range d.compEQs {
		if e := d.compEQs[i].Swap(nil); e != nil {
			d.destroyUnmapEQ(t, &e.eq)
		}
	}
	d.destroyUnmapEQ(t, &d.asyncEQ)
	d.freeKernelBfreg(t, &d.fpBfreg)
	d.freeKernelBfreg(t, &d.bfreg)
	pages, err := hw.Shutdown(t, d.HW)
	d.HW.Fabric().Leave(d.HW)
	for _, a := range pages {
		d.Bus.Unmap(a, 1)
	}
	return err
}
