package bench

import (
	"syscall"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

// drivers are those of the model.
var drivers = map[string]uint32{"rxe": spec.RDMA_DRIVER_RXE, "mlx5": spec.RDMA_DRIVER_MLX5}

// modelled is a thread on a machine with that driver's device.
type modelled struct {
	player.Task
	task *process.Task
	// answers, if it is set, may change what an ioctl is answered.
	answers func(err error) error
	ioctls  int
	pace    func() // called for each ioctl
}

func newModelled(driver string) (*modelled, func(), error) {
	m, err := new(model.Model).Boot(&casefile.Case{Driver: driver})
	if err != nil {
		return nil, nil, err
	}
	t := m.Process().(*model.Task)
	return &modelled{Task: t, task: t.Modelled()}, m.Shutdown, nil
}

func (m *modelled) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	m.ioctls++
	if m.pace != nil {
		m.pace()
	}
	n, err := m.task.Ioctl(fd, cmd, copyuser.Addr(arg))
	if m.answers != nil {
		err = m.answers(err)
	}
	return n, err
}

func (m *modelled) Write(fd int, addr, n uint64) (int64, error) {
	return m.task.Write(fd, copyuser.Addr(addr), n)
}

// closed is a task that can open nothing.
type closed struct{ Task }

func (closed) Open(int) (int, error) { return -1, syscall.EACCES }
