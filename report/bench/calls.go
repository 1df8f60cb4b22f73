package bench

import (
	"slices"
	"strings"
	"syscall"

	"uverbsim/spec"
)

// Call is a call that is measured. Its name begins with how it is made, ioctl or write.
type Call struct {
	Name    string
	About   string // one line
	prepare func(p *program) []step
}

// Calls are all calls, in the order in which they are measured.
var Calls = []Call{
	{"ioctl/refused-command", "a number that is not RDMA_VERBS_IOCTL: ENOTTY", refusedCommand},
	{"ioctl/refused-header", "a length that is not that of the attributes: EINVAL", refusedHeader},
	{"ioctl/refused-method", "a method that the object does not have: EPROTONOSUPPORT", refusedMethod},
	{"ioctl/refused-length", "QUERY_PORT with a port number of 4 bytes: EINVAL", refusedLength},
	{"ioctl/no-context", "QUERY_PORT on a file without a context: EINVAL", noContext},
	{"ioctl/unknown-handle", "MR DESTROY of a handle that is not there: ENOENT", unknownHandle},
	{"ioctl/query-port", "QUERY_PORT", func(p *program) []step { return []step{p.queryPort()} }},
	{"ioctl/lookup", "QUERY_MR: a handle looked up, four numbers told", queryMR},
	{"ioctl/context", "open, GET_CONTEXT, close", context},
	{"ioctl/pd", "ALLOC_PD (by INVOKE_WRITE) and PD DESTROY", ioctlPD},
	{"ioctl/mr", "REG_MR (by INVOKE_WRITE) of a page and MR DESTROY", ioctlMR},
	{"ioctl/cq", "CQ CREATE of 255 entries and CQ DESTROY", ioctlCQ},
	{"write/refused-header", "4 bytes, less than a header: EINVAL", refusedShort},
	{"write/refused-command", "a command that there is not: EOPNOTSUPP", refusedNumber},
	{"write/refused-length", "a length that is not in the header: EINVAL", refusedWords},
	{"write/no-context", "QUERY_PORT on a file without a context: EINVAL", writeNoContext},
	{"write/unknown-handle", "DEREG_MR of a handle that is not there: ENOENT", writeUnknown},
	{"write/query-port", "QUERY_PORT", func(p *program) []step { return []step{p.writeQueryPort()} }},
	{"write/pd", "ALLOC_PD and DEALLOC_PD", writePD},
	{"write/mr", "REG_MR of a page and DEREG_MR", writeMR},
	{"write/cq", "CREATE_CQ of 255 entries and DESTROY_CQ", writeCQ},
}

// Choose returns the calls with those names, of which a part before or behind the slash
// is enough; all if there are none. A name of no call is the second result.
func Choose(names []string) (calls []Call, unknown string) {
	if len(names) == 0 {
		return Calls, ""
	}
	is := func(c Call, name string) bool {
		by, what, _ := strings.Cut(c.Name, "/")
		return name == c.Name || name == by || name == what
	}
	for _, name := range names {
		if !slices.ContainsFunc(Calls, func(c Call) bool { return is(c, name) }) {
			return nil, name
		}
	}
	for _, c := range Calls {
		if slices.ContainsFunc(names, func(name string) bool { return is(c, name) }) {
			calls = append(calls, c)
		}
	}
	return calls, ""
}

func refusedCommand(p *program) []step {
	s := p.queryPort()
	s.cmd++
	return []step{s.but(syscall.ENOTTY)}
}

func refusedHeader(p *program) []step {
	s := p.queryPort()
	const length = spec.IoctlHdrSize + 1 // the header begins with it
	p.put(s.addr, []byte{length, 0})
	return []step{s.but(syscall.EINVAL)}
}

func refusedMethod(p *program) []step {
	const none = 0xfff
	return []step{p.ioctl(spec.UVERBS_OBJECT_DEVICE, none).but(syscall.EPROTONOSUPPORT)}
}

func refusedLength(p *program) []step {
	return []step{p.ioctl(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT,
		number(spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, 4, 1),
		p.out(spec.UVERBS_ATTR_QUERY_PORT_RESP, spec.QueryPortRespExSize)).but(syscall.EINVAL)}
}

func noContext(p *program) []step { return []step{p.queryPort().on(p.bare).but(syscall.EINVAL)} }

// noHandle is one that no object has: handles are counted from 0.
const noHandle = 1 << 20

func unknownHandle(p *program) []step { return []step{p.destroyMR(noHandle).but(syscall.ENOENT)} }

func (p *program) queryPort() step {
	return p.ioctl(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT,
		number(spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, 1),
		p.out(spec.UVERBS_ATTR_QUERY_PORT_RESP, spec.QueryPortRespExSize))
}

// getContext gives a file its context. mlx5 is told how many doorbells the program
// wants.
func (p *program) getContext(fd int) step {
	var attrs []spec.IoctlAttr
	if p.driver == spec.RDMA_DRIVER_MLX5 {
		attrs = append(attrs,
			p.in(spec.UVERBS_ATTR_UHW_IN, spec.Bytes(&spec.Mlx5AllocUcontextReqV2{TotalNumBfregs: 4})),
			p.out(spec.UVERBS_ATTR_UHW_OUT, spec.Mlx5AllocUcontextRespSize))
	}
	return p.ioctl(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT, attrs...).on(fd)
}

// context relies on the kernel's rule that a new file gets the lowest free descriptor:
// each gets the one that the first had.
func context(p *program) []step {
	fd, err := p.Open(syscall.O_RDWR | syscall.O_CLOEXEC)
	if err == nil {
		err = p.Close(fd)
	}
	if err != nil {
		p.keep(err)
	}
	return []step{{op: opOpen, fd: fd}, p.getContext(fd), {op: opClose, fd: fd}}
}
