package bench

// Report is what was measured, and where.
type Report struct {
	Go         string // its version
	Arch       string // GOOS/GOARCH
	Processors int    // GOMAXPROCS
	Processor  string // its name, "" where the system does not tell
	Memory     uint64 // bytes of the machine, 0 where the system does not tell
	Node       *Node  // nil: none
	Results    []Result
}

// Node is the device node beside which the model was measured.
type Node struct {
	Path   string // /dev/infiniband/uverbs0
	Device string // of the RDMA subsystem: rxe0
	Driver string
	Kernel string // its release
}

// Loop is once around the calibration loop, in the rounds of all calls.
func (r *Report) Loop() (t Times) {
	for i := range r.Results {
		t.Rounds = append(t.Rounds, r.Results[i].Loop.Rounds...)
	}
	return t
}

// Loops is what the call costs on the model in calibration loops, each the least of
// all rounds of that call.
func (r *Result) Loops() float64 { return r.Model.Over(r.Loop).OfLeast }
