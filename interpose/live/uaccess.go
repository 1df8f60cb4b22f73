package live

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
)

// CopyIn models copy_from_user; see copyuser.Memory. A short copy reads on to the
// end of the window or of its last page, whichever comes first, for the copies
// after it.
func (s *Space) CopyIn(dst []byte, from copyuser.Addr) int {
	if len(dst) == 0 || !copyuser.AccessOK(from, uint64(len(dst))) {
		return 0
	}
	done, ahead, gen := s.window.load(dst, from)
	if done {
		return len(dst)
	}
	if !ahead {
		return s.read(dst, from)
	}
	var buf [windowSize]byte
	last := from + copyuser.Addr(len(dst)-1)
	room := int(last-from) + copyuser.PageSize - last.PageOffset()
	got := s.read(buf[:min(room, windowSize)], from)
	s.window.save(buf[:got], from, gen)
	return copy(dst, buf[:got])
}

// read copies from the process and returns how many bytes there were before a
// fault. The kernel's own copies may read what can be written or executed, which
// process_vm_readv may not.
func (s *Space) read(dst []byte, from copyuser.Addr) int {
	n := s.vmRead(dst, from)
	for n < len(dst) {
		at := from + copyuser.Addr(n)
		if !s.hidden(at) {
			break
		}
		c := min(len(dst)-n, copyuser.PageSize-at.PageOffset())
		got := s.readHidden(dst[n:n+c], at)
		if n += got; got < c {
			break
		}
		n += s.vmRead(dst[n:], from+copyuser.Addr(n))
	}
	return n
}

// readHidden is read of a part of a page that is hidden.
func (s *Space) readHidden(dst []byte, from copyuser.Addr) int {
	b := make([]byte, len(dst))
	n, _ := s.pread(b, from)
	return copy(dst, b[:max(n, 0)])
}

// hidden reports whether a can be written or executed, but not read.
func (s *Space) hidden(a copyuser.Addr) bool {
	m, ok := s.mapping(a)
	return ok && m.prot&unix.PROT_READ == 0 && m.prot != 0
}

// vmRead copies from the process, up to the first page that may not be read.
func (s *Space) vmRead(dst []byte, from copyuser.Addr) int {
	if len(dst) == 0 {
		return 0
	}
	local := [1]unix.Iovec{{Base: &dst[0]}}
	local[0].SetLen(len(dst))
	remote := [1]unix.RemoteIovec{{Base: uintptr(from), Len: len(dst)}}
	for {
		tid := s.thread.Load()
		n, err := unix.ProcessVMReadv(int(tid), local[:], remote[:], 0)
		if err == nil {
			return n
		}
		if err != unix.ESRCH || !s.otherThread(tid) {
			return 0
		}
	}
}

// vmWrite copies to the process, up to the first page that may not be written.
func (s *Space) vmWrite(to copyuser.Addr, src []byte) int {
	if len(src) == 0 {
		return 0
	}
	local := [1]unix.Iovec{{Base: &src[0]}}
	local[0].SetLen(len(src))
	remote := [1]unix.RemoteIovec{{Base: uintptr(to), Len: len(src)}}
	defer s.window.written(to, uint64(len(src)))
	for {
		tid := s.thread.Load()
		n, err := unix.ProcessVMWritev(int(tid), local[:], remote[:], 0)
		if err == nil {
			return n
		}
		if err != unix.ESRCH || !s.otherThread(tid) {
			return 0
		}
	}
}

// CopyOut models copy_to_user; see copyuser.Memory.
func (s *Space) CopyOut(to copyuser.Addr, src []byte) int {
	if !copyuser.AccessOK(to, uint64(len(src))) {
		return 0
	}
	return s.vmWrite(to, src)
}

var zeros [16 * copyuser.PageSize]byte

// Clear models clear_user; see copyuser.Memory.
func (s *Space) Clear(to copyuser.Addr, n uint64) uint64 {
	if !copyuser.AccessOK(to, n) {
		return 0
	}
	done := uint64(0)
	for done < n {
		want := min(n-done, uint64(len(zeros)))
		got := s.vmWrite(to+copyuser.Addr(done), zeros[:want])
		done += uint64(got)
		if uint64(got) < want {
			break
		}
	}
	return done
}

// GetUint64 models get_user; see copyuser.Memory.
func (s *Space) GetUint64(from copyuser.Addr) (uint64, bool) {
	var b [8]byte
	if s.CopyIn(b[:], from) < len(b) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// PutUint16 models put_user; see copyuser.Memory.
func (s *Space) PutUint16(to copyuser.Addr, v uint16) bool { return s.put(to, uint64(v), 2) }

// PutUint32 models put_user; see copyuser.Memory.
func (s *Space) PutUint32(to copyuser.Addr, v uint32) bool { return s.put(to, uint64(v), 4) }

// PutUint64 models put_user; see copyuser.Memory.
func (s *Space) PutUint64(to copyuser.Addr, v uint64) bool { return s.put(to, v, 8) }

// put stores a number. One instruction stores all of its bytes or none, so across
// two pages the second is looked at first.
func (s *Space) put(to copyuser.Addr, v uint64, width int) bool {
	if !copyuser.AccessOK(to, uint64(width)) {
		return false
	}
	last := to + copyuser.Addr(width-1)
	if last.PageDown() != to.PageDown() && !s.writable(last) {
		return false
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return s.vmWrite(to, b[:width]) == width
}

// writable reports whether the byte at a can be written.
func (s *Space) writable(a copyuser.Addr) bool {
	m, ok := s.mapping(a)
	return ok && m.prot&unix.PROT_WRITE != 0 && s.probe(a)
}

// Load is what the process itself does when it reads its memory; false is a
// signal.
func (s *Space) Load(from copyuser.Addr, dst []byte) bool {
	return copyuser.AccessOK(from, uint64(len(dst))) && s.read(dst, from) == len(dst)
}

// Store is what the process itself does when it writes its memory; false is a
// signal.
func (s *Space) Store(to copyuser.Addr, src []byte) bool { return s.CopyOut(to, src) == len(src) }
