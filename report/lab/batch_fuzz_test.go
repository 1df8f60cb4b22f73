package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

// program is a machine with the calls of a fuzzed program in its memory. Two that
// are made of the same bytes are the same.
type program struct {
	*machine
	calls []*request
	first copyuser.Addr // of the memory of the calls
	batch copyuser.Addr // a page for a batch
}

// newProgram lays calls out: two bytes of data choose one and an argument, and a
// third what is wrong with it.
func newProgram(data []byte) (*program, error) {
	m, err := boot(kernel.ExperimentalBatch)
	if err != nil {
		return nil, err
	}
	p := &program{machine: m}
	if p.first, err = m.alloc(1); err != nil {
		return nil, err
	}
	// An address of the calls that has one bit changed does not lead there.
	const prot, flags = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS
	away := p.first.PageDown() ^ 3<<32
	if p.batch, err = m.p.MainTask().MmapAt(away, -1, copyuser.PageSize, prot, flags, 0); err != nil {
		return nil, err
	}
	if p.batch != away {
		return nil, errors.New("the memory for the batch is elsewhere")
	}
	for ; len(data) >= 3 && len(p.calls) < 16; data = data[3:] {
		r, err := p.call(data[0], uint64(data[1]))
		if err != nil {
			return nil, err
		}
		if wrong := int(data[2]); wrong >= 128 { // one bit of the request is another one
			buf := append([]byte(nil), r.bytes()...)
			at := (wrong - 128) * 7 % len(buf)
			buf[at] ^= 1 << (data[1] & 7)
			m.store(r.at, buf)
		}
		p.calls = append(p.calls, r)
	}
	return p, nil
}

func (p *program) call(kind byte, arg uint64) (*request, error) {
	var r *request
	var err error
	switch kind % 5 {
	case 0:
		if r, err = p.queryPort(); err == nil {
			r.setData(0, arg%3)
		}
	case 1, 2:
		if r, err = p.createCQ(); err == nil {
			r.setData(1, arg)
		}
	case 3:
		if r, err = p.destroyCQ(); err == nil {
			r.setData(0, arg%6)
		}
	default:
		r, err = p.request(spec.UVERBS_OBJECT_CQ, uint16(arg), handle(uint16(arg>>4), arg))
	}
	return r, err
}

// contents are all that the calls can have written to.
func (p *program) contents() []byte {
	b := make([]byte, p.memory.next-p.first)
	p.load(p.first, b)
	return b
}

// one by one, until one is refused unless goOn says otherwise.
func (p *program) oneByOne(goOn bool) (results []int32) {
	for _, r := range p.calls {
		_, err := p.p.Ioctl(p.fd, spec.RDMA_VERBS_IOCTL, r.at)
		results = append(results, -int32(rule.Errno(err)))
		if err != nil && !goOn {
			break
		}
	}
	return results
}

// inOneBatch makes the calls with one batch.
func (p *program) inOneBatch(goOn bool) (results []int32, err error) {
	b := make([]byte, kernel.BatchHdrSize+len(p.calls)*kernel.BatchEntrySize)
	binary.LittleEndian.PutUint32(b, uint32(len(p.calls)))
	if goOn {
		b[4] = kernel.BatchContinue
	}
	for i, r := range p.calls {
		binary.LittleEndian.PutUint64(b[kernel.BatchHdrSize+i*kernel.BatchEntrySize:], uint64(r.at))
	}
	p.store(p.batch, b)
	made, err := p.p.Ioctl(p.fd, kernel.BatchIoctl, p.batch)
	if err != nil {
		return nil, err
	}
	p.load(p.batch, b)
	for i := range int(made) {
		results = append(results, int32(binary.LittleEndian.Uint32(b[kernel.BatchHdrSize+i*kernel.BatchEntrySize+kernel.BatchResultOffset:])))
	}
	return results, nil
}

// objects are those that the program has, by the driver's own count.
func (p *program) objects() string { return fmt.Sprint(p.dev.HW.Counts()) }

// FuzzBatch holds a batch of any calls to the same calls made one by one: the same
// results, the same memory, the same objects.
func FuzzBatch(f *testing.F) {
	f.Add([]byte{1, 10, 0, 1, 20, 0, 3, 0, 0, 0, 1, 0, 3, 1, 0})
	f.Add([]byte{1, 10, 0, 3, 5, 0, 1, 20, 0})     // refused in the middle: no such handle
	f.Add([]byte{1, 0, 130, 1, 3, 140, 0, 2, 200}) // bits that are wrong
	f.Add([]byte{4, 3, 0, 4, 0x11, 0, 0, 1, 128})  // no such method
	f.Add([]byte{1, 1, 0, 1, 1, 0, 3, 0, 0, 1, 1, 0, 3, 0, 0, 3, 0, 0, 3, 1, 0})
	f.Add([]byte("2%\xff")) // an output elsewhere
	f.Fuzz(func(t *testing.T, data []byte) {
		watchdog.On(t)
		for _, goOn := range []bool{false, true} {
			single, err := newProgram(data)
			require.NoError(t, err)
			if len(single.calls) == 0 {
				return
			}
			batched, err := newProgram(data)
			require.NoError(t, err)
			require.Equal(t, single.first, batched.first)

			want := single.oneByOne(goOn)
			got, err := batched.inOneBatch(goOn)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, single.contents(), batched.contents())
			require.Equal(t, single.objects(), batched.objects())
		}
	})
}
