package lab

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

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

// threadCounts are how many calls are in flight.
var threadCounts = []int{1, 2, 4, 8}

// pulse is how long the threads run in one round: long beside what it takes to
// start them. pulseRounds is how many rounds of the others one of these stands for.
const (
	pulse       = 20 * time.Millisecond
	pulseRounds = 12
)

// crowd are threads that make calls at once.
type crowd struct {
	name    string
	threads []*thread
	runs    []func(*thread) error
	calls   int // that one run makes

	rates     []float64 // calls in a second, one for each round
	latencies []time.Duration
}

// crowdKind is what the threads of a crowd do.
type crowdKind struct {
	inFlight
	calls int // with its reset
}

var crowdKinds = []crowdKind{
	{inFlight{"INFO_HANDLES", infoReady}, 1},
	{inFlight{"QUERY_PORT", queryReady}, 1},
	{inFlight{"CQ CREATE, CQ DESTROY", queueReady}, 2},
}

// newCrowd returns n threads on these files.
func newCrowd(m *machine, kind *crowdKind, n int, fds []int) (*crowd, error) {
	c := &crowd{name: threadsText(n), calls: kind.calls}
	for i := range n {
		call, reset, err := kind.ready(m, fds[i%len(fds)])
		if err != nil {
			return nil, err
		}
		c.threads = append(c.threads, &thread{Task: m.p.NewTask(nil)})
		c.runs = append(c.runs, func(t *thread) error {
			if err := call(t); err != nil {
				return err
			}
			return reset(t)
		})
	}
	return c, nil
}

func threadsText(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// round lets the threads run for a pulse.
func (c *crowd) round() error {
	var wg sync.WaitGroup
	took := make([][]time.Duration, len(c.threads))
	errs := make([]error, len(c.threads))
	start := time.Now()
	for i, t := range c.threads {
		took[i] = make([]time.Duration, 0, pulse/time.Microsecond)
		wg.Go(func() {
			for at := time.Now(); ; {
				if errs[i] = c.runs[i](t); errs[i] != nil {
					return
				}
				now := time.Now()
				took[i] = append(took[i], now.Sub(at))
				if at = now; at.Sub(start) >= pulse {
					return
				}
			}
		})
	}
	wg.Wait()
	whole := time.Since(start).Seconds()
	n := 0
	for i := range took {
		if errs[i] != nil {
			return errs[i]
		}
		n += len(took[i])
		c.latencies = append(c.latencies, took[i]...)
	}
	c.rates = append(c.rates, float64(n*c.calls)/whole)
	return nil
}

// at returns the latency of a call below which that part of all lies.
func (c *crowd) at(part float64) float64 {
	i := min(int(part*float64(len(c.latencies))), len(c.latencies)-1)
	return float64(c.latencies[i]) / float64(c.calls)
}

func (r *Report) timeAsync(m *machine, rounds int) error {
	var fds []int
	for range slices.Max(threadCounts) {
		c, err := libmlx5.OpenDevice(m.p, node)
		if err != nil {
			return err
		}
		fds = append(fds, c.CmdFD)
	}
	var crowds []*crowd
	for i := range crowdKinds {
		for _, files := range [][]int{fds[:1], fds} {
			for _, n := range threadCounts {
				c, err := newCrowd(m, &crowdKinds[i], n, files)
				if err != nil {
					return err
				}
				crowds = append(crowds, c)
			}
		}
	}
	for round := range max(1, rounds/pulseRounds) {
		for i := range crowds {
			if err := crowds[(i+round)%len(crowds)].round(); err != nil {
				return err
			}
		}
	}
	r.addCrowds(crowds)
	return nil
}

// addCrowds fills in what the crowds measured, which stand by kind, by files, and by
// number.
func (r *Report) addCrowds(crowds []*crowd) {
	columns := []Column{
		{"calls_per_second", "calls a second"}, {"gain", "times 1 thread"},
		{"p50_ns", "half within, ns"}, {"p99_ns", "99 % within, ns"},
	}
	chart := &Chart{Title: "Calls a second in the model, beside one thread", Y: "times one thread"}
	for _, n := range threadCounts {
		chart.Categories = append(chart.Categories, threadsText(n))
	}
	for i := range crowdKinds {
		for _, files := range [...]string{"on one file", "on a file each"} {
			group := crowds[:len(threadCounts)]
			crowds = crowds[len(threadCounts):]
			table := Table{Title: "Times of " + crowdKinds[i].name + ", " + files, Columns: columns}
			one := group[0].rate()
			for _, c := range group {
				rate := c.rate()
				slices.Sort(c.latencies)
				table.add(c.name, rate, rate/one, c.at(0.5), c.at(0.99))
				chart.add(crowdKinds[i].name+", "+files, rate/one)
			}
			r.Times = append(r.Times, table)
		}
	}
	r.TimesChart = chart
	last := &r.Times[len(r.Times)-1]
	last.Notes = []string{fmt.Sprintf("On %d processors: more threads than that share them. The emulated device carries out one "+
		"firmware command at a time, under a lock that is none of the kernel's.", runtime.GOMAXPROCS(0))}
}

// rate is the median of the rounds.
func (c *crowd) rate() float64 {
	slices.Sort(c.rates)
	return c.rates[len(c.rates)/2]
}
