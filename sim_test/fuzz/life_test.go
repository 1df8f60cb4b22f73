package fuzz

import (
	"errors"
	"fmt"
	"hash/crc32"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

// Where a life has its memory: what calls are handed, and what they point at.
const (
	callAt   = 0x100000
	callSize = 2 * copyuser.PageSize
	dataAt   = 0x200000
	dataSize = 64 * copyuser.PageSize
	checkAt  = 0x400000 // of the call at the end
)

// life is a process on a machine, and what it was answered.
type life struct {
	m       *model.Machine
	files   *model.Task
	task    *process.Task
	driver  uint32
	answers []answer
	maps    []mapping
	kids    []player.Task
	removed bool
	memory  uint32
	look    bool // whether somebody may do something meanwhile
	timing  bool // somebody may: what is answered is a matter of time
}

// answer is what came of a call.
type answer struct {
	op   string
	ret  int64
	what string // the rule that refused it, or else the errno
}

func (a answer) String() string {
	if a.what != "" {
		return a.op + ": " + a.what
	}
	return fmt.Sprintf("%s: %d", a.op, a.ret)
}

// mapping is memory that a life has mapped of the device.
type mapping struct{ at, n uint64 }

func newLife(m *model.Machine) (*life, error) {
	l := &life{m: m, files: m.Process().(*model.Task)}
	l.task = l.files.Modelled()
	l.driver = uint32(m.Driver.Device().IBDevice().DriverID)
	const prot, flags = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS | syscall.MAP_FIXED
	for _, r := range []mapping{{callAt, callSize}, {dataAt, dataSize}, {checkAt, copyuser.PageSize}} {
		if _, err := l.task.MmapAt(copyuser.Addr(r.at), -1, r.n, prot, flags, 0); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// answered notes what came of a call and returns whether it was done.
func (l *life) answered(op string, ret int64, err error) bool {
	a := answer{op: op, ret: ret}
	if err != nil {
		a.ret, a.what = 0, refusal(err)
	}
	l.answers = append(l.answers, a)
	l.timing = l.timing || l.look && busy(l.m)
	return err == nil
}

// busy says whether the device does something by itself: rxe works for its queue pairs
// while their program goes on.
func busy(m *model.Machine) bool {
	rxe, ok := m.Driver.(model.Counter)
	return ok && m.Driver.Device() != nil && m.Driver.Device().IBDevice().DriverID == spec.RDMA_DRIVER_RXE && rxe.Counts()["qp"] > 0
}

// refusal names what an error says to the user. One that no user can get is a
// failure of the target.
func refusal(err error) string {
	var r *rule.Rule
	if errors.As(err, &r) {
		return r.ID
	}
	e := rule.Errno(err)
	name := rule.ErrnoName(e)
	if name == "" || e == rule.ENOIOCTLCMD {
		panic(fmt.Sprintf("an answer that no user can get: %v", err))
	}
	return name
}

// put stores bytes, of which those that do not fit are left out.
func (l *life) put(at, room uint64, b []byte) uint64 {
	b = b[:min(uint64(len(b)), room)]
	l.task.Mem.CopyOut(copyuser.Addr(at), b)
	return uint64(len(b))
}

func (l *life) open(flags int) (int, bool) {
	fd, err := l.files.Open(flags)
	return fd, l.answered("open", int64(fd), err)
}

// ioctl makes a call of these bytes.
func (l *life) ioctl(fd int, call []byte) bool {
	l.put(callAt, callSize, call)
	return l.ioctlAt(fd, spec.RDMA_VERBS_IOCTL, callAt)
}

func (l *life) ioctlAt(fd int, cmd uint32, at uint64) bool {
	ret, err := l.files.Ioctl(fd, cmd, at)
	return l.answered("ioctl", ret, err)
}

// write writes these bytes.
func (l *life) write(fd int, cmd []byte) bool {
	n := l.put(callAt, callSize, cmd)
	ret, err := l.files.Write(fd, callAt, n)
	return l.answered("write", ret, err)
}

// read reads an event, if there is one: it does not wait.
func (l *life) read(fd int, at, n uint64) {
	if err := l.files.SetNonblock(fd); err != nil {
		l.answered("read", 0, err)
		return
	}
	ret, err := l.files.Read(fd, at, n)
	l.answered("read", ret, err)
}

// answering wants each descriptor of the device that is left, and has a context,
// to answer a QUERY_PORT, or else to say that the device is gone.
func (l *life) answering() error {
	for _, fd := range l.task.FDs() {
		file := model.FileOf(l.task, fd)
		if file == nil {
			continue
		}
		call := spec.EncodeMethod(l.driver, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT,
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, Len: 8, Data: 1},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_RESP, Len: spec.QueryPortRespExSize, Data: checkAt + 0x400})
		l.put(checkAt, 0x400, call)
		_, err := l.files.Ioctl(fd, spec.RDMA_VERBS_IOCTL, checkAt)
		switch e := rule.Errno(err); {
		case err == nil && file.HasUcontext(nil):
		case e == syscall.EINVAL && !file.HasUcontext(nil):
		case e == syscall.EIO && l.removed:
		default:
			return fmt.Errorf("QUERY_PORT on descriptor %d: %w after %v", fd, err, l.answers)
		}
	}
	return nil
}

// sum is of what is in memory at the end.
func (l *life) sum() {
	var page [copyuser.PageSize]byte
	for _, r := range []mapping{{callAt, callSize}, {dataAt, dataSize}} {
		for at := r.at; at < r.at+r.n; at += copyuser.PageSize {
			n := l.task.Mem.CopyIn(page[:], copyuser.Addr(at))
			l.memory = crc32.Update(l.memory, crc32.IEEETable, page[:n])
		}
	}
}

// objects are those of the device's file.
func (l *life) objects() []model.LiveObject {
	return model.LiveObjects(l.task, model.FileOf(l.task, deviceFD))
}

// deviceFD is the first descriptor of a life.
const deviceFD = 3
