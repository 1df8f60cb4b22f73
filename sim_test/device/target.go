//go:build linux

package device

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"uverbsim/casefile"
	"uverbsim/sim_test/player"
)

// Target is a device node.
type Target struct {
	ibdev  string        // the RDMA device behind it
	netdev string        // the network device below that, if any
	last   atomic.Value  // where the node was when it was last looked for
	turn   chan struct{} // holds a token while no case is played
}

var _ player.Target = (*Target)(nil)

// New returns the device with that node: /dev/infiniband/uverbs0.
func New(path string) (*Target, error) {
	if fi, err := os.Stat(path); err != nil {
		return nil, err
	} else if fi.Mode()&os.ModeCharDevice == 0 {
		return nil, fmt.Errorf("%s is no device node", path)
	}
	name, err := ibdevOf(path)
	if err != nil {
		return nil, fmt.Errorf("%s is no uverbs device: %w", path, err)
	}
	t := &Target{ibdev: name, netdev: parentOf(name), turn: make(chan struct{}, 1)}
	t.turn <- struct{}{}
	return t, nil
}

// Name is the RDMA device's: rxe0.
func (t *Target) Name() string { return t.ibdev }

// node is the device's node now, "" when there is none. Its number may change
// when the device is made anew.
func (t *Target) node() string {
	if last, _ := t.last.Load().(string); last != "" {
		if name, err := ibdevOf(last); err == nil && name == t.ibdev {
			return last
		}
	}
	found := nodeOf(t.ibdev)
	t.last.Store(found)
	return found
}

// turnLimit is how long a case waits for the one before it.
const turnLimit = 90 * time.Second

// Boot implements player.Target. It waits until the machine before it was shut
// down.
func (t *Target) Boot(c *casefile.Case) (player.Machine, error) {
	if d := c.Device; d != nil && len(d.Has)+len(d.Lacks)+len(d.Caps) > 0 {
		return nil, &player.Unplayable{Op: "device", Reason: "a real device is as it is"}
	}
	timer := time.NewTimer(turnLimit)
	defer timer.Stop()
	select {
	case <-t.turn:
	case <-timer.C:
		return nil, fmt.Errorf("a case before this one does not come to its end")
	}
	m := &Machine{target: t}
	if err := m.boot(c); err != nil {
		m.Shutdown()
		return nil, err
	}
	return m, nil
}

// apart says whether a case needs a process of its own.
func apart(c *casefile.Case) bool {
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Proc != "" || s.Bg != "" {
			return true
		}
		switch s.Do.(type) {
		case *casefile.Open, *casefile.Close, *casefile.Ioctl, *casefile.Write, *casefile.ReadEvent, *casefile.Poll, *casefile.Bufs:
		default:
			return true
		}
	}
	return false
}
