package record_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/interpose/record"
	"uverbsim/interpose/watch"
	"uverbsim/process"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// ops are the operations of a case.
func ops(c *casefile.Case) (ops []string) {
	for i := range c.Steps {
		ops = append(ops, c.Steps[i].Op())
	}
	return ops
}

// TestRealDevice: where the driver is not known, the calls tell it; where
// mappings lie is known by what they show.
func TestRealDevice(t *testing.T) {
	m := boot(t, record.Options{})
	m.look.Watcher = &blind{Watcher: m.recorder, mmaps: map[uint64]*watch.Call{}}
	m.start().stop()
	cases := m.cases()
	require.Len(t, cases, 1)
	require.Equal(t, "mlx5", cases[0].Driver)
	require.Empty(t, cases[0].Kernel)
	munmaps := 0
	for _, op := range ops(cases[0]) {
		if op == "munmap" {
			munmaps++
		}
	}
	require.Equal(t, 3, munmaps)
	play(t, cases[0])
}

// blind knows neither driver nor kernel, nor where a mapping came to lie.
type blind struct {
	watch.Watcher
	mmaps map[uint64]*watch.Call // by the address that they returned
}

func (b *blind) Enter(c *watch.Call) {
	c.Driver, c.Kernel, c.Device = spec.RDMA_DRIVER_UNKNOWN, nil, nil
	b.Watcher.Enter(c)
}

func (b *blind) Leave(c *watch.Call) {
	ret := c.Ret
	switch c.Name {
	case "mmap":
		b.mmaps[uint64(c.Ret)] = c
		c.Ret = 0
	case "munmap":
		c.Offset, c.File = b.mmaps[c.Addr].Offset, b.mmaps[c.Addr].File
	}
	b.Watcher.Leave(c)
	c.Ret = ret
}

// TestUnknownDriver: what cannot be a case is an error.
func TestUnknownDriver(t *testing.T) {
	for driver, want := range map[uint32]string{
		spec.RDMA_DRIVER_HFI1:    "a case cannot be for the driver with the id 15",
		spec.RDMA_DRIVER_UNKNOWN: "no call told what driver it is for",
	} {
		var told []string
		m := boot(t, record.Options{Report: func(err error) { told = append(told, err.Error()) }})
		for _, name := range []string{"open", "close"} {
			c := &watch.Call{Name: name, PID: 7, FD: -1, File: 1, Driver: driver, Ret: 3}
			m.recorder.Enter(c)
			m.recorder.Leave(c)
		}
		require.ErrorContains(t, m.recorder.Close(), want)
		require.Len(t, told, 1)
	}
}

// TestPassedDescriptor: a file that was opened after the fork is passed to the
// child.
func TestPassedDescriptor(t *testing.T) {
	m := boot(t, record.Options{})
	sys := m.look.Watch(m.kernel.NewProcess(process.Options{}))
	first, err := sys.Open(node, syscall.O_RDWR)
	require.NoError(t, err)
	child, err := sys.Fork()
	require.NoError(t, err)
	at, err := verbs.Alloc(child, 4096)
	require.NoError(t, err)
	require.True(t, child.Store(at, portQuery(at)))
	_, err = child.Ioctl(first, spec.RDMA_VERBS_IOCTL, at)
	require.ErrorIs(t, err, syscall.EINVAL, "no context yet")
	second, err := sys.Open(node, syscall.O_RDWR)
	require.NoError(t, err)
	passed, err := sys.SendFD(second, child.Process)
	require.NoError(t, err)
	child.Adopt(passed, sys, second)
	_, err = child.Ioctl(passed, spec.RDMA_VERBS_IOCTL, at)
	require.ErrorIs(t, err, syscall.EINVAL)
	child.Exit()
	require.NoError(t, sys.Close(first))
	require.NoError(t, sys.Close(second))
	cases := m.cases()
	require.Len(t, cases, 1)
	require.Equal(t, []string{"open", "fork", "ioctl", "open", "recvfd", "ioctl", "exit", "close", "close"}, ops(cases[0]))
	play(t, cases[0])
}

