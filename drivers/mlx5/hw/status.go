package hw

import (
	"encoding/binary"
	"fmt"
)

// Status is byte 0 of a command's output.
type Status uint8

// How a command ended (enum MLX5_CMD_STAT_* in include/linux/mlx5/device.h).
const (
	MLX5_CMD_STAT_OK                     Status = 0x00
	MLX5_CMD_STAT_INT_ERR                Status = 0x01
	MLX5_CMD_STAT_BAD_OP_ERR             Status = 0x02
	MLX5_CMD_STAT_BAD_PARAM_ERR          Status = 0x03
	MLX5_CMD_STAT_BAD_SYS_STATE_ERR      Status = 0x04
	MLX5_CMD_STAT_BAD_RES_ERR            Status = 0x05
	MLX5_CMD_STAT_RES_BUSY               Status = 0x06
	MLX5_CMD_STAT_LIM_ERR                Status = 0x08
	MLX5_CMD_STAT_BAD_RES_STATE_ERR      Status = 0x09
	MLX5_CMD_STAT_IX_ERR                 Status = 0x0a
	MLX5_CMD_STAT_NO_RES_ERR             Status = 0x0f
	MLX5_CMD_STAT_BAD_QP_STATE_ERR       Status = 0x10
	MLX5_CMD_STAT_BAD_PKT_ERR            Status = 0x30
	MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR Status = 0x40
	MLX5_CMD_STAT_BAD_INP_LEN_ERR        Status = 0x50
	MLX5_CMD_STAT_BAD_OUTP_LEN_ERR       Status = 0x51
)

var statusNames = map[Status]string{
	MLX5_CMD_STAT_OK:                     "OK",
	MLX5_CMD_STAT_INT_ERR:                "internal error",
	MLX5_CMD_STAT_BAD_OP_ERR:             "bad operation",
	MLX5_CMD_STAT_BAD_PARAM_ERR:          "bad parameter",
	MLX5_CMD_STAT_BAD_SYS_STATE_ERR:      "bad system state",
	MLX5_CMD_STAT_BAD_RES_ERR:            "bad resource",
	MLX5_CMD_STAT_RES_BUSY:               "resource busy",
	MLX5_CMD_STAT_LIM_ERR:                "limits exceeded",
	MLX5_CMD_STAT_BAD_RES_STATE_ERR:      "bad resource state",
	MLX5_CMD_STAT_IX_ERR:                 "bad index",
	MLX5_CMD_STAT_NO_RES_ERR:             "no resources",
	MLX5_CMD_STAT_BAD_QP_STATE_ERR:       "bad QP state",
	MLX5_CMD_STAT_BAD_PKT_ERR:            "bad packet",
	MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR: "bad size too many outstanding CQEs",
	MLX5_CMD_STAT_BAD_INP_LEN_ERR:        "bad input length",
	MLX5_CMD_STAT_BAD_OUTP_LEN_ERR:       "bad output length",
}

// String says the status in words.
func (s Status) String() string {
	if n, ok := statusNames[s]; ok {
		return n
	}
	return fmt.Sprintf("status %#x", uint8(s))
}

// headerSize is the part of an output that every answer has: the status at byte
// 0 and the syndrome at byte 4.
const headerSize = 8

// Result returns the status and the syndrome that stand in a command's output.
// An output too short for a syndrome has none.
func Result(out []byte) (s Status, syndrome uint32) {
	if len(out) > 0 {
		s = Status(out[0])
	}
	if len(out) >= headerSize {
		syndrome = binary.BigEndian.Uint32(out[4:])
	}
	return s, syndrome
}
