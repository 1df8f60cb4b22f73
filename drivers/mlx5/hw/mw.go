package hw

// A memory window is a key that stands for a piece of another, made free by the
// driver and filled in by its user with work requests (umr): a bind puts the piece,
// the access and new low 8 bits of the key into it; one of type 2 also the queue
// pair, and wants the window to be free before. To invalidate it is to make it
// free again.

// invalidate takes a key's memory away from it. Remote is at the request of the
// other end of a queue pair (send with invalidate), who being that queue pair: the
// key must have been made for that (en_rinval), which windows of type 1 are not.
// Else the request is who's own. A key of another domain, bound to another queue
// pair, or free already cannot be invalidated.
func (d *Device) invalidate(key uint32, who user, remote bool) keyError {
	m := d.mkey(key)
	if m == nil {
		return keyNone
	}
	if remote {
		if e := m.serves(who); e != keyOK {
			return e
		}
		if mkc.enRInval.Get(m.ctx[:]) == 0 {
			return keyRights
		}
	} else if e := m.changeable(who, umrCheckFree); e != keyOK {
		return e
	}
	mkc.free.Set(m.ctx[:], 1)
	m.load()
	return keyOK
}
