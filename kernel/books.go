package kernel

import (
	"uverbsim/trace"
	"uverbsim/uobject"
)

// What a test that balances the books asks for. No call may be under way: then
// nobody holds a lock, and each reference is one of something that exists.

// FileRefs returns how many references files have on the device.
func (d *Device) FileRefs() int {
	refs := int(d.refs.Load())
	d.machine.mu.Lock()
	defer d.machine.mu.Unlock()
	if n := d.machine.nodes[d.Num]; n != nil && n.dev == d {
		refs-- // the registration's
	}
	return refs
}

// Left returns how many objects somebody still holds that were of files which are
// gone, but for abandoned ones.
func (d *Device) Left() (objects int) {
	objects, _ = d.countLeft()
	return objects
}

// Abandoned returns how many files are gone of whose objects the driver did not give up
// one: what that held stays held.
func (d *Device) Abandoned() (files int) {
	_, files = d.countLeft()
	return files
}

func (d *Device) countLeft() (objects, abandoned int) {
	d.leftMutex.Lock()
	defer d.leftMutex.Unlock()
	d.pruneLeft()
	for _, f := range d.left {
		if f.Objects.Abandoned() {
			abandoned++
		} else {
			objects += f.Objects.Alive()
		}
	}
	return objects, abandoned
}

// leave remembers a file that goes before the last of its objects.
func (d *Device) leave(f *File) {
	if f.Objects.Alive() == 0 {
		return
	}
	d.leftMutex.Lock()
	defer d.leftMutex.Unlock()
	d.pruneLeft()
	d.left = append(d.left, f)
}

// pruneLeft forgets the files whose objects are gone by now. The caller holds
// leftMutex.
func (d *Device) pruneLeft() {
	keep := d.left[:0]
	for _, f := range d.left {
		if f.Objects.Alive() != 0 {
			keep = append(keep, f)
		}
	}
	clear(d.left[len(keep):])
	d.left = keep
}

// XRCDInodes returns how many inodes the device has a hold on since an XRC domain is
// shared by them.
func (d *Device) XRCDInodes() int {
	d.XRCDTreeMutex.Lock(nil)
	defer d.XRCDTreeMutex.Unlock(nil)
	return len(d.XRCDTree)
}

// Held returns the names of the device's locks that somebody holds. Who has not left the
// SRCU holds up a removal for ever.
func (d *Device) Held() []string {
	held := trace.Held(&d.listsMutex, &d.XRCDTreeMutex)
	if !d.srcu.none(0) || !d.srcu.none(1) {
		held = append(held, d.srcu.name)
	}
	return held
}

// FileOf returns the file that has those objects.
func FileOf(objects *uobject.File) *File { return objects.Owner().(*owner).file() }

// Refs returns the number of references on the file.
func (f *File) Refs() int { return int(f.ref.Load()) }

// Reported returns how many completion events and how many others the object's user
// has read.
func (u *UEvent) Reported() (comp, async uint32) { return 0, u.EventsReported }

// Reported returns how many completion events and how many others the CQ's user has
// read.
func (u *UCQ) Reported() (comp, async uint32) { return u.CompEventsReported, u.EventsReported }

// Held returns the names of the file's locks that somebody holds.
func (f *File) Held() []string {
	return append(append(f.Objects.Held(), trace.Held(&f.UcontextLock)...), f.Umaps.Held()...)
}
