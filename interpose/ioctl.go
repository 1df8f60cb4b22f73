package interpose

import (
	"errors"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/rule"
)

// ioctl answers an ioctl with the command of verbs.
func (c *call) ioctl() answer {
	if !c.find(int32(c.Args[0])) {
		return answer{}
	}
	if err := c.begin(); err != nil {
		return c.broken(err)
	}
	t := c.client.lend(int(c.PID), c)
	defer c.client.giveBack(t)
	f, _ := c.file.(*deviceFile)
	if f != nil {
		f.settleEvents()
	}
	a := c.watched(watch.Call{Name: "ioctl", Cmd: uint32(c.Args[1]), Arg: copyuser.Addr(c.Args[2])}, func() answer {
		return c.result(t.Ioctl(int(c.fd), uint32(c.Args[1]), copyuser.Addr(c.Args[2])))
	})
	if f != nil {
		f.showEvents()
	}
	c.engine.turn()
	return a
}

// write answers a write() to a device file, the older kind of call.
func (c *call) write() answer {
	if !c.find(int32(c.Args[0])) {
		return answer{}
	}
	if _, ok := c.file.(*deviceFile); !ok {
		return answer{}
	}
	if err := c.begin(); err != nil {
		return c.broken(err)
	}
	t := c.client.lend(int(c.PID), c)
	defer c.client.giveBack(t)
	a := c.watched(watch.Call{Name: "write", Addr: c.Args[1], Length: c.Args[2]}, func() answer {
		return c.result(t.Write(int(c.fd), copyuser.Addr(c.Args[1]), c.Args[2]))
	})
	c.engine.turn()
	return a
}

// begin brings the machine to where it is when a program makes the call: what the
// program has done by itself before is seen.
func (c *call) begin() error {
	if f, ok := c.file.(*deviceFile); ok && f.damaged.Load() {
		return errDamaged
	}
	c.closes.drain()
	if err := c.client.settleExec(int(c.PID)); err != nil {
		return err
	}
	c.engine.settle()
	c.client.space().Begin()
	return nil
}

// broken ends a call that cannot be made, by a fault of ours or since who makes it has
// been killed.
func (c *call) broken(err error) answer {
	if err != errDamaged && c.l.Valid(c.ID) {
		c.report("system call %d of thread %d: %v", c.Nr, c.PID, err)
	}
	return fails(unix.EIO)
}

// errDamaged refuses what would meet the locks that a fault of ours has left.
var errDamaged = errors.New("an earlier call on the file went wrong")

// result is what the program gets.
func (c *call) result(n int64, err error) answer {
	if err != nil {
		c.refused = err
		return fails(rule.Errno(err))
	}
	return value(n)
}
