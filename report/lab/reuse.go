package lab

import (
	"encoding/binary"
	"fmt"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

const reuseLong = `Reuse makes the same call with a command buffer that is built in four ways: by
the library, which builds it anew for every call; by the program, anew for every
call; once, so that only what a call has changed in it is put right before the
next; and once, without that. It counts what the program stores and loads beside
what the kernel copies. The calls are QUERY_PORT, and CQ CREATE with CQ DESTROY.`

// builder makes a call, or two, in one of the ways.
type builder struct {
	name string
	run  func(*thread) error
}

// reuseCase is a call in all ways.
type reuseCase struct {
	name  string
	calls int
	ways  func(t *thread) ([]builder, error)
}

func reuseExperiment(o Options) (*Report, error) {
	m, err := boot()
	if err != nil {
		return nil, err
	}
	r := &Report{Question: "What does it save to use a command buffer again?", Kernel: reuseFacts}
	times := Table{Title: "Times, of one call in nanoseconds", Columns: []Column{
		{"work_ns", "work"}, {"saved_percent", "saved, %"}, {"go_allocs", "allocations of Go"}, {"go_bytes", "bytes"},
	}}
	r.CountsChart = &Chart{Title: "What the program and the kernel move for one QUERY_PORT", Y: "bytes"}
	r.TimesChart = &Chart{Title: "Time of one call in the model", Y: "% of the library's"}
	noise := 0.0
	for _, c := range []reuseCase{{"QUERY_PORT", 1, m.queryBuilders}, {"CQ CREATE and CQ DESTROY", 2, m.queueBuilders}} {
		if err := r.countReuse(m, &c, o.N); err != nil {
			return nil, err
		}
		if !o.CountsOnly {
			n, err := r.timeReuse(m, &c, o.Rounds, &times)
			if err != nil {
				return nil, err
			}
			noise = max(noise, n)
		}
	}
	r.Found = []string{
		"The kernel does not notice: crossings, copies, bytes and allocations are those of a buffer that is built anew. " +
			"What is saved is the program's own stores.",
		"The library's CQ CREATE has one attribute more, EVENT_FD: 16 bytes of each call.",
		"A buffer that is used again without being put right still has UVERBS_ATTR_F_VALID_OUTPUT, and the number of the " +
			"object before, when the next call is refused: look at the errno first.",
	}
	if o.CountsOnly {
		r.TimesChart = nil
		return r, nil
	}
	times.Notes = []string{"The allocations are those of the model and of the package verbs, which stand for a program in Go; " +
		"the C library builds its command buffer on the stack and allocates nothing for it.", noiseNote(noise)}
	r.Times = []Table{times}
	return r, nil
}

func (r *Report) countReuse(m *machine, c *reuseCase, n int) error {
	table := Table{Title: fmt.Sprintf("Counts, of %d %s", n, c.name), Columns: []Column{
		{"crossings", "crossings"}, {"stores", "stores"}, {"stored_bytes", "bytes"},
		{"loads", "loads"}, {"loaded_bytes", "bytes"},
		{"copies_in", "copies in"}, {"bytes_in", "bytes"}, {"copies_out", "copies out"}, {"bytes_out", "bytes"},
		{"allocs", "allocations"},
	}}
	// The ways are made by a thread that is counted, so that the library's context
	// is that thread's.
	t := &thread{Task: m.counted}
	ways, err := c.ways(t)
	if err != nil {
		return err
	}
	for _, w := range ways {
		if err := w.run(t); err != nil {
			return fmt.Errorf("%s, %s: %w", c.name, w.name, err)
		}
		got, err := m.countOn(t, func() error {
			for range n {
				if err := w.run(t); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		u := got.User
		table.add(w.name, got.Crossings, u.Stores, u.StoredBytes, u.Loads, u.LoadedBytes,
			got.CopiesIn, got.BytesIn, got.CopiesOut, got.BytesOut, got.Allocs)
		if c.calls == 1 {
			r.CountsChart.Categories = append(r.CountsChart.Categories, w.name)
			r.CountsChart.add("stored by the program", float64(u.StoredBytes)/float64(n))
			r.CountsChart.add("loaded by the program", float64(u.LoadedBytes)/float64(n))
			r.CountsChart.add("copied by the kernel", float64(got.BytesIn+got.BytesOut)/float64(n))
		}
	}
	r.Counts = append(r.Counts, table)
	return nil
}

// timeReuse measures, and returns how far the times may be off, in percent.
func (r *Report) timeReuse(m *machine, c *reuseCase, rounds int, table *Table) (noise float64, err error) {
	t := &thread{Task: m.p.MainTask()}
	ways, err := c.ways(t)
	if err != nil {
		return 0, err
	}
	runs := make([]func() error, len(ways))
	for i, w := range ways {
		runs[i] = func() error { return w.run(t) }
	}
	ns, noise, err := measure(rounds, runs...)
	if err != nil {
		return 0, err
	}
	for i, w := range ways {
		n, bytes, err := allocs(runs[i])
		if err != nil {
			return 0, err
		}
		calls := float64(c.calls)
		table.add(c.name+", "+w.name, ns[i]/calls, 100*(1-ns[i]/ns[0]), n/calls, bytes/calls)
		r.TimesChart.add(c.name, 100*ns[i]/ns[0])
		if c.calls == 1 {
			r.TimesChart.Categories = append(r.TimesChart.Categories, w.name)
		}
	}
	return noise, nil
}

// wayNames are the ways, in their order.
var wayNames = [...]string{"by the library", "built anew", "used again, put right", "used again"}

// put builds a request again where it is.
func (r *request) put(t *thread) error {
	return verbs.Store(t, r.at, r.bytes())
}

// changed is what the kernel has changed in a request: the flags of an attribute
// that it wrote to.
type changed struct {
	at    copyuser.Addr
	flags uint16
}

// putRight stores again what the kernel has changed.
func putRight(t *thread, cs ...changed) error {
	for _, c := range cs {
		binary.LittleEndian.PutUint16(t.word[:], c.flags)
		if err := verbs.Store(t, c.at, t.word[:2]); err != nil {
			return err
		}
	}
	return nil
}

// flagsOf is where attribute i has its flags, which the kernel adds
// UVERBS_ATTR_F_VALID_OUTPUT to.
func (r *request) flagsOf(i int) changed {
	at := r.at + spec.IoctlHdrSize + copyuser.Addr(i)*spec.IoctlAttrSize + spec.IoctlAttrFlagsOffset
	return changed{at, r.attrs[i].Flags}
}

// queryBuilders are QUERY_PORT in all ways; each reads the answer.
func (m *machine) queryBuilders(t *thread) ([]builder, error) {
	lib, err := libmlx5.OpenDevice(t, node)
	if err != nil {
		return nil, err
	}
	q, err := m.queryPort()
	if err != nil {
		return nil, err
	}
	var resp [spec.QueryPortRespExSize]byte
	call := func(t *thread) error {
		if err := t.ioctl(m.fd, q); err != nil {
			return err
		}
		return verbs.Load(t, copyuser.Addr(q.attrs[1].Data), resp[:])
	}
	return []builder{
		{wayNames[0], func(*thread) error {
			_, err := lib.QueryPort(1)
			return err
		}},
		{wayNames[1], func(t *thread) error {
			if err := q.put(t); err != nil {
				return err
			}
			return call(t)
		}},
		{wayNames[2], func(t *thread) error {
			if err := putRight(t, q.flagsOf(1)); err != nil {
				return err
			}
			return call(t)
		}},
		{wayNames[3], call},
	}, nil
}

// queueBuilders are CQ CREATE and CQ DESTROY in all ways; each reads the answers.
func (m *machine) queueBuilders(t *thread) ([]builder, error) {
	lib, err := libmlx5.OpenDevice(t, node)
	if err != nil {
		return nil, err
	}
	create, err := m.createCQ()
	if err != nil {
		return nil, err
	}
	destroy, err := m.destroyCQ()
	if err != nil {
		return nil, err
	}
	calls := func(t *thread) error {
		if err := t.ioctl(m.fd, create); err != nil {
			return err
		}
		if err := verbs.Load(t, create.dataAt(0), t.word[:]); err != nil {
			return err
		}
		if err := verbs.Store(t, destroy.dataAt(0), t.word[:]); err != nil {
			return err
		}
		return t.ioctl(m.fd, destroy)
	}
	return []builder{
		{wayNames[0], m.libraryQueue(lib.Context, create)},
		{wayNames[1], func(t *thread) error {
			for _, r := range []*request{create, destroy} {
				if err := r.put(t); err != nil {
					return err
				}
			}
			return calls(t)
		}},
		{wayNames[2], func(t *thread) error {
			// The handle in a new object's attribute is not looked at.
			if err := putRight(t, create.flagsOf(cqRespAttr), create.flagsOf(cqUHWOutAttr), destroy.flagsOf(1)); err != nil {
				return err
			}
			return calls(t)
		}},
		{wayNames[3], calls},
	}, nil
}

// libraryQueue makes and destroys a queue by the library's core; its memory is
// that of a request.
func (m *machine) libraryQueue(c *verbs.Context, create *request) func(*thread) error {
	var in spec.Mlx5CreateCQ
	m.load(copyuser.Addr(create.attrs[cqUHWInAttr].Data), spec.Bytes(&in))
	return func(*thread) error {
		var cq verbs.CQ
		var out spec.Mlx5CreateCQResp
		uhw := verbs.UHW{In: spec.Bytes(&in), Out: spec.Bytes(&out)}
		if err := c.CmdCreateCQ(&cq, &verbs.CQInitAttr{CQE: cqEntries - 1}, uhw, true); err != nil {
			return err
		}
		return cq.CmdDestroyCQ()
	}
}
