package mlx5

import (
	"sync/atomic"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// devxCmdFile is a struct devx_async_cmd_event_file: a descriptor from which a
// user reads the answers of queries. It is the Ext of its object.
type devxCmdFile struct {
	bytesInUse atomic.Int64 // of answers that are not read yet

	lock      trace.Mutex
	answers   []devxAnswer // event_list
	destroyed bool         // is_destroyed
	wait      process.WaitQueue
}

// Unread returns how many answers its user has not read.
func (f *devxCmdFile) Unread() int {
	f.lock.Lock(nil)
	defer f.lock.Unlock(nil)
	return len(f.answers)
}

// BytesInUse returns the length of the answers that count against what may be unread.
func (f *devxCmdFile) BytesInUse() int64 { return f.bytesInUse.Load() }

// devxAnswer is a struct mlx5_ib_uapi_devx_async_cmd_hdr: the query's number,
// which its user chose, and the command's output.
type devxAnswer []byte

// wrIDSize is the length of the number.
const wrIDSize = 8

// devxCmdType is a descriptor that is asked for answers.
var devxCmdType = uobject.TypeAttrs{
	New:       func() any { return new(devxCmdFile) },
	DestroyFD: devxCmdDestroy,
	FileOps: &process.FileOps{
		Read: devxCmdRead, Poll: devxCmdPoll,
		Wait:    func(f *process.File) *process.WaitQueue { return &devxCmdFileOf(f).wait },
		Release: uobject.FDRelease,
	},
	FDFlags: syscall.O_RDONLY,
}

func devxCmdFileOf(f *process.File) *devxCmdFile {
	return f.Private.(*uobject.Object).Ext.(*devxCmdFile)
}

// devxCmdFDAlloc is the handler of MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC. It
// models UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC) and
// devx_init_event_queue in drivers/infiniband/hw/mlx5/devx.c.
func devxCmdFDAlloc(b *kernel.Bundle) error {
	o, err := b.Object(spec.MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE)
	if err != nil {
		return err
	}
	o.Ext.(*devxCmdFile).lock.Name = "devx_async_event_queue.lock"
	return nil
}

// maxAsyncBytes is MAX_ASYNC_BYTES_IN_USE.
const maxAsyncBytes = 1 << 20

// devxAsyncQuery is the handler of MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY: a query
// whose answer is read from a descriptor. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY) in
// drivers/infiniband/hw/mlx5/devx.c. The answer is there when the call returns.
//
// Errors: mlx5-devx/…, mlx5-cmd/down, const/range, attr/….
func devxAsyncQuery(b *kernel.Bundle) error {
	t := b.Trace()
	c := toUcontext(b.Ucontext())
	in, err := commandIn(b, spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN)
	if err != nil {
		return err
	}
	if in.tunnel() != 0 {
		return rule.MLX5DevxAsyncTunnel
	}
	uid, err := in.uid(c)
	if err != nil {
		return err
	}
	access, ok := in.query()
	if !ok {
		return rule.MLX5DevxAsyncNotQuery
	}
	n, err := b.Const(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, 1<<16-1)
	if err != nil {
		return err
	}
	uobj, err := b.Object(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE)
	if err != nil {
		return err
	}
	if !access.names(uobj, in) {
		return rule.MLX5DevxAsyncObject
	}
	fd, err := b.Object(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD)
	if err != nil {
		return err
	}
	f := fd.Ext.(*devxCmdFile)
	if f.bytesInUse.Add(int64(n)) > maxAsyncBytes {
		f.bytesInUse.Add(-int64(n))
		return rule.MLX5DevxAsyncBacklog
	}
	in.setUID(uid)
	if err := f.query(b, c.dev, in, int(n)); err != nil {
		f.bytesInUse.Add(-int64(n))
		return err
	}
	f.wait.WakeUp(t)
	t.Enter(moduleIB, "devx_query_callback").Leave()
	return nil
}

// query runs the command and puts its answer into the file, whatever its status.
//
// Errors: mlx5-devx/async-no-memory, mlx5-cmd/down, attr/….
func (f *devxCmdFile) query(b *kernel.Bundle, d *Device, in devxCmd, n int) error {
	t := b.Trace()
	if t.Fail(trace.Alloc, "devx_async_data") {
		return rule.MLX5DevxAsyncNoMemory
	}
	a := make(devxAnswer, wrIDSize+n)
	wrID, err := b.Uint64(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID)
	if err != nil {
		return err
	}
	le.PutUint64(a, wrID)
	if err := d.cmdDo(t, in, a[wrIDSize:]); err != nil && err != rule.MLX5CmdStatus && err != rule.MLX5CmdTimeout {
		return err
	}
	f.lock.Lock(t)
	defer f.lock.Unlock(t)
	f.answers = append(f.answers, a)
	return nil
}

// ready says whether a read would not wait.
func (f *devxCmdFile) ready(t *trace.Task) bool {
	t.Point(trace.Word, "look at", "event_list", trace.Reads, &f.lock)
	f.lock.Lock(nil)
	defer f.lock.Unlock(nil)
	return len(f.answers) > 0 || f.destroyed
}

// devxCmdRead hands the user the oldest answer. It models
// devx_async_cmd_event_read in drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/cmd-read-….
func devxCmdRead(task *process.Task, filp *process.File, buf copyuser.Addr, count uint64) (int64, error) {
	t := task.Trace
	defer t.Enter(moduleIB, "devx_async_cmd_event_read").Leave()
	f := devxCmdFileOf(filp)
	f.lock.Lock(t)
	for len(f.answers) == 0 {
		f.lock.Unlock(t)
		if filp.Nonblock() {
			return refuseRead(t, rule.MLX5DevxCmdReadAgain)
		}
		if err := task.WaitEventInterruptible(&f.wait, f.ready); err != nil {
			return 0, err
		}
		f.lock.Lock(t)
		if f.destroyed {
			f.lock.Unlock(t)
			return refuseRead(t, rule.MLX5DevxCmdReadClosed)
		}
	}
	a := f.answers[0]
	if uint64(len(a)) > count {
		f.lock.Unlock(t)
		return refuseRead(t, rule.MLX5DevxCmdReadShort)
	}
	f.answers = f.answers[1:]
	f.lock.Unlock(t)
	f.bytesInUse.Add(int64(wrIDSize - len(a)))
	if !copyuser.CopyToUser(t, task.Mem, buf, a) {
		return refuseRead(t, rule.MLX5DevxCmdReadFault)
	}
	return int64(len(a)), nil
}

// devxCmdPoll models devx_async_cmd_event_poll in
// drivers/infiniband/hw/mlx5/devx.c.
func devxCmdPoll(task *process.Task, filp *process.File) uint16 {
	t := task.Trace
	defer t.Enter(moduleIB, "devx_async_cmd_event_poll").Leave()
	f := devxCmdFileOf(filp)
	f.lock.Lock(t)
	defer f.lock.Unlock(t)
	return pollReady(len(f.answers) > 0, f.destroyed)
}

// devxCmdDestroy drops the answers that were not read. It models
// devx_async_cmd_event_destroy_uobj in drivers/infiniband/hw/mlx5/devx.c.
func devxCmdDestroy(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "devx_async_cmd_event_destroy_uobj").Leave()
	f := o.Ext.(*devxCmdFile)
	f.lock.Lock(t)
	f.destroyed = true
	f.answers = nil
	f.lock.Unlock(t)
	f.wait.WakeUp(t)
}
