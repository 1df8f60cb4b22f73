package copyuser_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
)

type frame = [copyuser.PageSize]byte

func loaded(p *copyuser.Page, off, n int) []byte {
	b := make([]byte, n)
	p.Load(off, b)
	return b
}

// TestShare: the bytes of a shared page are those of the frame, both ways, and
// come back when it goes.
func TestShare(t *testing.T) {
	p := copyuser.NewPage()
	p.Store(100, []byte("before"))
	f := new(frame)
	f[5] = 9
	p.Share(f)
	require.Equal(t, "before", string(f[100:106]))
	require.Zero(t, f[5], "the page's bytes, not the frame's")
	p.Store(200, []byte("stored"))
	require.Equal(t, "stored", string(f[200:206]))
	copy(f[300:], "by the program")
	require.Equal(t, "by the program", string(loaded(p, 300, 14)))
	p.Share(f)
	require.Equal(t, "by the program", string(f[300:314]), "again changes nothing")

	p.Unshare(f)
	was := *f
	require.Equal(t, was[:], loaded(p, 0, copyuser.PageSize))
	p.Store(0, []byte("private"))
	require.Equal(t, was, *f)
	f[300] = 'B'
	require.Equal(t, "by", string(loaded(p, 300, 2)))
	p.Unshare(f)
	require.Equal(t, "private", string(loaded(p, 0, 7)))
}

// TestShareWithSeveral: stores go to every frame, loads read the first that is
// left.
func TestShareWithSeveral(t *testing.T) {
	p := copyuser.NewPage()
	a, b, c := new(frame), new(frame), new(frame)
	p.Store(0, []byte("clock"))
	for _, f := range []*frame{a, b, b, c} {
		p.Share(f)
		require.Equal(t, "clock", string(f[:5]))
	}
	p.Store(8, []byte{1})
	for _, f := range []*frame{a, b, c} {
		require.Equal(t, byte(1), f[8])
		f[9] = 7
	}
	a[9] = 8
	require.Equal(t, []byte{8}, loaded(p, 9, 1))
	p.Unshare(b)
	p.Store(8, []byte{2})
	require.Equal(t, []byte{2, 1, 2}, []byte{a[8], b[8], c[8]})
	p.Unshare(a)
	p.Store(8, []byte{3})
	require.Equal(t, []byte{2, 1, 3}, []byte{a[8], b[8], c[8]})
	require.Equal(t, []byte{7}, loaded(p, 9, 1))
	p.Unshare(new(frame))
	p.Unshare(c)
	p.Store(8, []byte{4})
	require.Equal(t, byte(3), c[8])
	require.Equal(t, []byte{4, 7}, loaded(p, 8, 2))
}

// Every access of a process that maps the page is one of the frames.
func TestShareIsMapped(t *testing.T) {
	m := copyuser.NewAddressSpace()
	at := mapAnon(t, m, 1)
	require.True(t, m.Store(at, []byte{1}))
	pin, err := m.Pin(at, 1, true)
	require.NoError(t, err)
	p, a, b := pin.Pages()[0], new(frame), new(frame)
	p.Share(a)
	for _, second := range []bool{false, true} {
		if second {
			p.Share(b)
		}
		require.True(t, m.PutUint16(at, 0x0201))
		require.True(t, m.PutUint32(at+4, 0x04030201))
		require.True(t, m.PutUint64(at+8, 0x0807060504030201))
		require.Equal(t, 2, m.CopyOut(at+16, []byte{1, 2}))
		_, err = pin.WriteAt([]byte{3}, 18)
		require.NoError(t, err)
		want := []byte{1, 2, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3}
		require.Equal(t, want, a[:19])
		if second {
			require.Equal(t, want, b[:19])
		}
		v, ok := m.GetUint64(at + 8)
		require.True(t, ok)
		require.Equal(t, uint64(0x0807060504030201), v)
	}
	require.Equal(t, uint64(8), m.Clear(at+8, 8))
	require.Equal(t, make([]byte, 8), a[8:16])
	require.Equal(t, make([]byte, 8), b[8:16])
	a[8] = 0xff
	v, _ := m.GetUint64(at + 8)
	require.Equal(t, uint64(0xff), v)
}

// lookedAt is device memory that counts how often it was looked at.
type lookedAt struct {
	silent
	looked int
}

func (r *lookedAt) Poll(frame *[copyuser.PageSize]byte) bool {
	r.looked++
	return bytes.ContainsFunc(frame[:], func(b rune) bool { return b != 0 })
}

type silent struct{}

func (silent) Load(_ int, dst []byte)  { clear(dst) }
func (silent) Store(_ int, src []byte) {}

// TestPolled: what can be polled says so.
func TestPolled(t *testing.T) {
	r := &lookedAt{}
	p := copyuser.NewIOPage(r)
	io, ok := p.Polled()
	require.True(t, ok)
	require.False(t, io.Poll(new(frame)))
	require.True(t, io.Poll(&frame{1}))
	require.Equal(t, 2, r.looked)
	p.Share(new(frame)) // has no bytes
	p.Store(0, []byte{1})
	require.Equal(t, []byte{0}, loaded(p, 0, 1))
	p.Unshare(new(frame))

	for _, p := range []*copyuser.Page{copyuser.NewPage(), copyuser.NewIOPage(silent{})} {
		_, ok := p.Polled()
		require.False(t, ok)
	}
}

// TestShareRace: frames come and go while the page is used.
func TestShareRace(t *testing.T) {
	p := copyuser.NewPage()
	var users sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		users.Go(func() {
			f := new(frame)
			for range 500 {
				p.Share(f)
				p.Unshare(f)
			}
		})
	}
	users.Go(func() {
		for n := byte(0); ; n++ {
			select {
			case <-stop:
				return
			default:
				p.Store(8, []byte{n})
				if got := loaded(p, 8, 1)[0]; got != n {
					t.Errorf("stored %d, loaded %d", n, got)
					return
				}
			}
		}
	})
	users.Go(func() {
		for range 1000 {
			p.Load(0, make([]byte, 64))
		}
		close(stop)
	})
	users.Wait()
}
