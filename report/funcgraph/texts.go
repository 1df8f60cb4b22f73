package funcgraph

// Texts keeps the texts that names are made into, as the same few names come again
// and again. It is a table with two places for each hash; the one that was asked for
// last stays. The zero value is ready.
type Texts struct{ places [512][2]place }

type place struct {
	name, other string
	text        []byte
}

// Get returns the text that form makes of two names, which is not to be changed.
func (t *Texts) Get(name, other string, form func(name, other string) []byte) []byte {
	p := &t.places[hash(name, other)%uint64(len(t.places))]
	switch {
	case p[0].has(name, other):
	case p[1].has(name, other):
		p[0], p[1] = p[1], p[0]
	default:
		p[1] = p[0]
		p[0] = place{name, other, form(name, other)}
	}
	return p[0].text
}

func (p *place) has(name, other string) bool {
	return p.name == name && p.other == other && p.text != nil
}

// hash looks at a few bytes only: names that begin or end alike differ in others.
func hash(name, other string) uint64 {
	h := uint64(len(name)) | uint64(len(other))<<8
	if n := len(name); n > 0 {
		h |= uint64(name[n-1])<<16 | uint64(name[n/2])<<24 | uint64(name[n/4])<<32 | uint64(name[n*3/4])<<40 | uint64(name[n*7/8])<<48
	}
	if len(other) > 0 {
		h += uint64(other[len(other)-1]) << 56
	}
	return h * 0x9e3779b97f4a7c15 >> 48
}
