package hw

import (
	"errors"
	"sync/atomic"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/trace"
)

// Addr is a bus address.
type Addr = uint64

// Memory is what the device reaches by DMA. An error means that the address is
// not the device's to reach; nothing is transferred then. A call comes while
// the device holds its own lock, so it must not call the device.
//
// Who looks at the memory meanwhile must not see the last byte of a write of at
// most 128 bytes before the others: it hands an entry of a queue over.
type Memory interface {
	ReadAt(p []byte, addr Addr) error
	WriteAt(p []byte, addr Addr) error
}

// IO is a page of registers. Off is the offset in the page.
type IO interface {
	Load(off int, dst []byte)
	Store(off int, src []byte)
}

// Config is what a device is made of.
type Config struct {
	Profile *Profile // nil is Recorded
	Bus     Memory

	// BAR is the memory behind the device's address range, by offset in it: what
	// users map of the memory that ALLOC_MEMIC gives out lies there. Nil is memory
	// of the device's own, which only Device.MemoryPage leads to. It must not call
	// the device.
	BAR Memory

	// Interrupt is called by Step when an armed event queue with that vector has
	// a new entry in its buffer. It may call the device.
	Interrupt func(vector int)

	// Event is called by Step with the event of an event queue that has no
	// buffer (CREATE_EQ without page addresses). It may call the device.
	Event func(eqn uint32, e EQE)

	// Clock is the free-running counter that completions are stamped with; nil
	// counts completions. It must not call the device.
	Clock func() uint64

	// Fabric is where the device's packets go, and has its clock; nil is one of
	// its own.
	Fabric *Fabric

	// Taken is how many numbers of each kind of object, by the names of Counts, are
	// not handed out: the first ones, which belong to objects of those who are left
	// out.
	Taken map[string]int

	// Trace is the thread that the device's own work (DMA) is reported under;
	// nil reports nothing. Its sink must not call the device.
	Trace *trace.Task
}

// ErrTimeout is what Exec returns when a test has the device not answer: the command
// is not carried out.
var ErrTimeout = errors.New("hw: the device does not answer")

// ErrDevice is what Exec returns once the device is in error: commands are not
// delivered any more.
var ErrDevice = errors.New("hw: the device is in error and takes no commands")

// hcaState is how far the driver has brought the function up.
type hcaState uint8

const (
	off hcaState = iota
	enabled
	initialized
)

// Device is one emulated device.
type Device struct {
	cfg    Config
	fabric *Fabric
	wake   chan struct{} // something may have become deliverable
	mac    atomic.Uint64 // the port's
	in     inbox

	mu       stateLock
	broken   bool
	current  command // the one that is carried out, here so that it need not be allocated
	state    hcaState
	issi     uint16
	caps     map[ifc.CapType][]byte // as the driver has set them
	pages    []Addr                 // given by MANAGE_PAGES
	vport    []byte                 // nic_vport_context
	port     port
	regs     map[uint16][]byte // registers that were written
	objects  [numKinds]numbers
	owned    map[uint16]int        // live objects by uid
	users    map[uint32]*pageUsers // of register pages, by number
	polled   map[uint32]bool       // register pages that are
	memory   deviceMemory
	chunk    [umrChunk]byte    // of a list that a work request points to
	events   []pending         // not delivered yet, oldest first
	stamp    uint64            // the clock where there is none
	entry    [2 * CQESize]byte // the entry or word under DMA, so that the data path allocates nothing
	word     [atomicSize]byte  // the same for an atomic operation
	wqe      [maxSendWQE]byte  // and for a work request that is looked at again
	loop     packetList        // from this device to itself
	packets  packetList        // that nothing uses
	trains   packetList        // the same of trains
	ready    ring[*qp]         // those with something to do
	turn     uint32            // counts pieces of work
	timed    []*qp             // those with a timer
	failed   []*qp             // those in error
	pageable bool              // the page that was found absent last is one that the driver brings in
	pieces   uint64            // of other keys that one use may still lead to
	raw      rawPath
	roots    [2]*flowTable           // of the tables for received and for sent frames
	counters map[uint32]*flowCounter // by number
}

