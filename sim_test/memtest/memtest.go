// Package memtest is the conformance test of copyuser.Memory: what holds for any
// user's memory, however it is reached.
package memtest

import (
	"bytes"
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
)

// Buffer is a memory to test: the N bytes from Start can be read and written, the
// byte before them and the byte behind them cannot.
type Buffer struct {
	copyuser.Memory
	Start copyuser.Addr
	N     uint64
}

// Pattern returns n bytes that differ from their neighbours and are not zero.
func Pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i%251 + 1)
	}
	return b
}

// ends returns lengths around every boundary of a buffer of n bytes.
func ends(n uint64) (at []uint64) {
	for _, edge := range []uint64{0, copyuser.PageSize, 2 * copyuser.PageSize, n} {
		for d := range uint64(21) {
			if at10 := edge + d; at10 >= 10 && at10-10 <= n+9 {
				at = append(at, at10-10)
			}
		}
	}
	return at
}

// Run tests what make returns, which it calls for each part anew.
func Run(t *testing.T, make func(*testing.T) Buffer) {
	t.Run("CopyIn", func(t *testing.T) { testCopyIn(t, make(t)) })
	t.Run("CopyOut", func(t *testing.T) { testCopyOut(t, make(t)) })
	t.Run("Clear", func(t *testing.T) { testClear(t, make(t)) })
	t.Run("numbers", func(t *testing.T) { testNumbers(t, make(t)) })
	t.Run("nowhere", func(t *testing.T) { testNowhere(t, make(t)) })
	t.Run("before", func(t *testing.T) { testBefore(t, make(t)) })
	t.Run("Pin", func(t *testing.T) { testPin(t, make(t)) })
}

// testCopyIn copies from and to every boundary. What lies behind the end of the
// buffer stops the copy there.
func testCopyIn(t *testing.T, b Buffer) {
	content := Pattern(int(b.N))
	require.Equal(t, len(content), b.CopyOut(b.Start, content))
	for _, from := range ends(b.N - 1) {
		for _, to := range ends(b.N) {
			if to < from || from >= b.N {
				continue
			}
			dst := bytes.Repeat([]byte{0xee}, int(to-from))
			want := min(to, b.N) - from
			require.Equal(t, int(want), b.CopyIn(dst, b.Start+copyuser.Addr(from)), "from %d to %d", from, to)
			require.Equal(t, content[from:from+want], dst[:want], "from %d to %d", from, to)
			require.Equal(t, bytes.Repeat([]byte{0xee}, len(dst)-int(want)), dst[want:], "bytes behind the fault are left alone")
		}
	}
}

func testCopyOut(t *testing.T, b Buffer) {
	for _, from := range ends(b.N - 1) {
		for _, to := range ends(b.N) {
			if to < from || from >= b.N {
				continue
			}
			require.Equal(t, b.N, b.Clear(b.Start, b.N))
			src := Pattern(int(to - from))
			want := min(to, b.N) - from
			require.Equal(t, int(want), b.CopyOut(b.Start+copyuser.Addr(from), src), "from %d to %d", from, to)
			got := all(t, b)
			require.True(t, zero(got[:from]) && bytes.Equal(src[:want], got[from:from+want]) && zero(got[from+want:]),
				"from %d to %d", from, to)
		}
	}
}

func testClear(t *testing.T, b Buffer) {
	content := Pattern(int(b.N))
	for _, from := range ends(b.N - 1) {
		for _, to := range ends(b.N) {
			if to < from || from >= b.N {
				continue
			}
			require.Equal(t, len(content), b.CopyOut(b.Start, content))
			want := min(to, b.N) - from
			require.Equal(t, want, b.Clear(b.Start+copyuser.Addr(from), to-from), "from %d to %d", from, to)
			got := all(t, b)
			require.True(t, bytes.Equal(content[:from], got[:from]) && zero(got[from:from+want]) &&
				bytes.Equal(content[from+want:], got[from+want:]), "from %d to %d", from, to)
		}
	}
}

