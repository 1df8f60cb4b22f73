package record_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5"
	"uverbsim/interpose/record"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/sim_test/clients/onlooker"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

const node = "/dev/infiniband/uverbs0"

// machine is a machine with an mlx5 device, whose programs are recorded.
type machine struct {
	*testing.T
	kernel   *kernel.Machine
	dev      *mlx5.Device
	look     *onlooker.Machine
	recorder *record.Recorder
	file     string
}

func boot(t *testing.T, opts record.Options) *machine {
	m := &machine{T: t, kernel: kernel.NewMachine(methods.Core()), file: filepath.Join(t.TempDir(), "cases.jsonl")}
	var err error
	m.dev, err = mlx5.New(m.kernel, mlx5.Config{})
	require.NoError(t, err)
	f, err := os.Create(m.file)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	if opts.Process == nil {
		opts.Process = func(int) record.Process {
			return record.Process{Args: []string{"/usr/bin/program", "-v"}, Caps: 1<<41 - 1, Memlock: 8 << 20}
		}
	}
	m.recorder, err = record.New(f, opts)
	require.NoError(t, err)
	m.look = &onlooker.Machine{Watcher: m.recorder, Kernel: spec.Linux6_12, Device: m.dev.Uverbs, Settle: m.settle}
	return m
}

func (m *machine) settle() {
	for m.dev.Step(nil) {
		continue
	}
}

// cases closes the recorder and returns what it has written.
func (m *machine) cases() []*casefile.Case {
	m.Helper()
	require.NoError(m, m.recorder.Close())
	cases, err := casefile.ReadFile(m.file)
	require.NoError(m, err)
	return cases
}

// program is a program that has opened the device.
type program struct {
	*machine
	sys *onlooker.System
	ctx *libmlx5.Context
	pd  *libmlx5.PD
	gid [16]byte
}

func (m *machine) start() *program {
	m.Helper()
	p := &program{machine: m, sys: m.look.Watch(m.kernel.NewProcess(process.Options{}))}
	p.open()
	return p
}

func (p *program) open() {
	p.Helper()
	var err error
	p.ctx, err = libmlx5.OpenDevice(p.sys, node)
	require.NoError(p, err)
	p.pd, err = p.ctx.AllocPD()
	require.NoError(p, err)
	p.gid, err = p.ctx.QueryGID(1, 1)
	require.NoError(p, err)
}

// stop closes the device.
func (p *program) stop() {
	require.NoError(p, p.pd.Dealloc())
	p.ctx.Close()
	p.sys.Exit()
}

// memory registers memory that does not begin at a page.
func (p *program) memory(n uint64) (copyuser.Addr, *verbs.MR) {
	p.Helper()
	at, err := verbs.Alloc(p.sys, n+4096)
	require.NoError(p, err)
	at += 256
	mr, err := p.pd.RegMR(at, n, uint64(at), verbs.IBV_ACCESS_LOCAL_WRITE|verbs.IBV_ACCESS_REMOTE_WRITE|verbs.IBV_ACCESS_MW_BIND)
	require.NoError(p, err)
	return at, mr
}

// end is an end of a connection.
type end struct {
	*program
	ch *verbs.CompChannel
	cq *libmlx5.CQ
	qp *libmlx5.QP
	mr *verbs.MR
	at copyuser.Addr
}

func (p *program) newEnd() *end {
	p.Helper()
	e := &end{program: p}
	var err error
	e.at, e.mr = p.memory(4096)
	e.ch, err = p.ctx.CreateCompChannel()
	require.NoError(p, err)
	e.cq, err = p.ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 501, Channel: e.ch}})
	require.NoError(p, err)
	e.qp, err = p.ctx.CreateQP(&libmlx5.QPInitAttr{PD: p.pd, SendCQ: e.cq, RecvCQ: e.cq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 500, MaxSendSGE: 1, MaxRecvSGE: 1}})
	require.NoError(p, err)
	_, _, err = e.qp.Query(verbs.IBV_QP_CAP)
	require.NoError(p, err)
	require.NoError(p, e.qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1},
		verbs.IBV_QP_STATE|verbs.IBV_QP_PKEY_INDEX|verbs.IBV_QP_PORT|verbs.IBV_QP_ACCESS_FLAGS))
	return e
}

