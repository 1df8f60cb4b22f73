package kernel

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

const rigNode = nodePrefix + "0"

// openRefusal is an open of the device's node that is refused.
type openRefusal struct {
	name string
	want *rule.Rule
	do   func(tb testing.TB, r *rig) error
}

func openRefusals() []openRefusal {
	open := func(p *process.Process, path string, flags int) error {
		_, err := p.Open(path, flags)
		return err
	}
	user := func(tb testing.TB, r *rig) *process.Process {
		return r.m.NewProcess(process.Options{Cred: &process.Cred{UID: 5, EUID: 5, GID: 6, EGID: 6}})
	}
	traced := func(tb testing.TB, r *rig, s trace.Sink) error {
		_, err := r.p.NewTask(trace.NewTask(1, s)).Open(rigNode, syscall.O_RDWR)
		return err
	}
	return []openRefusal{
		{"another number", rule.OpenNoNode, func(tb testing.TB, r *rig) error { return open(r.p, nodePrefix+"1", 0) }},
		{"no number", rule.OpenNoNode, func(tb testing.TB, r *rig) error { return open(r.p, nodePrefix, 0) }},
		{"leading zero", rule.OpenNoNode, func(tb testing.TB, r *rig) error { return open(r.p, nodePrefix+"00", 0) }},
		{"sign", rule.OpenNoNode, func(tb testing.TB, r *rig) error { return open(r.p, nodePrefix+"+0", 0) }},
		{"beyond", rule.OpenNoNode, func(tb testing.TB, r *rig) error { return open(r.p, nodePrefix+"1024", 0) }},
		{"another place", rule.OpenNoNode, func(tb testing.TB, r *rig) error { return open(r.p, "/dev/uverbs0", 0) }},
		{"device removed", rule.OpenNoNode, func(tb testing.TB, r *rig) error {
			require.NoError(tb, r.p.Close(r.fd))
			r.m.Unregister(r.p.MainTask(), r.d)
			return open(r.p, rigNode, 0)
		}},
		{"mode", rule.OpenPermission, func(tb testing.TB, r *rig) error {
			require.NoError(tb, r.m.Chmod(rigNode, 0o664))
			return open(user(tb, r), rigNode, syscall.O_RDWR)
		}},
		{"on its way out", rule.OpenNoDevice, func(tb testing.TB, r *rig) error {
			require.NoError(tb, r.p.Close(r.fd))
			r.d.put(nil)
			return open(r.p, rigNode, 0)
		}},
		{"gone between node and open", rule.OpenDeviceGone, func(tb testing.TB, r *rig) error {
			r.d.ibDev.Store(nil)
			return open(r.p, rigNode, 0)
		}},
		{"no memory", rule.OpenNoMemory, func(tb testing.TB, r *rig) error { return traced(tb, r, breaks("ib_uverbs_file")) }},
		{"no file", rule.FileAlloc, func(tb testing.TB, r *rig) error { return traced(tb, r, breaks("alloc_empty_file")) }},
	}
}

// TestOpenRefuses wants nothing left behind by an open that is refused.
func TestOpenRefuses(t *testing.T) {
	for _, tc := range openRefusals() {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, nil)
			require.Equal(t, error(tc.want), tc.do(t, r))
			require.Equal(t, r.p.FDCount(), r.d.OpenFiles(), "the first file, if it is still open")
			require.LessOrEqual(t, r.d.refs.Load(), int64(2), "the machine's and the first file's")
			require.LessOrEqual(t, r.p.FDCount(), 1)
		})
	}
}

// TestOpenWithoutAFile: nobody looks at the path of an open for which there is no
// file, so a node that is not there makes no difference.
func TestOpenWithoutAFile(t *testing.T) {
	r := newRig(t, nil)
	task := r.p.NewTask(trace.NewTask(1, breaks("alloc_empty_file")))
	_, err := task.Open(nodePrefix+"1", syscall.O_RDWR)
	require.Equal(t, error(rule.FileAlloc), err)
}

