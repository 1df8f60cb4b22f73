package sim_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/sim_test/stub"
	"uverbsim/spec"
)

// effect is a refused call of which something remains, on a real kernel too.
type effect struct {
	why  string
	of   func(s *casefile.Step, r *rule.Rule) bool
	on   string       // what the name of something that the case's device has begins with, "" on any device
	seen atomic.Int64 // how often something did remain
}

// maybe says whether a case with such a device can show the effect.
func (e *effect) maybe(d *casefile.Device) bool {
	return e.on == "" || d != nil && slices.ContainsFunc(d.Has, func(name string) bool { return strings.HasPrefix(name, e.on) })
}

// effects are all of them.
var effects = []*effect{
	{why: "a destroy whose answer cannot be written, or not flagged as written: the object is gone by then",
		of: func(s *casefile.Step, r *rule.Rule) bool {
			return destroys(s) && isOneOf(r, rule.AttrOutputFault, rule.AttrFlagFault)
		}},
	{why: "a write() command that destroys, whose answer cannot be written: the object is gone by then",
		of: func(s *casefile.Step, r *rule.Rule) bool {
			w, ok := s.Do.(*casefile.Write)
			return ok && r == rule.CmdResponseFault && commandDestroys(w)
		}},
	{why: "a context whose answers cannot be written or flagged: it was set before",
		of: func(s *casefile.Step, r *rule.Rule) bool {
			return makesContext(s) && isOneOf(r, rule.AttrOutputFault, rule.AttrFlagFault)
		}},
	{why: "EX_MODIFY_WQ with a state that does not exist: the work queue stays locked for reading, and referenced for ever",
		of: func(_ *casefile.Step, r *rule.Rule) bool {
			return isOneOf(r, rule.CmdWQModifyState, rule.CmdWQModifyCurState)
		}},
	{why: "a read into memory that cannot be written: the event is off the queue by then",
		of: func(_ *casefile.Step, r *rule.Rule) bool {
			return isOneOf(r, rule.EventFault, rule.MLX5DevxCmdReadFault, rule.MLX5DevxEventReadFault)
		}},
	{why: "a create whose answer cannot be written, and whose driver refuses to undo it: the object stays",
		of: func(s *casefile.Step, r *rule.Rule) bool { return !destroys(s) && r == rule.AttrOutputFault },
		on: "refuse_"},
}

func isOneOf(r *rule.Rule, rules ...*rule.Rule) bool { return slices.Contains(rules, r) }

// destroys says whether a step calls a method that destroys an object.
func destroys(s *casefile.Step) bool {
	call, ok := s.Do.(*casefile.Ioctl)
	if !ok {
		return false
	}
	_, m := spec.FindMethod(spec.Linux6_12.Definitions(spec.RDMA_DRIVER_MLX5), call.Hdr.ObjectID, call.Hdr.MethodID)
	if m == nil {
		return false
	}
	for i := range m.Attrs {
		if m.Attrs[i].Access == spec.AccessDestroy && m.Attrs[i].IsObject() {
			return true
		}
	}
	return false
}

// destroyingCommands are the write() commands with an answer that destroy an
// object.
var destroyingCommands = map[byte]bool{
	spec.IB_USER_VERBS_CMD_DESTROY_CQ: true, spec.IB_USER_VERBS_CMD_DESTROY_QP: true, spec.IB_USER_VERBS_CMD_DESTROY_SRQ: true,
}

func commandDestroys(w *casefile.Write) bool {
	return len(w.Data) >= 4 && destroyingCommands[w.Data[0]]
}

// makesContext says whether a step asks for the file's context.
func makesContext(s *casefile.Step) bool {
	switch a := s.Do.(type) {
	case *casefile.Ioctl:
		return a.Hdr.ObjectID == spec.UVERBS_OBJECT_DEVICE &&
			(a.Hdr.MethodID == spec.UVERBS_METHOD_GET_CONTEXT || a.Hdr.MethodID == spec.UVERBS_METHOD_INVOKE_WRITE)
	case *casefile.Write:
		return len(a.Data) >= 4 && a.Data[0] == spec.IB_USER_VERBS_CMD_GET_CONTEXT
	}
	return false
}

