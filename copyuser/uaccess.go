package copyuser

import (
	"math"
	"sync"

	"uverbsim/trace"
)

// CopyFromUser models copy_from_user in include/linux/uaccess.h: it fills dst
// from the user's memory. On a fault it returns false, with the bytes before
// the fault copied and the rest of dst zeroed.
func CopyFromUser(t *trace.Task, m Memory, dst []byte, from Addr) bool {
	n := m.CopyIn(dst[:t.Cut("copy_from_user", len(dst))], from)
	t.Note(trace.CopyIn, "", uint64(from), uint64(len(dst)), uint64(n))
	if n < len(dst) {
		clear(dst[n:])
		return false
	}
	return true
}

// CopyToUser models copy_to_user in include/linux/uaccess.h: it copies src to
// the user's memory. False is a fault; the bytes before it are copied.
func CopyToUser(t *trace.Task, m Memory, to Addr, src []byte) bool {
	n := m.CopyOut(to, src[:t.Cut("copy_to_user", len(src))])
	t.Note(trace.CopyOut, "", uint64(to), uint64(len(src)), uint64(n))
	return n == len(src)
}

// PutUser16 models put_user of a __u16 in arch/x86/include/asm/uaccess.h.
func PutUser16(t *trace.Task, m Memory, to Addr, v uint16) bool {
	ok := !t.Fail(trace.Copy, "put_user") && m.PutUint16(to, v)
	return notePut(t, to, 2, ok)
}

// PutUser32 models put_user of a __u32.
func PutUser32(t *trace.Task, m Memory, to Addr, v uint32) bool {
	ok := !t.Fail(trace.Copy, "put_user") && m.PutUint32(to, v)
	return notePut(t, to, 4, ok)
}

// PutUser64 models put_user of a __u64.
func PutUser64(t *trace.Task, m Memory, to Addr, v uint64) bool {
	ok := !t.Fail(trace.Copy, "put_user") && m.PutUint64(to, v)
	return notePut(t, to, 8, ok)
}

func notePut(t *trace.Task, to Addr, width uint64, ok bool) bool {
	if t == nil {
		return ok
	}
	copied := uint64(0)
	if ok {
		copied = width
	}
	t.Note(trace.CopyOut, "", uint64(to), width, copied)
	return ok
}

// GetUser64 models get_user of a __u64; false is a fault.
func GetUser64(t *trace.Task, m Memory, from Addr) (uint64, bool) {
	if t.Fail(trace.Copy, "get_user") {
		t.Note(trace.CopyIn, "", uint64(from), 8, 0)
		return 0, false
	}
	v, ok := m.GetUint64(from)
	copied := uint64(0)
	if ok {
		copied = 8
	}
	t.Note(trace.CopyIn, "", uint64(from), 8, copied)
	return v, ok
}

// ClearUser models clear_user in arch/x86/include/asm/uaccess_64.h: it zeroes n
// bytes. False is a fault; the bytes before it are zeroed.
func ClearUser(t *trace.Task, m Memory, to Addr, n uint64) bool {
	cleared := m.Clear(to, uint64(t.Cut("clear_user", int(n))))
	t.Note(trace.Clear, "", uint64(to), n, cleared)
	return cleared == n
}

// clearedChunk is how many bytes IsBufferCleared looks at together.
const clearedChunk = 512

var chunks = sync.Pool{New: func() any { return new([clearedChunk]byte) }}

// IsBufferCleared models ib_is_buffer_cleared in include/rdma/ib_verbs.h: it
// reports whether the n bytes are zero. It returns ok false where they cannot
// be read or there is no memory for a copy of them; the kernel's function
// answers false to that as well. More than 65535 bytes are never cleared, and
// are not looked at.
func IsBufferCleared(t *trace.Task, m Memory, from Addr, n uint64) (cleared, ok bool) {
	defer t.EnterInlined(trace.Uverbs, "ib_is_buffer_cleared").Leave()
	if n > math.MaxUint16 {
		return false, true
	}
	if t.Fail(trace.Alloc, "memdup_user") {
		return false, false
	}
	read, cleared := readCleared(m, from, uint64(t.Cut("memdup_user", int(n))))
	t.Note(trace.CopyIn, "", uint64(from), n, read)
	ok = read == n
	return cleared && ok, ok
}

// readCleared reads n bytes, and returns how many it could and whether these
// are zero.
func readCleared(m Memory, from Addr, n uint64) (read uint64, cleared bool) {
	chunk := chunks.Get().(*[clearedChunk]byte)
	defer chunks.Put(chunk)
	var seen byte
	for read < n {
		want := chunk[:min(n-read, clearedChunk)]
		got := m.CopyIn(want, from+Addr(read))
		read += uint64(got)
		for _, b := range want[:got] {
			seen |= b
		}
		if got < len(want) {
			break
		}
	}
	return read, seen == 0
}
