package lab

import (
	"encoding/binary"

	"uverbsim/copyuser"
)

// workload is what a program does: calls in phases. The answers of a phase are
// what the next one needs.
type workload struct {
	name   string
	phases []phase
}

// phase are calls of which none needs the answer of another.
type phase struct {
	calls []*request
	after func() // what the program does with the answers; may be nil
}

// workloads are those of the experiment: n calls of each kind. The first needs
// nothing but the kernel's memory, the others firmware commands too.
func workloads(m *machine, n int) ([]workload, error) {
	pd, err := m.ctx.AllocPD()
	if err != nil {
		return nil, err
	}
	var out []workload
	for _, f := range []func() (workload, error){
		func() (workload, error) { return asking("INFO_HANDLES", n, m.infoHandles) },
		func() (workload, error) { return asking("QUERY_PORT", n, m.queryPort) },
		func() (workload, error) { return queues(m, n) },
		func() (workload, error) { return regions(m, n, pd.Handle) },
	} {
		w, err := f()
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// each makes n of something.
func each(n int, f func() (*request, error)) ([]*request, error) {
	rs := make([]*request, n)
	for i := range rs {
		var err error
		if rs[i], err = f(); err != nil {
			return nil, err
		}
	}
	return rs, nil
}

// asking is a workload of calls that change nothing.
func asking(name string, n int, f func() (*request, error)) (workload, error) {
	calls, err := each(n, f)
	return workload{name, []phase{{calls: calls}}}, err
}

func queues(m *machine, n int) (workload, error) {
	create, err := each(n, m.createCQ)
	if err != nil {
		return workload{}, err
	}
	destroy, err := each(n, m.destroyCQ)
	handOver := func() {
		for i, r := range create {
			destroy[i].setData(0, r.data(0))
		}
	}
	return workload{"CQ CREATE, CQ DESTROY", []phase{{create, handOver}, {calls: destroy}}}, err
}

func regions(m *machine, n int, pd uint32) (workload, error) {
	var answers []copyuser.Addr
	reg, err := each(n, func() (*request, error) {
		r, at, err := m.regMR(pd)
		answers = append(answers, at)
		return r, err
	})
	if err != nil {
		return workload{}, err
	}
	dereg, err := each(n, m.deregMR)
	handOver := func() {
		for i, at := range answers {
			var b [4]byte
			m.load(at, b[:])
			dereg[i].setData(0, uint64(binary.LittleEndian.Uint32(b[:])))
		}
	}
	return workload{"REG_MR, MR DESTROY", []phase{{reg, handOver}, {calls: dereg}}}, err
}

// calls is how many the workload has.
func (w *workload) calls() (n int) {
	for _, p := range w.phases {
		n += len(p.calls)
	}
	return n
}

// alone is the workload with an ioctl for each call.
func (w *workload) alone(t *thread, fd int) error {
	for _, p := range w.phases {
		if err := t.single(fd, p.calls); err != nil {
			return err
		}
		p.done()
	}
	return nil
}

func (p *phase) done() {
	if p.after != nil {
		p.after()
	}
}
