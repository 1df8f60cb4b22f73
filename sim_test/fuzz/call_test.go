package fuzz

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// Where the targets of single calls have what the call points at: behind the data
// of the objects.
const (
	payloadAt   = dataAt + dataSize/2
	payloadSize = dataSize / 2
)

func FuzzIoctlRXE(f *testing.F)  { fuzzIoctl(f, "rxe") }
func FuzzIoctlMLX5(f *testing.F) { fuzzIoctl(f, "mlx5") }
func FuzzIoctlStub(f *testing.F) { fuzzIoctl(f, "stub") }

// fuzzIoctl makes one ioctl of any bytes, on a file that has an object of each kind.
func fuzzIoctl(f *testing.F, driver string) {
	seedCalls(f, driver, func(c *casefile.Case, do casefile.Action, env casefile.Env) []byte {
		if call, ok := do.(*casefile.Ioctl); ok {
			b, _, _ := call.Bytes(c.Driver, env) // nothing for a name of which there is none
			return b
		}
		return nil
	})
	fuzzCall(f, driver, (*life).ioctl)
}

func FuzzWriteRXE(f *testing.F)  { fuzzWrite(f, "rxe") }
func FuzzWriteMLX5(f *testing.F) { fuzzWrite(f, "mlx5") }
func FuzzWriteStub(f *testing.F) { fuzzWrite(f, "stub") }

// fuzzWrite makes one write of any bytes.
func fuzzWrite(f *testing.F, driver string) {
	seedCalls(f, driver, func(_ *casefile.Case, do casefile.Action, env casefile.Env) []byte {
		if w, ok := do.(*casefile.Write); ok {
			b, _, _ := w.Bytes(env) // as above
			return b
		}
		return nil
	})
	fuzzCall(f, driver, (*life).write)
}

func fuzzCall(f *testing.F, driver string, do func(l *life, fd int, call []byte) bool) {
	b, objects := equipped(f, driver)
	f.Fuzz(func(t *testing.T, call, payload []byte) {
		b.play(t, slices.Concat(call, payload), func(l *life) {
			l.replay(objects)
			l.put(payloadAt, payloadSize, payload)
			do(l, deviceFD, call)
		})
	})
}

// seedCalls adds calls of recorded cases, each once, with the case's buffers as
// payload.
func seedCalls(f *testing.F, driver string, bytes func(*casefile.Case, casefile.Action, casefile.Env) []byte) {
	if worker() {
		return
	}
	seen := map[string]bool{}
	for _, c := range showcase(f, driver) {
		env := newSeedEnv(c)
		for i := range c.Steps {
			s := &c.Steps[i]
			if b := bytes(c, s.Do, env); len(b) > 0 && !seen[shows(s)] {
				seen[shows(s)] = true
				f.Add(b, env.payload)
			}
		}
	}
	require.NotEmpty(f, seen)
}

// seedEnv is a case's environment as the process of a single call has it.
type seedEnv struct {
	at      map[string]int
	payload []byte
}

func newSeedEnv(c *casefile.Case) *seedEnv {
	e := &seedEnv{at: map[string]int{}}
	for _, name := range slices.Sorted(maps.Keys(c.Bufs)) {
		e.at[name] = len(e.payload)
		e.payload = append(e.payload, c.Bufs[name].Bytes()...)
		e.payload = append(e.payload, make([]byte, -len(e.payload)&7)...)
	}
	return e
}

// BufAddr implements casefile.Env.
func (e *seedEnv) BufAddr(name string) (uint64, bool) {
	return payloadAt + uint64(e.at[name])%payloadSize, true
}

// BufNumber implements casefile.Env.
func (e *seedEnv) BufNumber(string, int, int) (uint64, bool) { return 1, true }

// Symbol implements casefile.Env: any handle is the second one.
func (e *seedEnv) Symbol(string) (uint64, bool, bool) { return 1, false, true }

// MapAddr implements casefile.Env.
func (e *seedEnv) MapAddr(string) (uint64, bool) { return payloadAt, true }