// known is the effect that such a refusal may have, nil if it may have none.
func known(c *casefile.Case, s *casefile.Step, r *rule.Rule) *effect {
	for _, e := range effects {
		if e.of(s, r) && e.maybe(c.Device) {
			return e
		}
	}
	return nil
}

// TestBooks: a call that is refused leaves the machine's books as they were,
// but for the effects that are named above; one that is done leaves no object
// locked, no lock held and no reference that nobody has; and when everything is
// closed, the books are as at the start.
func TestBooks(t *testing.T) {
	mine := inShard(t)
	if !testing.Short() && *shard == "1/1" {
		t.Cleanup(func() {
			for _, e := range effects {
				if e.seen.Load() == 0 {
					t.Errorf("no case shows this effect: %s", e.why)
				}
			}
		})
	}
	for _, f := range readCorpus(t) {
		t.Run(f.name, func(t *testing.T) {
			for i, c := range f.cases {
				if !mine(i) || testing.Short() && i%shortSubset != 0 {
					continue
				}
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					checkBooks(t, c)
				})
			}
		})
	}
}

func checkBooks(t *testing.T, c *casefile.Case) {
	t.Helper()
	var start, before *model.Books
	opts := player.Options{
		Repeat: 1,
		Booted: func(m player.Machine) { start = m.(*model.Machine).Books() },
		Ended: func(m player.Machine) {
			end := m.(*model.Machine).Books()
			// What the driver refused to destroy when a file was closed it has for ever.
			keeps := stub.Refuses(c.Device)
			if d := cmp.Diff(start.Hardware, end.Hardware); d != "" && !keeps {
				t.Errorf("%s: after the end (-start +end):\n%s", c.Name, d)
			}
			if !checkClosed(t, c, end) {
				return // a removal may wait for who is still there
			}
			if err := m.Remove(m.Process()); err != nil {
				t.Errorf("%s: the removal at the end: %v", c.Name, err)
			}
			if left := m.(*model.Machine).Books().Hardware; len(left) != 0 && !keeps {
				t.Errorf("%s: after the removal the adapter has %v", c.Name, left)
			}
		},
	}
	if !concurrent(c) {
		opts.Before = func(m player.Machine, _ int) { before = m.(*model.Machine).Books() }
		opts.After = func(m player.Machine, i int, r *player.StepResult) {
			after := m.(*model.Machine).Books()
			var refused *rule.Rule
			if !errors.As(r.Refused, &refused) {
				if d := cmp.Diff(before.Unrest, after.Unrest); d != "" {
					t.Errorf("%s: step %d (%s) was done and left what cannot be (-before +after):\n%s", c.Name, i, c.Steps[i].Op(), d)
				}
				return
			}
			d := cmp.Diff(before, after)
			switch e := known(c, &c.Steps[i], refused); {
			case d == "":
			case e != nil:
				e.seen.Add(1)
			default:
				t.Errorf("%s: step %d (%s) was refused by %s and left something (-before +after):\n%s", c.Name, i, c.Steps[i].Op(), refused.ID, d)
			}
		}
	}
	r := player.Play(new(model.Model), c, opts)
	require.NoError(t, r.Err)
}

// concurrent says whether other threads may be at work between the steps.
func concurrent(c *casefile.Case) bool {
	for i := range c.Steps {
		if c.Steps[i].Bg != "" {
			return true
		}
	}
	return false
}

// checkClosed looks at what is there when all processes have exited: nothing. It says
// whether nobody has a reference on the device any more.
func checkClosed(t *testing.T, c *casefile.Case, b *model.Books) bool {
	t.Helper()
	if b.FileRefs != 0 || b.LeftObjects != 0 || len(b.Unrest) != 0 {
		t.Errorf("%s: after the end files have %d references on the device, somebody has references on %d objects, and %v",
			c.Name, b.FileRefs, b.LeftObjects, b.Unrest)
	}
	if b.OpenFiles != 0 || b.EventHandlers != 0 || len(b.Files) != 0 {
		t.Errorf("%s: after the end %d open files and %d event handlers are left", c.Name, b.OpenFiles, b.EventHandlers)
	}
	for i, p := range b.Processes {
		if p != (model.ProcessBooks{}) {
			t.Errorf("%s: after the end process %d still has %+v", c.Name, i, p)
		}
	}
	return b.FileRefs == 0
}
