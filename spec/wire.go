package spec

import (
	"reflect"
	"strings"
)

// The wire structs of this package are the C structs of the UAPI with the same
// members in the same places: every byte of padding is declared, and
// structs.HostLayout keeps the compiler from moving anything. encoding/binary
// reads and writes them in little-endian order; Bytes gives their memory
// without a copy.

// NewStruct returns a pointer to a zero value of the Go struct of a C struct,
// by the name that an attribute's CType has: "struct ib_uverbs_qp_cap". It
// returns nil for a struct that is not known.
func NewStruct(ctype string) any {
	if f := wireStructs[strings.TrimPrefix(ctype, "struct ")]; f != nil {
		return f()
	}
	return nil
}

// cNames is the reverse of wireStructs.
var cNames = func() map[reflect.Type]string {
	m := make(map[reflect.Type]string, len(wireStructs))
	for c, f := range wireStructs {
		m[reflect.TypeOf(f()).Elem()] = c
	}
	return m
}()
