package live

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/casefile"
	"uverbsim/sim_test/device"
	"uverbsim/sim_test/player"
)

const node = "/dev/infiniband/uverbs0"

// patience is how long a case may take.
const patience = 20 * time.Second

// play is the program under test: it plays cases on the device node that it finds.
func play(in io.Reader, out io.Writer) error {
	if err := unix.Setpgid(0, 0); err != nil {
		return err
	}
	dec := json.NewDecoder(in)
	var o order
	if err := dec.Decode(&o); err != nil {
		return err
	}
	cases, err := casefile.ReadFile(o.File)
	if err != nil {
		return err
	}
	dev, err := device.New(node)
	if err != nil {
		return err
	}
	t := &target{dev, newControl(dec, out)}
	for _, i := range o.Cases {
		r := player.Play(t, cases[i], player.Options{Repeat: o.Repeat, Timeout: patience})
		res := resultOf(r)
		res.Case = i
		if !res.Passed {
			res.Text = r.Text(o.File)
		}
		if _, err := t.control.ask(request{Op: "result", Result: res}); err != nil {
			return err
		}
		if errors.Is(r.Err, player.ErrStuck) {
			return unix.Kill(0, unix.SIGKILL) // with the agents, of which one is in a call
		}
	}
	return nil
}

// target is the device node that the player finds, on a machine that does what a
// real one does not.
type target struct {
	dev     *device.Target
	control *control
}

var _ player.Target = (*target)(nil)

// Boot implements player.Target. The machine has the device that the case wants. A case
// of control groups is not played: it would change those of the machine that the tests
// run on.
func (t *target) Boot(c *casefile.Case) (player.Machine, error) {
	for i := range c.Steps {
		if _, ok := c.Steps[i].Do.(*casefile.Cgroup); ok {
			return nil, &player.Unplayable{Op: c.Steps[i].Op(), Reason: cgroups}
		}
	}
	if _, err := t.control.ask(request{Op: "whole"}); err != nil {
		return nil, err
	}
	own := *c
	own.Device = nil
	m, err := t.dev.Boot(&own)
	if err != nil {
		return nil, err
	}
	return &machine{m, t.control}, nil
}

// machine does for a case what no process could do.
type machine struct {
	player.Machine
	control *control
}

func (m *machine) do(q request) error {
	_, err := m.control.ask(q)
	return err
}

func (m *machine) Remove(player.Task) error { return m.do(request{Op: "remove"}) }
func (m *machine) Add() error               { return m.do(request{Op: "add"}) }
func (m *machine) Netdev(up bool) error     { return m.do(request{Op: "netdev", Up: up}) }
func (m *machine) Chmod(mode uint32) error  { return m.do(request{Op: "chmod", Mode: mode}) }
func (m *machine) Hold(op string) error     { return m.do(request{Op: "hold", Object: op}) }
func (m *machine) Release() error           { return m.do(request{Op: "release"}) }

func (m *machine) Event(object string, index int, typ string) error {
	return m.do(request{Op: "event", Object: object, Index: index, Type: typ})
}

func (m *machine) DriverLog() (string, error) { return m.control.ask(request{Op: "log"}) }

// Shutdown implements player.Machine. Nothing may wait for a release that does not
// come.
func (m *machine) Shutdown() {
	_ = m.Release() // the driver may be one that holds nothing
	m.Machine.Shutdown()
}
