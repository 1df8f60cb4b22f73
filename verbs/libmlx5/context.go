package libmlx5

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"uverbsim/spec"
	"uverbsim/verbs"
)

// What the library asks for without an environment that says otherwise:
// providers/mlx5/mlx5.h.
const (
	totalUUARs     = 16 // MLX5_DEF_TOT_UUARS
	numLowLatUUARs = 4
	cqeVersionV1   = 1 // MLX5_CQE_VERSION_V1
	maxPorts       = 2 // MLX5_MAX_PORTS_NUM
	pageSize       = 4096
)

// How much of the request older kernels understand: where its later members
// begin.
const (
	reqUpToLibCaps       = 24
	reqUpToMaxCQEVersion = 16
)

// queryDeviceRespSize is how much of struct mlx5_ib_query_device_resp the
// library knows: not its last member, reg_c0.
const queryDeviceRespSize = 104

// errCQEVersion is the error of a device with completions of an unknown form.
var errCQEVersion = fmt.Errorf("libmlx5: the kernel chose a version of completions that the library does not know: %w", syscall.EINVAL)

// Context is an open mlx5 device: struct mlx5_context. The core's methods are
// its methods too.
type Context struct {
	*verbs.Context
	// Resp is what the driver said when the context was made.
	Resp spec.Mlx5AllocUcontextResp
	// Device is what the device can do, nil if it did not say.
	Device *spec.ExQueryDeviceResp

	sys       verbs.System
	ncUAR     *uar // nil if there is none
	ports     [maxPorts]portCache
	clock     page
	clockInfo page
	records   recordPages
	bfs       bfPool

	// The queues that completions can be about: by user index, and by their
	// numbers on a device that knows no user indices.
	uidx, qps, srqs rscTable

	sports atomic.Uint32 // how many source ports address handles have got
}

