package hw

// ref names an object that another one needs.
type ref struct {
	k kind
	n uint32
}

// missing says of each kind what a command is answered that names an object of
// it in vain.
var missing = map[kind]*refusal{
	kindPD:       noSuchPD,
	kindCQ:       noSuchCQ,
	kindTD:       noSuchTD,
	kindXRCD:     noSuchXRCD,
	kindQCounter: noSuchQCounter,
	kindSRQ:      noSuchSRQ,
	kindQP:       noSuchQP,
	kindRQ:       noSuchRQ,
	kindTIS:      noSuchTIS,
	kindRQT:      noSuchRQT,
	kindUMEM:     noSuchUMEM,

	kindFlowTable:   noSuchTable,
	kindTIR:         noSuchTIR,
	kindFlowCounter: noSuchCounter,
}

// domain is the protection domain that a queue belongs to. The driver's own queues
// may have none: they name 0.
func domain(pd uint32, uid uint16) []ref {
	if pd == 0 && uid == 0 {
		return nil
	}
	return []ref{{kindPD, pd}}
}

// check says whether an object of that uid may name all of them.
func (d *Device) check(refs []ref, uid uint16) *refusal {
	for _, r := range refs {
		if _, ok := d.find(r.k, r.n, uid, toName); !ok {
			return missing[r.k]
		}
	}
	return nil
}

// addWith is add for an object that needs others: they must exist, and stay
// until drop.
func (d *Device) addWith(k kind, uid uint16, as any, refs []ref) (uint32, *refusal) {
	if r := d.check(refs, uid); r != nil {
		return 0, r
	}
	n, r := d.add(k, uid, as)
	if r == nil {
		d.hold(refs)
	}
	return n, r
}

// hold keeps objects from being destroyed until drop.
func (d *Device) hold(refs []ref) { d.use(refs, 1) }

// drop takes back what hold did.
func (d *Device) drop(refs []ref) { d.use(refs, -1) }

func (d *Device) use(refs []ref, more int) {
	for _, r := range refs {
		live := d.objects[r.k].live
		if o, ok := live[r.n]; ok {
			o.users += more
			live[r.n] = o
		}
	}
}

// removeWith is remove for what addWith made. An object that others need stays.
func (d *Device) removeWith(k kind, n uint32, refs []ref) *refusal {
	if d.objects[k].live[n].users > 0 {
		return objectBusy
	}
	d.remove(k, n)
	d.drop(refs)
	return nil
}

// lookup finds what stands at byte at of a command, if it is one of that Go type.
func lookup[T any](d *Device, c *command, k kind, at int, a access) (t T, ok bool) {
	o, ok := d.find(k, c.number(k, at), c.uid, a)
	if !ok {
		return t, false
	}
	t, ok = o.as.(T)
	return t, ok
}
