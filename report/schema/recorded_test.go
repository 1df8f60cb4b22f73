package schema_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/schema"
	"uverbsim/spec"
)

// validOutput is UVERBS_ATTR_F_VALID_OUTPUT, which the kernel sets in an attribute
// to whose address it has written.
const validOutput = 2

// TestRecordedCalls holds the directions to what a real kernel did: where it
// says that it has written to an attribute's address, the document says that the
// attribute is one that the kernel writes to; where a call that succeeded had a
// buffer's address as data, the data can be an address, or the value is one of
// the caller's memory; and where it had a handle, the attribute takes one. Its
// lengths are among those that the document allows, and no mandatory attribute
// is missing.
func TestRecordedCalls(t *testing.T) {
	docs := map[string]*schema.Document{}
	written, pointed, handles := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range corpus(t) {
		doc := document(t, docs, c)
		if doc == nil {
			continue
		}
		for i := range c.Steps {
			call, ok := c.Steps[i].Do.(*casefile.Ioctl)
			got := c.Steps[i].Got
			if !ok || got == nil || got.Errno == nil || *got.Errno != "" || len(got.Attrs) != len(call.Attrs) {
				continue
			}
			m := methodOf(doc, call.Hdr.ObjectID, call.Hdr.MethodID)
			if m == nil || call.Cmd.Kind != casefile.Absent || call.Arg.Kind != casefile.Absent || call.Hdr.NumAttrs != nil {
				continue
			}
			require.Empty(t, missing(m, call), c.Name)
			for j, a := range call.Attrs {
				x := attrOf(m, a.ID)
				if x == nil {
					continue // an optional one that this kernel does not know
				}
				where := c.Name + ": " + x.Name
				if flags, err := strconv.Atoi(string(got.Attrs[j].Flags)); err == nil && flags&validOutput != 0 && a.Flags&validOutput == 0 {
					require.Equal(t, "out", x.Direction, where)
					require.Equal(t, "address", x.Data, where)
					written[x.Name] = true
				}
				length := uint16(len(a.Inline))
				if a.Len != nil {
					length = *a.Len
				}
				if x.MinLen != nil {
					require.GreaterOrEqual(t, int(length), *x.MinLen, where)
				}
				if x.MaxLen != nil && !x.ZeroTrailing {
					require.LessOrEqual(t, int(length), *x.MaxLen, where)
				}
				switch {
				case a.Inline == nil && a.Data.Kind == casefile.Ptr && length > 0:
					if x.Is == nil || x.Is.Role != "user_address" {
						require.Contains(t, []string{"address", "value_or_address"}, x.Data, where)
					}
					pointed[x.Name] = true
				case a.Inline == nil && a.Data.Kind == casefile.Handle && length == 0:
					require.Contains(t, []string{"handle", "fd"}, x.Data, where)
					handles[x.Name] = true
				}
			}
		}
	}
	require.True(t, written["MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID"])
	require.Greater(t, len(written), 35)
	require.Greater(t, len(pointed), 45)
	require.Greater(t, len(handles), 35)
}

// readCorpus reads all recorded cases.
var readCorpus = sync.OnceValues(func() (cases []*casefile.Case, err error) {
	files, err := filepath.Glob("../../sim_test/corpus/*.jsonl")
	for _, f := range files {
		more, err := casefile.ReadFile(f)
		if err != nil {
			return nil, err
		}
		cases = append(cases, more...)
	}
	return cases, err
})

func corpus(t *testing.T) []*casefile.Case {
	t.Helper()
	cases, err := readCorpus()
	require.NoError(t, err)
	require.Greater(t, len(cases), 1000)
	return cases
}

// missing are the mandatory attributes that a call does not have.
func missing(m *schema.Method, call *casefile.Ioctl) []string {
	var list []string
	for _, x := range m.Attrs {
		if x.Mandatory && !slices.ContainsFunc(call.Attrs, func(a casefile.Attr) bool { return a.ID == x.ID }) {
			list = append(list, x.Name)
		}
	}
	return list
}

// document is that of a case's driver and kernel, nil for the stub, which has a
// part of mlx5's tables.
func document(t *testing.T, docs map[string]*schema.Document, c *casefile.Case) *schema.Document {
	t.Helper()
	k, ok := spec.KernelByRelease(c.Kernel)
	if !ok || c.Driver == "stub" {
		return nil
	}
	key := c.Driver + "/" + k.Name
	if docs[key] == nil {
		d, err := schema.DriverByName(c.Driver)
		require.NoError(t, err)
		docs[key], err = schema.Build(d, k)
		require.NoError(t, err)
	}
	return docs[key]
}

func methodOf(doc *schema.Document, object, method uint16) *schema.Method {
	for i := range doc.Objects {
		o := &doc.Objects[i]
		for j := range o.Methods {
			if o.ID == object && o.Methods[j].ID == method {
				return &o.Methods[j]
			}
		}
	}
	return nil
}

func attrOf(m *schema.Method, id uint16) *schema.Attribute {
	for i := range m.Attrs {
		if m.Attrs[i].ID == id {
			return &m.Attrs[i]
		}
	}
	return nil
}
