package kernel

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/trace"
)

// TestLocksHaveNames: each lock of a device, its files and their context passes
// through the seam under a name.
func TestLocksHaveNames(t *testing.T) {
	r := newRig(t, nil)
	lock := map[reflect.Type]bool{reflect.TypeFor[trace.Mutex](): true, reflect.TypeFor[trace.RWSem](): true}
	names := map[string]bool{}
	var look func(where string, v reflect.Value)
	look = func(where string, v reflect.Value) {
		if v.Kind() != reflect.Struct {
			return
		}
		if lock[v.Type()] {
			name := v.FieldByName("Name").String()
			require.NotEmpty(t, name, where)
			names[name] = true
			return
		}
		for i := range v.NumField() {
			look(where+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
	look("Device", reflect.ValueOf(r.d).Elem())
	look("core.Device", reflect.ValueOf(r.d.IBDevice()).Elem())
	look("File", reflect.ValueOf(r.file).Elem())
	look("Ucontext", reflect.ValueOf(r.file.ucontext.Load()).Elem())
	for _, want := range []string{"lists_mutex", "xrcd_tree_mutex", "event_handler_rwsem", "ucontext_lock", "hw_destroy_rwsem",
		"uobjects_lock", "xa_lock", "umap_lock", "disassociation_lock", "mmap_xa"} {
		require.True(t, names[want], want)
	}
}