// TestTwoOpensAreClosedOneByOne: the case ends with the last.
func TestTwoOpensAreClosedOneByOne(t *testing.T) {
	m := boot(t, record.Options{})
	p := m.start()
	fd, err := p.sys.Open(node, syscall.O_WRONLY|syscall.O_CLOEXEC)
	require.NoError(t, err)
	require.NoError(t, p.sys.Close(fd))
	p.stop()
	cases := m.cases()
	require.Len(t, cases, 1)
	play(t, cases[0])
}

// TestRereg: only a registration that moves has an address.
func TestRereg(t *testing.T) {
	m := boot(t, record.Options{})
	p := m.start()
	at, mr := p.memory(8192)
	for _, flags := range []uint32{spec.IB_MR_REREG_TRANS, spec.IB_MR_REREG_ACCESS} {
		require.NoError(t, mr.Rereg(flags, p.pd.PD, at+4096, 100, verbs.IBV_ACCESS_LOCAL_WRITE))
	}
	require.NoError(t, mr.Dereg())
	p.stop()
	cases := m.cases()
	relocs := 0
	for _, b := range cases[0].Bufs {
		relocs += len(b.Reloc)
	}
	require.Equal(t, 2+2, relocs, "of the registration and of the one that moves")
	play(t, cases[0])
}

// TestLongCase: a case ends where it becomes too long to be read, and says so.
func TestLongCase(t *testing.T) {
	m := boot(t, record.Options{})
	p := m.start()
	in, out := make([]byte, 16), make([]byte, 60000)
	binary.BigEndian.PutUint16(in, 0x100) // MLX5_CMD_OP_QUERY_HCA_CAP
	in[7] = 1
	for range 200 {
		f := p.ctx.Frame()
		cmd := f.CommandBuffer(spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_OTHER, 2, nil)
		cmd.FillAttrIn(spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in)
		cmd.FillAttrOut(spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out)
		require.NoError(t, p.ctx.ExecuteIoctl(cmd))
		f.Leave()
	}
	p.stop()
	cases := m.cases()
	require.Len(t, cases, 1)
	require.Contains(t, cases[0].Why, "the last ")
	require.Greater(t, len(cases[0].Steps), 60)
	info, err := os.Stat(m.file)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(16<<20))
	play(t, cases[0])
}

// TestOddArguments: what lies where memory ends, or nowhere, is there again.
func TestOddArguments(t *testing.T) {
	m := boot(t, record.Options{})
	sys := m.look.Watch(m.kernel.NewProcess(process.Options{}))
	fd, err := sys.Open(node, syscall.O_RDWR)
	require.NoError(t, err)
	at, err := verbs.Alloc(sys, 2*4096)
	require.NoError(t, err)
	require.NoError(t, sys.Munmap(at+4096, 4096))
	query := portQuery(at)
	ioctl := func(arg copyuser.Addr, b []byte) {
		if b != nil {
			require.True(t, sys.Store(arg, b))
		}
		_, err := sys.Ioctl(fd, spec.RDMA_VERBS_IOCTL, arg)
		require.Error(t, err)
	}
	ioctl(0, nil)
	ioctl(0x5ead_0000_0000, nil)
	ioctl(1<<63, nil)
	ioctl(at+4096-12, nil)
	ioctl(at+4096-24, query[:24])
	ioctl(at+4096-40, query[:40])
	ioctl(at+4096-60, query[:56])
	for _, response := range []uint64{0, 0x5ead_0000_0000, 1 << 63, uint64(at) + 4096 - 20} {
		b := slices.Clone(query)
		binary.LittleEndian.PutUint64(b[len(b)-8:], response)
		ioctl(at, b)
	}
	b := slices.Clone(query)
	binary.LittleEndian.PutUint64(b[8:], 1) // reserved1
	ioctl(at, b)
	_, err = sys.Ioctl(fd, 0x1234, at)
	require.ErrorIs(t, err, syscall.ENOTTY)
	for _, n := range []uint64{0, 4, 8, 24} {
		_, err = sys.Write(fd, at+4096-8, n)
		require.Error(t, err)
	}
	_, err = sys.Mmap(fd, 4096, syscall.PROT_NONE, syscall.MAP_PRIVATE, 0x123000)
	require.Error(t, err)
	require.NoError(t, sys.Close(fd))
	cases := m.cases()
	require.Len(t, cases, 1)
	require.Equal(t, "open"+strings.Repeat(" ioctl", 13)+strings.Repeat(" write", 4)+" mmap close", strings.Join(ops(cases[0]), " "))
	play(t, cases[0])
}

