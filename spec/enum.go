package spec

//go:generate go run names_gen.go

// Enumerator is one name of a C enum with its value.
type Enumerator struct {
	Name  string
	Value uint64
}

// Enumerators returns the enumerators of a C enum of the UAPI in the order of
// their declaration, by the name that an attribute's CType has: "enum
// ib_uverbs_qp_type". It returns nil for an enum that is not known. The caller
// must not change what it gets.
func Enumerators(ctype string) []Enumerator { return enumerators[ctype] }

// EnumeratorName returns the first name of the value in a C enum, "" if it has
// none.
func EnumeratorName(ctype string, value uint64) string {
	for _, e := range enumerators[ctype] {
		if e.Value == value {
			return e.Name
		}
	}
	return ""
}
