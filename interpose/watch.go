package interpose

import (
	"time"

	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

// watched does a call on an injected file, with whoever watches being told.
func (c *call) watched(w watch.Call, do func() answer) answer {
	if c.cfg.Watch == nil {
		return do()
	}
	w.FD = int(c.fd)
	w.File, w.Path = c.file.name()
	if f, ok := c.file.(*deviceFile); ok {
		w.Device = f.device
	}
	return c.tell(&w, do)
}

// tell does any call of a client with whoever watches being told.
func (c *call) tell(w *watch.Call, do func() answer) answer {
	w.PID, w.TID = c.client.tgid, int(c.PID)
	w.Mem = c.client.space()
	w.Kernel = c.cfg.Machine.Kernel()
	w.Driver = spec.RDMA_DRIVER_UNKNOWN
	if w.Device != nil {
		if dev := w.Device.IBDevice(); dev != nil {
			w.Driver = dev.DriverID
		}
	}
	c.cfg.Watch.Enter(w)
	w.Begun = time.Now()
	a := do()
	w.Took = time.Since(w.Begun)
	w.Ret = a.value
	switch {
	case c.refused != nil:
		w.Ret, w.Err = -1, c.refused
	case a.errno != 0:
		w.Ret, w.Err = -1, a.errno
	}
	c.cfg.Watch.Leave(w)
	return a
}

// left tells of the last close of a file.
func (s *Supervisor) left(f injected) {
	if s.cfg.Watch == nil {
		return
	}
	w := watch.Call{Name: "close", FD: -1, Kernel: s.cfg.Machine.Kernel(), Begun: time.Now()}
	w.File, w.Path = f.name()
	s.cfg.Watch.Enter(&w)
	s.cfg.Watch.Leave(&w)
}

// exited tells of the end of a process.
func (s *Supervisor) exited(c *client) {
	if s.cfg.Watch == nil {
		return
	}
	w := watch.Call{Name: "exit", PID: c.tgid, TID: c.tgid, FD: -1, Ret: watch.Unknown, Kernel: s.cfg.Machine.Kernel(), Begun: time.Now()}
	s.cfg.Watch.Enter(&w)
	s.cfg.Watch.Leave(&w)
}
