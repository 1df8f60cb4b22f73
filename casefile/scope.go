package casefile

// scope knows the names that a case has made up to the place being read.
type scope struct {
	bufs  map[string]int  // buffers and their lengths
	syms  map[string]bool // handles, and descriptors: true
	maps  map[string]bool
	procs map[string]bool
	bgs   map[string]bool
}

func newScope() scope {
	return scope{map[string]int{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// useBuf checks that the case has the buffer and, where size is not 0, that
// size bytes at off lie in it.
func (it item) useBuf(name string, off, size int) {
	if !it.c.reading {
		return
	}
	n, ok := it.c.scope.bufs[name]
	switch {
	case !ok:
		it.fail("no buffer %q", name)
	case off < 0 || size > n || off > n-size:
		it.fail("%d bytes at %d do not lie in buffer %q of %d", size, off, name, n)
	}
}

// A nameSpace is one of a scope's sets, as it is called in messages.
type nameSpace string

const (
	descriptors nameSpace = "descriptor"
	handles     nameSpace = "handle or descriptor"
	mappings    nameSpace = "mapping"
	processes   nameSpace = "process"
	backgrounds nameSpace = "background step"
)

// use checks that an earlier step makes the name.
func (it item) use(s nameSpace, name string) {
	if !it.c.reading {
		return
	}
	var ok bool
	sc := &it.c.scope
	switch s {
	case descriptors:
		ok = sc.syms[name]
	case handles:
		_, ok = sc.syms[name]
	case mappings:
		ok = sc.maps[name]
	case processes:
		ok = sc.procs[name]
	case backgrounds:
		ok = sc.bgs[name]
	}
	if !ok {
		it.fail("no earlier step makes %s %q", s, name)
	}
}

// define notes that the step makes the name.
func (it item) define(s nameSpace, name string) {
	if !it.c.reading {
		return
	}
	if name == "" {
		it.fail("a %s needs a name", s)
	}
	sc := &it.c.scope
	switch s {
	case descriptors:
		sc.syms[name] = true
	case handles:
		if _, known := sc.syms[name]; !known { // a name once given to a descriptor stays one
			sc.syms[name] = false
		}
	case mappings:
		sc.maps[name] = true
	case processes:
		sc.procs[name] = true
	case backgrounds:
		sc.bgs[name] = true
	}
}

// uses is a member that names something an earlier step makes.
func (o *object) uses(s nameSpace, key string, p *string, n need) {
	o.text(key, p, n)
	if *p != "" || o.has(key) {
		o.use(s, *p)
	}
}

// makes is a member that names something which the step makes.
func (o *object) makes(s nameSpace, key string, p *string, n need) {
	o.text(key, p, n)
	if o.has(key) {
		o.define(s, *p)
	}
}