// TestEveryMainRuleIsMet: the tables of this package have each rule of
// uverbs_main.c, of the write() commands and of opening a node.
func TestEveryMainRuleIsMet(t *testing.T) {
	met := map[error]bool{
		rule.ContextDeviceGone: true, // TestUcontext
		rule.ContextNone:       true, // TestUcontext
		rule.OpenNetNS:         true, // netns_test.go
	}
	for _, tc := range headerCases() {
		met[tc.want] = true
	}
	for _, tc := range writeRefusals() {
		met[tc.want] = true
	}
	for _, tc := range eventRefusals() {
		met[tc.want] = true
	}
	for _, tc := range openRefusals() {
		met[tc.want] = true
	}
	n := 0
	for _, r := range rule.All() {
		switch {
		case strings.HasSuffix(r.File, "core/uverbs_main.c"):
		case r == rule.OpenNoNode || r == rule.OpenPermission || r.Func == "uapi_get_method" || r.Func == "ib_uverbs_notsupp":
		default:
			continue
		}
		n++
		require.Truef(t, met[r], "nothing meets %s", r.ID)
	}
	require.Greater(t, n, 25)
}

// TestOpenModes has who may open a node in what way.
func TestOpenModes(t *testing.T) {
	r := newRig(t, nil)
	for _, tc := range []struct {
		name  string
		cred  process.Cred
		mode  uint32
		flags int
		ok    bool
	}{
		{"anybody, as the node is made", process.Cred{EUID: 5, EGID: 5}, 0o666, syscall.O_RDWR, true},
		{"others, read only", process.Cred{EUID: 5, EGID: 5}, 0o664, syscall.O_RDONLY, true},
		{"others, write", process.Cred{EUID: 5, EGID: 5}, 0o664, syscall.O_WRONLY, false},
		{"group, write", process.Cred{EUID: 5}, 0o664, syscall.O_RDWR, true},
		{"group, though others could", process.Cred{EUID: 5}, 0o606, syscall.O_RDONLY, false},
		{"owner without capabilities", process.Cred{}, 0o066, syscall.O_RDONLY, false},
		{"owner", process.Cred{}, 0o600, syscall.O_RDWR, true},
		{"CAP_DAC_OVERRIDE", process.Cred{EUID: 5, EGID: 5, Effective: 1 << process.CAP_DAC_OVERRIDE}, 0, syscall.O_RDWR, true},
		{"both bits of the access mode", process.Cred{EUID: 5, EGID: 5}, 0o662, syscall.O_ACCMODE, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.NoError(t, r.m.Chmod(rigNode, tc.mode))
			_, err := r.m.NewProcess(process.Options{Cred: &tc.cred}).Open(rigNode, tc.flags)
			if tc.ok {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, syscall.EACCES)
			}
		})
	}
	require.Equal(t, error(rule.OpenNoNode), r.m.Chmod(nodePrefix+"7", 0))
}

// TestUcontext has the two ways to lack a context.
func TestUcontext(t *testing.T) {
	p := newParser(t, nil)
	c, err := p.file.Ucontext(nil)
	require.NoError(t, err)
	require.Same(t, p.d.IBDevice(), c.Device)
	p.file.SetUcontext(nil, nil)
	require.False(t, p.file.HasUcontext(nil))
	p.put(t, p.mem, thing, methodNew, spec.IoctlAttr{Data: 5})
	require.Equal(t, error(rule.ContextNone), p.ioctl())
	require.Equal(t, uint64(5), p.answer(t, 0).Data, "no number was taken")
	p.m.Unregister(p.p.MainTask(), p.d)
	_, err = p.file.Ucontext(nil)
	require.Equal(t, error(rule.ContextDeviceGone), err)
}

// TestRegister gives out the lowest free number and refuses what it must.
func TestRegister(t *testing.T) {
	m := NewMachine(Definitions{})
	dev := func(name string) *core.Device { return &core.Device{Name: name, Ops: newRig(t, nil).d.IBDevice().Ops} }
	_, err := m.Register(&core.Device{Name: "bare"}, Definitions{})
	require.EqualError(t, err, "kernel: device bare: the driver has no alloc_ucontext")
	var devs []*Device
	for i := range 3 {
		d, err := m.Register(dev("d"), Definitions{})
		require.NoError(t, err)
		require.Equal(t, i, d.Num)
		devs = append(devs, d)
	}
	p := m.NewProcess(process.Options{})
	m.Unregister(p.MainTask(), devs[1])
	require.Nil(t, m.Device(nodePrefix+"1"))
	m.Unregister(p.MainTask(), devs[1]) // once more does nothing
	d, err := m.Register(dev("again"), Definitions{})
	require.NoError(t, err)
	require.Equal(t, 1, d.Num)
	require.Same(t, d, m.Device(nodePrefix+"1"))
	for range maxDevices - 3 {
		_, err := m.Register(dev("d"), Definitions{})
		require.NoError(t, err)
	}
	_, err = m.Register(dev("last"), Definitions{})
	require.EqualError(t, err, "kernel: device last: all 1024 device numbers are taken")
}