func (e *end) connect(to *end) {
	e.Helper()
	require.NoError(e, e.qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RTR, PathMTU: verbs.IBV_MTU_1024, DestQPNum: to.qp.Num, MinRNRTimer: 12,
		AHAttr: verbs.AHAttr{IsGlobal: true, PortNum: 1, GRH: verbs.GlobalRoute{DGID: to.gid, SGIDIndex: 1, HopLimit: 64}}},
		verbs.IBV_QP_STATE|verbs.IBV_QP_AV|verbs.IBV_QP_PATH_MTU|verbs.IBV_QP_DEST_QPN|verbs.IBV_QP_RQ_PSN|
			verbs.IBV_QP_MAX_DEST_RD_ATOMIC|verbs.IBV_QP_MIN_RNR_TIMER))
	require.NoError(e, e.qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RTS, Timeout: 14, RetryCnt: 7, RNRRetry: 7},
		verbs.IBV_QP_STATE|verbs.IBV_QP_TIMEOUT|verbs.IBV_QP_RETRY_CNT|verbs.IBV_QP_RNR_RETRY|verbs.IBV_QP_SQ_PSN|verbs.IBV_QP_MAX_QP_RD_ATOMIC))
}

// send sends a message from one end to the other, which waits for it with an
// event.
func (e *end) send(to *end) {
	e.Helper()
	require.NoError(e, to.cq.ReqNotify(false))
	_, err := to.qp.PostRecv(&libmlx5.RecvWR{SGList: []verbs.SGE{{Addr: to.at, Length: 1024, LKey: to.mr.LKey}}})
	require.NoError(e, err)
	_, err = e.qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_SIGNALED,
		SGList: []verbs.SGE{{Addr: e.at, Length: 64, LKey: e.mr.LKey}}})
	require.NoError(e, err)
	e.settle()
	cq, err := to.ctx.GetCQEvent(to.ch)
	require.NoError(e, err)
	cq.AckEvents(1)
	for _, side := range []*end{e, to} {
		n, err := side.cq.Poll(make([]libmlx5.WC, 4))
		require.NoError(e, err)
		require.Equal(e, 1, n)
	}
}

func (e *end) destroy() {
	e.Helper()
	_, _, err := e.qp.Query(verbs.IBV_QP_STATE | verbs.IBV_QP_SQ_PSN | verbs.IBV_QP_RQ_PSN)
	require.NoError(e, err)
	for _, do := range []func() error{e.qp.Destroy, e.cq.Destroy, e.ch.Destroy, e.mr.Dereg} {
		require.NoError(e, do())
	}
}

