package faults

import (
	"encoding/binary"
	"regexp"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// Method is the name of the method or command that a step of a case asks for, "" if it
// asks for none or for one that nobody knows.
func Method(c *casefile.Case, step int) string {
	if step >= len(c.Steps) {
		return ""
	}
	switch a := c.Steps[step].Do.(type) {
	case *casefile.Ioctl:
		if a.Arg.Kind != casefile.Absent {
			return ""
		}
		if name := invoked(a); name != "" {
			return name
		}
		if m := methodOf(c, a); m != nil {
			return m.Name
		}
	case *casefile.Write:
		if len(a.Data) >= 4 && a.Arg.Kind == casefile.Absent {
			return commandName(binary.LittleEndian.Uint32(a.Data))
		}
	}
	return ""
}

func methodOf(c *casefile.Case, a *casefile.Ioctl) *spec.Method {
	id, _ := casefile.DriverID(c.Driver)
	_, m := spec.FindMethod(spec.Linux6_12.Definitions(id), a.Hdr.ObjectID, a.Hdr.MethodID)
	return m
}

// invoked is the command that an INVOKE_WRITE names, "" where the method is another.
func invoked(a *casefile.Ioctl) string {
	if a.Hdr.ObjectID != spec.UVERBS_OBJECT_DEVICE || a.Hdr.MethodID != spec.UVERBS_METHOD_INVOKE_WRITE {
		return ""
	}
	for i := range a.Attrs {
		if a.Attrs[i].ID == spec.UVERBS_ATTR_WRITE_CMD && a.Attrs[i].Data.Kind == casefile.Number {
			return commandName(uint32(a.Attrs[i].Data.N))
		}
	}
	return ""
}

func commandName(word uint32) string {
	return spec.WriteName(uint8(word), word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0)
}

// makesOrEnds are the commands that create or destroy something.
var makesOrEnds = regexp.MustCompile(`CREATE|ALLOC|OPEN|REG_MR|DESTROY|CLOSE|DEREG|GET_CONTEXT|ATTACH|DETACH`)

// Creates says whether a step of a case creates or destroys an object.
func Creates(c *casefile.Case, step int) bool {
	if step < len(c.Steps) {
		if a, ok := c.Steps[step].Do.(*casefile.Ioctl); ok && a.Arg.Kind == casefile.Absent {
			if m := methodOf(c, a); m != nil && invoked(a) == "" {
				return creates(m)
			}
		}
	}
	return makesOrEnds.MatchString(Method(c, step))
}

func creates(m *spec.Method) bool {
	for i := range m.Attrs {
		a := &m.Attrs[i]
		if a.IsObject() && (a.Access == spec.AccessNew || a.Access == spec.AccessDestroy) {
			return true
		}
	}
	return makesOrEnds.MatchString(m.Name)
}
