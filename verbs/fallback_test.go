package verbs_test

import (
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// TestFallbackDecision holds the decision to cmd_fallback.c: which errnos end
// the ioctl, and what the command's links allow instead.
func TestFallbackDecision(t *testing.T) {
	tests := []struct {
		name  string
		errno error
		shape func(cmd, link *verbs.CommandBuffer)
		want  verbs.Fallback
		err   error
	}{
		{"success", nil, nil, verbs.Success, nil},
		{"another errno", syscall.EINVAL, nil, verbs.Failed, syscall.EINVAL},
		{"no ioctl at all", syscall.ENOTTY, nil, verbs.TryWrite, nil},
		{"no such method", syscall.EPROTONOSUPPORT, nil, verbs.TryWrite, nil},
		{"extended", syscall.ENOTTY, func(cmd, _ *verbs.CommandBuffer) { cmd.FallbackRequireEx() }, verbs.TryWriteEx, nil},
		{"link is extended", syscall.ENOTTY, func(_, link *verbs.CommandBuffer) { link.FallbackRequireEx() }, verbs.TryWriteEx, nil},
		{"ioctl only", syscall.ENOTTY, func(cmd, _ *verbs.CommandBuffer) {
			cmd.FallbackRequireEx()
			cmd.FallbackRequireIoctl()
		}, verbs.Failed, syscall.EOPNOTSUPP},
		{"link is ioctl only", syscall.ENOTTY, func(_, link *verbs.CommandBuffer) { link.FallbackRequireIoctl() },
			verbs.Failed, syscall.EOPNOTSUPP},
		{"link has an attribute of its own", syscall.EPROTONOSUPPORT, func(_, link *verbs.CommandBuffer) {
			link.FillAttrInUint32(0x1002, 1)
		}, verbs.Failed, syscall.EOPNOTSUPP},
		{"link has an optional attribute", syscall.EPROTONOSUPPORT, func(_, link *verbs.CommandBuffer) {
			verbs.AttrOptional(link.FillAttrInUint32(0x1002, 1))
		}, verbs.TryWrite, nil},
		{"link has driver's parts", syscall.EPROTONOSUPPORT, func(_, link *verbs.CommandBuffer) {
			link.FillAttrInUint32(spec.UVERBS_ATTR_UHW_IN, 1)
			link.FillAttrInUint32(spec.UVERBS_ATTR_UHW_OUT, 1)
		}, verbs.TryWrite, nil},
		{"own attributes are what write() says too", syscall.EPROTONOSUPPORT, func(cmd, _ *verbs.CommandBuffer) {
			cmd.FillAttrInUint32(1, 1)
		}, verbs.TryWrite, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newKernel(t)
			k.ioctl = func([]byte) error { return tt.errno }
			c := context(t, k, true)
			f := c.Frame()
			link := f.CommandBuffer(3, 0, 2, nil)
			cmd := f.CommandBuffer(3, 0, 4, link)
			if tt.shape != nil {
				tt.shape(cmd, link)
			}
			got, err := c.ExecuteIoctlFallback(verbs.OpCreateCQ, cmd)
			require.Equal(t, tt.want, got)
			if tt.err == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, tt.err)
			}
		})
	}
}

// TestFallbackIsRemembered: EPROTONOSUPPORT ends the ioctl of one command,
// ENOTTY those of all, anything else of none.
func TestFallbackIsRemembered(t *testing.T) {
	for errno, tried := range map[syscall.Errno][]int{
		syscall.EPROTONOSUPPORT: {1, 2, 2}, // CreateCQ, DestroyCQ, CreateCQ again
		syscall.ENOTTY:          {1, 1, 1},
		syscall.EINVAL:          {1, 2, 3},
	} {
		t.Run(errno.Error(), func(t *testing.T) {
			k := newKernel(t)
			k.ioctl = func([]byte) error { return errno }
			c := context(t, k, true)
			f := c.Frame()
			for i, op := range []verbs.Op{verbs.OpCreateCQ, verbs.OpDestroyCQ, verbs.OpCreateCQ} {
				_, _ = c.ExecuteIoctlFallback(op, f.CommandBuffer(3, 0, 0, nil))
				require.Len(t, k.ioctls, tried[i])
			}
		})
	}
}

// createCQ has a kernel without the ioctl create a queue with driver's parts.
func createCQ(t *testing.T, k *fakeKernel, flags uint32, uhw verbs.UHW) *verbs.CQ {
	c := context(t, k, false)
	k.ioctl = func([]byte) error { return syscall.EPROTONOSUPPORT }
	cq := new(verbs.CQ)
	attr := verbs.CQInitAttr{CQE: 255, CompVector: 2, Flags: flags}
	require.NoError(t, c.CmdCreateCQ(cq, &attr, uhw, true))
	require.Len(t, k.ioctls, 1, "the ioctl was tried first")
	require.Len(t, k.writes, 1)
	return cq
}

// respond writes a response to the address that stands in a request.
func respond(k *fakeKernel, req []byte, at int, resp []byte) {
	require.True(k.t, k.Store(copyuser.Addr(binary.LittleEndian.Uint64(req[at:])), resp))
}

