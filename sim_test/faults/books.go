package faults

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"uverbsim/sim_test/model"
)

// differences says where books differ, in words like "OpenFiles 1 -> 0"; none if they
// are the same.
func differences(a, b *model.Books) []string {
	if a == nil || b == nil || reflect.DeepEqual(a, b) {
		return nil
	}
	var d []string
	diff(&d, "", reflect.ValueOf(*a), reflect.ValueOf(*b))
	return d
}

func diff(d *[]string, path string, a, b reflect.Value) {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			diff(d, name, a.Field(i), b.Field(i))
		}
	case reflect.Slice:
		if x, ok := a.Interface().([]string); ok {
			for _, line := range b.Interface().([]string) {
				if !slices.Contains(x, line) {
					*d = append(*d, path+": "+line)
				}
			}
			return
		}
		if a.Len() != b.Len() {
			*d = append(*d, fmt.Sprintf("%s %d -> %d", path, a.Len(), b.Len()))
			return
		}
		for i := range a.Len() {
			diff(d, fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
		}
	case reflect.Map:
		x, y := a.Interface().(map[string]int), b.Interface().(map[string]int)
		keys := slices.AppendSeq(slices.Collect(maps.Keys(x)), maps.Keys(y))
		slices.Sort(keys)
		for _, k := range slices.Compact(keys) {
			if x[k] != y[k] {
				*d = append(*d, fmt.Sprintf("%s.%s %d -> %d", path, k, x[k], y[k]))
			}
		}
	default:
		if !a.Equal(b) {
			*d = append(*d, fmt.Sprintf("%s %v -> %v", path, a, b))
		}
	}
}
