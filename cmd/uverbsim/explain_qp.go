package main

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/report/explain"
	"uverbsim/trace"
)

// queuePairs are those of an open device file, by their handles.
func queuePairs(p *process.Task, fd int) map[int64]explain.QP {
	filp := p.Fget(fd)
	if filp == nil {
		return nil
	}
	defer filp.Put(p)
	f, ok := filp.Private.(*kernel.File)
	if !ok {
		return nil
	}
	var all map[int64]explain.QP
	for o := range f.Objects.Objects(nil) {
		qp, ok := o.HW.(*core.QP)
		if !ok || qp.RealQP == nil {
			continue
		}
		driver, ok := qp.RealQP.Driver.(interface{ State(*trace.Task) uint8 })
		if !ok {
			continue
		}
		if all == nil {
			all = map[int64]explain.QP{}
		}
		all[o.ID()] = explain.QP{Type: qp.Type, State: driver.State(p.Trace)}
	}
	return all
}