// FuzzMethodStub and so on make a call of any method that the driver's devices have,
// whose attributes are of the right kind: which are there, their lengths, handles and
// contents are the input's.
func FuzzMethodRXE(f *testing.F)  { fuzzMethod(f, "rxe") }
func FuzzMethodMLX5(f *testing.F) { fuzzMethod(f, "mlx5") }
func FuzzMethodStub(f *testing.F) { fuzzMethod(f, "stub") }

// method is one of a driver's methods.
type method struct {
	object uint16
	*spec.Method
}

// methodsOf are the methods that devices of a driver may have.
func methodsOf(driver string) (list []method) {
	id, _ := casefile.DriverID(driver)
	defs := spec.Linux6_12.Definitions(id)
	for i := range defs {
		for j := range defs[i].Object.Methods {
			list = append(list, method{defs[i].Object.ID, &defs[i].Object.Methods[j]})
		}
	}
	return list
}

func fuzzMethod(f *testing.F, driver string) {
	b, objects := equipped(f, driver)
	methods := methodsOf(driver)
	for i := range methods {
		f.Add(uint16(i), []byte{})
		f.Add(uint16(i), []byte{8, 0, 0, 0, 1, 8, 0, 0, 0, 1, 8, 0, 0, 0, 1, 8, 0, 0, 0, 1, 8, 0, 0, 0, 1, 8, 0, 0, 0, 1})
	}
	f.Fuzz(func(t *testing.T, which uint16, input []byte) {
		m := methods[int(which)%len(methods)]
		b.play(t, append([]byte{byte(which), byte(which >> 8)}, input...), func(l *life) {
			l.replay(objects)
			l.ioctl(deviceFD, l.shaped(m, &reader{input}))
		})
	})
}

// shaped is a call of a method. Of each attribute the input says first whether it is
// as it should be: a mandatory one is there with the length that it has at least, an
// object is the first of its kind.
func (l *life) shaped(m method, r *reader) []byte {
	var attrs []spec.IoctlAttr
	at := uint64(payloadAt)
	objects := l.objects()
	for i := range m.Attrs {
		s := &m.Attrs[i]
		how := r.byte()
		if s.Mandatory == (how&1 != 0) { // there is one bit to leave out what must be there, or to add what may be
			continue
		}
		a := spec.IoctlAttr{AttrID: s.ID, Len: s.MinLen, Flags: uint16(how >> 1 & 1)}
		if how&4 != 0 {
			a.Len = uint16(r.number(2)) % 1024
		}
		if how&8 != 0 {
			a.Data = r.number(4)
		}
		if how&16 != 0 {
			a.AttrData = uint16(r.number(2))
		}
		switch s.Type {
		case spec.TypeIDR, spec.TypeFD:
			if s.Access == spec.AccessNew {
				break
			}
			skip := int(a.Data % 4)
			for _, o := range objects {
				if o.Type == spec.ObjectName(s.Object) || o.Type == objectName(l.driver, s.Object) {
					if a.Data = uint64(o.ID); skip == 0 {
						break
					}
					skip--
				}
			}
		case spec.TypeIDRsArray:
			a.Len = 4 * (a.Len%4 + s.MinItems)
			for i := range uint64(a.Len / 4) {
				l.put(at+4*i, 4, r.bytes(4))
			}
			if a.Len > 8 {
				a.Data = at
			}
		case spec.TypePtrIn, spec.TypePtrOut, spec.TypeEnumIn:
			if a.Len > 8 || s.Type == spec.TypePtrOut {
				a.Data = at
			}
			if a.Len > 8 && s.Type != spec.TypePtrOut {
				l.put(at, payloadAt+payloadSize-at, r.bytes(int(a.Len)))
			}
			at += uint64(a.Len+63) &^ 63
		}
		attrs = append(attrs, a)
	}
	return spec.EncodeMethod(l.driver, m.object, m.ID, attrs...)
}

// objectName is the name of a driver's object.
func objectName(driver uint32, id uint16) string {
	for _, d := range spec.Linux6_12.Definitions(driver) {
		if d.Object.ID == id {
			return d.Object.Name
		}
	}
	return ""
}
