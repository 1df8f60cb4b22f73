package hw

import (
	"encoding/binary"
	"slices"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Where ALLOC_MEMIC, DEALLOC_MEMIC and MODIFY_MEMIC have their fields; numbers
// without a width are of 8 bytes.
const (
	memicLogAlignment = 15 // 1 byte: in units of memicUnit, as a power of two
	memicRange        = 16
	memicRangeSize    = 24 // 4 bytes
	memicSize         = 28 // 4 bytes
	memicStartOut     = 8
	memicStart        = 16
	memicFreedSize    = 24 // 4 bytes
	memicOperation    = 15 // 1 byte
	memicOpOut        = 16
)

// memicUnit is what device memory is given out in multiples of.
const memicUnit = 64

var (
	capMemicStart = ifc.Must("device_mem_cap").Field("memic_bar_start_addr")
	capMemicBar   = ifc.Must("device_mem_cap").Field("memic_bar_size")
	capMemicOps   = ifc.Must("device_mem_cap").Field("memic_operations")
)

// devMem returns a capability of the device's own memory.
func (d *Device) devMem(f ifc.Field) uint64 { return f.Get(d.caps[ifc.MLX5_CAP_DEV_MEM]) }

// deviceMemory is the memory of the device: that which users map, by its offset
// in the device's address range, and that for steering, by the device's own
// addresses.
type deviceMemory struct {
	bar   Memory
	icm   pagedMemory
	taken []memicArea // in order
}

// memicArea is memory that was given out.
type memicArea struct{ start, size uint64 }

// allocMemic gives out memory in the range of the device's address range that the
// driver names, the first place that is free.
func allocMemic(d *Device, c *command) *refusal {
	be := binary.BigEndian
	first, size := be.Uint64(c.in[memicRange:]), uint64(be.Uint32(c.in[memicSize:]))
	limit := first + uint64(be.Uint32(c.in[memicRangeSize:]))
	bar := d.devMem(capMemicStart)
	if size == 0 || first < bar || limit < first || limit > bar+d.devMem(capMemicBar) {
		return badMemicRange
	}
	align := uint64(memicUnit) << (c.in[memicLogAlignment] & 0x1f)
	up := func(a uint64) uint64 { return (a + align - 1) &^ (align - 1) }
	a, i := memicArea{up(first), (size + memicUnit - 1) &^ (memicUnit - 1)}, 0
	for ; i < len(d.memory.taken); i++ {
		t := d.memory.taken[i]
		if a.start+a.size <= t.start {
			break
		}
		a.start = max(a.start, up(t.start+t.size))
	}
	if a.start+a.size > limit {
		return noMemic
	}
	d.memory.taken = slices.Insert(d.memory.taken, i, a)
	be.PutUint64(c.out[memicStartOut:], a.start)
	return nil
}

// deallocMemic takes memory back as it was given out. What is in it stays.
func deallocMemic(d *Device, c *command) *refusal {
	be := binary.BigEndian
	start, size := be.Uint64(c.in[memicStart:]), uint64(be.Uint32(c.in[memicFreedSize:]))
	for i, a := range d.memory.taken {
		if a.start == start && a.size == (size+memicUnit-1)&^(memicUnit-1) {
			d.memory.taken = slices.Delete(d.memory.taken, i, i+1)
			return nil
		}
	}
	return noSuchMemic
}

// area finds the memory that n bytes at an offset of the address range are in.
func (d *Device) area(at, n uint64) (memicArea, bool) {
	for _, a := range d.memory.taken {
		if at >= a.start && at-a.start <= a.size && n <= a.size-(at-a.start) {
			return a, true
		}
	}
	return memicArea{}, false
}

// Operations that an access to device memory can do instead, by the bit that they
// have in memic_operations.
const (
	memicIncrement  = 0
	memicTestAndSet = 1
)

// memicOpOffset is how far behind memory the addresses of the first operation
// are; those of the next lie behind the last one's.
const memicOpOffset = 0x100000

// Operation modifiers of MODIFY_MEMIC.
const (
	memicOpAlloc   = 0
	memicOpDealloc = 1
)

// modifyMemic answers with the address at which accesses do an operation on the
// memory. There is nothing to give back.
func modifyMemic(d *Device, c *command) *refusal {
	be := binary.BigEndian
	op, start := uint64(c.in[memicOperation]), be.Uint64(c.in[memicStart:])
	if c.opMod > memicOpDealloc || op > 31 || d.devMem(capMemicOps)>>op&1 == 0 {
		return badMemicOp
	}
	if _, ok := d.area(start, 0); !ok {
		return noSuchMemic
	}
	if c.opMod == memicOpAlloc {
		be.PutUint64(c.out[memicOpOut:], start+memicOpOffset+op*d.devMem(capMemicBar))
	}
	return nil
}

// memoryPage is a page of the device's address range with memory behind it.
type memoryPage struct {
	d  *Device
	at uint64
}

// MemoryPage returns the page of 4 KiB at an offset of the device's address range,
// where ALLOC_MEMIC has given out memory or MODIFY_MEMIC an address for an
// operation. In memory loads and stores are what they are. At an address for
// incrementing, a store adds the number stored, little-endian and of up to 8 bytes;
// at one for test and set, a load sets what it loads to 1. Other accesses there
// read zeros and are lost, as all are where no memory is given out.
func (d *Device) MemoryPage(offset uint64) IO { return memoryPage{d, offset} }

// operation returns the memory behind an address, and what an access does with it,
// -1 for nothing special.
func (p memoryPage) operation(at uint64) (memory uint64, op int) {
	bar, size := p.d.devMem(capMemicStart), p.d.devMem(capMemicBar)
	if size == 0 || at < bar+memicOpOffset {
		return at, -1
	}
	op = int((at - bar - memicOpOffset) / size)
	return at - memicOpOffset - uint64(op)*size, op
}

// Load reads, or does test and set.
func (p memoryPage) Load(off int, dst []byte) {
	d := p.d
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(dst)
	at, op := p.operation(p.at + uint64(off))
	if _, ok := d.area(at, uint64(len(dst))); !ok || op != -1 && op != memicTestAndSet {
		return
	}
	if d.memory.bar.ReadAt(dst, at) == nil && op == memicTestAndSet && len(dst) > 0 {
		one := make([]byte, len(dst))
		one[0] = 1
		_ = d.memory.bar.WriteAt(one, at) // it was there to be read
	}
}

// Store writes, or increments.
func (p memoryPage) Store(off int, src []byte) {
	d := p.d
	d.mu.Lock()
	defer d.mu.Unlock()
	at, op := p.operation(p.at + uint64(off))
	if _, ok := d.area(at, uint64(len(src))); !ok || op != -1 && (op != memicIncrement || len(src) > 8) {
		return
	}
	if op == memicIncrement {
		var sum, add [8]byte
		copy(add[:], src)
		if d.memory.bar.ReadAt(sum[:len(src)], at) != nil {
			return
		}
		le := binary.LittleEndian
		le.PutUint64(sum[:], le.Uint64(sum[:])+le.Uint64(add[:]))
		src = sum[:len(src)]
	}
	_ = d.memory.bar.WriteAt(src, at) // a lost store has nobody to tell
}

// Steering memory: where it begins and the logarithm of how many bytes it has
// (device_mem_cap).
var icmRanges = []struct{ start, logSize ifc.Field }{
	{ifc.Must("device_mem_cap").Field("steering_sw_icm_start_address"), ifc.Must("device_mem_cap").Field("log_steering_sw_icm_size")},
	{ifc.Must("device_mem_cap").Field("header_modify_sw_icm_start_address"), ifc.Must("device_mem_cap").Field("log_header_modify_sw_icm_size")},
	{ifc.Must("device_mem_cap").Field("header_modify_pattern_sw_icm_start_address"),
		ifc.Must("device_mem_cap").Field("log_header_modify_pattern_sw_icm_size")},
	{ifc.Must("device_mem_cap").Field("indirect_encap_sw_icm_start_address"), ifc.Must("device_mem_cap").Field("log_indirect_encap_sw_icm_size")},
}

// icmReaches says whether n bytes at an address are steering memory.
func (d *Device) icmReaches(at, n uint64) bool {
	for _, r := range icmRanges {
		start, size := d.devMem(r.start), uint64(1)<<d.devMem(r.logSize)
		if start != 0 && at >= start && at-start <= size && n <= size-(at-start) {
			return true
		}
	}
	return false
}

// moveInside is move for memory of the device.
func (d *Device) moveInside(mode accessMode, moves right, at, n uint64, p []byte) keyError {
	mem := d.memory.bar
	if mode == modeSWICM {
		if !d.icmReaches(at, n) {
			return keyBounds
		}
		mem = d.memory.icm
	} else if _, ok := d.area(at, n); !ok {
		return keyBounds
	}
	if p == nil {
		return keyOK
	}
	var err error
	if moves == localRead {
		err = mem.ReadAt(p, at)
	} else {
		err = mem.WriteAt(p, at)
	}
	if err != nil {
		return keyBus
	}
	return keyOK
}

// pagedMemory is memory by pages, of which there are those that something was
// written to; the rest reads zeros.
type pagedMemory map[uint64]*[1 << adapterPageShift]byte

// ReadAt never fails.
func (m pagedMemory) ReadAt(p []byte, addr Addr) error {
	for len(p) > 0 {
		in := addr & mttLow
		n := min(len(p), int(1<<adapterPageShift-in))
		if page := m[addr>>adapterPageShift]; page != nil {
			copy(p[:n], page[in:])
		} else {
			clear(p[:n])
		}
		p, addr = p[n:], addr+uint64(n)
	}
	return nil
}

// WriteAt never fails.
func (m pagedMemory) WriteAt(p []byte, addr Addr) error {
	for len(p) > 0 {
		in := addr & mttLow
		page := m[addr>>adapterPageShift]
		if page == nil {
			page = new([1 << adapterPageShift]byte)
			m[addr>>adapterPageShift] = page
		}
		n := copy(page[in:], p)
		p, addr = p[n:], addr+uint64(n)
	}
	return nil
}
