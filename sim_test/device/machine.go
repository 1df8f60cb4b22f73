//go:build linux

package device

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/casefile"
	"uverbsim/sim_test/player"
)

// Machine is the running kernel, for one case.
type Machine struct {
	target *Target
	first  *Task
	agent  *agent // nil: this process plays the case
	group  *cgroup

	before map[int]bool   // this process's descriptors before the case
	areas  map[uint64]int // mappings of Map, with their length, in this process
	done   bool
}

var _ player.Machine = (*Machine)(nil)

func (m *Machine) boot(c *casefile.Case) (err error) {
	if err := m.makeWhole(); err != nil {
		return err
	}
	if !apart(c) {
		m.before, m.areas = map[int]bool{}, map[uint64]int{}
		m.first = &Task{m: m, c: direct{}, pid: os.Getpid()}
		for _, fd := range m.first.FDs() {
			m.before[fd] = true
		}
		return m.first.makeScratch()
	}
	if err := openToAll(m.target.node()); err != nil {
		return noErrno(err)
	}
	if m.agent, err = startAgent(); err != nil {
		return err
	}
	m.first = &Task{m: m, c: m.agent.lanes[0], pid: m.agent.pid()}
	return m.first.makeScratch()
}

// openToAll lets whoever the process of a case becomes open the node.
func openToAll(node string) error {
	const all = 0o666
	if fi, err := os.Stat(node); err != nil || fi.Mode().Perm() == all {
		return err
	}
	return os.Chmod(node, all)
}

// makeWhole brings back a device that a case has removed.
func (m *Machine) makeWhole() error {
	if m.target.node() != "" {
		return nil
	}
	if err := m.Add(); err != nil {
		return noErrno(err)
	}
	return nil
}

// Process implements player.Machine.
func (m *Machine) Process() player.Task { return m.first }

// linkType is the kind of software device that can be made anew.
const linkType = "rxe"

// Remove implements player.Machine. The kernel removes the device for whoever
// asks, so the player does.
func (m *Machine) Remove(player.Task) error {
	if m.target.netdev == "" {
		return &player.Unplayable{Op: "remove", Reason: m.target.ibdev + " is no link on a network device"}
	}
	return deleteLink(m.target.ibdev)
}

// Add implements player.Machine.
func (m *Machine) Add() error {
	if m.target.netdev == "" {
		return &player.Unplayable{Op: "add", Reason: m.target.ibdev + " is no link on a network device"}
	}
	if err := NewLink(m.target.ibdev, linkType, m.target.netdev); err != nil {
		return err
	}
	return AwaitReady(m.target.ibdev)
}

// Netdev implements player.Machine.
func (m *Machine) Netdev(up bool) error {
	if m.target.netdev == "" {
		return &player.Unplayable{Op: "netdev", Reason: m.target.ibdev + " has no network device"}
	}
	return SetUp(m.target.netdev, up)
}

// Chmod implements player.Machine.
func (m *Machine) Chmod(mode uint32) error { return unix.Chmod(m.target.node(), mode) }

func lacks(op string) error {
	return &player.Unplayable{Op: op, Reason: "no driver of a real device does that for the player"}
}

// Event implements player.Machine.
func (m *Machine) Event(string, int, string) error { return lacks("event") }

// Hold implements player.Machine.
func (m *Machine) Hold(string) error { return lacks("hold") }

// Release implements player.Machine.
func (m *Machine) Release() error { return lacks("release") }

// DriverLog implements player.Machine.
func (m *Machine) DriverLog() (string, error) { return "", lacks("driver_log") }

// patience is how long a call may take on a slow machine before it counts as
// blocked.
const patience = 300 * time.Millisecond

// Patience implements player.Machine.
func (m *Machine) Patience() time.Duration { return patience }

// Shutdown implements player.Machine.
func (m *Machine) Shutdown() {
	if m.done {
		return
	}
	m.done = true
	switch {
	case m.agent != nil:
		m.agent.end()
	case m.first != nil:
		m.clean()
	}
	if m.group != nil {
		m.group.remove()
	}
	m.target.turn <- struct{}{}
}

// clean takes from this process what the case has left: descriptors that no
// step has given a name, and mappings.
func (m *Machine) clean() {
	for _, fd := range m.first.FDs() {
		if !m.before[fd] && isVerbs(fd) {
			unix.Close(fd)
		}
	}
	for addr, n := range m.areas {
		m.first.call(unix.SYS_MUNMAP, args{uintptr(addr) - pageSize, uintptr(n) + 2*pageSize}) // it is there
	}
	m.first.call(unix.SYS_MUNMAP, args{uintptr(m.first.scratch), scratchSize}) // it is there
}
