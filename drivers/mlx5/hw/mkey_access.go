package hw

import "bytes"

// user is who uses a key.
type user struct {
	pd, qpn uint32 // the protection domain, and the queue pair
	uid     uint16 // the queue pair was made under

	// privileged is a queue pair of the driver's own: made under no user's uid,
	// with the reserved local key enabled (rlky). It may use that key, and change
	// keys of every domain and the page lists in them.
	privileged bool

	// lists is one of those that only changes keys (REG_UMR). It has no domain:
	// the lists that its work requests lead to are in memory of any.
	lists bool
}

// right is what a use of a key needs.
type right uint8

const (
	localRead right = 1 << iota
	localWrite
	remoteRead
	remoteWrite
	remoteAtomic
)

// moves returns what a use does with memory, as the rights that it takes
// locally: keys that other keys stand for are asked for these.
func (r right) moves() right {
	var m right
	if r&(localRead|remoteRead|remoteAtomic) != 0 {
		m |= localRead
	}
	if r&(localWrite|remoteWrite|remoteAtomic) != 0 {
		m |= localWrite
	}
	return m
}

// keyError is why a key does not serve.
type keyError uint8

const (
	keyOK         keyError = iota
	keyNone                // no key has this number, or its low 8 bits are others
	keyFree                // the key is free: it stands for no memory now
	keyNotFree             // the key is in use where it must be free
	keyBounds              // the range is not inside of the key's
	keyRights              // the key does not allow this
	keyPD                  // the key is of another protection domain
	keyQPN                 // the key is bound to another queue pair
	keyBus                 // the bus refused the access
	keyNotPresent          // a page is absent, or not there for writing
	keyNesting             // keys stand for keys more often than the device follows
	keyPieces              // the range is in more pieces than the device follows
	keyRequest             // a work request about a key is malformed
)

var keyErrors = [...]string{
	keyOK:         "no error",
	keyNone:       "no key has this number",
	keyFree:       "the key is free",
	keyNotFree:    "the key is in use and not free",
	keyBounds:     "the range is not inside of the key's",
	keyRights:     "the key does not allow this",
	keyPD:         "the key is of another protection domain",
	keyQPN:        "the key is bound to another queue pair",
	keyBus:        "the bus refused the access",
	keyNotPresent: "a page is not present",
	keyNesting:    "the key leads through too many other keys",
	keyPieces:     "the range is in too many pieces",
	keyRequest:    "the work request is malformed",
}

// String says the reason in words.
func (e keyError) String() string { return keyErrors[e] }

// reach returns the key with which n bytes at addr are reached, if who may do
// what is wanted with all of them: the key and those that it stands for allow it,
// and every page is present. Of 0 bytes the place does not matter. The key is good
// for readKey and writeKey at once; what happens to keys in between shows there.
func (d *Device) reach(key uint32, who user, want right, addr, n uint64) (*mkey, keyError) {
	m := d.mkey(key)
	if m == nil {
		if m = d.special(key, who.privileged); m == nil {
			return nil, keyNone
		}
	} else if e := m.serves(who); e != keyOK {
		return nil, e
	}
	if want&^m.rights != 0 {
		return nil, keyRights
	}
	moves := want.moves()
	if _, ok := m.onePage(addr, n, moves); ok || n == 0 {
		return m, keyOK
	}
	if e := d.walk(m, moves, addr, n, nil, 0); e != keyOK {
		return nil, e
	}
	return m, keyOK
}

// serves says whether a key is alive for who.
func (m *mkey) serves(who user) keyError {
	switch {
	case m.dead != keyOK:
		return m.dead
	case m.free:
		return keyFree
	case m.pd != who.pd && !who.lists:
		return keyPD
	case m.qpn != anyQPN && m.qpn != who.qpn:
		return keyQPN
	}
	return keyOK
}

// readKey reads what lies at addr of a key that reach returned. After an error p
// has what was read before it.
func (d *Device) readKey(m *mkey, addr uint64, p []byte) keyError {
	if a, ok := m.onePage(addr, uint64(len(p)), localRead); ok {
		if d.read("payload", p, a) != nil {
			return keyBus
		}
		return keyOK
	}
	return d.walk(m, localRead, addr, uint64(len(p)), p, 0)
}

// writeKey writes p to addr of a key that reach returned. After an error what
// lies before its place is written.
func (d *Device) writeKey(m *mkey, addr uint64, p []byte) keyError {
	if a, ok := m.onePage(addr, uint64(len(p)), localWrite); ok {
		if d.write("payload", p, a) != nil {
			return keyBus
		}
		return keyOK
	}
	return d.walk(m, localWrite, addr, uint64(len(p)), p, 0)
}

// maxAtomic is the longest operand of an atomic operation in bytes.
const maxAtomic = 256

// atomicKey reads the bytes at addr of a key that reach returned into p, lets f
// change them, and writes them back if it did, as one step: nothing else of this
// device comes between. The bytes are as they lie in memory. p has at most
// maxAtomic of them.
func (d *Device) atomicKey(m *mkey, addr uint64, p []byte, f func(p []byte)) keyError {
	if e := d.walk(m, localRead|localWrite, addr, uint64(len(p)), nil, 0); e != keyOK {
		return e
	}
	if e := d.readKey(m, addr, p); e != keyOK {
		return e
	}
	var was [maxAtomic]byte
	n := copy(was[:], p)
	if f(p); bytes.Equal(was[:n], p) {
		return keyOK
	}
	return d.writeKey(m, addr, p)
}