// testNumbers stores and loads numbers at every boundary. One that does not fit
// is a fault and changes nothing.
func testNumbers(t *testing.T, b Buffer) {
	const v = 0x8877665544332211
	puts := []struct {
		width uint64
		put   func(copyuser.Addr) bool
	}{
		{2, func(a copyuser.Addr) bool { return b.PutUint16(a, v&0xffff) }},
		{4, func(a copyuser.Addr) bool { return b.PutUint32(a, v&0xffffffff) }},
		{8, func(a copyuser.Addr) bool { return b.PutUint64(a, v) }},
	}
	var raw [8]byte
	binary.LittleEndian.PutUint64(raw[:], v)
	for _, at := range ends(b.N - 1) {
		if at >= b.N {
			continue
		}
		a := b.Start + copyuser.Addr(at)
		for _, p := range puts {
			b.Clear(b.Start, b.N)
			want := make([]byte, b.N)
			fits := at+p.width <= b.N
			if fits {
				copy(want[at:], raw[:p.width])
			}
			require.Equal(t, fits, p.put(a), "%d bytes at %d", p.width, at)
			require.True(t, bytes.Equal(want, all(t, b)), "%d bytes at %d", p.width, at)
		}
		b.CopyOut(b.Start, Pattern(int(b.N)))
		got, ok := b.GetUint64(a)
		require.Equal(t, at+8 <= b.N, ok, "at %d", at)
		if ok {
			require.Equal(t, binary.LittleEndian.Uint64(Pattern(int(b.N))[at:]), got, "at %d", at)
		} else {
			require.Zero(t, got)
		}
	}
}

// testNowhere tries addresses that are nobody's.
func testNowhere(t *testing.T, b Buffer) {
	for _, a := range []copyuser.Addr{
		0, 0x5ead00000000, copyuser.TaskSizeMax - 8, copyuser.TaskSizeMax, 1 << 47, 0xffff800000000000, ^copyuser.Addr(0),
	} {
		require.Zero(t, b.CopyIn(make([]byte, 16), a), "%#x", a)
		require.Zero(t, b.CopyOut(a, make([]byte, 16)), "%#x", a)
		require.Zero(t, b.Clear(a, 16), "%#x", a)
		require.False(t, b.PutUint16(a, 1), "%#x", a)
		require.False(t, b.PutUint32(a, 1), "%#x", a)
		require.False(t, b.PutUint64(a, 1), "%#x", a)
		_, ok := b.GetUint64(a)
		require.False(t, ok, "%#x", a)
		for _, write := range []bool{false, true} {
			_, err := b.Pin(a, 1, write)
			require.ErrorIs(t, err, syscall.EFAULT, "%#x", a)
		}

		require.Zero(t, b.CopyIn(nil, a), "nothing can be copied from anywhere")
		require.Zero(t, b.CopyOut(a, nil))
		require.Zero(t, b.Clear(a, 0))
	}
}

// testBefore tries the byte before the buffer: nothing is copied, though the
// rest is there.
func testBefore(t *testing.T, b Buffer) {
	a := b.Start - 1
	require.Zero(t, b.CopyIn(make([]byte, 8), a))
	require.Zero(t, b.CopyOut(a, Pattern(8)))
	require.Zero(t, b.Clear(a, 8))
	require.False(t, b.PutUint64(a, 1))
	_, ok := b.GetUint64(a)
	require.False(t, ok)
	require.True(t, zero(all(t, b)))
}

func testPin(t *testing.T, b Buffer) {
	content := Pattern(int(b.N))
	b.CopyOut(b.Start, content)
	for _, write := range []bool{false, true} {
		pin, err := b.Pin(b.Start, b.N, write)
		require.NoError(t, err)
		first := int64(b.Start.PageOffset())
		last := b.Start + copyuser.Addr(b.N-1)
		require.Len(t, pin.Pages(), int((last>>copyuser.PageShift)-(b.Start>>copyuser.PageShift))+1)

		got := make([]byte, b.N)
		n, err := pin.ReadAt(got, first)
		require.NoError(t, err)
		require.Equal(t, len(got), n)
		require.True(t, bytes.Equal(content, got))

		_, err = pin.WriteAt([]byte("by the device"), first+3)
		require.NoError(t, err)
		seen := make([]byte, 13)
		b.CopyIn(seen, b.Start+3)
		require.Equal(t, "by the device", string(seen))
		b.CopyOut(b.Start, content)
		_, err = pin.ReadAt(seen, first+3)
		require.NoError(t, err)
		require.Equal(t, content[3:16], seen)

		pin.Unpin()
		_, err = pin.ReadAt(seen, first)
		require.ErrorIs(t, err, copyuser.ErrUnpinned)
		_, err = pin.WriteAt(seen, first)
		require.ErrorIs(t, err, copyuser.ErrUnpinned)
	}
	none, err := b.Pin(b.Start, 0, true)
	require.NoError(t, err)
	require.Empty(t, none.Pages())

	_, err = b.Pin(b.Start, b.N+copyuser.PageSize, false)
	require.ErrorIs(t, err, syscall.EFAULT, "a page too many")
	_, err = b.Pin(b.Start-copyuser.PageSize, b.N, false)
	require.ErrorIs(t, err, syscall.EFAULT, "a page too early")
}

// all returns the whole buffer.
func all(t *testing.T, b Buffer) []byte {
	t.Helper()
	got := make([]byte, b.N)
	require.Equal(t, len(got), b.CopyIn(got, b.Start))
	return got
}

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
