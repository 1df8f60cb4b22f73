package model

import (
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
	EventHandlers int // on the device
	Processes     []ProcessBooks
	Files         []FileBooks // open files of the device that a process has a descriptor of or into
	Charges       string      // of the root control group
	Hardware      map[string]int
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
	Handles int // numbers that are taken
	Umaps   int // mappings of the device
	Objects []ObjectBooks
}

// ObjectBooks are those of one object of a file, the newest first.
type ObjectBooks struct {
	Type   string
	ID     int64
	Usecnt int32 // who holds it: -1 one alone, else how many
	Refs   int32
	Uses   int32 // other objects that its hardware object is used by
	Unread int   // events in its queue
}

// Counter is a driver, or its device, that keeps books of its own: how many
// there are of each thing, by its name.
type Counter interface{ Counts() map[string]int }

// Books takes stock. No call may be under way.
func (m *Machine) Books() *Books {
	b := &Books{Hardware: map[string]int{}}
	if d := m.Driver.Device(); d != nil {
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
	procs := m.procs
	m.mu.Unlock()
	seen := map[*uobject.File]bool{}
	for _, p := range procs {
		b.Processes = append(b.Processes, ProcessBooks{p.FDCount(), p.Mem.Areas(), p.Mem.PinnedPages(), p.Mem.PinnedVM()})
		for _, fd := range p.FDs() {
			if f := fileOf(p, fd); f != nil && !seen[f] {
				seen[f] = true
				b.Files = append(b.Files, fileBooks(p, fd, f))
			}
		}
	}
	return b
}

// fileOf returns the objects of the device's file that a descriptor leads to:
// its own, or those among which the object behind it is.
func fileOf(p *process.Process, fd int) *uobject.File {
	t := p.MainTask()
	f := t.Fget(fd)
	if f == nil {
		return nil
	}
	defer f.Put(t)
	switch private := f.Private.(type) {
	case *kernel.File:
		return &private.Objects
	case *uobject.Object:
		return private.File()
	}
	return nil
}

func fileBooks(p *process.Process, fd int, objects *uobject.File) FileBooks {
	var b FileBooks
	_, b.Handles = objects.Counts()
	t := p.MainTask()
	if f := t.Fget(fd); f != nil {
		if own, ok := f.Private.(*kernel.File); ok {
			b.Umaps = own.Umaps.Areas()
		}
		f.Put(t)
	}
	for o := range objects.Objects(nil) {
		b.Objects = append(b.Objects, ObjectBooks{Type: o.Type().Name, ID: o.ID(), Usecnt: o.Usecnt(), Refs: o.Refs(),
			Uses: uses(o.HW), Unread: unread(o.Ext)})
	}
	return b
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

// unread is how many events an event file has.
func unread(ext any) int {
	switch ext := ext.(type) {
	case *kernel.CompletionEventFile:
		return ext.Queue.Len()
	case *kernel.AsyncEventFile:
		return ext.Queue.Len()
	}
	return 0
}
