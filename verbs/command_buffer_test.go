package verbs_test

import (
	"bytes"
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// TestFillAttr holds each Fill function to the attribute that struct
// ib_uverbs_attr and cmd_ioctl.h make of it.
func TestFillAttr(t *testing.T) {
	long := []byte("nine byte")
	qp := struct{ A, B uint32 }{1, 2}
	tests := []struct {
		name string
		fill func(*verbs.CommandBuffer)
		want string // id len flags attr_data data
		data []byte // what the attribute points to, if it does
	}{
		{"obj", func(c *verbs.CommandBuffer) { c.FillAttrInObj(2, 0x11223344) },
			"0200 0000 0100 0000 4433221100000000", nil},
		{"new obj", func(c *verbs.CommandBuffer) { c.FillAttrOutObj(0x1000) },
			"0010 0000 0100 0000 0000000000000000", nil},
		{"optional obj", func(c *verbs.CommandBuffer) { verbs.AttrOptional(c.FillAttrInObj(2, 5)) },
			"0200 0000 0000 0000 0500000000000000", nil},
		{"fd", func(c *verbs.CommandBuffer) { c.FillAttrInFD(3, 5) },
			"0300 0000 0100 0000 0500000000000000", nil},
		{"negative fd", func(c *verbs.CommandBuffer) { c.FillAttrInFD(3, -2) },
			"0300 0000 0100 0000 feffffffffffffff", nil},
		{"new fd", func(c *verbs.CommandBuffer) { c.FillAttrOutFD(0) },
			"0000 0000 0100 0000 0000000000000000", nil},
		{"u32", func(c *verbs.CommandBuffer) { c.FillAttrInUint32(1, 0xff) },
			"0100 0400 0100 0000 ff00000000000000", nil},
		{"u64", func(c *verbs.CommandBuffer) { c.FillAttrInUint64(2, 1<<63) },
			"0200 0800 0100 0000 0000000000000080", nil},
		{"const", func(c *verbs.CommandBuffer) { c.FillAttrConstIn(2, 0x80000001) },
			"0200 0800 0100 0000 0100008000000000", nil},
		{"short input", func(c *verbs.CommandBuffer) { c.FillAttrIn(7, []byte{1, 2, 3}) },
			"0700 0300 0100 0000 0102030000000000", nil},
		{"no input", func(c *verbs.CommandBuffer) { c.FillAttrIn(7, nil) },
			"0700 0000 0100 0000 0000000000000000", nil},
		{"struct of 8 bytes", func(c *verbs.CommandBuffer) { verbs.FillAttrInPtr(c, 7, &qp) },
			"0700 0800 0100 0000 0100000002000000", nil},
		{"long input", func(c *verbs.CommandBuffer) { c.FillAttrIn(7, long) },
			"0700 0900 0100 0000", long},
		{"short output", func(c *verbs.CommandBuffer) { c.FillAttrOut(6, []byte{0xff, 0xff, 0xff, 0xff}) },
			"0600 0400 0100 0000", []byte{0xff, 0xff, 0xff, 0xff}},
		{"enum", func(c *verbs.CommandBuffer) { c.FillAttrInEnum(4, 3, []byte{9}) },
			"0400 0100 0100 0300 0900000000000000", nil},
		{"two handles", func(c *verbs.CommandBuffer) { c.FillAttrInObjsArr(5, []uint32{1, 2}) },
			"0500 0800 0100 0000 0100000002000000", nil},
		{"three handles", func(c *verbs.CommandBuffer) { c.FillAttrInObjsArr(5, []uint32{1, 2, 3}) },
			"0500 0c00 0100 0000", []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newKernel(t)
			c := context(t, k, true)
			f := c.Frame()
			cmd := f.CommandBuffer(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY, 1, nil)
			tt.fill(cmd)
			require.NoError(t, c.ExecuteIoctl(cmd))
			want := wire(t, "2800 0300 0100 0100 0000000000000000 01000000 00000000", tt.want)
			require.Equal(t, want, k.ioctls[0][:len(want)])
			require.Len(t, k.ioctls[0], 24+16)
			if tt.data != nil {
				require.Equal(t, tt.data, k.at(k.ioctls[0], binary.LittleEndian.Uint16(want[24:])))
			}
		})
	}
}

func TestFillAttrInFDOfNone(t *testing.T) {
	c := context(t, newKernel(t), true)
	cmd := c.Frame().CommandBuffer(0, 0, 0, nil)
	require.Nil(t, cmd.FillAttrInFD(1, -1), "no descriptor, no attribute")
	require.Nil(t, verbs.AttrOptional(nil))
}

