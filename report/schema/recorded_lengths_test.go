package schema_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/schema"
	"uverbsim/spec"
)

// TestRecordedLengths holds the least lengths of commands to the ones that were
// recorded: no write() succeeded with less, and none with less than the struct but
// where the document says that the rest is filled up.
func TestRecordedLengths(t *testing.T) {
	docs := map[string]*schema.Document{}
	filled, cut := map[string]bool{}, map[string]bool{}
	for _, c := range corpus(t) {
		doc := document(t, docs, c)
		if doc == nil {
			continue
		}
		for i := range c.Steps {
			call, ok := c.Steps[i].Do.(*casefile.Write)
			got := c.Steps[i].Got
			if !ok || got == nil || got.Errno == nil || *got.Errno != "" || len(call.Data) < spec.CmdHdrSize {
				continue
			}
			w := writeOf(doc, binary.LittleEndian.Uint32(call.Data))
			if w == nil {
				continue
			}
			request := len(call.Data) - spec.CmdHdrSize
			response := 4 * int(binary.LittleEndian.Uint16(call.Data[6:]))
			if w.Ex {
				request, response = 8*int(binary.LittleEndian.Uint16(call.Data[4:])), 2*response
			}
			require.GreaterOrEqual(t, request, w.ReqMin, "%s: step %d", c.Name, i)
			require.GreaterOrEqual(t, response, w.RespMin, "%s: step %d", c.Name, i)
			if request < doc.Structs[w.Request].Size {
				require.True(t, w.Fills, "%s: step %d", c.Name, i)
				filled[w.Name] = true
			}
			if w.Ex && response < doc.Structs[w.Response].Size {
				cut[w.Name] = true
			}
		}
	}
	require.Contains(t, filled, "IB_USER_VERBS_EX_CMD_QUERY_DEVICE")
	require.Contains(t, cut, "IB_USER_VERBS_EX_CMD_QUERY_DEVICE")
	require.Contains(t, cut, "IB_USER_VERBS_EX_CMD_CREATE_QP")
}