// TestWriteABI: commands by write(2).
func TestWriteABI(t *testing.T) {
	m := boot(t, record.Options{})
	sys := m.look.Watch(m.kernel.NewProcess(process.Options{}))
	fd, err := sys.Open(node, syscall.O_RDWR)
	require.NoError(t, err)
	at, err := verbs.Alloc(sys, 3*4096)
	require.NoError(t, err)
	resp := uint64(at) + 4096
	write := func(command uint32, room int, request ...uint64) {
		b := make([]byte, 8, 64)
		binary.LittleEndian.PutUint32(b, command)
		binary.LittleEndian.PutUint16(b[4:], uint16(2+2*len(request)))
		binary.LittleEndian.PutUint16(b[6:], uint16(room/4))
		for _, n := range request {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		require.True(t, sys.Store(at, b))
		n, err := sys.Write(fd, at, uint64(len(b)))
		require.NoError(t, err)
		require.Equal(t, int64(len(b)), n)
	}
	const ucontext = 16 | 4<<32 // Mlx5AllocUcontextReq
	write(spec.IB_USER_VERBS_CMD_GET_CONTEXT, 8+72, resp, ucontext)
	write(spec.IB_USER_VERBS_CMD_ALLOC_PD, 4+4, resp)
	pd := make([]byte, 4)
	require.True(t, sys.Load(copyuser.Addr(resp), pd))
	memory := uint64(at) + 2*4096 + 128
	write(spec.IB_USER_VERBS_CMD_REG_MR, 12, resp, memory, 1000, memory, uint64(binary.LittleEndian.Uint32(pd))|1<<32)
	require.NoError(t, sys.Close(fd))
	cases := m.cases()
	require.Len(t, cases, 1)
	require.Equal(t, []string{"open", "write", "write", "write", "close"}, ops(cases[0]))
	reg := cases[0].Steps[3].Do.(*casefile.Write)
	require.Len(t, reg.Reloc, 3, "the answer's address and two of memory")
	play(t, cases[0])

	reg.Data[24]++ // the length of the memory is not what is answered
	reg.Reloc = reg.Reloc[:1]
	require.False(t, player.Play(new(model.Model), cases[0], player.Options{}).Passed())
}

// TestProc: without a function of its own a Recorder asks /proc.
func TestProc(t *testing.T) {
	m := boot(t, record.Options{Process: func(int) record.Process { return record.OfProc(os.Getpid()) }})
	p := record.OfProc(os.Getpid())
	require.Equal(t, os.Args, p.Args)
	require.Equal(t, uint32(os.Geteuid()), p.UID)
	require.Equal(t, uint32(os.Getegid()), p.GID)
	require.Equal(t, record.Process{Caps: 1<<41 - 1, Memlock: -1}, record.OfProc(-1))
	m.start().stop()
	cases := m.cases()
	require.Len(t, cases, 1)
	require.True(t, strings.HasPrefix(cases[0].Name, "recorded/record.test-"), cases[0].Name)
}

// TestProcOfAnother: the limit is the soft one, and of a program that has ended all is
// left but its command line.
func TestProcOfAnother(t *testing.T) {
	program := exec.Command("sleep", "1000")
	require.NoError(t, program.Start())
	pid := program.Process.Pid
	var old unix.Rlimit
	require.NoError(t, unix.Prlimit(pid, unix.RLIMIT_MEMLOCK, nil, &old))
	require.NoError(t, unix.Prlimit(pid, unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 12288, Max: old.Max}, nil))
	p := record.OfProc(pid)
	require.NoError(t, program.Process.Kill())
	require.EqualValues(t, 12288, p.Memlock)

	require.NoError(t, unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	p.Args = nil
	require.Equal(t, p, record.OfProc(pid))
	_ = program.Wait() // it says that the program was killed
	require.Equal(t, record.Process{Caps: 1<<41 - 1, Memlock: -1}, record.OfProc(pid))
}
