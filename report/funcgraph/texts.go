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
	h := uint(len(name)) + uint(len(other))<<5
	if n := len(name); n > 0 {
		h += uint(name[n-1])*5 + uint(name[n/2])*37 + uint(name[n*3/4])*101
	}
	p := &t.places[h%uint(len(t.places))]
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
