package lab

import (
	"fmt"

	"uverbsim/trace"
	"uverbsim/verbs/libmlx5"
)

const asyncLong = `Async has calls in flight at once: from 1, 2, 4 and 8 threads, all on one open
file and each on a file of its own. It says which locks a call takes, and finds
out what each serialises: one thread is stopped when it has taken the lock, and
another one makes the same call, on the same file and on another one. Either it
comes back or it waits. Then it measures throughput and latency. How many calls of
a kind there are to be plays no part.`

// inFlight is a call that threads make at once.
type inFlight struct {
	name string
	// ready returns the call of a thread with that file, and what puts things back
	// as they were for another one, which is not part of it.
	ready func(m *machine, fd int) (call, reset func(*thread) error, err error)
}

func nothing(*thread) error { return nil }

func infoReady(m *machine, fd int) (call, reset func(*thread) error, err error) {
	q, err := m.infoHandles()
	return func(t *thread) error { return t.ioctl(fd, q) }, nothing, err
}

func queryReady(m *machine, fd int) (call, reset func(*thread) error, err error) {
	q, err := m.queryPort()
	return func(t *thread) error { return t.ioctl(fd, q) }, nothing, err
}

// queueReady is a queue that create makes and destroy ends.
func queueReady(m *machine, fd int) (create, destroy func(*thread) error, err error) {
	c, err := m.createCQ()
	if err != nil {
		return nil, nil, err
	}
	d, err := m.destroyCQ()
	return func(t *thread) error { return t.ioctl(fd, c) },
		func(t *thread) error { d.setData(0, c.data(0)); return t.ioctl(fd, d) }, err
}

func createReady(m *machine, fd int) (call, reset func(*thread) error, err error) {
	return queueReady(m, fd)
}

func destroyReady(m *machine, fd int) (call, reset func(*thread) error, err error) {
	create, destroy, err := queueReady(m, fd)
	if err != nil {
		return nil, nil, err
	}
	return destroy, create, create(&thread{Task: m.p.MainTask()})
}

// inFlights are the calls whose locks are looked at.
var inFlights = []inFlight{
	{"INFO_HANDLES", infoReady}, {"QUERY_PORT", queryReady}, {"CQ CREATE", createReady}, {"CQ DESTROY", destroyReady},
	{"REG_MR", regReady}, {"MR DESTROY", deregReady},
}

func asyncExperiment(o Options) (*Report, error) {
	m, err := boot()
	if err != nil {
		return nil, err
	}
	other, err := libmlx5.OpenDevice(m.p, node)
	if err != nil {
		return nil, err
	}
	r := &Report{Question: "What does it save to have calls in flight at once?", Kernel: asyncFacts}
	if err := r.countInFlight(); err != nil {
		return nil, err
	}
	chart := &Chart{Title: "Locks of one call", Y: "locks"}
	for i := range inFlights {
		f := &inFlights[i]
		uses, err := f.locks(m, other.CmdFD)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		table := Table{Title: "Locks of " + f.name, Columns: []Column{
			{"taken", "taken"}, {"pins", "pins"}, {"firmware", "firmware"},
			{"same_file", "same file"}, {"other_file", "another file"}, {"guards", "what it guards"},
		}}
		shared, file, device := 0, 0, 0
		for _, u := range uses {
			table.add(u.name, u.times, u.pins, u.firmware, whether(u.sameFile), whether(u.otherFile), guards[u.name])
			switch {
			case u.otherFile:
				device++
			case u.sameFile:
				file++
			default:
				shared++
			}
		}
		r.Counts = append(r.Counts, table)
		chart.Categories = append(chart.Categories, f.name)
		chart.add("shared: nobody waits", float64(shared))
		chart.add("of one file", float64(file))
		chart.add("of the device or more", float64(device))
	}
	r.CountsChart = chart
	r.Found = []string{
		"taken, pins, firmware: how often the lock is taken, and memory pinned and the firmware commanded while it is held. " +
			"same file, another file: what a second thread does meanwhile that makes the same call.",
		"Calls on one file are not serialised: what all of them hold, they share. QUERY_PORT takes no other lock, INFO_HANDLES " +
			"that of the list that it reads.",
		"Calls that make or destroy objects meet at locks of the file: for a handle and a place in a list, for a moment; and " +
			"mlx5 pins the page of a doorbell record under db_page_mutex, which is the file's too.",
		"A file for each thread avoids these, and not the locks of the device and of the control groups. The one that is held " +
			"over a firmware command is slow_path_mutex of REG_MR.",
	}
	if !o.CountsOnly {
		err = r.timeAsync(m, o.Rounds)
	}
	return r, err
}

