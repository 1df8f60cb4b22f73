package verbs_test

import (
	"encoding/binary"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
	"uverbsim/verbs"
)

// TestOpenDevice: the probe, the driver's library's part, the descriptor for
// asynchronous events, and everything closed in the end.
func TestOpenDevice(t *testing.T) {
	k := newKernel(t)
	k.ioctl = func(buf []byte) error {
		switch key(buf) {
		case [2]uint16{spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE}:
			return syscall.ENOSPC
		case [2]uint16{spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT}:
			k.put(buf, spec.UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, wire(t, "08000000"))
			k.put(buf, spec.UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, wire(t, "0100000000000000"))
		case [2]uint16{spec.UVERBS_OBJECT_ASYNC_EVENT, spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC}:
			attr(t, buf, spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)[8] = 4
		}
		return nil
	}
	c, err := verbs.OpenDevice(k, "/dev/infiniband/uverbs0", spec.RDMA_DRIVER_MLX5, func(c *verbs.Context) error {
		return c.CmdGetContext(verbs.UHW{})
	})
	require.NoError(t, err)
	require.Equal(t, []int{3, 4}, []int{c.CmdFD, c.AsyncFD})
	require.Equal(t, uint32(8), c.NumCompVectors)
	require.Equal(t, uint64(1), c.CoreSupport)
	require.Len(t, k.ioctls, 3)
	c.Uninit()
	require.Equal(t, []int{3, 4}, k.closed)
	require.Empty(t, k.mapped, "all memory is given back")
}

func TestOpenDeviceFails(t *testing.T) {
	k := newKernel(t)
	c, err := verbs.OpenDevice(k, "/dev/infiniband/uverbs0", spec.RDMA_DRIVER_MLX5, func(*verbs.Context) error {
		return syscall.EPERM
	})
	require.Nil(t, c)
	require.Equal(t, syscall.EPERM, err)
	require.Equal(t, []int{3}, k.closed)
	require.Empty(t, k.mapped)
}

// key is the object and the method of a request.
func key(buf []byte) [2]uint16 {
	return [2]uint16{binary.LittleEndian.Uint16(buf[2:]), binary.LittleEndian.Uint16(buf[4:])}
}

// TestGetContextByWrite: a kernel without the ioctl gives the descriptor for
// asynchronous events with the context.
func TestGetContextByWrite(t *testing.T) {
	k := newKernel(t)
	k.write = func(req []byte) (int, error) {
		respond(k, req, 8, wire(t, "05000000 02000000"))
		return len(req), nil
	}
	c := context(t, k, false)
	k.ioctl = func([]byte) error { return syscall.ENOTTY }
	require.NoError(t, c.CmdGetContext(verbs.UHW{In: make([]byte, 16)}))
	require.Equal(t, wire(t, "00000000", "0800", "0200"), k.writes[0][:8])
	require.Equal(t, 5, c.AsyncFD)
	require.Equal(t, uint32(2), c.NumCompVectors)
}

func TestQueryPort(t *testing.T) {
	legacy := spec.QueryPortResp{State: 4, ActiveMtu: 3, LID: 9}
	t.Run("ioctl", func(t *testing.T) {
		k := newKernel(t)
		c := context(t, k, true)
		k.ioctl = func(buf []byte) error {
			k.put(buf, spec.UVERBS_ATTR_QUERY_PORT_RESP, spec.Bytes(&spec.QueryPortRespEx{LegacyResp: legacy, ActiveSpeedEx: 64}))
			return nil
		}
		port, err := c.QueryPort(2)
		require.NoError(t, err)
		require.Equal(t, &spec.QueryPortRespEx{LegacyResp: legacy, ActiveSpeedEx: 64}, port)
		require.Equal(t, wire(t, "0000 0800 0100 0000 0200000000000000"), k.ioctls[0][24:40])
	})
	t.Run("write", func(t *testing.T) {
		k := newKernel(t)
		c := context(t, k, false)
		k.ioctl = func([]byte) error { return syscall.EPROTONOSUPPORT }
		k.write = func(req []byte) (int, error) {
			respond(k, req, 8, spec.Bytes(&legacy))
			return len(req), nil
		}
		port, err := c.QueryPort(2)
		require.NoError(t, err)
		require.Equal(t, &spec.QueryPortRespEx{LegacyResp: legacy}, port)
		require.Equal(t, wire(t, "02000000", "0600", "0a00"), k.writes[0][:8])
		require.Equal(t, wire(t, "0200000000000000"), k.writes[0][16:])
	})
}

// TestQueryDeviceBasic: a device whose driver does not do the extended command.
func TestQueryDeviceBasic(t *testing.T) {
	k := newKernel(t)
	c := context(t, k, true)
	k.ioctl = func(buf []byte) error {
		if binary.LittleEndian.Uint64(attr(t, buf, spec.UVERBS_ATTR_WRITE_CMD)[8:]) == 0x80000001 {
			return syscall.EOPNOTSUPP
		}
		k.put(buf, spec.UVERBS_ATTR_CORE_OUT, spec.Bytes(&spec.QueryDeviceResp{MaxCQ: 5}))
		return nil
	}
	dev, err := c.QueryDevice(verbs.UHW{})
	require.NoError(t, err)
	require.Equal(t, uint32(5), dev.Base.MaxCQ)
	require.Equal(t, uint32(176), dev.ResponseLength)
}

