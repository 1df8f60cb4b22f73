package kernel

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
)

// TestNetNamespaces follows ib_uverbs_open and rdma_dev_access_netns: where
// devices are exclusive, one opens in its own network namespace alone; that
// comes after the mode of the node and the removal of the device, and only an
// open looks at it.
func TestNetNamespaces(t *testing.T) {
	own, other := &process.NetNS{Name: "own"}, &process.NetNS{Name: "other"}
	for _, c := range []struct {
		name          string
		opts          []Option
		device, opens *process.NetNS // nil: the first one
		want          *rule.Rule
	}{
		{"shared, by default", nil, nil, other, nil},
		{"shared, the device is elsewhere", nil, own, other, nil},
		{"exclusive, both in the first", []Option{ExclusiveNetNS}, nil, nil, nil},
		{"exclusive, both in one", []Option{ExclusiveNetNS}, own, own, nil},
		{"exclusive, the process is elsewhere", []Option{ExclusiveNetNS}, nil, other, rule.OpenNetNS},
		{"exclusive, the device is elsewhere", []Option{ExclusiveNetNS}, own, nil, rule.OpenNetNS},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewMachine(Definitions{}, c.opts...)
			d, err := m.Register(&core.Device{Name: "dev0", Ops: allOps(), NetNS: c.device}, Definitions{})
			require.NoError(t, err)
			p := m.NewProcess(process.Options{NetNS: c.opens}).MainTask()
			_, err = p.Open(nodePrefix+"0", syscall.O_RDWR)
			if c.want == nil {
				require.NoError(t, err)
				require.Equal(t, 1, d.OpenFiles())
				return
			}
			require.Equal(t, error(c.want), err)
			require.ErrorIs(t, err, syscall.EPERM)
			require.Zero(t, d.OpenFiles())
			require.Empty(t, p.FDs(), "the descriptor is given back")

			p.SetNetNS(process.InitNet)
			if c.device != nil {
				p.SetNetNS(c.device)
			}
			fd, err := p.Open(nodePrefix+"0", syscall.O_RDWR)
			require.NoError(t, err)
			p.SetNetNS(other)
			_, err = p.Ioctl(fd, 0, 0)
			require.ErrorIs(t, err, syscall.ENOTTY, "an open file goes on in any namespace")
			child, err := p.Fork()
			require.NoError(t, err)
			require.Same(t, other, child.NetNS())
			_, err = child.MainTask().Open(nodePrefix+"0", syscall.O_RDWR)
			require.Equal(t, error(rule.OpenNetNS), err)
		})
	}
}

// TestNetNamespaceComesLate: what is looked at before the namespace.
func TestNetNamespaceComesLate(t *testing.T) {
	m := NewMachine(Definitions{}, ExclusiveNetNS)
	d, err := m.Register(&core.Device{Name: "dev0", Ops: allOps()}, Definitions{})
	require.NoError(t, err)
	user := m.NewProcess(process.Options{NetNS: &process.NetNS{}, Cred: &process.Cred{UID: 1, EUID: 1}}).MainTask()
	require.NoError(t, m.Chmod(nodePrefix+"0", 0o600))
	_, err = user.Open(nodePrefix+"0", syscall.O_RDWR)
	require.Equal(t, error(rule.OpenPermission), err)
	d.ibDev.Store(nil)
	root := m.NewProcess(process.Options{NetNS: &process.NetNS{}}).MainTask()
	filp, err := process.NewFile(root, nil, nil, syscall.O_RDWR)
	require.NoError(t, err)
	require.Equal(t, error(rule.OpenDeviceGone), d.open(root, filp))
}
