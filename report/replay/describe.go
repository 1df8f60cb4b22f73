package replay

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// Describe says in a few words what a step of a case does: the system call and
// what it is about, by the names of the user ABI where they are known.
func Describe(c *casefile.Case, i int) string {
	s := &c.Steps[i]
	words := []string{s.Op()}
	for _, w := range []string{subject(s.Do), method(c, s.Do)} {
		if w != "" {
			words = append(words, w)
		}
	}
	if s.Proc != "" {
		words = append(words, "in process "+s.Proc)
	}
	if s.Bg != "" {
		words = append(words, "thread "+s.Bg)
	}
	return strings.Join(words, " ")
}

// subject is the descriptor, mapping or buffer that a step works on.
func subject(a casefile.Action) string {
	switch a := a.(type) {
	case *casefile.Open:
		return a.FD
	case *casefile.Close:
		return a.FD
	case *casefile.Ioctl:
		return a.FD
	case *casefile.Write:
		return a.FD
	case *casefile.ReadEvent:
		return a.FD
	case *casefile.Poll:
		return a.FD
	case *casefile.Dup:
		return a.FD
	case *casefile.Bufs:
		return strings.Join(a.Names, ", ")
	case *casefile.Mmap:
		return a.FD + " as " + a.As
	case *casefile.Munmap:
		return a.Map + a.Buf
	case *casefile.Mprotect:
		return a.Map + a.Buf
	case *casefile.Remap:
		return a.Map
	case *casefile.Peek:
		return a.Map
	case *casefile.Poke:
		return a.Map
	case *casefile.Event:
		return fmt.Sprintf("%s %d %s", a.Object, a.Index, a.Type)
	case *casefile.Hold:
		return a.Type
	case *casefile.Fork:
		return a.As
	}
	return ""
}

// declared are all definitions that cases can speak of, by the driver id in a
// header.
var declared = sync.OnceValue(func() map[uint32][]spec.Definition {
	return map[uint32][]spec.Definition{
		spec.RDMA_DRIVER_MLX5: spec.Linux6_12.Definitions(spec.RDMA_DRIVER_MLX5),
		spec.RDMA_DRIVER_RXE:  spec.Linux6_12.Definitions(spec.RDMA_DRIVER_RXE),
	}
})

// method is what a call asks for.
func method(c *casefile.Case, a casefile.Action) string {
	switch a := a.(type) {
	case *casefile.Ioctl:
		if a.Arg.Kind != casefile.Absent {
			return ""
		}
		driver, _ := casefile.DriverID(c.Driver)
		object, m := spec.FindMethod(declared()[driver], a.Hdr.ObjectID, a.Hdr.MethodID)
		switch {
		case m != nil:
			return m.Name
		case object != "":
			return fmt.Sprintf("%s, method %#x", object, a.Hdr.MethodID)
		}
		return fmt.Sprintf("object %#x, method %#x", a.Hdr.ObjectID, a.Hdr.MethodID)
	case *casefile.Write:
		if len(a.Data) < 4 || a.Arg.Kind != casefile.Absent {
			return ""
		}
		const number, extended = 0xff, 0x80000000
		word := binary.LittleEndian.Uint32(a.Data)
		if name := spec.WriteName(uint8(word), word&extended != 0); name != "" && word&^(number|extended) == 0 {
			return name
		}
		return fmt.Sprintf("command %#x", word)
	}
	return ""
}