// OpenDevice opens a device node and makes a context: what ibv_open_device does
// for an mlx5 device.
//
// Errors: those of open and of the kernel.
func OpenDevice(sys verbs.System, path string) (*Context, error) {
	c := &Context{sys: sys}
	core, err := verbs.OpenDevice(sys, path, spec.RDMA_DRIVER_MLX5, c.alloc)
	if core == nil {
		return nil, err
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// alloc models mlx5_alloc_context in providers/mlx5/mlx5.c. A device that does
// not allow DEVX is used without.
func (c *Context) alloc(core *verbs.Context) error {
	c.Context = core
	req := spec.Mlx5AllocUcontextReqV2{
		TotalNumBfregs:      totalUUARs,
		NumLowLatencyBfregs: numLowLatUUARs,
		MaxCQEVersion:       cqeVersionV1,
		LibCaps:             spec.MLX5_LIB_CAP_4K_UAR | spec.MLX5_LIB_CAP_DYN_UAR,
		Flags:               spec.MLX5_IB_ALLOC_UCTX_DEVX,
	}
	if err := c.cmdGetContext(&req); err != nil {
		req.Flags &^= spec.MLX5_IB_ALLOC_UCTX_DEVX
		c.Resp = spec.Mlx5AllocUcontextResp{}
		if err := c.cmdGetContext(&req); err != nil {
			return err
		}
	}
	return c.set()
}

// cmdGetContext models mlx5_cmd_get_context in providers/mlx5/mlx5.c: an older
// kernel refuses a request that is longer than it knows, so shorter ones are
// tried.
func (c *Context) cmdGetContext(req *spec.Mlx5AllocUcontextReqV2) (err error) {
	in := spec.Bytes(req)
	for _, n := range []int{len(in), reqUpToLibCaps, reqUpToMaxCQEVersion} {
		if err = c.CmdGetContext(verbs.UHW{In: in[:n], Out: spec.Bytes(&c.Resp)}); err == nil {
			return nil
		}
	}
	return err
}

// set models mlx5_set_context in providers/mlx5/mlx5.c.
func (c *Context) set() error {
	if c.Resp.CompMask&spec.MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET != 0 {
		c.clock = c.mapCommand(spec.MLX5_IB_MMAP_CORE_CLOCK)
	}
	if c.Resp.ClockInfoVersions>>spec.MLX5_IB_CLOCK_INFO_V1&1 != 0 {
		c.clockInfo = c.mapCommand(spec.MLX5_IB_MMAP_CLOCK_INFO)
	}
	if c.Resp.CQEVersion > cqeVersionV1 {
		c.unmapClock()
		return errCQEVersion
	}
	c.queryDeviceCtx()
	for i := range min(maxPorts, c.Resp.NumPorts) {
		// A port that does not answer is asked again by whoever wants to know.
		if p, err := c.QueryPort(uint8(i + 1)); err == nil {
			c.ports[i] = portCache{p.LegacyResp.LinkLayer, p.LegacyResp.Flags}
		}
	}
	c.setSingletonNCUAR()
	return nil
}

// queryDeviceCtx models mlx5_query_device_ctx in providers/mlx5/verbs.c. What
// the device does not answer counts as absent.
func (c *Context) queryDeviceCtx() {
	c.getHCACaps()
	var uhw verbs.UHW
	if c.Resp.CmdsSuppUhw&spec.MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE != 0 {
		uhw.Out = spec.Bytes(new(spec.Mlx5QueryDeviceResp))[:queryDeviceRespSize]
	}
	c.Device, _ = c.QueryDevice(uhw)
}

// dumpFillMKey is the key of the null region, invalidLKey if the device has
// none.
func (c *Context) dumpFillMKey() uint32 {
	if c.Resp.CompMask&spec.MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY != 0 {
		return c.Resp.DumpFillMkey
	}
	return invalidLKey
}

// portCache is what the library keeps of a port: cached_link_layer and
// cached_port_flags of struct mlx5_context.
type portCache struct {
	linkLayer uint8 // 0 if it is not known
	flags     uint8
}

// IBV_LINK_LAYER_ETHERNET and IBV_QPF_GRH_REQUIRED of libibverbs/verbs.h.
const (
	linkLayerEthernet = 2
	qpfGRHRequired    = 1
)

// linkLayer says whether a port is one of Ethernet, and whether each of its
// paths has a global route.
//
// Errors: those of the kernel.
func (c *Context) linkLayer(port uint8) (isEth, grhRequired bool, err error) {
	var p portCache
	if port <= maxPorts {
		p = c.ports[port-1]
	}
	if p.linkLayer == 0 {
		resp, err := c.QueryPort(port)
		if err != nil {
			return false, false, err
		}
		p = portCache{resp.LegacyResp.LinkLayer, resp.LegacyResp.Flags}
	}
	return p.linkLayer == linkLayerEthernet, p.flags&qpfGRHRequired != 0, nil
}

// Close ends the context and all that was made in it. It models
// mlx5_free_context in providers/mlx5/mlx5.c.
func (c *Context) Close() {
	c.unmapClock()
	c.freeBFs()
	if c.ncUAR != nil {
		c.freeUAR(c.ncUAR)
		c.ncUAR = nil
	}
	c.records.unmap(c)
	c.Uninit()
}

// AllocPD makes a protection domain. It models mlx5_alloc_pd in
// providers/mlx5/verbs.c.
//
// Errors: those of the kernel.
func (c *Context) AllocPD() (*PD, error) {
	var resp spec.Mlx5AllocPDResp
	pd, err := c.CmdAllocPD(verbs.UHW{Out: spec.Bytes(&resp)})
	if err != nil {
		return nil, err
	}
	return &PD{PD: pd, PDN: resp.PDN, ctx: c}, nil
}

// PD is a protection domain with its number on the device.
type PD struct {
	*verbs.PD
	PDN uint32

	ctx *Context
}
