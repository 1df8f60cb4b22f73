package dissect

import (
	"fmt"
	"strings"

	"uverbsim/report/decode"
	"uverbsim/report/strace"
	"uverbsim/spec"
)

// takes says what an attribute's definition takes, in the kernel's words.
func (d *Dump) takes(s *spec.Attr) string {
	t := s.Type.String()
	switch s.Type {
	case spec.TypePtrIn, spec.TypePtrOut:
		t += " " + size(s)
	case spec.TypeIDR, spec.TypeFD:
		t += " " + s.Access.String() + " " + d.objectName(s.Object)
	case spec.TypeEnumIn:
		var names []string
		for i := range s.Enum {
			if e := &s.Enum[i]; e.Type != spec.TypeNA {
				names = append(names, fmt.Sprintf("%d %s", i, e.Name))
			}
		}
		t += " one of " + strings.Join(names, ", ")
	case spec.TypeIDRsArray:
		t += fmt.Sprintf(" %s %s, %s handles", s.Access, d.objectName(s.Object), span(s.MinItems, s.MaxItems))
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
	}
	return ctype + span(s.MinLen, s.Len) + " bytes"
}

// span is a range of numbers.
func span(min, max uint16) string {
	if min == max {
		return fmt.Sprint(min)
	}
	return fmt.Sprintf("%d to %d", min, max)
}

// text is a value as strace writes it.
func text(v *decode.Value) string { return strace.Value(v, strace.Options{Verbose: true}) }
