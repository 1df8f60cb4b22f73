package hw

import (
	"encoding/binary"
	"fmt"
	"strings"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Profile is what one kind of device can do and which numbers it begins with:
// the bytes that its queries answer. A profile does not change; With makes
// another.
type Profile struct {
	name   string
	images map[string][]byte // by layout
	pages  map[uint16]int32  // wanted, by the operation modifier of QUERY_PAGES
	firsts map[kind]firstNumbers
	beyond []kind         // of which it makes more than its capabilities say
	rows   map[uint16]row // commands that this device answers otherwise than others
}

// firstNumbers is where a number space begins, for the driver and for a DEVX
// user where that is another place.
type firstNumbers struct{ driver, user uint32 }

// values is a profile as it is written down: by layout, the fields that are
// not 0.
type values map[string]map[string]uint64

// nodeDescription is the text that the device says of itself; it is an image
// without a layout.
const (
	nodeDescription     = "node_description"
	nodeDescriptionSize = 64
)

// Profiles returns the profiles that there are.
func Profiles() []*Profile { return []*Profile{Recorded, ConnectX6Dx, Small} }

// ProfileByName returns the profile of that name, or nil.
func ProfileByName(name string) *Profile {
	for _, p := range Profiles() {
		if p.name == name {
			return p
		}
	}
	return nil
}

// Name returns the profile's name.
func (p *Profile) Name() string { return p.name }

// Cap returns a capability: "log_max_cq" of cmd_hca_cap, or "roce_cap.l3_type"
// of another layout, nested with further dots. It panics for a name that
// mlx5_ifc.h does not have.
func (p *Profile) Cap(name string) uint64 {
	f, page, err := p.field(name)
	if err != nil {
		panic(err)
	}
	return f.Get(page)
}

// FindCap is Cap for names that may be of no capability: ok says whether there is one.
func (p *Profile) FindCap(name string) (n uint64, ok bool) {
	f, page, err := p.field(name)
	if err != nil {
		return 0, false
	}
	return f.Get(page), true
}

// With returns the same profile but for those capabilities, named as in Cap. It
// refuses unknown names and numbers that the field has no room for.
func (p *Profile) With(caps map[string]uint64) (*Profile, error) {
	q := p.clone()
	for name, v := range caps {
		f, page, err := q.field(name)
		if err != nil {
			return nil, err
		}
		if f.Width < 64 && v>>f.Width != 0 {
			return nil, fmt.Errorf("hw: %s has %d bits, no room for %d", name, f.Width, v)
		}
		f.Set(page, v)
	}
	return q, nil
}

func (p *Profile) clone() *Profile {
	q := *p
	q.images = make(map[string][]byte, len(p.images))
	for n, b := range p.images {
		q.images[n] = append([]byte(nil), b...)
	}
	return &q
}

// The numbers of an adapter of its own.
var (
	vportAddress = ifc.Must("nic_vport_context").Field("permanent_address")
	vportGUIDs   = []ifc.Field{
		ifc.Must("nic_vport_context").Field("system_image_guid"),
		ifc.Must("nic_vport_context").Field("port_guid"),
		ifc.Must("nic_vport_context").Field("node_guid"),
	}
)

// WithMAC returns the same profile for another adapter: its port has that MAC
// address, and its GUIDs are made of it, with 03 00 in the middle. Two adapters of
// one machine must have different ones.
func (p *Profile) WithMAC(mac [6]byte) *Profile {
	q := p.clone()
	page := q.images["nic_vport_context"]
	vportAddress.Set(page, binary.BigEndian.Uint64(append(make([]byte, 2), mac[:]...)))
	guid := binary.BigEndian.Uint64([]byte{mac[0], mac[1], mac[2], 3, 0, mac[3], mac[4], mac[5]})
	for _, f := range vportGUIDs {
		f.Set(page, guid)
	}
	return q
}

// field finds a capability's place.
func (p *Profile) field(name string) (ifc.Field, []byte, error) {
	layout, path, dotted := strings.Cut(name, ".")
	if !dotted {
		layout, path = "cmd_hca_cap", name
	}
	l, page := ifc.Find(layout), p.images[layout]
	if l == nil || page == nil {
		return ifc.Field{}, nil, fmt.Errorf("hw: no capability layout %s", layout)
	}
	f, ok := l.Lookup(path)
	if !ok || f.Width > 64 {
		return ifc.Field{}, nil, fmt.Errorf("hw: no capability %s in %s", path, layout)
	}
	return f, page, nil
}

// image returns the bytes that the profile has for a layout, nil for none.
func (p *Profile) image(layout string) []byte { return p.images[layout] }

// capPage returns a capability page at its largest.
func (p *Profile) capPage(t ifc.CapType) []byte { return p.images[ifc.CapLayouts[t]] }

// first returns where the numbers of a kind begin, and where those of a DEVX
// user do, 0 if at the same place.
func (p *Profile) first(k kind) (driver, user uint32) {
	f := p.firsts[k]
	return max(f.driver, 1), f.user
}

// row returns what the device does with an opcode.
func (p *Profile) row(opcode uint16) (row, bool) {
	if r, ok := p.rows[opcode]; ok {
		return r, true
	}
	r, ok := rows[opcode]
	return r, ok
}

// newProfile makes the images. Each capability page has one, whether a value
// is given or not.
func newProfile(p Profile, vs values, texts map[string]string) *Profile {
	p.images = map[string][]byte{nodeDescription: make([]byte, nodeDescriptionSize)}
	for layout := range vs {
		p.images[layout] = make([]byte, ifc.Must(layout).Size())
	}
	for _, layout := range ifc.CapLayouts {
		p.images[layout] = make([]byte, ifc.Must(layout).Size())
	}
	for layout, fields := range vs {
		for path, v := range fields {
			ifc.Must(layout).Field(path).Set(p.images[layout], v)
		}
	}
	for name, text := range texts {
		layout, path, dotted := strings.Cut(name, ".")
		if dotted {
			copy(ifc.Must(layout).Field(path).Bytes(p.images[layout]), text)
		} else {
			copy(p.images[layout], text)
		}
	}
	return &p
}
