package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"uverbsim/casefile"
	"uverbsim/interpose/watch"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/report/explain"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
)

// deviceFiles are the open files of the device, in the order of their opening, with
// the names that the case has for their descriptors.
type deviceFiles struct {
	mu    sync.Mutex
	files []namedFile
}

type namedFile struct {
	name string
	file *kernel.File
}

// opensOf are the names that a case gives to the descriptors that it opens, nil for
// one whose threads open some, in whatever order.
func opensOf(c *casefile.Case) (names []string) {
	for i := range c.Steps {
		switch do := c.Steps[i].Do.(type) {
		case *casefile.Open:
			names = append(names, do.FD)
		case *casefile.Par:
			for _, thread := range do.Threads {
				for j := range thread {
					if _, opens := thread[j].Do.(*casefile.Open); opens {
						return nil
					}
				}
			}
		}
		if c.Steps[i].Bg != "" {
			return nil
		}
	}
	return names
}

// noteOpen keeps the file behind a descriptor that was opened.
func (m *explainedMachine) noteOpen(p *process.Task, fd int, err error) {
	d := &m.opened
	d.mu.Lock()
	defer d.mu.Unlock()
	name := ""
	if len(m.opens) > 0 {
		name, m.opens = m.opens[0], m.opens[1:]
	}
	if err != nil {
		return
	}
	if f := model.FileOf(p, fd); f != nil {
		if name == "" {
			name = fmt.Sprintf("descriptor %d", fd)
		}
		d.files = append(d.files, namedFile{name, f})
	}
}

// openFiles are the objects of the file that a refused call was made on, and, if the
// call was refused for a handle, those of the other open files.
func (m *explainedMachine) openFiles(p *process.Task, c *watch.Call) (own []explain.Object, others []explain.OpenFile) {
	f := model.FileOf(p, c.FD)
	if f == nil {
		return nil, nil
	}
	var refused *rule.Rule
	if !errors.As(c.Err, &refused) {
		return nil, nil
	}
	own = liveObjects(p, f, strings.HasSuffix(refused.ID, "/busy"))
	if !strings.HasPrefix(refused.ID, "object/") {
		return own, nil
	}
	m.opened.mu.Lock()
	defer m.opened.mu.Unlock()
	for _, other := range m.opened.files {
		if other.file == f {
			continue
		}
		if list := liveObjects(p, other.file, false); list != nil {
			others = append(others, explain.OpenFile{Name: other.name, Objects: list})
		}
	}
	return own, others
}

// liveObjects are the objects of an open file, with what uses them if that is asked
// for.
func liveObjects(p *process.Task, f *kernel.File, used bool) (out []explain.Object) {
	live := model.LiveObjects(p, f)
	for _, l := range live {
		o := explain.Object{ID: l.ID, Type: l.Type, FD: l.FD}
		if used {
			o.Uses = l.Uses()
			for _, user := range live {
				if members := l.UsedBy(user); members != nil {
					o.UsedBy = append(o.UsedBy, explain.User{ID: user.ID, Type: user.Type, As: members})
				}
			}
		}
		out = append(out, o)
	}
	return out
}

// mappedBy are the ranges that a process has mapped, if a call was refused because
// memory could not be pinned.
func mappedBy(p *process.Task, err error) [][2]uint64 {
	mem, ok := p.Mem.(interface{ Mapped() [][2]uint64 })
	if !ok || !errors.Is(err, rule.PinUnmapped) {
		return nil
	}
	return mem.Mapped()
}
