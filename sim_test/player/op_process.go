package player

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"uverbsim/casefile"
)

// caps are the capabilities by name (include/uapi/linux/capability.h).
var caps = map[string]int{
	"CAP_CHOWN": unix.CAP_CHOWN, "CAP_DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "CAP_DAC_READ_SEARCH": unix.CAP_DAC_READ_SEARCH,
	"CAP_SETGID": unix.CAP_SETGID, "CAP_SETUID": unix.CAP_SETUID, "CAP_SETPCAP": unix.CAP_SETPCAP,
	"CAP_NET_ADMIN": unix.CAP_NET_ADMIN, "CAP_NET_RAW": unix.CAP_NET_RAW, "CAP_IPC_LOCK": unix.CAP_IPC_LOCK,
	"CAP_SYS_ADMIN": unix.CAP_SYS_ADMIN, "CAP_SYS_RESOURCE": unix.CAP_SYS_RESOURCE,
}

func (p *player) capset(a *casefile.Capset, g *casefile.Got) error {
	var drop []int
	for _, name := range a.Drop {
		if name == "all" {
			for n := range unix.CAP_LAST_CAP + 1 {
				drop = append(drop, n)
			}
			continue
		}
		n, ok := caps[name]
		if !ok {
			return fmt.Errorf("no number is known for %s", name)
		}
		drop = append(drop, n)
	}
	p.answer(g, 0, p.task.Capset(drop))
	return nil
}

func (p *player) rlimit(a *casefile.Rlimit, g *casefile.Got) error {
	which := unix.RLIMIT_MEMLOCK
	if a.Which == "NOFILE" {
		which = unix.RLIMIT_NOFILE
	}
	cur, max, err := p.task.Getrlimit(which)
	if err != nil {
		return err
	}
	switch {
	case a.Free != nil:
		cur = uint64(roomFor(p.task.FDs(), *a.Free))
	case a.Cur != nil && *a.Cur < 0:
		cur = max
	case a.Cur != nil:
		cur = uint64(*a.Cur)
	}
	p.answer(g, 0, p.task.Setrlimit(which, cur, max))
	return nil
}

// roomFor is the number below which just that many descriptors are free.
func roomFor(open []int, free int) int {
	taken := map[int]bool{}
	for _, fd := range open {
		taken[fd] = true
	}
	n := 0
	for ; free > 0 || taken[n]; n++ {
		if !taken[n] {
			free--
		}
	}
	return n
}

func (p *player) cgroup(a *casefile.Cgroup, g *casefile.Got) {
	switch a.How {
	case "set":
		p.answer(g, 0, p.task.CgroupMax(a.Max))
	case "leave":
		p.answer(g, 0, p.task.LeaveCgroup())
	case "current":
		text, err := p.task.CgroupCurrent()
		p.answer(g, 0, err)
		text = strings.TrimSuffix(text, "\n")
		g.Text = &text
	default:
		p.answer(g, 0, p.task.EnterCgroup(a.Max))
	}
}

func (p *player) chmod(a *casefile.Chmod, g *casefile.Got) error {
	mode, err := strconv.ParseUint(a.Mode, 8, 32)
	if err != nil {
		return err
	}
	p.answer(g, 0, p.m.Chmod(uint32(mode)))
	return nil
}

func (p *player) fork(a *casefile.Fork, g *casefile.Got) {
	task, err := p.task.Fork()
	if !p.answerNew(g, err) {
		return
	}
	child := p.copy(task)
	child.masks = p.masks.Twin()
	child.bufs = make(map[string]*region, len(p.bufs))
	for name, r := range p.bufs {
		child.bufs[name] = r.fork()
	}
	child.bgs, child.kids = map[string]*background{}, map[string]*player{}
	p.kids[a.As] = child
}

// copy is a player for another thread or process, with names of its own.
func (p *player) copy(t Task) *player {
	q := *p
	q.task = t
	q.syms, q.maps, q.open = maps.Clone(p.syms), maps.Clone(p.maps), maps.Clone(p.open)
	return &q
}

// inChild has a child play a step.
func (p *player) inChild(s *casefile.Step) (StepResult, error) {
	child := p.kids[s.Proc]
	if child == nil {
		return StepResult{}, fmt.Errorf("no process %q: the fork that was to make it failed, or it has exited", s.Proc)
	}
	g := new(casefile.Got)
	var err error
	switch a := s.Do.(type) {
	case *casefile.Exit:
		child.task.Exit()
		delete(p.kids, s.Proc)
		p.answer(g, 0, nil)
	case *casefile.Exec:
		err = p.exec(child, g)
	case *casefile.Recvfd:
		err = p.recvfd(child, a, g)
	default:
		return child.do(s)
	}
	return StepResult{Got: g, Refused: p.refused}, err
}

// exec gives a child the case's buffers as they were at the start; it keeps
// its names.
func (p *player) exec(child *player, g *casefile.Got) error {
	if err := child.task.Exec(); err != nil {
		return err
	}
	child.bufs, child.maps, child.masks = map[string]*region{}, map[string]mapping{}, new(casefile.Masks)
	p.answer(g, 0, nil)
	return child.prepare()
}

// recvfd passes a descriptor of this process to a child.
func (p *player) recvfd(child *player, a *casefile.Recvfd, g *casefile.Got) error {
	fd, err := p.fd(a.FD)
	if err != nil {
		return err
	}
	n, err := p.task.SendFD(fd, child.task)
	if p.answerNew(g, err) {
		child.addFD(a.As, n)
	}
	return p.stop
}
