package process_test

import (
	"errors"
	"math"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
)

type addr = copyuser.Addr

// vfs is a VFS of one function.
type vfs func(t *process.Task, path string, flags int) (*process.File, error)

func (v vfs) Open(t *process.Task, path string, flags int) (*process.File, error) {
	return v(t, path, flags)
}

func TestOpen(t *testing.T) {
	var flags int
	p := process.New(vfs(func(t *process.Task, path string, f int) (*process.File, error) {
		flags = f
		return process.NewFile(t, &process.FileOps{}, path, f)
	}), process.Options{})
	fd, err := p.Open("/dev/x", syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_CREAT)
	require.NoError(t, err)
	require.Equal(t, syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_CREAT, flags)
	f := p.MainTask().Fget(fd)
	defer f.Put(nil)
	require.Equal(t, "/dev/x", f.Private)
	require.Equal(t, syscall.O_RDWR|syscall.O_NONBLOCK, f.Flags(), "what matters to the open alone is gone")
	require.Same(t, p.Cred(), f.Cred)
	require.Equal(t, int64(2), f.Refs())
	require.NoError(t, p.Setuid(1))
	require.NotSame(t, p.Cred(), f.Cred)

	p = process.New(newNode(process.FileOps{}), process.Options{})
	require.NoError(t, p.Setuid(1))
	open(t, p, syscall.O_RDWR)
	n := newNode(process.FileOps{})
	n.mode = 0o644
	p = process.New(n, process.Options{})
	open(t, p, syscall.O_RDWR)
	require.NoError(t, p.Setuid(1))
	open(t, p, syscall.O_RDONLY)
	_, err = p.Open("dev", syscall.O_RDWR)
	require.ErrorIs(t, err, rule.OpenPermission)

	p = withFailing(newNode(process.FileOps{}), "alloc_empty_file")
	_, err = p.Open("dev", 0)
	require.ErrorIs(t, err, rule.FileAlloc)
	require.Zero(t, p.FDCount())
}

func TestFileModes(t *testing.T) {
	task := process.New(nil, process.Options{}).MainTask()
	for _, c := range []struct {
		flags       int
		read, write bool
	}{
		{syscall.O_RDONLY, true, false},
		{syscall.O_WRONLY, false, true},
		{syscall.O_RDWR | syscall.O_NONBLOCK, true, true},
		{syscall.O_ACCMODE, false, false},
	} {
		f, err := process.NewFile(task, &process.FileOps{}, nil, c.flags)
		require.NoError(t, err)
		require.Equal(t, c.read, f.Readable(), "%#x", c.flags)
		require.Equal(t, c.write, f.Writable(), "%#x", c.flags)
		require.Equal(t, c.flags&syscall.O_NONBLOCK != 0, f.Nonblock())
	}
}

func TestNewAnonFile(t *testing.T) {
	p := process.New(nil, process.Options{})
	ops := &process.FileOps{}
	f, err := process.NewAnonFile(p.MainTask(), ops, "x", syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC|syscall.O_APPEND)
	require.NoError(t, err)
	require.Same(t, ops, f.Ops)
	require.Equal(t, "x", f.Private)
	require.Equal(t, syscall.O_RDONLY|syscall.O_NONBLOCK, f.Flags())
	require.Same(t, p.Cred(), f.Cred)
	_, err = process.NewAnonFile(withFailing(nil, "anon_inode_getfile").MainTask(), ops, nil, 0)
	require.ErrorIs(t, err, rule.FileAlloc)
}

