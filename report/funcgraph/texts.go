package funcgraph

// Texts keeps the texts that names are made into, as the same few names come again
// and again. It is a table with one place for each hash; who comes later has it. The
// zero value is ready.
type Texts struct{ places [512]place }

type place struct {
	name, other string
	text        []byte
}

// Get returns the text that form makes of two names, which is not to be changed.
func (t *Texts) Get(name, other string, form func(name, other string) []byte) []byte {
	h := uint(len(name)) + uint(len(other))<<4
	if n := len(name); n > 0 {
		h += uint(name[n-1])*5 + uint(name[n/2])*37 + uint(name[n*3/4])*101
	}
	p := &t.places[h%uint(len(t.places))]
	if p.text == nil || p.name != name || p.other != other {
		*p = place{name, other, form(name, other)}
	}
	return p.text
}
