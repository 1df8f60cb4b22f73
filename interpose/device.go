package interpose

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/trace"
)

// follow keeps what the twin of /sys shows of a device as the device is.
func (s *Supervisor) follow(d *kernel.Device) {
	dev := d.IBDevice()
	if dev == nil {
		return
	}
	h := &core.EventHandler{Handle: func(*trace.Task, *core.Event) {
		s.serving.Add(1)
		go func() { // it asks the adapter, which is busy telling
			defer s.serving.Done()
			if err := s.tree.Refresh(d); err != nil {
				s.report("%v", err)
			}
		}()
	}}
	s.asSystem(func(t *process.Task) { dev.RegisterEventHandler(t, h) })
}

// Add shows programs a device that the machine has got since New.
func (s *Supervisor) Add(d *kernel.Device) error {
	if err := s.tree.Add(d); err != nil {
		return err
	}
	s.follow(d)
	return nil
}

// Remove takes a device from under the programs that use it, as when a card is
// pulled out or its driver goes. Remove of the driver does that in the machine; it
// is called with a task of no program.
func (s *Supervisor) Remove(d *kernel.Device, remove func(*process.Task) error) error {
	if err := s.tree.Remove(d); err != nil {
		s.report("%v", err)
	}
	files := s.files.of(d)
	for _, f := range files {
		f.settleEvents()
	}
	var err error
	s.asSystem(func(t *process.Task) { err = remove(t) })
	for _, f := range files {
		f.zap()
		f.showEvents()
	}
	return err
}
