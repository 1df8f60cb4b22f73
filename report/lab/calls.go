package lab

import (
	"encoding/binary"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

// The calls that the experiments make.

// queryPort asks for the state of port 1.
func (m *machine) queryPort() (*request, error) {
	resp, err := m.output(spec.UVERBS_ATTR_QUERY_PORT_RESP, spec.QueryPortRespExSize)
	if err != nil {
		return nil, err
	}
	return m.request(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT,
		number(spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, 1), resp)
}

// infoHandles asks for the handles of the file's protection domains, one at most.
func (m *machine) infoHandles() (*request, error) {
	total, err := m.output(spec.UVERBS_ATTR_INFO_TOTAL_HANDLES, 4)
	if err != nil {
		return nil, err
	}
	list, err := m.output(spec.UVERBS_ATTR_INFO_HANDLES_LIST, 4)
	if err != nil {
		return nil, err
	}
	return m.request(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INFO_HANDLES,
		number(spec.UVERBS_ATTR_INFO_OBJECT_ID, 8, spec.UVERBS_OBJECT_PD), total, list)
}

// Where the attributes of a call that makes a queue stand.
const (
	cqRespAttr   = 4
	cqUHWInAttr  = 5
	cqUHWOutAttr = 6
)

// cqEntries is how many entries the queues have; they fill a page.
const cqEntries = 64

// createCQAttrs are the attributes of a call that makes a completion queue: those
// that every queue needs. The first is its handle.
func (m *machine) createCQAttrs() ([]spec.IoctlAttr, error) {
	buf, err := m.pages(cqEntries * 64)
	if err != nil {
		return nil, err
	}
	db, err := m.records.take(m, 8)
	if err != nil {
		return nil, err
	}
	in, err := m.input(spec.UVERBS_ATTR_UHW_IN, spec.Bytes(&spec.Mlx5CreateCQ{
		BufAddr: uint64(buf), DBAddr: uint64(db), CQESize: 64,
		Flags: spec.MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX}))
	if err != nil {
		return nil, err
	}
	out, err := m.output(spec.UVERBS_ATTR_UHW_OUT, spec.Mlx5CreateCQRespSize)
	if err != nil {
		return nil, err
	}
	cqe, err := m.output(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4)
	return []spec.IoctlAttr{
		handle(spec.UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		number(spec.UVERBS_ATTR_CREATE_CQ_CQE, 4, cqEntries-1),
		number(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 1),
		number(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0),
		cqe, in, out,
	}, err
}

// createCQ makes a completion queue. Attribute 0 of the request is its handle.
func (m *machine) createCQ() (*request, error) {
	attrs, err := m.createCQAttrs()
	if err != nil {
		return nil, err
	}
	return m.request(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, attrs...)
}

// destroyCQ destroys the queue whose handle its attribute 0 is.
func (m *machine) destroyCQ() (*request, error) {
	resp, err := m.output(spec.UVERBS_ATTR_DESTROY_CQ_RESP, spec.DestroyCQRespSize)
	if err != nil {
		return nil, err
	}
	return m.request(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY,
		handle(spec.UVERBS_ATTR_DESTROY_CQ_HANDLE, 0), resp)
}

// regMR registers a page of memory for a protection domain, and deregMR takes
// the registration back.
func (m *machine) regMR(pd uint32) (*request, copyuser.Addr, error) {
	page, err := m.pages(copyuser.PageSize)
	if err != nil {
		return nil, 0, err
	}
	in, err := m.input(spec.UVERBS_ATTR_CORE_IN, spec.Bytes(&spec.RegMR{
		Start: uint64(page), Length: copyuser.PageSize, HcaVA: uint64(page), PDHandle: pd,
		AccessFlags: spec.IB_UVERBS_ACCESS_LOCAL_WRITE}))
	if err != nil {
		return nil, 0, err
	}
	out, err := m.output(spec.UVERBS_ATTR_CORE_OUT, spec.RegMRRespSize)
	if err != nil {
		return nil, 0, err
	}
	r, err := m.request(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE,
		number(spec.UVERBS_ATTR_WRITE_CMD, 8, spec.IB_USER_VERBS_CMD_REG_MR), in, out)
	return r, copyuser.Addr(out.Data), err
}

func (m *machine) deregMR() (*request, error) {
	return m.request(spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_MR_DESTROY, handle(spec.UVERBS_ATTR_DESTROY_MR_HANDLE, 0))
}

// regReady and deregReady are REG_MR and MR DESTROY with a file, whose protection
// domain is a new one.
func regReady(m *machine, fd int) (reg, dereg func(*thread) error, err error) {
	pd, err := m.allocPD(fd)
	if err != nil {
		return nil, nil, err
	}
	r, answer, err := m.regMR(pd)
	if err != nil {
		return nil, nil, err
	}
	d, err := m.deregMR()
	return func(t *thread) error { return t.ioctl(fd, r) },
		func(t *thread) error {
			var b [4]byte
			m.load(answer, b[:])
			d.setData(0, uint64(binary.LittleEndian.Uint32(b[:])))
			return t.ioctl(fd, d)
		}, err
}

func deregReady(m *machine, fd int) (call, reset func(*thread) error, err error) {
	reg, dereg, err := regReady(m, fd)
	if err != nil {
		return nil, nil, err
	}
	return dereg, reg, reg(&thread{Task: m.p.MainTask()})
}

// allocPD makes a protection domain and returns its handle.
func (m *machine) allocPD(fd int) (uint32, error) {
	core, err := m.output(spec.UVERBS_ATTR_CORE_OUT, spec.AllocPDRespSize)
	if err != nil {
		return 0, err
	}
	in, err := m.input(spec.UVERBS_ATTR_CORE_IN, spec.Bytes(new(spec.AllocPD)))
	if err != nil {
		return 0, err
	}
	in.Data = 0 // a response address that INVOKE_WRITE does not look at
	uhw, err := m.output(spec.UVERBS_ATTR_UHW_OUT, spec.Mlx5AllocPDRespSize)
	if err != nil {
		return 0, err
	}
	r, err := m.request(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE,
		number(spec.UVERBS_ATTR_WRITE_CMD, 8, spec.IB_USER_VERBS_CMD_ALLOC_PD), in, core, uhw)
	if err != nil {
		return 0, err
	}
	if err := (&thread{Task: m.p.MainTask()}).ioctl(fd, r); err != nil {
		return 0, err
	}
	var b [4]byte
	m.load(copyuser.Addr(core.Data), b[:])
	return binary.LittleEndian.Uint32(b[:]), nil
}
