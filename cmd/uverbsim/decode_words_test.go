package main

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/dissect"
	"uverbsim/report/request"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestDecodeEveryCommandWord: whether a device's kernel has a command, and counts
// its words as those of an extended one, is said as the answer says it, of every
// number up to some behind the last. The 24 bytes are an extended command's of in_words 0, or another one's
// of in_words 6.
func TestDecodeEveryCommandWord(t *testing.T) {
	atHeader := []*rule.Rule{rule.WriteWords, rule.WriteCommandRange, rule.WriteNotSupported, rule.WriteExWords,
		rule.WriteRequestShort, rule.WriteResponseShort}
	for _, driver := range []string{"mlx5", "rxe"} {
		for _, k := range []*spec.Kernel{spec.Linux6_1, spec.Linux6_12} {
			dev := dissect.Device{Name: driver, Kernel: k}
			dev.Driver, _ = casefile.DriverID(driver)
			const numbers = spec.IB_USER_VERBS_EX_CMD_MODIFY_CQ + 4
			for n := range uint32(2 * numbers) {
				word := n%numbers | n/numbers*spec.IB_USER_VERBS_CMD_FLAG_EXTENDED
				for _, words := range []uint16{0, 6} {
					b := make([]byte, spec.CmdHdrSize+spec.ExCmdHdrSize)
					binary.LittleEndian.PutUint32(b, word)
					binary.LittleEndian.PutUint16(b[4:], words)
					r := (&request.Request{Kind: request.Write, Bytes: b, Memory: []request.Range{{Bytes: b}}, Count: -1}).Placed()
					c, err := requestCase(r, dev, false)
					require.NoError(t, err)
					d := dissect.Of(r, dev)
					playRequest(r, d, c, false)
					require.Empty(t, d.Answer.Cannot)
					if slices.Contains(atHeader, d.Answer.Rule) {
						require.Contains(t, d.Rules(), d.Answer.Rule, "%s %s %#x, %d words", driver, k.Name, word, words)
					} else {
						require.NotContains(t, d.Rules(), rule.WriteNotSupported, "%#x", word)
						require.NotContains(t, d.Rules(), rule.WriteExWords, "%#x", word)
						require.NotContains(t, d.Rules(), rule.WriteWords, "%#x", word)
					}
				}
			}
		}
	}
}
