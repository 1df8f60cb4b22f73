package libmlx5

import (
	"uverbsim/copyuser"
	"uverbsim/verbs"
)

// cqBuf is the memory of a queue's entries: struct mlx5_buf of a completion
// queue.
type cqBuf struct {
	at      copyuser.Addr
	n       uint32 // entries, a power of two
	cqeSize uint32
}

// length is how much is mapped.
func (b *cqBuf) length() uint64 {
	return (uint64(b.n)*uint64(b.cqeSize) + pageSize - 1) &^ (pageSize - 1)
}

// allocCQBuf models mlx5_alloc_cq_buf in providers/mlx5/cq.c: every entry says
// that it is none yet.
//
// Errors: those of mmap.
func (c *Context) allocCQBuf(n, cqeSize uint32) (*cqBuf, error) {
	b := &cqBuf{n: n, cqeSize: cqeSize}
	at, err := verbs.Alloc(c.sys, b.length())
	if err != nil {
		return nil, err
	}
	b.at = at
	for i := range n {
		if err := verbs.Store(c.sys, b.cqe64(i)+cqeOpOwn, []byte{cqeInvalid << 4}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// freeCQBuf models mlx5_free_cq_buf in providers/mlx5/cq.c. A program can have
// unmapped the memory itself.
func (c *Context) freeCQBuf(b *cqBuf) { _ = c.sys.Munmap(b.at, b.length()) }

// entry is the address of entry i, counted on through the rounds of the queue.
func (b *cqBuf) entry(i uint32) copyuser.Addr {
	return b.at + copyuser.Addr(i&(b.n-1))*copyuser.Addr(b.cqeSize)
}

// cqe64 is the address of the 64 bytes of entry i that tell: the last ones.
func (b *cqBuf) cqe64(i uint32) copyuser.Addr { return b.entry(i) + copyuser.Addr(b.cqeSize-cqe64Size) }

// owner is the owner bit that entry i has when it is the program's.
func (b *cqBuf) owner(i uint32) byte {
	if i&b.n != 0 {
		return 1
	}
	return 0
}

// isSW says whether entry i with that last byte is the program's.
func (b *cqBuf) isSW(i uint32, opOwn byte) bool {
	return opOwn>>4 != cqeInvalid && opOwn&cqeOwnerMask == b.owner(i)
}

// Buffer is the memory that a queue's entries lie in.
type Buffer struct {
	Addr    copyuser.Addr
	Length  uint64
	CQESize uint32 // of an entry
}

// Buffer returns where the queue's entries lie now.
func (cq *CQ) Buffer() Buffer {
	cq.mu.Lock()
	defer cq.mu.Unlock()
	return Buffer{cq.buf.at, cq.buf.length(), cq.buf.cqeSize}
}
