package lab

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"uverbsim/verbs/libmlx5"
)

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
