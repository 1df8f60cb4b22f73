package methods

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/spec"
)

// TestInfoHandles follows the recorded cases query/info-… and
// ctx/info-handles-before of rxe. What the device lacks there is FLOW.
func TestInfoHandles(t *testing.T) {
	const info = spec.UVERBS_METHOD_INFO_HANDLES
	const idAttr, totalAttr, listAttr = spec.UVERBS_ATTR_INFO_OBJECT_ID, spec.UVERBS_ATTR_INFO_TOTAL_HANDLES, spec.UVERBS_ATTR_INFO_HANDLES_LIST
	const untouched = "a5a5a5a5a5a5a5a5"
	tests := []struct {
		name   string
		setup  func(r *rig)
		id     uint64
		listAt int // length of the list, -1 for none
		total  bool
		want   *rule.Rule
		list   string // its first 8 bytes
		totals string
	}{
		{"query/info-list", func(r *rig) { r.newCQ(); r.newCQ(); r.newPD() }, 3, 16, true, nil, "0100000000000000", "02000000"},
		{"query/info-no-total", func(r *rig) { r.newCQ() }, 3, 8, false, rule.AttrAbsent, "00000000a5a5a5a5", "a5a5a5a5"},
		{"without a list", nil, 3, -1, true, rule.InfoHandlesList, untouched, "a5a5a5a5"},
		{"a list of 6 bytes", nil, 3, 6, true, rule.InfoHandlesList, untouched, "a5a5a5a5"},
		{"query/info-object-11", nil, 0x11, 8, true, rule.InfoHandlesUnknownObject, untouched, "a5a5a5a5"},
		{"query/info-object-10003", nil, 0x10003, 8, true, rule.ConstRange, untouched, "a5a5a5a5"},
		{"object 0xffff", nil, 0xffff, 8, true, rule.InfoHandlesAnyObject, untouched, "a5a5a5a5"},
		{"query/info-object-0", nil, 0, 8, true, nil, untouched, "00000000"},
		{"query/info-object-1000", nil, 0x1000, 8, true, rule.InfoHandlesUnknownObject, untouched, "a5a5a5a5"},
		{"query/info-fd-objects", func(r *rig) { r.newAsync(); r.newAsync() }, 16, 16, true, nil, "0000000000000000", "02000000"},
		{"query/info-after-destroy", func(r *rig) {
			first := r.newCQ()
			r.newCQ()
			_, err := r.destroy(destroyCQ, first)
			require.NoError(r, err)
		}, 3, 8, true, nil, "01000000a5a5a5a5", "01000000"},
		{"more than there is room for", func(r *rig) { r.newCQ(); r.newCQ(); r.newCQ() }, 3, 8, true, nil, "0200000001000000", "02000000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newContext(t, nil)
			if tt.setup != nil {
				tt.setup(r)
			}
			list, total := r.buf(16), r.buf(4)
			attrs := []spec.IoctlAttr{num(idAttr, 8, tt.id)}
			if tt.total {
				attrs = append(attrs, ptr(totalAttr, 4, total))
			}
			if tt.listAt >= 0 {
				attrs = append(attrs, ptr(listAttr, tt.listAt, list))
			}
			err := r.call(device, info, attrs...)
			if tt.want == nil {
				require.NoError(t, err)
			} else {
				require.Equal(t, error(tt.want), err)
			}
			require.Equal(t, tt.list, r.hex(list, 8))
			require.Equal(t, tt.totals, r.hex(total, 4))
		})
	}

	t.Run("ctx/info-handles-before", func(t *testing.T) {
		r := newRig(t, nil)
		list, total := r.buf(16), r.buf(4)
		r.ok(device, info, num(idAttr, 8, 3), ptr(totalAttr, 4, total), ptr(listAttr, 16, list))
		require.Equal(t, ".!!", r.written())
		require.Equal(t, "00000000", r.hex(total, 4))
	})
	t.Run("query/info-total-unmapped", func(t *testing.T) {
		r := newContext(t, nil)
		r.newCQ()
		list := r.buf(8)
		r.refused(rule.AttrOutputFault, device, info, num(idAttr, 8, 3), ptr(totalAttr, 4, r.unplug), ptr(listAttr, 8, list))
		require.Equal(t, "..!", r.written())
		require.Equal(t, "00000000a5a5a5a5", r.hex(list, 8))
	})
	t.Run("query/info-list-unmapped-empty", func(t *testing.T) {
		r := newContext(t, nil)
		total := r.buf(4)
		r.ok(device, info, num(idAttr, 8, 3), ptr(totalAttr, 4, total), ptr(listAttr, 8, r.unplug))
		require.Equal(t, ".!!", r.written())
	})
}

func (r *rig) newAsync() int {
	r.Helper()
	r.ok(spec.UVERBS_OBJECT_ASYNC_EVENT, spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC, num(0, 0, 0))
	return int(r.attr(0).Data)
}
