package lab

import (
	"fmt"
	"slices"

	"uverbsim/spec"
)

const trimLong = `Trim makes a completion queue with more and fewer attributes: those that are
needed, each optional one beside them, all, and all with some that the kernel
does not know. The needed ones are sent once more without the flag
UVERBS_ATTR_F_MANDATORY, to see what that costs.`

// trimVariant is CQ CREATE with some attributes.
type trimVariant struct {
	name  string
	attrs []spec.IoctlAttr
}

// unknownAttrs is how many attributes the last variant has that no kernel knows.
const unknownAttrs = 4

// trimVariants are the variants. The needed attributes come first.
func (m *machine) trimVariants() ([]trimVariant, error) {
	needed, err := m.createCQAttrs()
	if err != nil {
		return nil, err
	}
	channel, err := m.ctx.CreateCompChannel()
	if err != nil {
		return nil, err
	}
	flags := number(spec.UVERBS_ATTR_CREATE_CQ_FLAGS, 4, 0)
	event := handle(spec.UVERBS_ATTR_CREATE_CQ_EVENT_FD, uint64(m.ctx.AsyncFD))
	comp := handle(spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, uint64(channel.FD))
	uar := number(spec.MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, 4, 0)
	with := func(more ...spec.IoctlAttr) []spec.IoctlAttr { return slices.Concat(needed, more) }
	all := with(flags, event, comp, uar)

	optional := slices.Clone(needed)
	for i := range optional {
		optional[i].Flags = 0
	}
	unknown := slices.Clone(all)
	for i := range uint16(unknownAttrs) {
		unknown = append(unknown, spec.IoctlAttr{AttrID: unknownID + i, Len: 8})
	}
	return []trimVariant{
		{"needed", needed},
		{"needed, none mandatory", optional},
		{"needed and FLAGS", with(flags)},
		{"needed and EVENT_FD", with(event)},
		{"needed and COMP_CHANNEL", with(comp)},
		{"needed and UAR_INDEX", with(uar)},
		{"all", all},
		{fmt.Sprintf("all and %d unknown", unknownAttrs), unknown},
	}, nil
}

// unknownID is the id of an attribute that CQ CREATE does not have.
const unknownID = 20

// queue makes a queue and destroys it.
type queue struct {
	m               *machine
	create, destroy *request
}

func (q *queue) destroyIt(t *thread) error {
	q.destroy.setData(0, q.create.data(0))
	return t.ioctl(q.m.fd, q.destroy)
}

func (q *queue) both(t *thread) error {
	if err := t.ioctl(q.m.fd, q.create); err != nil {
		return err
	}
	return q.destroyIt(t)
}

func trimExperiment(o Options) (*Report, error) {
	m, err := boot()
	if err != nil {
		return nil, err
	}
	variants, err := m.trimVariants()
	if err != nil {
		return nil, err
	}
	queues := make([]*queue, len(variants))
	for i, v := range variants {
		q := &queue{m: m}
		if q.create, err = m.request(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, v.attrs...); err != nil {
			return nil, err
		}
		if q.destroy, err = m.destroyCQ(); err != nil {
			return nil, err
		}
		queues[i] = q
	}
	r := &Report{Question: "What does it save to send only the attributes that are needed?", Kernel: trimFacts}
	if err := r.countTrim(m, variants, queues, o.N); err != nil {
		return nil, err
	}
	if !o.CountsOnly {
		err = r.timeTrim(m, variants, queues, o.Rounds)
	}
	return r, err
}

func (r *Report) countTrim(m *machine, variants []trimVariant, queues []*queue, n int) error {
	table := Table{Title: fmt.Sprintf("Counts, of %d CQ CREATE", n), Columns: []Column{
		{"crossings", "crossings"}, {"attrs", "attributes"}, {"slots", "indexed"}, {"lookups", "walks"},
		{"copies_in", "copies in"}, {"bytes_in", "bytes"}, {"copies_out", "copies out"}, {"bytes_out", "bytes"},
		{"allocs", "allocations"}, {"refs", "refs"},
	}, Notes: []string{"indexed: found in the tree's node that the method is in. walks: through the tree from its " +
		"root. refs: changes of reference and use counts, of descriptors, objects and what objects use."}}
	chart := &Chart{Title: "What one CQ CREATE takes", Y: "for one call"}
	for i, q := range queues {
		if err := q.both(&thread{Task: m.p.MainTask()}); err != nil { // what is made once and kept
			return fmt.Errorf("%s: %w", variants[i].name, err)
		}
		var sum Counts
		for range n {
			c, err := m.count(func(t *thread) error { return t.ioctl(m.fd, q.create) })
			if err != nil {
				return err
			}
			sum.add(&c)
			if err := q.destroyIt(&thread{Task: m.p.MainTask()}); err != nil {
				return err
			}
		}
		table.add(variants[i].name, sum.Crossings, sum.Attrs, sum.Slots, sum.Lookups, sum.CopiesIn, sum.BytesIn,
			sum.CopiesOut, sum.BytesOut, sum.Allocs, sum.Refs)
		chart.Categories = append(chart.Categories, trimNames[i])
		one := float64(n)
		chart.add("attributes", float64(sum.Attrs)/one)
		chart.add("tree walks", float64(sum.Lookups)/one)
		chart.add("copies", float64(sum.CopiesIn+sum.CopiesOut)/one)
		chart.add("allocations", float64(sum.Allocs)/one)
	}
	r.Counts, r.CountsChart = []Table{table}, chart
	r.Found = []string{
		"An attribute is 16 bytes more in a copy that is made anyway. None of the optional ones of CQ CREATE makes a copy of " +
			"its own: they lie in the attribute.",
		"One that the kernel does not know costs a walk through the tree beside its 16 bytes.",
		"The flag that makes an attribute mandatory costs nothing that can be counted.",
		"What takes time in CQ CREATE are the objects behind it: memory, pinned pages, locks, a firmware command.",
	}
	return nil
}

// trimNames are short names of the variants.
var trimNames = [...]string{"needed", "not mandatory", "+ FLAGS", "+ EVENT_FD", "+ CHANNEL", "+ UAR_INDEX", "all", "+ unknown"}

func (r *Report) timeTrim(m *machine, variants []trimVariant, queues []*queue, rounds int) error {
	t := &thread{Task: m.p.MainTask()}
	runs := make([]func() error, len(queues))
	for i, q := range queues {
		runs[i] = func() error { return q.both(t) }
	}
	ns, noise, err := measure(rounds, runs...)
	if err != nil {
		return err
	}
	table := Table{Title: "Times, of CQ CREATE and CQ DESTROY together in nanoseconds", Columns: []Column{
		{"work_ns", "work"}, {"more_ns", "more than needed"}, {"more_percent", "%"},
	}, Notes: []string{noiseNote(noise)}}
	chart := &Chart{Title: "CQ CREATE and CQ DESTROY in the model", Y: "nanoseconds"}
	for i, v := range variants {
		table.add(v.name, ns[i], ns[i]-ns[0], 100*(ns[i]/ns[0]-1))
		chart.Categories = append(chart.Categories, trimNames[i])
		chart.add("CREATE and DESTROY", ns[i])
	}
	r.Times, r.TimesChart = []Table{table}, chart
	return nil
}
