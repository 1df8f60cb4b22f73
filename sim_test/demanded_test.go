package sim_test

import (
	"encoding/binary"
	"strings"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// demand says which cases of a corpus file must pass.
type demand struct {
	file     string                    // its name, or the beginning of it before "*"
	prefixes []string                  // of the cases' names
	if_      func(*casefile.Case) bool // of them those for which this holds; nil: all
}

var demands = []demand{
	{"linux-6.12-rxe", []string{"cmd/", "hdr/", "method/", "attr/", "ptrin/", "ptrout/", "flags/", "ctx/", "handle/",
		"fd/", "cq/", "close/", "raw/"}, nil},
	{"linux-6.12-rxe", []string{"write/", "invoke/", "mr/", "busy/", "query/"}, ofFirstObjects},
	{"linux-6.1-rxe", []string{""}, nil},
	{"linux-6.12-stub", []string{"stub/"}, nil},
	{"linux-6.12-mlx5*", []string{"mlx5/ctx/", "mlx5/cq/", "mlx5/resize/", "mlx5/uar/",
		"mlx5-sweep/get_context/", "mlx5-sweep/cq_create/", "mlx5-sweep/uar_alloc/"}, nil},
	{"linux-6.12-mlx5*", []string{"mlx5/mmap/"}, mapsUARs},
}

// demanded says whether the model must answer a case as it was recorded.
func demanded(file string, c *casefile.Case) bool {
	for _, d := range demands {
		if d.of(file) && d.has(c.Name) && (d.if_ == nil || d.if_(c)) {
			return true
		}
	}
	return false
}

func (d *demand) of(file string) bool {
	if head, many := strings.CutSuffix(d.file, "*"); many {
		return strings.HasPrefix(file, head)
	}
	return file == d.file
}

func (d *demand) has(name string) bool {
	for _, p := range d.prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// firstObjects are the objects whose methods and commands are demanded.
var firstObjects = map[uint16]bool{
	spec.UVERBS_OBJECT_DEVICE: true, spec.UVERBS_OBJECT_PD: true, spec.UVERBS_OBJECT_COMP_CHANNEL: true,
	spec.UVERBS_OBJECT_CQ: true, spec.UVERBS_OBJECT_MR: true, spec.UVERBS_OBJECT_ASYNC_EVENT: true,
}

// ofFirstObjects says whether a case asks for nothing but those objects. What
// no kernel object answers to is asked of none.
func ofFirstObjects(c *casefile.Case) bool {
	for i := range c.Steps {
		switch a := c.Steps[i].Do.(type) {
		case *casefile.Ioctl:
			if spec.ObjectName(a.Hdr.ObjectID) != "" && !firstObjects[a.Hdr.ObjectID] || !invokesFirst(a) {
				return false
			}
		case *casefile.Write:
			if len(a.Data) >= 4 && !commandOfFirst(binary.LittleEndian.Uint32(a.Data)) {
				return false
			}
		}
	}
	return true
}

// invokesFirst looks at the command that an INVOKE_WRITE runs.
func invokesFirst(a *casefile.Ioctl) bool {
	if a.Hdr.ObjectID != spec.UVERBS_OBJECT_DEVICE || a.Hdr.MethodID != spec.UVERBS_METHOD_INVOKE_WRITE {
		return true
	}
	for i := range a.Attrs {
		if at := &a.Attrs[i]; at.ID == spec.UVERBS_ATTR_WRITE_CMD && at.Data.Kind == casefile.Number {
			return commandOfFirst(uint32(at.Data.N))
		}
	}
	return true
}

// commandOfFirst says whether a command word is about one of the first
// objects, or is no command.
func commandOfFirst(word uint32) bool {
	const extended = 0x80000000
	w := spec.FindWrite(spec.Core(), uint8(word), word&extended != 0)
	return w == nil || firstObjects[w.Object]
}

// mapsUARs says whether all that a case maps are UARs: it neither makes other
// objects that can be mapped nor maps the clock.
func mapsUARs(c *casefile.Case) bool {
	const clock, clockInfo = 5, 7 // enum mlx5_ib_mmap_cmd
	for i := range c.Steps {
		switch a := c.Steps[i].Do.(type) {
		case *casefile.Ioctl:
			if a.Hdr.ObjectID == spec.MLX5_IB_OBJECT_VAR || a.Hdr.ObjectID == spec.UVERBS_OBJECT_DM {
				return false
			}
		case *casefile.Mmap:
			if cmd := a.Off.N >> 12 >> 8 & 0xff; a.Off.Kind == casefile.Number && (cmd == clock || cmd == clockInfo) {
				return false
			}
		}
	}
	return true
}