// TestReadWrite: what the VFS looks at before the file, in its order, and what
// the file is asked.
func TestReadWrite(t *testing.T) {
	var gotBuf addr
	var gotN uint64
	answer, failure := int64(3), error(nil)
	op := func(_ *process.Task, _ *process.File, buf addr, n uint64) (int64, error) {
		gotBuf, gotN = buf, n
		return answer, failure
	}
	full := process.FileOps{Read: op, Write: op}
	const kernel = addr(0xffff800000000000)
	for _, c := range []struct {
		name              string
		ops               process.FileOps
		flags             int
		buf               addr
		n                 uint64
		readErr, writeErr error
	}{
		{"both", full, syscall.O_RDWR, 0x1000, 5, nil, nil},
		{"nothing", full, syscall.O_RDWR, 0x1000, 0, nil, nil},
		{"unmapped is the file's to find out", full, syscall.O_RDWR, 0x5ead00000000, 5, nil, nil},
		{"read-only", full, syscall.O_RDONLY, kernel, 5, rule.ReadBuffer, rule.WriteMode},
		{"write-only", full, syscall.O_WRONLY, kernel, 5, rule.ReadMode, rule.WriteBuffer},
		{"no operations", process.FileOps{}, syscall.O_RDWR, kernel, 5, rule.ReadNoOperation, rule.WriteNoOperation},
		{"no operations, read-only", process.FileOps{}, syscall.O_RDONLY, 0, 5, rule.ReadNoOperation, rule.WriteMode},
		{"kernel", full, syscall.O_RDWR, kernel, 0, rule.ReadBuffer, rule.WriteBuffer},
		{"into the kernel", full, syscall.O_RDWR, copyuser.TaskSizeMax - 8, 9, rule.ReadBuffer, rule.WriteBuffer},
		{"length wraps", full, syscall.O_RDWR, 0x1000, math.MaxUint64, rule.ReadBuffer, rule.WriteBuffer},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(c.ops)
			p := process.New(n, process.Options{})
			fd := open(t, p, c.flags)
			for _, call := range []struct {
				do   func(int, addr, uint64) (int64, error)
				want error
			}{{p.Read, c.readErr}, {p.Write, c.writeErr}} {
				gotN = 99
				ret, err := call.do(fd, c.buf, c.n)
				if call.want != nil {
					require.ErrorIs(t, err, call.want)
					require.Equal(t, int64(-1), ret)
					require.Equal(t, uint64(99), gotN, "the file was not asked")
					continue
				}
				require.NoError(t, err)
				require.Equal(t, int64(3), ret)
				require.Equal(t, c.buf, gotBuf)
				require.Equal(t, c.n, gotN)
			}
			require.NoError(t, p.Close(fd))
			require.Len(t, n.released, 1, "no reference is left")
		})
	}

	p := process.New(newNode(full), process.Options{})
	fd := open(t, p, syscall.O_RDWR)
	_, err := p.Read(fd, 0x1000, 1<<40)
	require.NoError(t, err)
	require.Equal(t, uint64(0x7ffff000), gotN, "MAX_RW_COUNT")
	failure = rule.CgroupExceeded
	_, err = p.Write(fd, 0x1000, 1)
	require.Same(t, failure, err)
	failure = process.ERESTARTSYS
	_, err = p.Read(fd, 0x1000, 1)
	require.ErrorIs(t, err, syscall.EINTR)
}

func TestIoctl(t *testing.T) {
	var failure error
	ops := process.FileOps{Ioctl: func(_ *process.Task, _ *process.File, cmd uint32, arg addr) (int64, error) {
		require.Equal(t, addr(0x77), arg)
		return int64(cmd), failure
	}}
	p := process.New(newNode(ops), process.Options{})
	fd := open(t, p, syscall.O_WRONLY)
	ret, err := p.Ioctl(fd, 0xc0181b01, 0x77)
	require.NoError(t, err)
	require.Equal(t, int64(0xc0181b01), ret)
	for _, c := range []struct{ from, want error }{
		{rule.ENOIOCTLCMD, rule.IoctlUnknown},
		{&rule.Rule{Errno: rule.ENOIOCTLCMD}, rule.IoctlUnknown},
		{process.ERESTARTSYS, rule.Interrupted},
		{syscall.EINVAL, syscall.EINVAL},
		{rule.FDNoneFree, rule.FDNoneFree},
	} {
		failure = c.from
		ret, err := p.Ioctl(fd, 1, 0x77)
		require.ErrorIs(t, err, c.want)
		require.Equal(t, int64(-1), ret)
	}
	require.Equal(t, syscall.ENOTTY, rule.Errno(rule.IoctlUnknown))

	p = process.New(newNode(process.FileOps{}), process.Options{})
	_, err = p.Ioctl(open(t, p, 0), 0xc0181b01, 0)
	require.ErrorIs(t, err, syscall.ENOTTY)
}

// TestGenericIoctls: commands that the VFS answers itself.
func TestGenericIoctls(t *testing.T) {
	ops := process.FileOps{Ioctl: func(*process.Task, *process.File, uint32, addr) (int64, error) {
		return 0, errors.New("the driver was asked")
	}}
	p := process.New(newNode(ops), process.Options{})
	fd, kept := open(t, p, syscall.O_RDWR), open(t, p, syscall.O_RDWR|syscall.O_CLOEXEC)
	ret, err := p.Ioctl(fd, process.FIOCLEX, 0x5ead00000000)
	require.NoError(t, err)
	require.Zero(t, ret)
	_, err = p.Ioctl(kept, process.FIONCLEX, 0)
	require.NoError(t, err)
	_, err = p.Ioctl(fd, process.FIOQSIZE, 0)
	require.ErrorIs(t, err, rule.IoctlFioqsize)

	a := buffer(t, p, "\x01\x00\x00\x00\x00\x00\x00\x00")
	f := p.MainTask().Fget(fd)
	defer f.Put(nil)
	_, err = p.Ioctl(fd, process.FIONBIO, a)
	require.NoError(t, err)
	require.True(t, f.Nonblock())
	_, err = p.Ioctl(fd, process.FIONBIO, a+4)
	require.NoError(t, err)
	require.False(t, f.Nonblock())
	_, err = p.Ioctl(fd, process.FIONBIO, 0)
	require.ErrorIs(t, err, rule.IoctlFlag)
	_, err = p.Ioctl(fd, process.FIOASYNC, 0)
	require.ErrorIs(t, err, rule.IoctlFlag)
	_, err = p.Ioctl(fd, process.FIOASYNC, a)
	require.ErrorIs(t, err, rule.IoctlFioasync)
	_, err = p.Ioctl(fd, process.FIOASYNC, a+4)
	require.NoError(t, err, "off it is already")

	require.NoError(t, p.Exec())
	require.Equal(t, []int{kept}, p.FDs())
}

