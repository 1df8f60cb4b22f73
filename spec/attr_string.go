package spec

import (
	"strconv"
	"strings"
)

// String says in one line what the attribute is: "UVERBS_ATTR_CREATE_CQ_CQE
// PTR_IN u32, 4 bytes, mandatory".
func (a Attr) String() string {
	var b strings.Builder
	if a.Name != "" {
		b.WriteString(a.Name + " ")
	}
	b.WriteString(a.Type.String())
	if a.CType != "" {
		b.WriteString(" " + a.CType)
	}
	switch a.Type {
	case TypePtrIn, TypePtrOut:
		b.WriteString(", " + a.lengths())
	case TypeIDR, TypeFD, TypeIDRsArray:
		b.WriteString(" of " + a.objectName() + ", " + a.Access.String())
	case TypeEnumIn:
		b.WriteString(", one of " + strconv.Itoa(len(a.Enum)))
	}
	if a.Type == TypeIDRsArray {
		b.WriteString(", " + span(a.MinItems, a.MaxItems) + " handles")
	}
	if a.Mandatory {
		b.WriteString(", mandatory")
	}
	return b.String()
}

func (a Attr) lengths() string {
	switch {
	case a.Len == MaxLen:
		return strconv.Itoa(int(a.MinLen)) + " bytes or more"
	case a.ZeroTrailing:
		return span(a.MinLen, a.Len) + " bytes, zeros after"
	}
	return span(a.MinLen, a.Len) + " bytes"
}

func (a Attr) objectName() string {
	if a.Object == IDRAnyObject {
		return "any object"
	}
	if n := ObjectName(a.Object); n != "" {
		return n
	}
	return "object " + formatID(a.Object)
}

// span writes "4" or "4 to 8".
func span(min, max uint16) string {
	s := strconv.Itoa(int(min))
	if max != min {
		s += " to " + strconv.Itoa(int(max))
	}
	return s
}
