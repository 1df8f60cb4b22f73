package lab

import (
	"encoding/binary"
	"fmt"

	"uverbsim/copyuser"
	"uverbsim/kernel"
)

// inBatches returns the workload with up to size calls in each ioctl.
func (w *workload) inBatches(m *machine, size int) (func(*thread, int) error, error) {
	batches := make([][]batch, len(w.phases))
	for i, p := range w.phases {
		for first := 0; first < len(p.calls); first += size {
			b, err := m.batch(p.calls[first:min(first+size, len(p.calls))])
			if err != nil {
				return nil, err
			}
			batches[i] = append(batches[i], b)
		}
	}
	return func(t *thread, fd int) error {
		for i, p := range w.phases {
			for _, b := range batches[i] {
				if err := b.send(m, t, fd); err != nil {
					return err
				}
			}
			p.done()
		}
		return nil
	}, nil
}

// batch is a batch that lies in the program's memory.
type batch struct {
	at copyuser.Addr
	n  int
}

// batch puts a batch into memory.
func (m *machine) batch(calls []*request) (batch, error) {
	buf := make([]byte, kernel.BatchHdrSize+len(calls)*kernel.BatchEntrySize)
	binary.LittleEndian.PutUint32(buf, uint32(len(calls)))
	for i, r := range calls {
		binary.LittleEndian.PutUint64(buf[kernel.BatchHdrSize+i*kernel.BatchEntrySize:], uint64(r.at))
	}
	at, err := m.alloc(len(buf))
	if err != nil {
		return batch{}, err
	}
	m.store(at, buf)
	return batch{at, len(calls)}, nil
}

// send makes the call and looks at each answer, as a program has to.
func (b batch) send(m *machine, t *thread, fd int) error {
	made, err := t.Ioctl(fd, kernel.BatchIoctl, b.at)
	if err != nil {
		return err
	}
	if int(made) != b.n {
		return fmt.Errorf("%d calls of a batch of %d were made", made, b.n)
	}
	entries := m.entries[:b.n*kernel.BatchEntrySize]
	m.load(b.at+kernel.BatchHdrSize, entries)
	for i := range b.n {
		result := int32(binary.LittleEndian.Uint32(entries[i*kernel.BatchEntrySize+kernel.BatchResultOffset:]))
		if result != 0 {
			return fmt.Errorf("call %d of a batch: errno %d", i, -result)
		}
	}
	return nil
}

// batchSizes are those that are tried with n calls.
func batchSizes(n int) []int {
	var sizes []int
	for s := 1; s < n; s *= 4 {
		sizes = append(sizes, s)
	}
	return append(sizes, n)
}

// way is a workload with so many calls in each ioctl.
type way struct {
	workload *workload
	name     string
	size     int // 0: without the batch entry
	run      func(*thread, int) error
}

// batchWays are the workloads in all ways.
func batchWays(m *machine, n int) ([]way, error) {
	ws, err := workloads(m, n)
	if err != nil {
		return nil, err
	}
	var ways []way
	for i := range ws {
		w := &ws[i]
		ways = append(ways, way{w, "an ioctl each", 0, w.alone})
		for _, size := range batchSizes(n) {
			run, err := w.inBatches(m, size)
			if err != nil {
				return nil, err
			}
			ways = append(ways, way{w, fmt.Sprintf("batches of %d", size), size, run})
		}
	}
	return ways, nil
}

// batchLong says what the experiment does.
const batchLong = `Batch makes the same calls one by one and in batches: INFO_HANDLES, which asks
the kernel only; QUERY_PORT; CQ CREATE and CQ DESTROY; REG_MR (by INVOKE_WRITE)
and MR DESTROY. Linux has no ioctl that makes several calls. The model has one
for this experiment alone: an array of headers, each of which is answered on its
own.`

func batchExperiment(o Options) (*Report, error) {
	m, err := boot(kernel.ExperimentalBatch)
	if err != nil {
		return nil, err
	}
	ways, err := batchWays(m, o.N)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Question: "What does it save to make many calls with one system call?",
		Experimental: fmt.Sprintf("the batch entry (ioctl command %#x) does not exist in Linux, which answers ENOTTY",
			uint32(kernel.BatchIoctl)),
		Kernel: batchFacts,
	}
	if err := r.countBatches(m, ways); err != nil {
		return nil, err
	}
	if !o.CountsOnly {
		err = r.timeBatches(m, ways, &o)
	}
	return r, err
}

