package fuzz

import (
	"bytes"
	"encoding/binary"
	"syscall"
	"testing"

	"uverbsim/copyuser"
	"uverbsim/process"
)

// A program is calls, one after another, in bytes: of each the opcode, then its
// operands, in little endian; what is counted is preceded by its count. Any bytes
// are a program: opcodes wrap around, what is missing at the end is zeros.
//
//	ioctl   fd u8, n u16, n bytes of header and attributes
//	write   fd u8, n u16, n bytes
//	store   at u24 in the data, n u16, n bytes
//	fill    at u24 in the data, n u24, byte u8
//	open    mode u8
//	close   fd u8
//	dup     fd u8
//	mmap    fd u8, pages u8, protection u8, offset u32 in pages
//	mapOf   fd u8, pages u8, protection u8, at u24 in the data: where the offset is
//	munmap  mapping u8
//	poke    mapping u8, at u16 in it, n u8, n bytes
//	peek    mapping u8, at u16 in it, n u8
//	read    fd u8, n u8
//	poll    fd u8
//	fork    what becomes of the child u8
//	exit    child u8
//	protect page u8 of the data, protection u8
//	unmap   page u8 of the data, pages u8
//	at      fd u8, command u32, address u32: an ioctl of whatever is there
//	remove  nothing
//	limit   resource u8, limit u8
type opcode uint8

const (
	opIoctl opcode = iota
	opWrite
	opStore
	opFill
	opOpen
	opClose
	opDup
	opMmap
	opMapOf
	opMunmap
	opPoke
	opPeek
	opRead
	opPoll
	opFork
	opExit
	opProtect
	opUnmap
	opAt
	opRemove
	opLimit
	opcodes
)

// A program is bounded, so that each execution is short.
const (
	mostOps   = 96
	mostBytes = 1 << 15
	mostKids  = 3
	mostFDs   = 64
)

// reader takes a program to pieces.
type reader struct{ rest []byte }

func (r *reader) bytes(n int) []byte {
	n = min(n, len(r.rest))
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) number(size int) uint64 {
	var b [8]byte
	copy(b[:], r.bytes(size))
	return binary.LittleEndian.Uint64(b[:])
}

func (r *reader) byte() int { return int(r.number(1)) }

// run makes the calls of a program that an input is.
func (l *life) run(program []byte) {
	r := &reader{program[:min(len(program), mostBytes)]}
	for n := 0; len(r.rest) > 0 && n < mostOps; n++ {
		l.step(r)
	}
	for _, kid := range l.kids {
		kid.Exit()
	}
}

// replay makes all calls of a program that was recorded.
func (l *life) replay(program []byte) {
	for r := (&reader{program}); len(r.rest) > 0; {
		l.step(r)
	}
}

