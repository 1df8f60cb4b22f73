package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// The fields of the memory keys' commands and context.
var (
	mkeyIn       = ifc.Must("create_mkey_in").Field("memory_key_mkey_entry")
	mkeyPgAccess = ifc.Must("create_mkey_in").Field("pg_access")
	mkeyUMEM     = ifc.Must("create_mkey_in").Field("mkey_umem_valid")
	mkeyActual   = ifc.Must("create_mkey_in").Field("translations_octword_actual_size")
	mkeyList     = ifc.Must("create_mkey_in").Field("klm_pas_mtt").Byte()
	mkeyOut      = ifc.Must("query_mkey_out").Field("memory_key_mkey_entry")
	mkeyFirst    = ifc.Must("query_mkey_out").Field("bsf0_klm0_pas_mtt0_1").Byte()
	mkeyNumber   = ifc.Must("create_mkey_out").Field("mkey_index")
	capLogKLMs   = ifc.Must("cmd_hca_cap").Field("log_max_klm_list_size")

	mkc = struct {
		free, mode42, mode10, a, rw, rr, lw, lr, umrEn, qpn, tag, length64, bsfEn, sigErr, enRInval, pd, start, length, octos,
		logPageSize, smallFence, relaxedWrite, relaxedRead ifc.Field
	}{
		free: mkcField("free"), mode42: mkcField("access_mode_4_2"), mode10: mkcField("access_mode_1_0"),
		a: mkcField("a"), rw: mkcField("rw"), rr: mkcField("rr"), lw: mkcField("lw"), lr: mkcField("lr"),
		umrEn: mkcField("umr_en"), qpn: mkcField("qpn"), tag: mkcField("mkey_7_0"), length64: mkcField("length64"),
		bsfEn: mkcField("bsf_en"), sigErr: mkcField("expected_sigerr_count"), enRInval: mkcField("en_rinval"), pd: mkcField("pd"),
		start: mkcField("start_addr"), length: mkcField("len"), octos: mkcField("translations_octword_size"),
		logPageSize: mkcField("log_page_size"), smallFence: mkcField("small_fence_on_rdma_read_response"),
		relaxedWrite: mkcField("relaxed_ordering_write"), relaxedRead: mkcField("relaxed_ordering_read"),
	}
)

func mkcField(name string) ifc.Field { return ifc.Must("mkc").Field(name) }

// mkcSize is the length of a key's context, and octo the unit of its lists.
const (
	mkcSize = 64
	octo    = 16
)

// anyQPN in a context lets every queue pair of the domain use the key.
const anyQPN = bits24

// accessMode is how a key finds its memory.
type accessMode uint8

// The access modes (enum MLX5_MKC_ACCESS_MODE_* in include/linux/mlx5/mlx5_ifc.h),
// and behind them those of the keys that every device has.
const (
	modePA    accessMode = iota // addresses are bus addresses
	modeMTT                     // a list of pages
	modeKLM                     // a list of pieces of other keys, each with its length
	modeKSM                     // the same with pieces of one length
	modeSWICM                   // memory that the device has for steering
	modeMemic                   // memory of the device that users map

	modeDrop   accessMode = 0xfe // writes are lost, reads give zeros
	modeAbsent accessMode = 0xff // no page is ever present
)

// mkey is a memory key: its context (mkc) as it is now, and what the device goes
// by, which load reads out of it.
type mkey struct {
	ctx [mkcSize]byte

	free, everything bool // everything: 2^64 bytes
	mode             accessMode
	tag              uint8 // the low 8 bits of the key
	rights           right
	pd, qpn          uint32
	start, length    uint64
	base             uint64 // the address of the first byte, as users give it
	shift            uint   // of a page or a piece
	mask             uint64 // of an offset in one
	lead             uint64 // bytes of the first page or piece before the start
	room             uint64 // octowords of the list at most

	mtts     []uint64 // modeMTT: the list as it is, access bits included
	thin     bool     // pages in the list may be absent, or not there for writing
	onDemand bool     // the driver brings absent pages in
	klms     []klm    // modeKLM, modeKSM
	ends     []uint64 // modeKLM: where in the key's range the piece of the same index ends

	refs []ref    // the UMEM that the page list is of, and the domain that it is of
	dead keyError // why the key never serves anyone; keyOK where it may
}

// load takes over the context.
func (m *mkey) load() {
	c := m.ctx[:]
	m.free = mkc.free.Get(c) != 0
	m.everything = mkc.length64.Get(c) != 0
	m.mode = accessMode(mkc.mode42.Get(c)<<2 | mkc.mode10.Get(c))
	m.tag = uint8(mkc.tag.Get(c))
	m.pd, m.qpn = uint32(mkc.pd.Get(c)), uint32(mkc.qpn.Get(c))
	m.start, m.length = mkc.start.Get(c), mkc.length.Get(c)
	m.shift = uint(mkc.logPageSize.Get(c))
	m.room = mkc.octos.Get(c)
	if most := -m.start; most != 0 {
		m.length = min(m.length, most) // addresses end, they do not go round
	}
	m.base = m.start
	if m.mode == modeMemic || m.mode == modeSWICM {
		m.base = 0
	}
	m.mask = 1<<m.shift - 1
	m.lead = m.start & m.mask
	m.rights = 0
	for _, r := range mkcRights {
		if r.field.Get(c) != 0 {
			m.rights |= r.right
		}
	}
}