// TestUnregisterWaits: without disassociate_ucontext a removal waits for the
// last file, and calls go on meanwhile.
func TestUnregisterWaits(t *testing.T) {
	r := newRig(t, nil)
	dup, err := r.p.Dup(r.fd)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		r.m.Unregister(r.p.NewTask(nil), r.d)
		close(done)
	}()
	for r.m.Device(rigNode) != nil {
		time.Sleep(time.Millisecond)
	}
	require.Equal(t, uint64(0), r.call(t, testCreate, 0))
	require.NoError(t, r.p.Close(r.fd))
	select {
	case <-done:
		t.Fatal("did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	require.NoError(t, r.p.Close(dup))
	<-done
}

// TestUnregister: with disassociate_ucontext all goes at once, file by file in
// the order of their opening. A call that is under way is waited for.
func TestUnregister(t *testing.T) {
	p := newParser(t, nil)
	var order []string
	ops := p.d.IBDevice()
	ops.Ops.DisassociateUcontext = func(_ *process.Task, c *core.Ucontext) {
		order = append(order, map[bool]string{true: "first", false: "second"}[c.File == &p.file.Objects]+" disassociate")
	}
	ops.Ops.DeallocUcontext = func(_ *process.Task, c *core.Ucontext) {
		order = append(order, map[bool]string{true: "first", false: "second"}[c.File == &p.file.Objects]+" dealloc")
	}
	p.newThing(t)
	p.open(t, p.p)
	inside, leave := make(chan struct{}), make(chan struct{})
	p.handle = func(*Bundle) error {
		close(inside)
		<-leave
		return nil
	}
	p.put(t, p.mem, thing, methodAttrs)
	call := make(chan error)
	go func() {
		_, err := p.p.NewTask(nil).Ioctl(p.fd, spec.RDMA_VERBS_IOCTL, p.mem)
		call <- err
	}()
	<-inside
	done := make(chan struct{})
	go func() {
		removed(t, p)
		close(done)
	}()
	select {
	case <-done:
		t.Fatal("did not wait for the call")
	case <-time.After(20 * time.Millisecond):
	}
	require.Nil(t, p.d.IBDevice())
	close(leave)
	require.NoError(t, <-call)
	<-done
	require.Equal(t, []string{"first disassociate", "first dealloc", "second disassociate", "second dealloc"}, order)
	require.Len(t, p.gone, 1)
	require.Zero(t, p.d.OpenFiles())

	// What is left is to destroy and to close.
	p.put(t, p.mem, thing, methodAttrs)
	require.Equal(t, error(rule.MethodDisassociated), p.ioctl())
	require.NoError(t, p.p.Close(p.fd))
	require.Equal(t, int64(1), p.d.refs.Load(), "the second file's")
}

// TestListedFileIsReady: a removal that finds a file in the device's list before
// its open has returned can end it.
func TestListedFileIsReady(t *testing.T) {
	r := newRig(t, nil)
	f, err := r.d.newFile(r.p.MainTask())
	require.NoError(t, err)
	require.Equal(t, 2, r.d.OpenFiles())
	f.destroyAll(r.p.MainTask(), uobject.RemoveDriverRemove)
}

// TestCloseWhileInUse: the file goes when the call that holds it returns.
func TestCloseWhileInUse(t *testing.T) {
	p := newParser(t, nil)
	p.newThing(t)
	p.handle = func(*Bundle) error {
		require.NoError(t, p.p.NewTask(nil).Close(p.fd))
		require.Empty(t, p.gone)
		return nil
	}
	p.put(t, p.mem, thing, methodAttrs)
	require.NoError(t, p.ioctl())
	require.Len(t, p.gone, 1)
	require.Zero(t, p.d.OpenFiles())
	require.Equal(t, int64(1), p.d.refs.Load())
}

// TestRemovalForgetsLimits: what a control group counts of a device, and allows,
// goes with the device.
func TestRemovalForgetsLimits(t *testing.T) {
	m := newMapper(t, 1)
	group, name := m.p.Cgroup(), m.d.IBDevice().Name
	require.NoError(t, group.SetMax(name, "hca_object=5"))
	_, err := group.TryCharge(m.p.NewTask(nil), name, process.RDMACG_RESOURCE_HCA_OBJECT)
	require.NoError(t, err)
	m.remove()
	require.Equal(t, "hca_handle=max hca_object=max ", group.Max(name))
	require.Equal(t, "hca_handle=0 hca_object=0 ", group.Current(name))
}
