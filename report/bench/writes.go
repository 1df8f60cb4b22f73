package bench

import (
	"syscall"

	"uverbsim/spec"
)

// The calls by write().

func refusedShort(p *program) []step {
	s := p.writeQueryPort()
	s.n = spec.CmdHdrSize / 2
	return []step{s.but(syscall.EINVAL)}
}

func refusedNumber(p *program) []step {
	return []step{p.command(spec.IB_USER_VERBS_CMD_THRESHOLD-1, 0).but(syscall.EOPNOTSUPP)}
}

func refusedWords(p *program) []step {
	s := p.writeQueryPort()
	s.n -= 4
	return []step{s.but(syscall.EINVAL)}
}

func writeNoContext(p *program) []step {
	return []step{p.writeQueryPort().on(p.bare).but(syscall.EINVAL)}
}

func writeUnknown(p *program) []step { return []step{p.deregMR(noHandle).but(syscall.ENOENT)} }

func (p *program) writeQueryPort() step {
	return p.command(spec.IB_USER_VERBS_CMD_QUERY_PORT, spec.QueryPortRespSize,
		spec.Bytes(&spec.QueryPort{Response: p.alloc(spec.QueryPortRespSize), PortNum: 1}))
}

func writePD(p *program) []step {
	n := spec.AllocPDRespSize + int(p.pdAnswer())
	at := p.alloc(n)
	return p.learn(p.command(spec.IB_USER_VERBS_CMD_ALLOC_PD, n, spec.Bytes(&spec.AllocPD{Response: at})), at,
		func(h uint32) step {
			return p.command(spec.IB_USER_VERBS_CMD_DEALLOC_PD, 0, spec.Bytes(&spec.DeallocPD{PDHandle: h}))
		})
}

func (p *program) deregMR(h uint32) step {
	return p.command(spec.IB_USER_VERBS_CMD_DEREG_MR, 0, spec.Bytes(&spec.DeregMR{MRHandle: h}))
}

func writeMR(p *program) []step {
	at := p.alloc(spec.RegMRRespSize)
	req := p.regMR(at)
	return p.learn(p.command(spec.IB_USER_VERBS_CMD_REG_MR, spec.RegMRRespSize, spec.Bytes(&req)), at, p.deregMR)
}

func writeCQ(p *program) []step {
	request, answer := p.cqDriver()
	n := spec.CreateCQRespSize + int(answer)
	at := p.alloc(n)
	create := p.command(spec.IB_USER_VERBS_CMD_CREATE_CQ, n,
		spec.Bytes(&spec.CreateCQ{Response: at, UserHandle: 1, CQE: cqEntries, CompChannel: -1}), request)
	return p.learn(create, at, func(h uint32) step {
		return p.command(spec.IB_USER_VERBS_CMD_DESTROY_CQ, spec.DestroyCQRespSize,
			spec.Bytes(&spec.DestroyCQ{Response: p.alloc(spec.DestroyCQRespSize), CQHandle: h}))
	})
}
