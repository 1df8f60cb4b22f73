package libmlx5

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/watchdog"
)

// cqe makes 64 bytes of an entry of parts: an offset and hex text each.
func cqe(t *testing.T, parts map[int]string) []byte {
	b := make([]byte, 64)
	for at, text := range parts {
		bytes, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		require.NoError(t, err)
		copy(b[at:], bytes)
	}
	return b
}

// TestParseCQE: offsets and opcodes are those of struct mlx5_cqe64 and of
// mlx5_parse_cqe.
func TestParseCQE(t *testing.T) {
	tests := []struct {
		name string
		cqe  map[int]string
		want WC
	}{
		{"send", map[int]string{56: "0a 000042 0007 00 00"},
			WC{Opcode: IBV_WC_SEND, QPNum: 0x42, WQECounter: 7}},
		{"send with immediate", map[int]string{56: "0b 000042", 63: "01"},
			WC{Opcode: IBV_WC_SEND, Flags: IBV_WC_WITH_IMM, QPNum: 0x42}},
		{"send with invalidation", map[int]string{56: "01 000042"}, WC{Opcode: IBV_WC_SEND, QPNum: 0x42}},
		{"write", map[int]string{44: "00000100", 56: "08 000042"}, WC{Opcode: IBV_WC_RDMA_WRITE, QPNum: 0x42}},
		{"write with immediate", map[int]string{56: "09 000042"},
			WC{Opcode: IBV_WC_RDMA_WRITE, Flags: IBV_WC_WITH_IMM, QPNum: 0x42}},
		{"read tells its length", map[int]string{44: "00000100", 56: "10 000042"},
			WC{Opcode: IBV_WC_RDMA_READ, ByteLen: 0x100, QPNum: 0x42}},
		{"compare and swap", map[int]string{56: "11 000042"}, WC{Opcode: IBV_WC_COMP_SWAP, ByteLen: 8, QPNum: 0x42}},
		{"fetch and add", map[int]string{56: "12 000042"}, WC{Opcode: IBV_WC_FETCH_ADD, ByteLen: 8, QPNum: 0x42}},
		{"time stamp", map[int]string{48: "0102030405060708", 56: "0a 000042"},
			WC{Opcode: IBV_WC_SEND, QPNum: 0x42, Timestamp: 0x0102030405060708}},
		{"receive", map[int]string{17: "85", 22: "1234", 24: "15 000099", 36: "0000ffff", 44: "00001000", 56: "00 000042 0003", 63: "20"},
			WC{Opcode: IBV_WC_RECV, Flags: IBV_WC_GRH, ByteLen: 0x1000, QPNum: 0x42, SrcQP: 0x99, PKeyIndex: 0xffff,
				SLID: 0x1234, SL: 5, PathBits: 5, WQECounter: 3}},
		{"receive with immediate", map[int]string{36: "01020304", 56: "00 000042", 63: "30"},
			WC{Opcode: IBV_WC_RECV, Flags: IBV_WC_WITH_IMM, Imm: 0x01020304, PKeyIndex: 0x0304, QPNum: 0x42}},
		{"receive with invalidation", map[int]string{36: "01020304", 56: "00 000042", 63: "40"},
			WC{Opcode: IBV_WC_RECV, Flags: IBV_WC_WITH_INV, Imm: 0x01020304, PKeyIndex: 0x0304, QPNum: 0x42}},
		{"write with immediate arrives", map[int]string{36: "01020304", 44: "00000010", 56: "00 000042", 63: "10"},
			WC{Opcode: IBV_WC_RECV_RDMA_WITH_IMM, Flags: IBV_WC_WITH_IMM, Imm: 0x01020304, PKeyIndex: 0x0304, ByteLen: 0x10, QPNum: 0x42}},
		{"flushed", map[int]string{54: "f9 05", 56: "0a 000042", 63: "d1"},
			WC{Status: IBV_WC_WR_FLUSH_ERR, VendorErr: 0xf9, QPNum: 0x42}},
		{"receive failed", map[int]string{54: "00 11", 56: "00 000042", 63: "e0"},
			WC{Status: IBV_WC_LOC_ACCESS_ERR, QPNum: 0x42}},
		{"unknown syndrome", map[int]string{54: "00 77", 56: "00 000042", 63: "e0"},
			WC{Status: IBV_WC_GENERAL_ERR, QPNum: 0x42}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got WC
			require.True(t, parseCQE(cqe(t, tt.cqe), &got))
			require.Equal(t, tt.want, got)
		})
	}
	for _, op := range []string{"50", "60", "c0", "f0"} {
		require.False(t, parseCQE(cqe(t, map[int]string{63: op}), new(WC)), "opcode %s tells of no work request", op)
	}
}

func TestAlignQueueSize(t *testing.T) {
	for n, want := range map[uint64]uint64{1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 257: 512, 1 << 24: 1 << 24, 1<<24 + 1: 1 << 25} {
		require.Equal(t, want, alignQueueSize(n), n)
	}
}

// FuzzParseCQE: whatever a device writes, an entry that tells of a request has
// a status or an opcode of one.
func FuzzParseCQE(f *testing.F) {
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		watchdog.On(t)
		if len(b) != 64 {
			return
		}
		var wc WC
		ok := parseCQE(b, &wc)
		op := b[63] >> 4
		require.Equal(t, op <= cqeRespSendInv || op == cqeReqErr || op == cqeRespErr, ok)
		if ok {
			require.Equal(t, op == cqeReqErr || op == cqeRespErr, wc.Status != IBV_WC_SUCCESS)
			require.Less(t, wc.QPNum, uint32(1<<24))
		}
	})
}
