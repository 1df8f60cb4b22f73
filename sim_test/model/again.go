package model

import "uverbsim/process"

// Again gives a machine that was shut down its first process anew, as after
// Boot. What the driver, the device and the kernel count on, such as the numbers
// of objects that go round, stays as it is.
func (m *Machine) Again() error {
	m.mu.Lock()
	m.procs, m.groups = nil, nil
	m.mu.Unlock()
	return m.start()
}

// start makes the first process.
func (m *Machine) start() error {
	p := m.Kernel.NewProcess(process.Options{Limits: recordedLimits(), Cgroup: m.cgroups, Trace: m.newTrace()})
	m.first = &Task{m: m, t: p.MainTask()}
	m.admit(p)
	return standardFiles(p.MainTask())
}