func TestFioasync(t *testing.T) {
	var log []bool
	var refuse error
	ops := process.FileOps{Fasync: func(_ *process.Task, _ *process.File, on bool) error {
		log = append(log, on)
		return refuse
	}}
	p := process.New(newNode(ops), process.Options{})
	fd := open(t, p, 0)
	on := buffer(t, p, "\x01")
	for range 2 {
		_, err := p.Ioctl(fd, process.FIOASYNC, on)
		require.NoError(t, err)
	}
	require.Equal(t, []bool{true}, log)
	_, err := p.Ioctl(fd, process.FIOASYNC, on+4)
	require.NoError(t, err)
	refuse = syscall.ENOMEM
	_, err = p.Ioctl(fd, process.FIOASYNC, on)
	require.ErrorIs(t, err, syscall.ENOMEM)
	refuse = nil
	_, err = p.Ioctl(fd, process.FIOASYNC, on)
	require.NoError(t, err)
	require.NoError(t, p.Close(fd))
	require.Equal(t, []bool{true, false, true, true, false}, log, "turned off with the file")
}

func TestSetNonblock(t *testing.T) {
	p := process.New(newNode(process.FileOps{}), process.Options{})
	fd := open(t, p, 0)
	dup, err := p.Dup(fd)
	require.NoError(t, err)
	f := p.MainTask().Fget(fd)
	defer f.Put(nil)
	require.NoError(t, p.SetNonblock(dup, true))
	require.True(t, f.Nonblock(), "the flag is the file's")
	require.NoError(t, p.SetNonblock(fd, false))
	require.False(t, f.Nonblock())
}

func TestPoll(t *testing.T) {
	var queue process.WaitQueue
	var mask atomic.Uint32
	asked := make(chan struct{}, 100)
	ops := process.FileOps{
		Poll: func(*process.Task, *process.File) uint16 {
			asked <- struct{}{}
			return uint16(mask.Load())
		},
		Wait: func(*process.File) *process.WaitQueue { return &queue },
	}
	p := process.New(newNode(ops), process.Options{})
	fd := open(t, p, 0)
	for _, c := range []struct{ mask, want uint16 }{
		{0, 0},
		{process.POLLIN | process.POLLRDNORM, process.POLLIN},
		{process.POLLOUT | process.POLLWRNORM, process.POLLOUT},
		{process.POLLERR | process.POLLHUP | process.POLLPRI, process.POLLERR | process.POLLHUP},
		{process.POLLRDNORM, 0},
	} {
		mask.Store(uint32(c.mask))
		got, err := p.Poll(fd, 0)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	got, err := p.Poll(99, -1)
	require.NoError(t, err)
	require.Equal(t, uint16(process.POLLNVAL), got)
	got, err = p.Poll(-1, time.Millisecond)
	require.NoError(t, err)
	require.Zero(t, got)

	start := time.Now()
	got, err = p.Poll(fd, 20*time.Millisecond)
	require.NoError(t, err)
	require.Zero(t, got)
	require.GreaterOrEqual(t, time.Since(start), 20*time.Millisecond)

	for len(asked) > 0 {
		<-asked
	}
	done := make(chan uint16)
	go func() {
		got, _ := p.Poll(fd, -1)
		done <- got
	}()
	<-asked
	queue.WakeUp(nil)
	<-asked
	mask.Store(process.POLLIN)
	queue.WakeUp(nil)
	require.Equal(t, uint16(process.POLLIN), <-done)

	p = process.New(newNode(process.FileOps{}), process.Options{})
	got, err = p.Poll(open(t, p, 0), 0)
	require.NoError(t, err)
	require.Equal(t, uint16(process.POLLIN|process.POLLOUT), got, "a file without the operation is always ready")
}
