package player

import (
	"encoding/binary"
	"fmt"
	"time"

	"uverbsim/casefile"
)

// ring is a queue that rxe's user library and rxe share: struct rxe_queue_buf
// of include/uapi/rdma/rdma_user_rxe.h, then its elements.
type ring struct {
	t        Task
	addr     uint64
	elemSize uint64
	mask     uint32
}

// Offsets in struct rxe_queue_buf.
const (
	ringProducer = 128
	ringConsumer = 256
	ringData     = 384
)

// ring finds the queue in a mapping.
func (p *player) ring(name string) (*ring, error) {
	m, err := p.mapped(name)
	if err != nil {
		return nil, err
	}
	var head [8]byte
	if p.task.Load(m.addr, head[:]) < len(head) {
		return nil, fmt.Errorf("mapping %q cannot be read", name)
	}
	logSize := binary.LittleEndian.Uint32(head[:])
	if logSize > 16 {
		return nil, fmt.Errorf("mapping %q is no queue: elements of 2^%d bytes", name, logSize)
	}
	return &ring{p.task, m.addr, 1 << logSize, binary.LittleEndian.Uint32(head[4:])}, nil
}

func (r *ring) index(off uint64) uint32 {
	var b [4]byte
	r.t.Load(r.addr+off, b[:])
	return binary.LittleEndian.Uint32(b[:]) & r.mask
}

// advance moves an index by one.
func (r *ring) advance(off uint64) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], (r.index(off)+1)&r.mask)
	r.t.Store(r.addr+off, b[:])
}

func (r *ring) elem(i uint32) uint64 { return r.addr + ringData + uint64(i)*r.elemSize }

// push puts an element that build has filled in into the queue.
func (r *ring) push(p *player, g *casefile.Got, build func(w []byte) error) error {
	producer := r.index(ringProducer)
	errno := ""
	g.Ret, g.Errno = "0", &errno
	if (producer+1)&r.mask == r.index(ringConsumer) {
		g.Ret, errno = "-1", "ENOMEM"
		return nil
	}
	w := make([]byte, r.elemSize)
	r.t.Load(r.elem(producer), w)
	if err := build(w); err != nil {
		return err
	}
	r.t.Store(r.elem(producer), w)
	r.advance(ringProducer)
	return nil
}

// The layout of struct rxe_recv_wqe and struct rxe_send_wqe. A send work
// request is 24 bytes, then a union, whose largest member is a ud of 32 bytes
// with a struct rxe_av of 88.
const (
	recvDMA    = 16
	sendWRSize = 24 + 32 + 88
	sendIova   = sendWRSize + 8
	sendDMA    = sendWRSize + 40
	sendClear  = 192
	dmaSGE     = 24
	sgeSize    = 16
)

func (p *player) rxeRecv(a *casefile.RxeRecv, g *casefile.Got) error {
	r, err := p.ring(a.Map)
	if err != nil {
		return err
	}
	return r.push(p, g, func(w []byte) error {
		binary.LittleEndian.PutUint64(w, a.WrID)
		binary.LittleEndian.PutUint64(w[8:], 0)
		return p.putDMA(w[recvDMA:], a.SGE)
	})
}

func (p *player) rxeSend(a *casefile.RxeSend, g *casefile.Got) error {
	r, err := p.ring(a.Map)
	if err != nil {
		return err
	}
	raddr, err := p.value(&a.RAddr)
	if err != nil {
		return err
	}
	rkey, err := p.value(&a.RKey)
	if err != nil {
		return err
	}
	return r.push(p, g, func(w []byte) error {
		if len(w) < 8+sendClear {
			return fmt.Errorf("mapping %q has no room for a work request", a.Map)
		}
		le := binary.LittleEndian
		le.PutUint64(w, a.WrID)
		clear(w[8 : 8+sendClear])
		le.PutUint32(w[12:], a.Opcode)
		le.PutUint32(w[16:], a.SendFlags)
		le.PutUint32(w[20:], a.Imm)
		le.PutUint64(w[24:], raddr)
		le.PutUint32(w[32:], uint32(rkey))
		le.PutUint64(w[sendIova:], raddr)
		return p.putDMA(w[sendDMA:], a.SGE)
	})
}

// putDMA fills in a struct rxe_dma_info.
func (p *player) putDMA(w []byte, list []casefile.SGE) error {
	if len(w) < dmaSGE+sgeSize*len(list) {
		return fmt.Errorf("%d scatter entries are too many", len(list))
	}
	le := binary.LittleEndian
	total := uint32(0)
	for i := range list {
		s := &list[i]
		o := dmaSGE + sgeSize*i
		var v [3]uint64
		for j, val := range []*casefile.Value{&s.Addr, &s.Len, &s.LKey} {
			var err error
			if v[j], err = p.value(val); err != nil {
				return err
			}
		}
		le.PutUint64(w[o:], v[0])
		le.PutUint32(w[o+8:], uint32(v[1]))
		le.PutUint32(w[o+12:], uint32(v[2]))
		total += uint32(v[1])
	}
	le.PutUint32(w, total)
	le.PutUint32(w[4:], total)
	le.PutUint32(w[8:], 0)
	le.PutUint32(w[12:], uint32(len(list)))
	le.PutUint64(w[16:], 0)
	return nil
}

// defaultRxePoll is how long a poll without a timeout waits.
const defaultRxePoll = 2 * time.Second

func (p *player) rxePoll(a *casefile.RxePoll, g *casefile.Got) error {
	r, err := p.ring(a.Map)
	if err != nil {
		return err
	}
	timeout := time.Duration(a.Timeout) * time.Millisecond
	if timeout == 0 {
		timeout = defaultRxePoll
	}
	deadline := time.Now().Add(timeout)
	for {
		consumer := r.index(ringConsumer)
		if r.index(ringProducer) != consumer {
			g.WC = append(g.WC, r.completion(consumer))
			r.advance(ringConsumer)
			continue
		}
		if len(g.WC) >= a.Want || time.Now().After(deadline) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	p.answer(g, int64(len(g.WC)), nil)
	return nil
}

func (r *ring) completion(i uint32) casefile.WC {
	var b [40]byte
	r.t.Load(r.elem(i), b[:])
	u32 := func(off int) casefile.Num { return casefile.Uint(uint64(binary.LittleEndian.Uint32(b[off:]))) }
	return casefile.WC{WrID: casefile.Uint(binary.LittleEndian.Uint64(b[:])), Status: u32(8), Opcode: u32(12),
		VendorErr: u32(16), ByteLen: u32(20), Ex: u32(24), WCFlags: u32(36)}
}