// TestRegMROptionalAccess: bits that a kernel may ignore go only to one that
// knows that.
func TestRegMROptionalAccess(t *testing.T) {
	for support, want := range map[uint64]uint32{0: 0x01, 1: 0x100001} {
		k := newKernel(t)
		k.write = func(req []byte) (int, error) {
			respond(k, req, 8, wire(t, "02000000 11000000 12000000"))
			return len(req), nil
		}
		c := context(t, k, false)
		c.CoreSupport = support
		pd := &verbs.PD{Context: c, Handle: 6}
		mr, err := pd.RegMR(0x1000, 0x2000, 0x3000, spec.IB_UVERBS_ACCESS_LOCAL_WRITE|spec.IB_UVERBS_ACCESS_RELAXED_ORDERING)
		require.NoError(t, err)
		require.Equal(t, []uint32{2, 0x11, 0x12}, []uint32{mr.Handle, mr.LKey, mr.RKey})
		require.Equal(t, wire(t, "09000000", "0c00", "0300"), k.writes[0][:8])
		require.Equal(t, wire(t, "0010000000000000 0020000000000000 0030000000000000 06000000"), k.writes[0][16:44])
		require.Equal(t, want, binary.LittleEndian.Uint32(k.writes[0][44:]))
	}
}

// TestDestroy: each destroy by ioctl and by write(), and what it does with EIO
// of a device that is gone.
func TestDestroy(t *testing.T) {
	for name, tt := range map[string]struct {
		destroy func(*verbs.Context) error
		ioctl   string // object and method, then the attributes
		write   string
	}{
		"pd": {func(c *verbs.Context) error { return (&verbs.PD{Context: c, Handle: 6}).Dealloc() },
			"2800 0100 0000 0100 0000000000000000 01000000 00000000 0000 0000 0100 0000 0600000000000000",
			"04000000 0300 0000 06000000"},
		"mr": {func(c *verbs.Context) error { return (&verbs.MR{Context: c, Handle: 6}).Dereg() },
			"2800 0700 0100 0100 0000000000000000 01000000 00000000 0000 0000 0100 0000 0600000000000000",
			"0d000000 0300 0000 06000000"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKernel(t)
			c := context(t, k, false)
			require.NoError(t, tt.destroy(c))
			require.Equal(t, wire(t, tt.ioctl), k.ioctls[0])

			k.ioctl = func([]byte) error { return syscall.EIO }
			require.ErrorIs(t, tt.destroy(c), syscall.EIO)
			c.AllowDisassociateDestroy = true
			require.NoError(t, tt.destroy(c))

			k.ioctl = func([]byte) error { return syscall.EPROTONOSUPPORT }
			k.write = func(req []byte) (int, error) { return len(req), nil }
			require.NoError(t, tt.destroy(c))
			require.Equal(t, wire(t, tt.write), k.writes[0])
		})
	}
}

// TestDestroyCQWaitsForAcks: the kernel says how many events the program has
// read; the queue goes when it has acknowledged as many.
func TestDestroyCQWaitsForAcks(t *testing.T) {
	k := newKernel(t)
	c := context(t, k, true)
	k.ioctl = func(buf []byte) error {
		if key(buf)[1] == spec.UVERBS_METHOD_CQ_DESTROY {
			k.put(buf, spec.UVERBS_ATTR_DESTROY_CQ_RESP, wire(t, "03000000 00000000"))
		}
		return nil
	}
	var cq verbs.CQ
	require.NoError(t, c.CmdCreateCQ(&cq, &verbs.CQInitAttr{CQE: 1}, verbs.UHW{}, false))
	cq.AckEvents(2)
	synctest.Test(t, func(t *testing.T) {
		var done bool
		go func() {
			done = cq.CmdDestroyCQ() == nil
		}()
		synctest.Wait()
		require.False(t, done, "one event has yet to be acknowledged")
		cq.AckEvents(1)
		synctest.Wait()
		require.True(t, done)
	})
}

// TestChannel: events name their queue by its user handle; a channel in use
// cannot be destroyed.
func TestChannel(t *testing.T) {
	k := newKernel(t)
	c := context(t, k, true)
	k.ioctl = func(buf []byte) error {
		if key(buf) == [2]uint16{spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE} {
			k.put(buf, spec.UVERBS_ATTR_CORE_OUT, wire(t, "09000000"))
		}
		return nil
	}
	ch, err := c.CreateCompChannel()
	require.NoError(t, err)
	require.Equal(t, 9, ch.FD)
	events := 0
	cq := verbs.CQ{Event: func() { events++ }}
	require.NoError(t, c.CmdCreateCQ(&cq, &verbs.CQInitAttr{CQE: 1, Channel: ch}, verbs.UHW{}, false))
	create := k.ioctls[1]
	require.Equal(t, wire(t, "0300 0000 0100 0000 0900000000000000"), attr(t, create, spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL))
	handle := attr(t, create, spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE)[8:]

	k.read = func(fd int) []byte {
		require.Equal(t, 9, fd)
		return handle
	}
	got, err := ch.GetCQEvent()
	require.NoError(t, err)
	require.Same(t, &cq, got)
	require.Equal(t, 1, events)

	k.read = func(int) []byte { return make([]byte, 8) }
	_, err = ch.GetCQEvent()
	require.Error(t, err, "no queue has this handle")

	require.ErrorIs(t, ch.Destroy(), verbs.ErrChannelBusy)
	require.NoError(t, cq.CmdDestroyCQ())
	require.NoError(t, ch.Destroy())
	require.Equal(t, []int{9}, k.closed)
}

func TestFault(t *testing.T) {
	k := newKernel(t)
	err := verbs.Load(k, 0x1000, make([]byte, 1))
	require.ErrorIs(t, err, syscall.EFAULT)
	require.EqualError(t, err, "verbs: SIGSEGV: a load from 0x1000")
	require.EqualError(t, verbs.Store(k, 0x2000, []byte{1}), "verbs: SIGSEGV: a store to 0x2000")
}