var mkcRights = []struct {
	field ifc.Field
	right right
}{{mkc.lr, localRead}, {mkc.lw, localWrite}, {mkc.rr, remoteRead}, {mkc.rw, remoteWrite}, {mkc.a, remoteAtomic}}

// mkey finds the key that a user names: 24 bits of number, and 8 that it must
// have for a tag.
func (d *Device) mkey(key uint32) *mkey {
	if m := d.mkeyAt(key >> 8); m != nil && m.tag == uint8(key) {
		return m
	}
	return nil
}

// mkeyAt finds a key by its number alone.
func (d *Device) mkeyAt(n uint32) *mkey {
	if o, ok := d.objects[kindMKey].live[n]; ok {
		return o.as.(*mkey)
	}
	return nil
}

// createMKey makes a key with the context and the list that follow. Its domain
// must be one that the uid may name. A user's key stands for other keys or for the
// memory of a UMEM: bus addresses are the driver's to give.
func createMKey(d *Device, c *command) *refusal {
	m := newMKey(c)
	if r := d.equip(m, c); r != nil {
		return r
	}
	return d.addMKey(m, c)
}

// createMKeyUnchecked is the same for a device that takes a key without a domain
// and a user's key for bus addresses. It serves nobody.
func createMKeyUnchecked(d *Device, c *command) *refusal {
	m := newMKey(c)
	switch r := d.equip(m, c); r {
	case nil:
	case noSuchPD:
		m.dead = keyPD
	case foreignMemory:
		m.dead = keyRights
	default:
		return r
	}
	return d.addMKey(m, c)
}

func newMKey(c *command) *mkey {
	m := &mkey{}
	copy(m.ctx[:], mkeyIn.Bytes(c.in))
	m.load()
	return m
}

func (d *Device) addMKey(m *mkey, c *command) *refusal {
	n, r := d.addWith(kindMKey, c.uid, m, m.refs)
	if r != nil {
		return r
	}
	mkeyNumber.Set(c.out, uint64(n))
	return nil
}

// equip gives a new key its domain and its list.
func (d *Device) equip(m *mkey, c *command) *refusal {
	refs := []ref{{kindPD, m.pd}}
	if r := d.check(refs, c.uid); r != nil {
		return r
	}
	if r := d.fill(m, c); r != nil {
		return r
	}
	m.refs = append(m.refs, refs...)
	return nil
}

// fill gives a new key the list in its command, or of the UMEM there.
func (d *Device) fill(m *mkey, c *command) *refusal {
	if m.mode > modeMemic {
		return badMKeyMode
	}
	if isUser(c.uid) {
		switch {
		case m.mode == modeKLM || m.mode == modeKSM:
			if m.room > 1<<d.cap(capLogKLMs) {
				return bigMKeyList
			}
		case m.mode == modeMTT && mkeyUMEM.Get(c.in) != 0:
			return d.fillFromUMEM(m, c)
		default:
			return foreignMemory
		}
	}
	m.onDemand = m.mode == modeMTT && mkeyPgAccess.Get(c.in) != 0
	n := mkeyActual.Get(c.in)
	if n > m.room {
		return longMKeyList
	}
	if n*octo > uint64(len(c.in)-mkeyList) {
		return shortMKeyList
	}
	m.putList(0, c.in[mkeyList:][:n*octo])
	if mkeyPgAccess.Get(c.in) == 0 {
		for i := range m.mtts {
			m.mtts[i] |= mttPresent
		}
		m.thin = false
	}
	return nil
}

// destroyMKey ends a key. Who still holds it finds it free.
func destroyMKey(d *Device, c *command) *refusal {
	n := c.number(kindMKey, 8)
	o, ok := d.find(kindMKey, n, c.uid, toChange)
	if !ok {
		return noSuchObject
	}
	m := o.as.(*mkey)
	if r := d.removeWith(kindMKey, n, m.refs); r != nil {
		return r
	}
	m.free = true
	return nil
}

// queryPgAccess is pg_access of QUERY_MKEY: byte 12, bit 7.
const queryPgAccess = 12

// queryMKey answers with the context as it is and the first two octowords of
// the list, or as much of a list of other keys as the answer has room for; pages
// have their access bits if that is asked for.
func queryMKey(d *Device, c *command) *refusal {
	o, ok := d.find(kindMKey, c.number(kindMKey, 8), c.uid, toRead)
	if !ok {
		return noSuchObject
	}
	m := o.as.(*mkey)
	copy(mkeyOut.Bytes(c.out), m.ctx[:])
	out := c.out[mkeyFirst:]
	switch m.mode {
	case modeMTT:
		bits := uint64(mttPresent)
		if c.in[queryPgAccess]>>7 == 0 {
			bits = 0
		}
		for i, e := range m.mtts[:min(4, len(m.mtts))] {
			binary.BigEndian.PutUint64(out[8*i:], e&^mttLow|e&bits)
		}
	case modeKLM, modeKSM:
		for i, k := range m.klms[:min(len(out)/octo, len(m.klms))] {
			k.put(out[octo*i:])
		}
	}
	return nil
}
