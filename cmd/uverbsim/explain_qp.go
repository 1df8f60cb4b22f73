package main

import (
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/report/explain"
	"uverbsim/sim_test/model"
	"uverbsim/trace"
)

// queuePairs are those of an open device file, by their handles.
func queuePairs(p *process.Task, fd int) map[int64]explain.QP {
	f := model.FileOf(p, fd)
	if f == nil {
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