// step makes the next call.
func (l *life) step(r *reader) {
	switch opcode(r.byte()) % opcodes {
	case opIoctl:
		fd := r.byte()
		l.ioctl(fd, r.bytes(int(r.number(2))))
	case opWrite:
		fd := r.byte()
		l.write(fd, r.bytes(int(r.number(2))))
	case opStore:
		at := r.number(3) % dataSize
		l.put(dataAt+at, dataSize-at, r.bytes(int(r.number(2))))
	case opFill:
		at, n := r.number(3)%dataSize, r.number(3)
		n = min(n, dataSize-at)
		l.put(dataAt+at, n, bytes.Repeat([]byte{byte(r.byte())}, int(n)))
	case opOpen:
		if flags := r.byte() % 3; len(l.task.FDs()) < mostFDs {
			l.open(flags)
		}
	case opClose:
		l.answered("close", 0, l.files.Close(r.byte()))
	case opDup:
		if fd := r.byte(); len(l.task.FDs()) < mostFDs {
			to, err := l.files.Dup(fd)
			l.answered("dup", int64(to), err)
		}
	case opMmap:
		fd, pages, prot := r.byte(), r.number(1), r.byte()
		l.mmap(fd, pages, prot, r.number(4)*copyuser.PageSize)
	case opMapOf:
		fd, pages, prot := r.byte(), r.number(1), r.byte()
		off, _ := l.task.Mem.GetUint64(copyuser.Addr(dataAt + r.number(3)%dataSize)) // 0 if it cannot be read
		l.mmap(fd, pages, prot, off)
	case opMunmap:
		if m, ok := l.mapping(r.byte()); ok {
			l.answered("munmap", 0, l.files.Munmap(m.at, m.n))
		}
	case opPoke:
		m, ok := l.mapping(r.byte())
		at := r.number(2)
		if b := r.bytes(r.byte()); ok && at < m.n {
			l.answered("poke", int64(l.files.Store(m.at+at, b)), nil)
		}
	case opPeek:
		m, ok := l.mapping(r.byte())
		at := r.number(2)
		if n := r.byte(); ok && at < m.n {
			l.answered("peek", int64(l.files.Load(m.at+at, make([]byte, n))), nil)
		}
	case opRead:
		fd := r.byte()
		l.read(fd, dataAt, r.number(1))
	case opPoll:
		events, err := l.files.Poll(r.byte(), 0)
		l.answered("poll", int64(events), err)
	case opFork:
		l.fork(r.byte())
	case opExit:
		if n := r.byte(); len(l.kids) > 0 {
			l.kids[n%len(l.kids)].Exit()
		}
	case opProtect:
		page := r.number(1) % (dataSize / copyuser.PageSize)
		l.answered("mprotect", 0, l.files.Mprotect(dataAt+page*copyuser.PageSize, copyuser.PageSize, r.byte()&7))
	case opUnmap:
		page := r.number(1) % (dataSize / copyuser.PageSize)
		n := min(r.number(1), dataSize/copyuser.PageSize-page)
		l.answered("munmap", 0, l.files.Munmap(dataAt+page*copyuser.PageSize, n*copyuser.PageSize))
	case opAt:
		fd, cmd := r.byte(), uint32(r.number(4))
		l.ioctlAt(fd, cmd, r.number(4))
	case opRemove:
		l.remove()
	case opLimit:
		resource, n := []process.Resource{process.RLIMIT_NOFILE, process.RLIMIT_MEMLOCK}[r.byte()%2], r.number(1)
		l.answered("setrlimit", 0, l.files.Setrlimit(int(resource), n, n))
	}
}

// mmap maps pages of the device, shared or, with the highest bit of prot, private.
func (l *life) mmap(fd int, pages uint64, prot int, off uint64) {
	flags := syscall.MAP_SHARED
	if prot&0x80 != 0 {
		flags = syscall.MAP_PRIVATE
	}
	n := pages * copyuser.PageSize
	at, err := l.files.Mmap(fd, n, prot&7, flags, off)
	if l.answered("mmap", int64(at), err) {
		l.maps = append(l.maps, mapping{at, n})
	}
}

// mapping is the one of that number, of those that were made.
func (l *life) mapping(n int) (mapping, bool) {
	if len(l.maps) == 0 {
		return mapping{}, false
	}
	return l.maps[n%len(l.maps)], true
}

// fork makes a child, which stays, or exits at once, or makes way for another
// program, which keeps what is not to be closed then.
func (l *life) fork(what int) {
	if len(l.kids) >= mostKids {
		return
	}
	kid, err := l.files.Fork()
	if !l.answered("fork", 0, err) {
		return
	}
	switch what % 3 {
	case 0:
		kid.Exit()
		return
	case 1:
		l.answered("exec", 0, kid.Exec())
	}
	l.kids = append(l.kids, kid)
}

// remove takes the device away from files that are open, where the driver lets
// them go: otherwise a removal waits for them.
func (l *life) remove() {
	if ops := l.m.Driver.Device().IBDevice().Ops; l.removed || ops.DisassociateUcontext == nil {
		return
	}
	l.answered("remove", 0, l.m.Remove(l.files))
	l.removed = true
	l.answered("add", 0, l.m.Add())
}

// FuzzProgramRXE and so on make the calls of a program.
func FuzzProgramRXE(f *testing.F)  { fuzzProgram(f, newBed("rxe")) }
func FuzzProgramMLX5(f *testing.F) { fuzzProgram(f, newBed("mlx5")) }
func FuzzProgramStub(f *testing.F) { fuzzProgram(f, newBed("stub", stubHas...)) }

func fuzzProgram(f *testing.F, b *bed) {
	b.seedPrograms(f)
	f.Fuzz(func(t *testing.T, program []byte) {
		b.play(t, program, func(l *life) { l.run(program) })
	})
}
