package interpose

import (
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
	c.closes.drain()
	if err := c.client.settleExec(int(c.PID)); err != nil {
		c.report("process %d: %v", c.client.tgid, err)
		return fails(unix.EIO)
	}
	t := c.client.task(c)
	defer c.client.giveTask(t)
	f, _ := c.file.(*deviceFile)
	c.engine.settle()
	if f != nil {
		f.settleEvents()
	}
	c.client.space().Begin()
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
	c.closes.drain()
	t := c.client.task(c)
	defer c.client.giveTask(t)
	c.client.space().Begin()
	a := c.watched(watch.Call{Name: "write", Addr: c.Args[1], Length: c.Args[2]}, func() answer {
		return c.result(t.Write(int(c.fd), copyuser.Addr(c.Args[1]), c.Args[2]))
	})
	c.engine.turn()
	return a
}

// result is what the program gets.
func (c *call) result(n int64, err error) answer {
	if err != nil {
		c.refused = err
		return fails(rule.Errno(err))
	}
	return value(n)
}