// TestOutputs: the caller's variable has what the kernel wrote, also when the
// call failed, and what it held before where the kernel wrote nothing.
func TestOutputs(t *testing.T) {
	for _, errno := range []error{nil, syscall.EINVAL} {
		k := newKernel(t)
		k.ioctl = func(buf []byte) error {
			k.put(buf, 6, []byte{1, 2})
			return errno
		}
		c := context(t, k, true)
		cmd := c.Frame().CommandBuffer(3, 0, 2, nil)
		v, untouched := uint32(0x44443333), uint64(7)
		verbs.FillAttrOutPtr(cmd, 6, &v)
		verbs.FillAttrOutPtr(cmd, 7, &untouched)
		require.Equal(t, errno, c.ExecuteIoctl(cmd))
		require.Equal(t, uint32(0x44440201), v)
		require.Equal(t, uint64(7), untouched)
	}
}

// TestLinks: the attributes of links come behind, in their order; what the
// kernel made of them goes back only if it succeeded.
func TestLinks(t *testing.T) {
	for _, errno := range []error{nil, syscall.EINVAL} {
		k := newKernel(t)
		k.ioctl = func(buf []byte) error {
			binary.LittleEndian.PutUint64(attr(t, buf, 0)[8:], 70)
			binary.LittleEndian.PutUint64(attr(t, buf, 0x1002)[8:], 71)
			return errno
		}
		c := context(t, k, true)
		f := c.Frame()
		last := f.CommandBuffer(3, 0, 2, nil)
		last.FillAttrInUint32(0x1003, 3)
		last.FillAttrInUint32(0x1004, 4)
		middle := f.CommandBuffer(3, 0, 1, last)
		linked := middle.FillAttrOutObj(0x1002)
		first := f.CommandBuffer(3, 0, 1, middle)
		own := first.FillAttrOutObj(0)
		require.Equal(t, errno, c.ExecuteIoctl(first))

		require.Equal(t, wire(t, "5800 0300 0000 0400 0000000000000000 01000000 00000000",
			"0000 0000 0100 0000 0000000000000000",
			"0210 0000 0100 0000 0000000000000000",
			"0310 0400 0100 0000 0300000000000000",
			"0410 0400 0100 0000 0400000000000000"), k.ioctls[0])
		require.Equal(t, uint32(70), verbs.ReadAttrObj(0, own), "the executed buffer is what the kernel writes to")
		if errno == nil {
			require.Equal(t, uint32(71), verbs.ReadAttrObj(0x1002, linked))
		} else {
			require.Zero(t, verbs.ReadAttrObj(0x1002, linked))
		}
	}
}

func TestAttributeTooLong(t *testing.T) {
	k := newKernel(t)
	c := context(t, k, true)
	f := c.Frame()
	cmd := f.CommandBuffer(3, 0, 1, nil)
	cmd.FillAttrIn(1, make([]byte, 1<<16))
	require.ErrorIs(t, c.ExecuteIoctl(cmd), verbs.ErrBuffer)
	require.ErrorIs(t, verbs.ErrBuffer, syscall.EINVAL)
	require.Empty(t, k.ioctls, "nothing was sent")

	cmd = f.CommandBuffer(3, 0, 1, nil)
	data := bytes.Repeat([]byte{7}, 1<<16-1)
	cmd.FillAttrIn(1, data)
	require.NoError(t, c.ExecuteIoctl(cmd))
	require.Equal(t, data, k.at(k.ioctls[0], 1))
	before := len(k.mapped)
	f.Leave()
	require.Len(t, k.mapped, before-1, "what does not fit a frame is unmapped with it")
}

func TestMisuse(t *testing.T) {
	c := context(t, newKernel(t), true)
	f := c.Frame()
	for name, misuse := range map[string]func(){
		"too many attributes": func() { f.CommandBuffer(3, 0, 0, nil).FillAttrOutObj(0) },
		"answer of another":   func() { verbs.ReadAttrObj(1, &spec.IoctlAttr{AttrID: 2}) },
		"other method": func() {
			_ = c.ExecuteIoctl(f.CommandBuffer(3, 0, 0, f.CommandBuffer(3, 1, 0, nil)))
		},
		"a link that grew": func() {
			link := f.CommandBuffer(3, 0, 1, nil)
			cmd := f.CommandBuffer(3, 0, 0, link)
			link.FillAttrOutObj(0)
			_ = c.ExecuteIoctl(cmd)
		},
	} {
		t.Run(name, func(t *testing.T) { require.Panics(t, misuse) })
	}
}

// noMemory is a system that maps nothing.
type noMemory struct{ *fakeKernel }

func (noMemory) Mmap(int, uint64, int, int, uint64) (copyuser.Addr, error) { return 0, syscall.ENOMEM }

func TestFrameWithoutMemory(t *testing.T) {
	k := newKernel(t)
	c := verbs.InitContext(noMemory{k}, 3, spec.RDMA_DRIVER_MLX5)
	_, err := c.QueryPort(1)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Empty(t, k.ioctls)
}
