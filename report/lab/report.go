package lab

import (
	"fmt"
	"time"

	"uverbsim/kernel"
)

// Report is what an experiment found.
type Report struct {
	Experiment string // its name
	Question   string
	// Experimental says what it uses that Linux does not have; usually "".
	Experimental string
	Counts       []Table
	Found        []string // what the counts say
	Times        []Table  // none if only counts were asked for
	Crossing     *Crossing
	Kernel       []Fact
	CountsChart  *Chart // nil if there is nothing to draw
	TimesChart   *Chart
}

// Table is a table with named columns.
type Table struct {
	Title   string
	Columns []Column
	Rows    []Row
	Notes   []string
}

// Column is one. Key is its name in JSON and stays as it is; Title is what the
// table has over it.
type Column struct{ Key, Title string }

// Row is a line: its name, and an int, a float64 or a string for each column.
type Row struct {
	Name   string
	Values []any
}

// Fact is something that the real kernel does or offers, and where it does.
type Fact struct{ Text, Where string }

// add adds a row.
func (t *Table) add(name string, values ...any) {
	if len(values) != len(t.Columns) {
		panic(fmt.Sprintf("lab: %d values for %d columns", len(values), len(t.Columns)))
	}
	t.Rows = append(t.Rows, Row{name, values})
}

// Options say how an experiment is run.
type Options struct {
	N          int  // how many calls of a kind, 1 to MaxN
	CountsOnly bool // no times
	Rounds     int  // of the measurement; 101 if zero
	// Crossing, when not zero, is what a crossing is taken to cost; otherwise that
	// is measured. It is of use to experiments that estimate.
	Crossing time.Duration
}

// What Options.N may be: at most what fits into one batch.
const (
	DefaultN = 64
	MaxN     = kernel.BatchMaxCalls
)

// Experiment is one of the four.
type Experiment struct {
	Name  string
	Short string // one line
	Long  string // what is done and counted
	// Repeats: it makes Options.N calls of a kind, and looks at Options.N.
	Repeats bool
	// Estimates: it adds what crossings cost to the times.
	Estimates bool
	run       func(Options) (*Report, error)
}

// Experiments are the four, in the order in which they are told.
var Experiments = []Experiment{
	{"batch", "Many calls one by one, or in one batch", batchLong, true, true, batchExperiment},
	{"reuse", "A command buffer for each call, or one that is used again", reuseLong, true, false, reuseExperiment},
	{"trim", "All attributes, or only those that are needed", trimLong, true, false, trimExperiment},
	{"async", "One call after the other, or several in flight at once", asyncLong, false, false, asyncExperiment},
}

// Run runs an experiment. An error is one of the options, or says that the model
// did not answer as it should.
func (e *Experiment) Run(o Options) (*Report, error) {
	if o.Rounds == 0 {
		o.Rounds = 101
	}
	if e.Repeats && (o.N < 1 || o.N > MaxN) {
		return nil, fmt.Errorf("lab %s: %d calls of a kind: there may be 1 to %d", e.Name, o.N, MaxN)
	}
	if o.Crossing < 0 {
		return nil, fmt.Errorf("lab %s: a crossing of %v: it cannot take less than no time", e.Name, o.Crossing)
	}
	r, err := e.run(o)
	if err != nil {
		return nil, fmt.Errorf("lab %s: %w", e.Name, err)
	}
	r.Experiment = e.Name
	return r, nil
}
