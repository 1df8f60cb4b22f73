package strace_test

import (
	"sync"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// watched is a program's system with one who looks on at its calls on device
// files and event files. Nothing else is shown.
type watched struct {
	*process.Process
	tid     int
	watcher watch.Watcher
	machine *kernel.Machine
	driver  uint32

	mu    sync.Mutex
	paths map[int]string // of the descriptors that are shown
}

var _ verbs.System = (*watched)(nil)

func newWatched(m *kernel.Machine, p *process.Process, driver uint32, w watch.Watcher) *watched {
	return &watched{Process: p, tid: 100, watcher: w, machine: m, driver: driver, paths: map[int]string{}}
}

// do shows a call around run.
func (w *watched) do(c *watch.Call, run func() (int64, error)) (int64, error) {
	c.PID, c.TID, c.Mem, c.Kernel, c.Driver = 100, w.tid, w.Process.Mem, w.machine.Kernel(), w.driver
	w.watcher.Enter(c)
	c.Ret, c.Err = run()
	w.watcher.Leave(c)
	return c.Ret, c.Err
}

func (w *watched) path(fd int) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path, ok := w.paths[fd]
	return path, ok
}

func (w *watched) learn(fd int, path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paths[fd] = path
}

func (w *watched) Open(path string, flags int) (int, error) {
	c := &watch.Call{Name: "open", Path: path, OpenFlags: flags, FD: -1}
	fd, err := w.do(c, func() (int64, error) {
		fd, err := w.Process.Open(path, flags)
		return int64(fd), err
	})
	if err == nil {
		w.learn(int(fd), path)
	}
	return int(fd), err
}

func (w *watched) Close(fd int) error {
	path, _ := w.path(fd)
	_, err := w.do(&watch.Call{Name: "close", FD: fd, Path: path}, func() (int64, error) { return 0, w.Process.Close(fd) })
	return err
}

func (w *watched) Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error) {
	path, _ := w.path(fd)
	c := &watch.Call{Name: "ioctl", FD: fd, Path: path, Cmd: cmd, Arg: arg}
	n, err := w.do(c, func() (int64, error) { return w.Process.Ioctl(fd, cmd, arg) })
	w.newFiles(c)
	return n, err
}

// newFiles learns of the event files that a call has made.
func (w *watched) newFiles(c *watch.Call) {
	if c.Ioctl == nil || c.Err != nil {
		return
	}
	for i := range c.Ioctl.Attrs {
		a := &c.Ioctl.Attrs[i]
		if a.Spec != nil && a.Spec.Type == spec.TypeFD && a.Spec.Access == spec.AccessNew {
			w.learn(int(a.After.Data), "[infinibandevent]")
		}
		if command, ok := c.Ioctl.InvokeWrite(); ok && command == spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL &&
			a.AttrID == spec.UVERBS_ATTR_CORE_OUT {
			w.learn(int(a.Out[0]), "[infinibandevent]")
		}
	}
}

func (w *watched) Read(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	path, _ := w.path(fd)
	return w.do(&watch.Call{Name: "read", FD: fd, Path: path, Addr: uint64(buf), Length: n},
		func() (int64, error) { return w.Process.Read(fd, buf, n) })
}

func (w *watched) Write(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	path, _ := w.path(fd)
	return w.do(&watch.Call{Name: "write", FD: fd, Path: path, Addr: uint64(buf), Length: n},
		func() (int64, error) { return w.Process.Write(fd, buf, n) })
}

func (w *watched) Mmap(fd int, length uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	if flags&syscall.MAP_ANONYMOUS != 0 {
		return w.Process.Mmap(fd, length, prot, flags, off)
	}
	path, _ := w.path(fd)
	c := &watch.Call{Name: "mmap", FD: fd, Path: path, Length: length, Prot: prot, Flags: flags, Offset: off}
	at, err := w.do(c, func() (int64, error) {
		at, err := w.Process.Mmap(fd, length, prot, flags, off)
		return int64(at), err
	})
	return copyuser.Addr(at), err
}
