package spec

//go:generate go run members_gen.go

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

// StructName returns the name of the C struct of a Go struct as an attribute's
// CType has it, "" if t is no struct of this package's.
func StructName(t reflect.Type) string {
	if c := cNames[t]; c != "" {
		return "struct " + c
	}
	return ""
}

// Members returns the names of a C struct's members, in the order of the Go
// struct's fields other than "_", by the name that an attribute's CType has. It
// returns nil for a struct that is not known. The caller must not change what
// it gets.
func Members(ctype string) []string { return memberNames[strings.TrimPrefix(ctype, "struct ")] }
