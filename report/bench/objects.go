package bench

import "uverbsim/spec"

// The calls that make and destroy objects. A new object gets the lowest free handle of
// its file, so that each one of a call that makes and destroys one gets the same. The
// first tells which: learn makes it, and what destroys it is prepared for that handle.

// learn returns the handle that an object gets, which it leaves as it was before.
func (p *program) learn(create step, at uint64, destroy func(handle uint32) step) []step {
	if err := p.try(create); err != nil {
		p.keep(err)
		return nil
	}
	steps := []step{create, destroy(p.take(at))}
	p.keep(p.try(steps[1]))
	return steps
}

// invoke is INVOKE_WRITE of a command that makes an object and answers with n bytes,
// and the address of the answer, which begins with the handle. Uhw is how many bytes
// the driver answers with.
func (p *program) invoke(cmd uint64, request []byte, n, uhw uint16) (step, uint64) {
	resp := p.out(spec.UVERBS_ATTR_CORE_OUT, n)
	attrs := []spec.IoctlAttr{number(spec.UVERBS_ATTR_WRITE_CMD, 8, cmd), p.in(spec.UVERBS_ATTR_CORE_IN, request), resp}
	if uhw > 0 {
		attrs = append(attrs, p.out(spec.UVERBS_ATTR_UHW_OUT, uhw))
	}
	return p.ioctl(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE, attrs...), resp.Data
}

// pdAnswer is how many bytes the driver answers ALLOC_PD with.
func (p *program) pdAnswer() uint16 {
	if p.driver == spec.RDMA_DRIVER_MLX5 {
		return spec.Mlx5AllocPDRespSize
	}
	return 0
}

func (p *program) allocPD() (step, uint64) {
	return p.invoke(spec.IB_USER_VERBS_CMD_ALLOC_PD, spec.Bytes(&spec.AllocPD{}), spec.AllocPDRespSize, p.pdAnswer())
}

func ioctlPD(p *program) []step {
	create, at := p.allocPD()
	return p.learn(create, at, func(h uint32) step {
		return p.ioctl(spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY, handle(spec.UVERBS_ATTR_DESTROY_PD_HANDLE, h))
	})
}

// pd makes a protection domain that stays.
func (p *program) pd() uint32 {
	create, at := p.allocPD()
	p.keep(p.try(create))
	return p.take(at)
}

// regMR registers a page.
func (p *program) regMR(response uint64) spec.RegMR {
	page := p.alloc(pageSize)
	return spec.RegMR{Response: response, Start: page, Length: pageSize, HcaVA: page, PDHandle: p.pd(),
		AccessFlags: spec.IB_UVERBS_ACCESS_LOCAL_WRITE}
}

func (p *program) destroyMR(h uint32) step {
	return p.ioctl(spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_MR_DESTROY, handle(spec.UVERBS_ATTR_DESTROY_MR_HANDLE, h))
}

func (p *program) invokeRegMR() (step, uint64) {
	req := p.regMR(0) // INVOKE_WRITE has the answer's address elsewhere
	return p.invoke(spec.IB_USER_VERBS_CMD_REG_MR, spec.Bytes(&req), spec.RegMRRespSize, 0)
}

func ioctlMR(p *program) []step {
	create, at := p.invokeRegMR()
	return p.learn(create, at, p.destroyMR)
}

func queryMR(p *program) []step {
	create, at := p.invokeRegMR()
	p.keep(p.try(create))
	return []step{p.ioctl(spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_QUERY_MR,
		handle(spec.UVERBS_ATTR_QUERY_MR_HANDLE, p.take(at)),
		p.out(spec.UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4), p.out(spec.UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4),
		p.out(spec.UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8), p.out(spec.UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8))}
}

// cqEntries is how many entries the queues are to have.
const cqEntries = 255

// cqDriver is the driver's request for a new completion queue, if it has one, and how
// many bytes it answers with. The queue of mlx5 lies in the program's memory; that of
// rxe in the kernel's, for the program to map.
func (p *program) cqDriver() (request []byte, answer uint16) {
	if p.driver != spec.RDMA_DRIVER_MLX5 {
		return nil, spec.RxeCreateCQRespSize
	}
	const entrySize = 64
	return spec.Bytes(&spec.Mlx5CreateCQ{BufAddr: p.alloc((cqEntries + 1) * entrySize), DBAddr: p.alloc(pageSize),
		CQESize: entrySize}), spec.Mlx5CreateCQRespSize
}

func ioctlCQ(p *program) []step {
	request, answer := p.cqDriver()
	attrs := []spec.IoctlAttr{
		handle(spec.UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		number(spec.UVERBS_ATTR_CREATE_CQ_CQE, 4, cqEntries),
		number(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 1),
		number(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0),
		p.out(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
	}
	if request != nil {
		attrs = append(attrs, p.in(spec.UVERBS_ATTR_UHW_IN, request))
	}
	create := p.ioctl(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE,
		append(attrs, p.out(spec.UVERBS_ATTR_UHW_OUT, answer))...)
	return p.learn(create, create.dataAt(0), func(h uint32) step {
		return p.ioctl(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY,
			handle(spec.UVERBS_ATTR_DESTROY_CQ_HANDLE, h), p.out(spec.UVERBS_ATTR_DESTROY_CQ_RESP, spec.DestroyCQRespSize))
	})
}
