package demo

import (
	"errors"
	"fmt"
	"syscall"

	"uverbsim/drivers/mlx5"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/trace"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// node is the device's node.
const node = "/dev/infiniband/uverbs0"

// machine is a booted machine with a program on it, and what the program has
// made by now.
type machine struct {
	rec  *recorder
	prog *program
	dev  *mlx5.Device

	ctx     *libmlx5.Context
	channel *verbs.CompChannel
	cq      *libmlx5.CQ
	qp      *libmlx5.QP
}

// boot returns a machine with one mlx5 device and a process that has descriptors
// 0 to 2 open.
func boot() (*machine, error) {
	rec := new(recorder)
	rec.act("") // the driver's work, which is no act of the program's
	m := &machine{rec: rec}
	k := kernel.NewMachine(methods.Core())
	var err error
	if m.dev, err = mlx5.New(k, mlx5.Config{Trace: trace.NewTask(0, rec)}); err != nil {
		return nil, err
	}
	p := k.NewProcess(process.Options{PID: 1, Trace: trace.NewTask(1, rec)})
	m.prog = &program{p: p, rec: rec}
	return m, standardFiles(p.MainTask())
}

// standardFiles opens descriptors 0 to 2, which are no RDMA files.
func standardFiles(t *process.Task) error {
	for range 3 {
		fd, err := t.GetUnusedFD(false)
		if err != nil {
			return err
		}
		f, err := process.NewFile(t, new(process.FileOps), nil, syscall.O_RDWR)
		if err != nil {
			return err
		}
		t.FDInstall(fd, f)
	}
	return nil
}

// The things that the program does, one by one.

func (m *machine) open() (err error) {
	m.ctx, err = libmlx5.OpenDevice(m.prog, node)
	return err
}

func (m *machine) createChannel() (err error) {
	m.channel, err = m.ctx.CreateCompChannel()
	return err
}

// entries is what the queue is asked to have room for.
const entries = 256

func (m *machine) createCQ() error { return m.createCQWith(0) }

func (m *machine) createCQWith(vector uint32) (err error) {
	m.cq, err = m.ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{
		CQE: entries - 1, Channel: m.channel, CompVector: vector}})
	if err != nil {
		return err
	}
	m.rec.places = append(m.rec.places, place{m.cq.Buffer().Addr, m.cq.Buffer().Length, "the entries"},
		place{m.cq.Record(), 8, "the doorbell record"})
	return nil
}

// errNotPlayed is the error of a step that went another way than it should.
var errNotPlayed = errors.New("demo: a step did not go as it should")

func notPlayed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNotPlayed, fmt.Sprintf(format, args...))
}

// createQP makes the queue pair that a message arrives for, with a request that
// takes it. The trip is about the completion queue, so the acts are not shown.
func (m *machine) createQP() error {
	defer m.rec.take()
	pd, err := m.ctx.AllocPD()
	if err != nil {
		return err
	}
	m.qp, err = m.ctx.CreateQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: m.cq, RecvCQ: m.cq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxRecvWR: 1, MaxRecvSGE: 1}})
	if err != nil {
		return err
	}
	const mask = verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT | verbs.IBV_QP_ACCESS_FLAGS
	if err := m.qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1}, mask); err != nil {
		return err
	}
	_, err = m.qp.PostRecv(&libmlx5.RecvWR{})
	return err
}

// destroyQP ends what createQP has made.
func (m *machine) destroyQP() error {
	defer m.rec.take()
	pd := m.qp.PD
	if err := m.qp.Destroy(); err != nil {
		return err
	}
	return pd.Dealloc()
}
