package model

import (
	"iter"
	"maps"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/uobject"
)

// Books are what a machine keeps count of. A call that is refused leaves them
// as they were, and when everything is closed they are as at the start.
type Books struct {
	OpenFiles     int // of the device
	FileRefs      int // references that files have on the device, and on those that it was before
	LeftObjects   int // objects that somebody holds of files that are gone
	Abandoned     int // files that are gone, and hold something since the driver did not give up an object
	EventHandlers int // on the device
	Processes     []ProcessBooks
	Files         []FileBooks    // open files of the device that a process has a descriptor of or into
	Charges       string         // of the root control group
	Hardware      map[string]int // what the driver and its device have, and the kernel for them
	Unrest        []string       // what cannot be while no call is under way, in words
}

// ProcessBooks are those of one process.
type ProcessBooks struct {
	FDs         int
	Areas       int
	PinnedPages int
	PinnedVM    int64
}

// FileBooks are those of one open file of the device.
type FileBooks struct {
	Refs    int
	Handles int            // numbers that are taken
	Alive   int            // objects that somebody has a reference on
	Umaps   int            // mappings of the device
	Offsets int            // page offsets at which something of the device can be mapped
	Driver  map[string]int // what the driver has for the file, by its names
	Objects []ObjectBooks
}

// ObjectBooks are those of one object of a file, the newest first.
type ObjectBooks struct {
	Type   string
	ID     int64
	Usecnt int32 // who holds it: -1 one alone, else how many
	Refs   int32
	Uses   int32 // other objects that its hardware object is used by
	Made   int32 // queues that count as made through its handle of an XRC domain
	Groups int   // multicast groups that it is noted to be in
	Unread int   // events in its queue

	CompEventsReported, EventsReported uint32 // its own events that were read

	BytesInUse int64 // of the answers in its queue, as their limit counts them
}

// Counter is a driver, or its device, that keeps books of its own: how many
// there are of each thing, by its name.
type Counter interface{ Counts() map[string]int }

// Books takes stock. No call may be under way.
func (m *Machine) Books() *Books {
	b := &Books{Hardware: map[string]int{}}
	if d := m.Driver.Device(); d != nil {
		if b.hold(d.Held()) {
			return b // what it guards cannot be looked at
		}
		b.OpenFiles = d.OpenFiles()
		if ib := d.IBDevice(); ib != nil {
			b.EventHandlers = ib.EventHandlers()
			b.Charges = m.cgroups.Current(ib.Name)
		}
	}
	if c, ok := m.Driver.(Counter); ok {
		maps.Copy(b.Hardware, c.Counts())
	}
	m.mu.Lock()
	procs, devices := m.procs, m.devices
	m.mu.Unlock()
	for _, d := range devices {
		b.FileRefs += d.FileRefs()
		b.LeftObjects += d.Left()
		b.Abandoned += d.Abandoned()
		b.have("xrcd_inode", d.XRCDInodes())
		b.have("umem", d.ib.Umems())
	}
	for _, p := range procs {
		b.Processes = append(b.Processes, ProcessBooks{p.FDCount(), p.Mem.Areas(), p.Mem.PinnedPages(), p.Mem.PinnedVM()})
	}
	for f := range m.files() {
		b.Files = append(b.Files, b.fileBooks(f))
	}
	b.Unrest = append(b.Unrest, miscounted(b.Hardware)...)
	return b
}

// have notes n of a name in Hardware.
func (b *Books) have(name string, n int) {
	if n != 0 {
		b.Hardware[name] += n
	}
}

// files walks the files of the device, each once, that a process has a descriptor of
// or into.
func (m *Machine) files() iter.Seq[*kernel.File] {
	return func(yield func(*kernel.File) bool) {
		m.mu.Lock()
		procs := m.procs
		m.mu.Unlock()
		seen := map[*kernel.File]bool{}
		for _, p := range procs {
			for _, fd := range p.FDs() {
				f := fileBehind(p, fd)
				if f == nil || seen[f] {
					continue
				}
				seen[f] = true
				if !yield(f) {
					return
				}
			}
		}
	}
}

// fileBehind returns the device's file that a descriptor leads to: its own, or the one of
// the object behind it.
func fileBehind(p *process.Process, fd int) *kernel.File {
	t := p.MainTask()
	f := t.Fget(fd)
	if f == nil {
		return nil
	}
	defer f.Put(t)
	switch private := f.Private.(type) {
	case *kernel.File:
		return private
	case *uobject.Object:
		return kernel.FileOf(private.File())
	}
	return nil
}

func (b *Books) fileBooks(f *kernel.File) FileBooks {
	fb := FileBooks{Refs: f.Refs(), Alive: f.Objects.Alive()}
	if b.hold(f.Held()) {
		return fb // what it guards cannot be looked at
	}
	fb.Umaps = f.Umaps.Areas()
	_, fb.Handles = f.Objects.Counts()
	if c, err := f.Ucontext(nil); err == nil {
		fb.Offsets = c.MmapOffsets()
		if own, ok := c.Driver.(Counter); ok {
			fb.Driver = own.Counts()
		}
	}
	for o := range f.Objects.Objects(nil) {
		ob := ObjectBooks{Type: o.Type().Name, ID: o.ID(), Usecnt: o.Usecnt(), Refs: o.Refs(), Uses: uses(o.HW), Unread: unread(o.Ext)}
		if r, ok := o.Ext.(reporter); ok {
			ob.CompEventsReported, ob.EventsReported = r.Reported()
		}
		if l, ok := o.Ext.(limited); ok {
			ob.BytesInUse = l.BytesInUse()
		}
		if d, ok := o.Ext.(xrcDomain); ok {
			ob.Made = d.Made()
		}
		if m, ok := o.Ext.(multicast); ok {
			ob.Groups = m.Groups()
		}
		fb.Objects = append(fb.Objects, ob)
	}
	b.Unrest = append(b.Unrest, unrestOf(f)...)
	return fb
}

// uses is how many other objects use a hardware object.
func uses(hw any) int32 {
	switch hw := hw.(type) {
	case *core.PD:
		return hw.Usecnt.Load()
	case *core.XRCD:
		return hw.Usecnt.Load()
	case *core.CQ:
		return hw.Usecnt.Load()
	case *core.SRQ:
		return hw.Usecnt.Load()
	case *core.QP:
		return hw.Usecnt.Load()
	case *core.MR:
		return hw.Usecnt.Load()
	case *core.DM:
		return hw.Usecnt.Load()
	case *core.WQ:
		return hw.Usecnt.Load()
	case *core.RWQIndTable:
		return hw.Usecnt.Load()
	case *core.FlowAction:
		return hw.Usecnt.Load()
	case *core.Counters:
		return hw.Usecnt.Load()
	}
	return 0
}

// reporter is the Ext of an object that counts which of its events were read.
type reporter interface{ Reported() (comp, async uint32) }

// limited is the Ext of a descriptor that may have so many bytes of answers.
type limited interface{ BytesInUse() int64 }

// xrcDomain is the Ext of an XRC domain that counts the queues made through it.
type xrcDomain interface{ Made() int32 }

// multicast is the Ext of an object that notes the multicast groups that it is in.
type multicast interface{ Groups() int }

// unread is how many events an event file has, of uverbs or of a driver.
func unread(ext any) int {
	switch ext := ext.(type) {
	case *kernel.CompletionEventFile:
		return ext.Queue.Len()
	case *kernel.AsyncEventFile:
		return ext.Queue.Len()
	case interface{ Unread() int }:
		return ext.Unread()
	}
	return 0
}