// countBatches fills in what is exact.
func (r *Report) countBatches(m *machine, ways []way) error {
	table := Table{Title: "Counts", Columns: []Column{
		{"calls", "calls"}, {"crossings", "crossings"},
		{"copies_in", "copies in"}, {"bytes_in", "bytes"}, {"copies_out", "copies out"}, {"bytes_out", "bytes"},
		{"allocs", "allocations"}, {"firmware", "firmware"},
	}}
	chart := &Chart{Title: "What one " + ways[0].workload.name + " takes, alone and in batches", Y: "for one call"}
	for i := range ways {
		w := &ways[i]
		run := func(t *thread) error { return w.run(t, m.fd) }
		if _, err := m.count(run); err != nil { // what is made once and kept
			return err
		}
		c, err := m.count(run)
		if err != nil {
			return err
		}
		table.add(w.workload.name+", "+w.name, w.workload.calls(), c.Crossings,
			c.CopiesIn, c.BytesIn, c.CopiesOut, c.BytesOut, c.Allocs, c.Firmware)
		if w.workload == ways[0].workload {
			chart.Categories = append(chart.Categories, w.name)
			calls := float64(w.workload.calls())
			chart.add("crossings", float64(c.Crossings)/calls)
			chart.add("copies from the user", float64(c.CopiesIn)/calls)
			chart.add("copies to the user", float64(c.CopiesOut)/calls)
		}
	}
	r.Counts, r.CountsChart = []Table{table}, chart
	r.Found = []string{
		"A batch saves crossings and nothing else. Every call has its header and its attributes copied, and asks for the " +
			"same memory and firmware commands, as by itself.",
		fmt.Sprintf("It adds, for each batch, a copy of its header (%d bytes), one of its entries (%d bytes each) and the "+
			"memory for them; and for each call a result of 4 bytes.", kernel.BatchHdrSize, kernel.BatchEntrySize),
		"With w the work behind one call and c what a crossing costs, a large batch saves c of w + c, less those copies: " +
			"40 % if c is at least two thirds of w.",
	}
	return nil
}

// timeBatches measures.
func (r *Report) timeBatches(m *machine, ways []way, o *Options) error {
	t := &thread{Task: m.p.MainTask()}
	var ns []float64
	noise := 0.0
	for first := 0; first < len(ways); {
		end := first
		runs := []func() error{crossing}
		for ; end < len(ways) && ways[end].workload == ways[first].workload; end++ {
			w := &ways[end]
			runs = append(runs, func() error { return w.run(t, m.fd) })
		}
		got, n, err := measure(o.Rounds, runs...)
		if err != nil {
			return err
		}
		noise = max(noise, n)
		if first == 0 {
			r.Crossing = &Crossing{got[0], crossingMeasured}
		}
		ns = append(ns, got[1:]...)
		first = end
	}
	if o.Crossing > 0 {
		r.Crossing = &Crossing{float64(o.Crossing), crossingGiven}
	}
	table := Table{Title: "Times, of one call in nanoseconds", Columns: []Column{
		{"work_ns", "work"}, {"crossing_ns", "+ crossing"}, {"estimate_ns", "= estimate"}, {"saved_percent", "saved, %"},
		{"needed_ns", "40 % takes"},
	}, Notes: []string{"saved: of the estimate for an ioctl each. 40 % takes: what a crossing would have to cost, in " +
		"nanoseconds, for the way to save 40 %; never, if even free work would not do.", noiseNote(noise)}}
	chart := &Chart{Title: "Time of one call with its share of a crossing: an estimate", Y: "% of an ioctl each"}
	var single, alone float64
	for i := range ways {
		w := &ways[i]
		calls := float64(w.workload.calls())
		work := ns[i] / calls
		share := 1.0 // crossings for a call
		if w.size > 0 {
			share = float64(w.crossings()) / calls
		}
		cross := r.Crossing.Nanoseconds * share
		if w.size == 0 {
			single, alone = work+cross, work
		}
		chart.add(w.workload.name, 100*(work+cross)/single)
		if w.workload == ways[0].workload {
			chart.Categories = append(chart.Categories, w.name)
		}
		table.add(w.workload.name+", "+w.name, work, cross, work+cross, 100*(1-(work+cross)/single), needed(alone, work, share))
	}
	r.Times, r.TimesChart = []Table{table}, chart
	return nil
}

// crossings is how many the way makes.
func (w *way) crossings() (n int) {
	for _, p := range w.workload.phases {
		n += (len(p.calls) + w.size - 1) / w.size
	}
	return n
}

// needed is what a crossing would have to cost for a batch to save 40 %, "never"
// if no cost would do.
func needed(alone, work, share float64) any {
	const claim = 0.4
	// work + share*c = (1-claim) * (alone + c)
	if share >= 1-claim {
		return "never"
	}
	return max(0, (work-(1-claim)*alone)/(1-claim-share))
}