// countInFlight fills in what one call of each kind takes, whoever else makes calls.
func (r *Report) countInFlight() error {
	table := Table{Title: "Counts, of one call", Columns: []Column{
		{"crossings", "crossings"}, {"copies_in", "copies in"}, {"bytes_in", "bytes"},
		{"copies_out", "copies out"}, {"bytes_out", "bytes"}, {"allocs", "allocations"}, {"firmware", "firmware"},
	}}
	for _, f := range inFlights {
		m, err := boot() // where nothing of another kind is left
		if err != nil {
			return err
		}
		plain := &thread{Task: m.p.MainTask()}
		call, reset, err := f.ready(m, m.fd)
		if err != nil {
			return err
		}
		var c Counts
		for range 2 { // what is made once and kept is there the second time
			if c, err = m.count(call); err == nil {
				err = reset(plain)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
		table.add(f.name, c.Crossings, c.CopiesIn, c.BytesIn, c.CopiesOut, c.BytesOut, c.Allocs, c.Firmware)
	}
	r.Counts = append(r.Counts, table)
	return nil
}

func whether(waits bool) string {
	if waits {
		return "waits"
	}
	return "goes on"
}

// guards says what each lock is about.
var guards = map[string]string{
	"disassociate_srcu": "the device against its removal; shared",
	"hw_destroy_rwsem":  "the file's objects against the end of all; shared",
	"xa_lock":           "the file's handles",
	"uobjects_lock":     "the file's list of objects",
	"ev_queue.lock":     "the events of a channel or of the file",
	"rdmacg_mutex":      "the control groups' books of all devices",
	"db_page_mutex":     "the context's pages of doorbell records",
	"comp_lock":         "the device's completion event queues",
	"cq_table.lock":     "the queues of one event queue",
	"slow_path_mutex":   "keys that the driver has the firmware make",
}

// locks finds out which locks the call takes and what each serialises.
func (f *inFlight) locks(m *machine, otherFD int) ([]lockUse, error) {
	plain := &thread{Task: m.p.MainTask()}
	call, reset, err := f.ready(m, m.fd)
	if err != nil {
		return nil, err
	}
	again := func() error {
		if err := call(plain); err != nil {
			return err
		}
		return reset(plain)
	}
	if err := again(); err != nil { // what is made once and kept
		return nil, err
	}
	list := new(lockList)
	if err := call(&thread{Task: m.p.NewTask(trace.NewTask(1, list))}); err != nil {
		return nil, err
	}
	if err := reset(plain); err != nil {
		return nil, err
	}
	for i := range list.uses {
		u := &list.uses[i]
		for _, side := range []struct {
			fd    int
			waits *bool
		}{{m.fd, &u.sameFile}, {otherFD, &u.otherFile}} {
			second, resetSecond, err := f.ready(m, side.fd)
			if err != nil {
				return nil, err
			}
			if *side.waits, err = waits(m.p, u.name, call, second); err != nil {
				return nil, err
			}
			if err := reset(plain); err != nil {
				return nil, err
			}
			if err := resetSecond(plain); err != nil {
				return nil, err
			}
		}
	}
	return list.uses, nil
}
