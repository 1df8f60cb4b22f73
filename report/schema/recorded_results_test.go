package schema_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/schema"
	"uverbsim/spec"
)

// TestRecordedResults holds what calls return to those that were recorded: what a
// case saved as a handle or as a descriptor, out of an attribute or out of a
// response, the document says that it is.
func TestRecordedResults(t *testing.T) {
	docs := map[string]*schema.Document{}
	seen := map[string]bool{}
	for _, c := range corpus(t) {
		doc := document(t, docs, c)
		if doc == nil {
			continue
		}
		for i := range c.Steps {
			got := c.Steps[i].Got
			if got == nil || got.Errno == nil || *got.Errno != "" {
				continue
			}
			save, saveFD := saved(c.Steps[i].Do)
			for _, r := range save {
				checkResult(t, doc, c, c.Steps[i].Do, r, "handle", seen)
			}
			for _, r := range saveFD {
				checkResult(t, doc, c, c.Steps[i].Do, r, "fd", seen)
			}
		}
	}
	for _, name := range []string{
		"fd struct ib_uverbs_create_comp_channel_resp.fd", "fd struct ib_uverbs_get_context_resp.async_fd",
		"handle struct ib_uverbs_reg_mr_resp.mr_handle", "handle UVERBS_ATTR_CREATE_CQ_HANDLE",
		"fd UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE",
	} {
		require.True(t, seen[name], name)
	}
	require.Greater(t, len(seen), 25)
}

func saved(do casefile.Action) (handles, fds map[string]casefile.Ref) {
	switch call := do.(type) {
	case *casefile.Write:
		return call.Save, call.SaveFD
	case *casefile.Ioctl:
		return call.Save, call.SaveFD
	}
	return nil, nil
}

// checkResult wants what a call returned to be what the case took it for.
func checkResult(t *testing.T, doc *schema.Document, c *casefile.Case, do casefile.Action, r casefile.Ref, role string, seen map[string]bool) {
	t.Helper()
	if call, ok := do.(*casefile.Ioctl); ok && r.Buf == "" {
		m := methodOf(doc, call.Hdr.ObjectID, call.Hdr.MethodID)
		x := attrOf(m, call.Attrs[r.Attr].ID)
		require.Equal(t, []string{"out", role}, []string{x.Direction, x.Data}, "%s: %s", c.Name, x.Name)
		seen[role+" "+x.Name] = true
		return
	}
	w, off := responseOf(doc, do, r)
	if w == nil {
		return
	}
	name, m := memberAt(doc, []string{w.Response}, off)
	if m == nil || m.Is == nil && role == "handle" {
		return // a number that the case goes on to use: a queue pair's, an rkey
	}
	require.NotNil(t, m.Is, "%s: %s.%s", c.Name, name, m.Name)
	if role == "fd" {
		require.Equal(t, role, m.Is.Role, "%s: %s.%s", c.Name, name, m.Name)
	}
	seen[m.Is.Role+" "+name+"."+m.Name] = true
}

// responseOf is the command whose response a result is in, and where in it; nil
// for one that is in another buffer.
func responseOf(doc *schema.Document, do casefile.Action, r casefile.Ref) (*schema.Write, int) {
	switch call := do.(type) {
	case *casefile.Write:
		if len(call.Data) < spec.CmdHdrSize {
			return nil, 0
		}
		w := writeOf(doc, binary.LittleEndian.Uint32(call.Data))
		for _, x := range call.Reloc {
			if w != nil && x.At == spec.CmdHdrSize && x.Value.Kind == casefile.Ptr && x.Value.Name == r.Buf {
				return w, r.Off - int(x.Value.Off)
			}
		}
	case *casefile.Ioctl:
		m := methodOf(doc, call.Hdr.ObjectID, call.Hdr.MethodID)
		if m == nil || m.Name != "UVERBS_METHOD_INVOKE_WRITE" {
			return nil, 0
		}
		var w *schema.Write
		for _, a := range call.Attrs {
			if a.ID == spec.UVERBS_ATTR_WRITE_CMD {
				w = writeOf(doc, uint32(a.Data.N))
			}
		}
		for _, a := range call.Attrs {
			if w != nil && a.ID == spec.UVERBS_ATTR_CORE_OUT && a.Data.Kind == casefile.Ptr && a.Data.Name == r.Buf {
				return w, r.Off - int(a.Data.Off)
			}
		}
	}
	return nil, 0
}
