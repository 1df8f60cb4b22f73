package bench

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// LoopVersion is the number of the calibration loop: what is counted in loops of one
// version cannot be compared with what is counted in those of another.
const LoopVersion = 1

const (
	loopHeader = 24
	loopAttrs  = 10
	loopAttr   = 16
)

// loop is the calibration loop. Once around, it copies a header and ten attributes
// from one memory to another in two pieces, decodes the attributes, finds each in a
// table and looks at its length, and takes a lock and a reference and gives them back:
// the kinds of work that calls consist of, in a fixed amount. It calls nothing of the
// model, so that a change there leaves it as fast as it was.
type loop struct {
	user, kernel [loopHeader + loopAttrs*loopAttr]byte
	table        [64]struct{ id, length uint16 }
	mu           sync.Mutex
	refs         atomic.Int64
	sum          uint64
}

// slot is where the table has an id.
func (l *loop) slot(id uint16) int { return int(id*37>>2) % len(l.table) }

func newLoop() *loop {
	l := new(loop)
	for i := range loopAttrs {
		a := l.user[loopHeader+i*loopAttr:]
		id := uint16(4 * (i + 1))
		binary.LittleEndian.PutUint16(a, id)
		binary.LittleEndian.PutUint16(a[2:], 8)
		binary.LittleEndian.PutUint64(a[8:], uint64(i))
		l.table[l.slot(id)].id, l.table[l.slot(id)].length = id, 8
	}
	return l
}

// repeat goes around n times.
func (l *loop) repeat(n int) {
	for range n {
		l.once()
	}
}

//go:noinline
func (l *loop) once() {
	copy(l.kernel[:loopHeader], l.user[:loopHeader])
	copy(l.kernel[loopHeader:], l.user[loopHeader:])
	l.mu.Lock()
	l.refs.Add(1)
	for i := range loopAttrs {
		a := l.kernel[loopHeader+i*loopAttr:][:loopAttr]
		id := binary.LittleEndian.Uint16(a)
		if e := &l.table[l.slot(id)]; e.id != id || e.length != binary.LittleEndian.Uint16(a[2:]) {
			panic("bench: the calibration loop does not find its attributes")
		}
		l.sum += binary.LittleEndian.Uint64(a[8:])
	}
	l.refs.Add(-1)
	l.mu.Unlock()
}