// programs are what is recorded, by name, each on a machine of its own.
var programs = map[string]func(m *machine){
	"query": func(m *machine) {
		p := m.start()
		for i := range uint32(16) {
			_, _ = p.ctx.QueryGIDEntry(1, i) // the empty ones are refused
		}
		_, err := p.ctx.QueryPort(1)
		require.NoError(m, err)
		_, err = p.ctx.QueryGIDTable(16)
		require.NoError(m, err)
		p.stop()
	},
	"ping-pong": func(m *machine) {
		server, client := m.start().newEnd(), m.start().newEnd()
		server.connect(client)
		client.connect(server)
		for range 3 {
			client.send(server)
			server.send(client)
		}
		client.destroy()
		server.destroy()
		client.stop()
		server.stop()
	},
	"shared receive queue": func(m *machine) {
		p := m.start()
		cq, err := p.ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 16}})
		require.NoError(m, err)
		srq, err := p.pd.CreateSRQ(&libmlx5.SRQInitAttr{Attr: verbs.SRQAttr{MaxWR: 500, MaxSGE: 1}})
		require.NoError(m, err)
		var qps []*libmlx5.QP
		for range 4 {
			qp, err := p.ctx.CreateQP(&libmlx5.QPInitAttr{PD: p.pd, SendCQ: cq, RecvCQ: cq, SRQ: srq, Type: verbs.IBV_QPT_RC,
				Cap: verbs.QPCap{MaxSendWR: 1, MaxSendSGE: 1}})
			require.NoError(m, err)
			qps = append(qps, qp)
		}
		require.ErrorIs(m, srq.Destroy(), syscall.EBUSY)
		for _, qp := range qps {
			require.NoError(m, qp.Destroy())
		}
		require.NoError(m, cq.Resize(100))
		require.NoError(m, srq.Destroy())
		require.NoError(m, cq.Destroy())
		p.stop()
	},
	"XRC": func(m *machine) {
		p := m.start()
		xrcd, err := p.ctx.OpenXRCD(-1, syscall.O_CREAT)
		require.NoError(m, err)
		cq, err := p.ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 16}})
		require.NoError(m, err)
		srq, err := p.pd.CreateSRQ(&libmlx5.SRQInitAttr{Attr: verbs.SRQAttr{MaxWR: 3, MaxSGE: 1}, Type: verbs.IBV_SRQT_XRC, XRCD: xrcd, CQ: cq})
		require.NoError(m, err)
		target, err := p.ctx.CreateQP(&libmlx5.QPInitAttr{XRCD: xrcd, Type: verbs.IBV_QPT_XRC_RECV})
		require.NoError(m, err)
		initiator, err := p.ctx.CreateQP(&libmlx5.QPInitAttr{PD: p.pd, SendCQ: cq, Type: verbs.IBV_QPT_XRC_SEND, Cap: verbs.QPCap{MaxSendWR: 4, MaxSendSGE: 1}})
		require.NoError(m, err)
		require.ErrorIs(m, xrcd.Close(), syscall.EBUSY)
		file := p.ctx.CmdFD // any will do
		first, err := p.ctx.OpenXRCD(file, syscall.O_CREAT)
		require.NoError(m, err)
		_, err = p.ctx.OpenXRCD(file, syscall.O_CREAT|syscall.O_EXCL)
		require.ErrorIs(m, err, syscall.EINVAL, "it has a domain")
		_, err = p.ctx.OpenXRCD(99, syscall.O_CREAT)
		require.ErrorIs(m, err, syscall.EBADF)
		for _, destroy := range []func() error{first.Close, target.Destroy, initiator.Destroy, srq.Destroy, xrcd.Close, cq.Destroy} {
			require.NoError(m, destroy())
		}
		p.stop()
	},
	"memory": func(m *machine) {
		p := m.start()
		at, mr := p.memory(10000)
		mw, err := p.pd.AllocMW(verbs.IBV_MW_TYPE_2)
		require.NoError(m, err)
		_, err = p.pd.RegMR(at, 1<<20, uint64(at), verbs.IBV_ACCESS_LOCAL_WRITE)
		require.ErrorIs(m, err, syscall.EFAULT, "memory ends before")
		_, err = p.pd.RegMR(0x7000_0000_0000, 8, 0x7000_0000_0000, verbs.IBV_ACCESS_LOCAL_WRITE)
		require.ErrorIs(m, err, syscall.EFAULT, "there is no memory")
		require.NoError(m, p.sys.Mprotect(at&^4095, 4096, syscall.PROT_READ))
		_, err = p.pd.RegMR(at, 100, uint64(at), verbs.IBV_ACCESS_LOCAL_WRITE)
		require.ErrorIs(m, err, syscall.EFAULT, "it cannot be written")
		_, err = p.pd.RegMR(at+4096, 100, 0x1234, verbs.IBV_ACCESS_REMOTE_WRITE)
		require.ErrorIs(m, err, syscall.EINVAL)
		require.NoError(m, mw.Dealloc())
		require.NoError(m, mr.Dereg())
		p.stop()
	},
	"DEVX": func(m *machine) {
		p := m.start()
		at, err := verbs.Alloc(p.sys, 8192)
		require.NoError(m, err)
		umem := p.umem(at+64, 4096)
		f := p.ctx.Frame()
		in, out := make([]byte, 24), make([]byte, 16)
		binary.BigEndian.PutUint16(in, 0x800) // MLX5_CMD_OP_ALLOC_PD
		cmd := f.CommandBuffer(spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_CREATE, 3, nil)
		object := cmd.FillAttrOutObj(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE)
		cmd.FillAttrIn(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in)
		cmd.FillAttrOut(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out)
		require.NoError(m, p.ctx.ExecuteIoctl(cmd))
		h := verbs.ReadAttrObj(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, object)
		f.Leave()
		p.destroyDEVX(spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_DESTROY, h)
		p.destroyDEVX(spec.MLX5_IB_OBJECT_DEVX_UMEM, spec.MLX5_IB_METHOD_DEVX_UMEM_DEREG, umem)
		p.stop()
	},
}

// umem registers memory for firmware commands.
func (p *program) umem(at copyuser.Addr, n uint64) uint32 {
	p.Helper()
	f := p.ctx.Frame()
	defer f.Leave()
	var id uint32
	cmd := f.CommandBuffer(spec.MLX5_IB_OBJECT_DEVX_UMEM, spec.MLX5_IB_METHOD_DEVX_UMEM_REG, 5, nil)
	handle := cmd.FillAttrOutObj(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE)
	cmd.FillAttrInUint64(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, uint64(at))
	cmd.FillAttrInUint64(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, n)
	cmd.FillAttrInUint32(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, verbs.IBV_ACCESS_LOCAL_WRITE)
	verbs.FillAttrOutPtr(cmd, spec.MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &id)
	require.NoError(p, p.ctx.ExecuteIoctl(cmd))
	return verbs.ReadAttrObj(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, handle)
}

func (p *program) destroyDEVX(object, method uint16, handle uint32) {
	p.Helper()
	f := p.ctx.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(object, method, 1, nil)
	cmd.FillAttrInObj(0x1000, handle)
	require.NoError(p, p.ctx.ExecuteIoctl(cmd))
}

// play plays a case on a fresh model and fails the test where an answer differs.
func play(t *testing.T, c *casefile.Case) {
	t.Helper()
	r := player.Play(new(model.Model), c, player.Options{})
	assert.NoError(t, r.Err, c.Name)
	for i, s := range r.Steps {
		for _, d := range s.Differences {
			t.Errorf("%s: step %d (%s): %v", c.Name, i, c.Steps[i].Op(), d)
		}
	}
}