// New returns a device that waits for ENABLE_HCA.
func New(cfg Config) *Device {
	if cfg.Profile == nil {
		cfg.Profile = Recorded
	}
	if cfg.Fabric == nil {
		cfg.Fabric = NewFabric(Link{})
	}
	d := &Device{cfg: cfg, fabric: cfg.Fabric, wake: make(chan struct{}, 1), polled: map[uint32]bool{}}
	if d.memory.bar = cfg.BAR; cfg.BAR == nil {
		d.memory.bar = pagedMemory{}
	}
	d.fabric.join(d)
	d.port.up = vportState.Get(cfg.Profile.image("query_vport_state_out")) != 0
	d.reset()
	return d
}

// reset puts the function where it was before ENABLE_HCA, but for the pages
// that it holds.
func (d *Device) reset() {
	p := d.cfg.Profile
	d.state, d.issi = off, 0
	d.caps = map[ifc.CapType][]byte{}
	for typ := range ifc.CapLayouts {
		d.caps[typ] = append([]byte(nil), p.capPage(typ)...)
	}
	d.vport = append([]byte(nil), p.image("nic_vport_context")...)
	d.mac.Store(vportMAC.Get(d.vport))
	d.regs = map[uint16][]byte{}
	d.release()
}

// release forgets every object and what was to be told about them.
func (d *Device) release() {
	for k := range d.objects {
		d.objects[k] = newNumbers(kind(k), d.cfg.Profile, d.cfg.Taken[kind(k).String()])
	}
	d.owned = map[uint16]int{}
	d.users = map[uint32]*pageUsers{}
	d.resetPort()
	d.memory.icm, d.memory.taken = pagedMemory{}, nil
	d.events = nil
	d.ready.clear()
	d.raw.ready.clear()
	d.roots, d.counters = [2]*flowTable{}, map[uint32]*flowCounter{}
	d.loop = packetList{}
	d.timed, d.failed = nil, nil
}

// Fabric returns where the device's packets go.
func (d *Device) Fabric() *Fabric { return d.fabric }

// Profile returns what the device was made as.
func (d *Device) Profile() *Profile { return d.cfg.Profile }

// Fail puts the device into error, as a firmware assert does: Exec delivers no
// command any more, and no event comes. What is sent to it is lost. Nothing leads
// back.
func (d *Device) Fail() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = true
	d.events = nil
	d.fabric.Leave(d)
}

// Counts returns how many firmware objects are alive, by kind, and the pages
// that the device holds under "page", and the memory of its own that is given out
// under "memic". Kinds with none are not in it.
func (d *Device) Counts() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := map[string]int{}
	for k := range d.objects {
		if n := len(d.objects[k].live); n > 0 {
			m[kind(k).String()] = n
		}
	}
	if n := len(d.memory.taken); n > 0 {
		m["memic"] = n
	}
	if n := len(d.pages); n > 0 {
		m["page"] = n
	}
	return m
}

// cap returns a capability of cmd_hca_cap as it is now.
func (d *Device) cap(f ifc.Field) uint64 { return f.Get(d.caps[ifc.MLX5_CAP_GENERAL]) }

// read and write are the device's DMA.
func (d *Device) read(what string, p []byte, addr Addr) error {
	err := d.cfg.Bus.ReadAt(p, addr)
	d.cfg.Trace.Note(trace.DMA, what, addr, uint64(len(p)), 0)
	return err
}

func (d *Device) write(what string, p []byte, addr Addr) error {
	err := d.cfg.Bus.WriteAt(p, addr)
	d.cfg.Trace.Note(trace.DMA, what, addr, uint64(len(p)), 1)
	return err
}
