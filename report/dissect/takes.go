package dissect

import (
	"fmt"
	"strings"

	"uverbsim/report/decode"
	"uverbsim/report/strace"
	"uverbsim/spec"
)

// takes says what an attribute's definition takes, in the kernel's words.
func takes(s *spec.Attr) string {
	t := s.Type.String()
	switch s.Type {
	case spec.TypePtrIn, spec.TypePtrOut:
		t += " " + size(s)
	case spec.TypeIDR, spec.TypeFD:
		t += " " + s.Access.String() + " " + objectName(s.Object)
	case spec.TypeEnumIn:
		var names []string
		for i := range s.Enum {
			if e := &s.Enum[i]; e.Type != spec.TypeNA {
				names = append(names, fmt.Sprintf("%d %s", i, e.Name))
			}
		}
		t += " one of " + strings.Join(names, ", ")
	case spec.TypeIDRsArray:
		t += fmt.Sprintf(" %s %s, %d to %d handles", s.Access, objectName(s.Object), s.MinItems, s.MaxItems)
	}
	if s.Mandatory {
		return t + ", mandatory"
	}
	return t + ", optional"
}

// size says how long a pointer's data may be.
func size(s *spec.Attr) string {
	ctype := s.CType
	if ctype != "" {
		ctype += ", "
	}
	switch {
	case s.MinLen == 0 && s.Len == spec.MaxLen:
		return ctype + "of any length"
	case s.Len == spec.MaxLen:
		return fmt.Sprintf("%s%d bytes or more", ctype, s.MinLen)
	case s.ZeroTrailing:
		return fmt.Sprintf("%s%d bytes or more, all beyond %d zero", ctype, s.MinLen, s.Len)
	case s.MinLen == s.Len:
		return ctype + bytesOf(int(s.Len))
	}
	return fmt.Sprintf("%s%d to %d bytes", ctype, s.MinLen, s.Len)
}

// text is a value as strace writes it.
func text(v *decode.Value) string { return strace.Value(v, strace.Options{Verbose: true}) }