// TestPlainWrite: struct ib_uverbs_cmd_hdr, struct ib_uverbs_create_cq, and the
// driver's part directly behind.
func TestPlainWrite(t *testing.T) {
	k := newKernel(t)
	k.write = func(req []byte) (int, error) {
		respond(k, req, 8, wire(t, "07000000 ff000000 aabbccdd"))
		return len(req), nil
	}
	out := make([]byte, 4)
	cq := createCQ(t, k, 0, verbs.UHW{In: []byte{1, 2, 3, 4}, Out: out})
	require.Equal(t, wire(t, "12000000", "0b00", "0300"), k.writes[0][:8], "command, words of the request, of the response")
	require.Equal(t, wire(t, "0100000000000000", "ff000000", "02000000", "ffffffff", "00000000", "01020304"), k.writes[0][16:])
	require.Equal(t, uint32(7), cq.Handle)
	require.Equal(t, uint32(255), cq.CQE)
	require.Equal(t, wire(t, "aabbccdd"), out)
}

// TestExtendedWrite: both headers, struct ib_uverbs_ex_create_cq, and the
// driver's part; lengths count in words of 8 bytes.
func TestExtendedWrite(t *testing.T) {
	k := newKernel(t)
	k.write = func(req []byte) (int, error) {
		respond(k, req, 8, wire(t, "07000000 ff000000 00000000 10000000 aabbccdd"))
		return len(req), nil
	}
	out := []byte{9, 9, 9, 9, 9, 9, 9, 9}
	cq := createCQ(t, k, spec.IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN, verbs.UHW{In: []byte{1, 2, 3, 4, 5, 6, 7, 8}, Out: out})
	req := k.writes[0]
	require.Equal(t, wire(t, "12000080", "0400", "0200"), req[:8], "command, words of the core's request, of its response")
	require.Equal(t, wire(t, "0100", "0100", "00000000"), req[16:24], "words of the driver's parts")
	require.Equal(t, wire(t, "0100000000000000", "ff000000", "02000000", "ffffffff", "00000000", "02000000", "00000000",
		"0102030405060708"), req[24:])
	require.Equal(t, uint32(7), cq.Handle)
	require.Equal(t, uint32(255), cq.CQE)
	require.Equal(t, wire(t, "aabbccdd 00000000"), out, "the response was cleared before the call")
}

// TestTimestampNeedsNoExtendedWrite: a driver that does without the flag.
func TestTimestampNeedsNoExtendedWrite(t *testing.T) {
	k := newKernel(t)
	k.write = func(req []byte) (int, error) { return len(req), nil }
	createCQ(t, k, spec.IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION, verbs.UHW{})
	require.Equal(t, wire(t, "12000000"), k.writes[0][:4])
}

func TestShortWrite(t *testing.T) {
	k := newKernel(t)
	k.write = func(req []byte) (int, error) { return len(req) - 1, nil }
	c := context(t, k, false)
	_, err := c.CmdAllocPD(verbs.UHW{})
	require.ErrorContains(t, err, "only a part")
}

// TestWriteByIoctl: ALLOC_PD where the kernel takes write() commands by ioctl,
// as the recorded program sent it. The kernel gets short input in the attribute.
func TestWriteByIoctl(t *testing.T) {
	k := newKernel(t)
	k.ioctl = func(buf []byte) error {
		k.put(buf, spec.UVERBS_ATTR_CORE_OUT, wire(t, "01000000"))
		k.put(buf, spec.UVERBS_ATTR_UHW_OUT, wire(t, "06000000"))
		return nil
	}
	c := context(t, k, true)
	out := make([]byte, 4)
	pd, err := c.CmdAllocPD(verbs.UHW{Out: out})
	require.NoError(t, err)
	require.Equal(t, uint32(1), pd.Handle)
	require.Equal(t, wire(t, "06000000"), out)
	got := k.ioctls[0]
	require.Equal(t, wire(t, "5800 0000 0000 0400 0000000000000000 01000000 00000000",
		"0200 0800 0100 0000 0300000000000000"), got[:40])
	require.Equal(t, wire(t, "0000 0800 0100 0000"), got[40:48])
	require.Equal(t, attr(t, got, spec.UVERBS_ATTR_CORE_OUT)[8:], got[48:56], "the request names the response's address")
	require.Equal(t, wire(t, "0100 0400 0100 0000"), got[56:64])
	require.Equal(t, wire(t, "0110 0400 0100 0000"), got[72:80])
	require.Empty(t, k.writes)
}

// TestNoWriteByIoctl: a kernel that has no INVOKE_WRITE gets write().
func TestNoWriteByIoctl(t *testing.T) {
	for errno, write := range map[syscall.Errno]bool{
		syscall.EPROTONOSUPPORT: true, syscall.ENOTTY: true, syscall.ENOSPC: false, syscall.EINVAL: false,
	} {
		k := newKernel(t)
		k.ioctl = func([]byte) error { return errno }
		k.write = func(req []byte) (int, error) { return len(req), nil }
		c := verbs.InitContext(k, 3, spec.RDMA_DRIVER_MLX5)
		require.Equal(t, wire(t, "2800 0000 0000 0100 0000000000000000 01000000 00000000",
			"0200 0800 0100 0000 0100000000000000"), k.ioctls[0], "the probe is a QUERY_DEVICE without buffers")
		_, _ = c.CmdAllocPD(verbs.UHW{})
		require.Equal(t, write, len(k.writes) == 1, errno)
	}
}
