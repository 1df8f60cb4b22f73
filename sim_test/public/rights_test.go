package public

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// rights are section H: capabilities, namespaces, containers.
var rights = []problem{
	{
		id: "H1", name: "userns-raw-qp",
		met: "In a container of Podman's a raw packet QP is EPERM, although the container has CAP_NET_RAW; patches asked for the capability in " +
			"the caller's user namespace (linux-rdma, 2025-06, with 0866c1fee and eight more).",
		answer: "6.12 asks `capable`, that is the initial user namespace, where a process of another one has no capability: EPERM for a RAW_PACKET QP " +
			"(`create_qp` and the handler of QP_CREATE), for IB_QP_CREATE_SOURCE_QPN by write() (`create_qp`; the ioctl does not ask), for a " +
			"privileged Q_Key (`modify_qp`), for flows (`ib_uverbs_ex_create_flow`, and mlx5's own) and for mlx5's steering anchors and steering " +
			"memory. A DEVX context is made all the same, with the right to send raw packets left out of what the card is asked for " +
			"(`mlx5_ib_devx_create`), and so are matchers.",
		shown: []shown{
			{"linux-6.12-stub-more/cap/raw-qp-nocap", "qp/raw-packet-cap"},
			{"linux-6.12-stub-more/cap/raw-qp-cap", ""},
			{"linux-6.12-more/cred/raw-qp-write", "cmd-qp/raw-packet"},
			{"linux-6.12-more/cred/ex-source-qpn-no-cap", "cmd-qp/source-qpn"},
			{"linux-6.12-stub-more/cap/source-qpn-nocap", ""},
			{"linux-6.12-more/cred/qkey-80000005-nocap", "cmd-qp/modify-qkey"},
			{"linux-6.12-rules-stub/rule/cmd-flow-cap", "cmd-flow/cap"},
			{"linux-6.12-public-mlx5/public/H1-steering-without-capability", "mlx5-flow/privilege"},
			{"linux-6.12-public-mlx5/public/H1-steering-without-capability", "mlx5-flow/anchor-privilege"},
			{"linux-6.12-public-mlx5/public/H1-steering-with-capability", ""},
			{"linux-6.12-rules-mlx5/rule/mlx5-dm-privilege", "mlx5-dm/privilege"},
			{"linux-6.12-more/cred/no-caps-at-all", ""},
		},
	},
	{
		id: "H2", name: "whose-capability",
		met: "Whether the process that opened the device or the one that calls has to have the capability: a patch for the former was not taken " +
			"(linux-rdma, with a22c336dc, 7f969f4a1 and f16fda58b).",
		answer: "The caller, at the time of the call (`capable`). A descriptor that was opened without CAP_NET_RAW makes raw packet QPs for a process " +
			"that has it, and one that was opened with it makes none for a process that lacks it, be it the opener after it gave the capability " +
			"up. write() is no way around: EACCES for whoever did not open the descriptor with the same credentials.",
		shown: []shown{
			{"linux-6.12-public-stub/public/H2-caller-has-it", "qp/raw-packet-cap"},
			{"linux-6.12-public-stub/public/H2-caller-has-it", "write/access"},
			{"linux-6.12-public-stub/public/H2-opener-had-it", "qp/raw-packet-cap"},
		},
	},
	{
		id: "H4", name: "node-not-mapped",
		met: "In a container sysfs shows all adapters of the host, but only some have a device node, or the node is there and its control group " +
			"does not let it be opened, which users see as \"failed to open device\" (rdma-core PR 357, commits 00d0f994b and 87928178f; " +
			"hustcat/k8s-rdma-device-plugin issue 8; apache/brpc issue 2298; Mellanox/k8s-rdma-shared-dev-plugin issue 93).",
		answer: "Without the node the open is ENOENT, and with a mode that excludes the user EACCES; the driver sees neither (`do_sys_openat2`, " +
			"`generic_permission`). One device's node says nothing of another's.",
		not: "Which nodes a container has, and the EPERM of a control group for devices, are decided before uverbs is asked; that sysfs shows " +
			"more is the tool's to bear.",
		shown: []shown{
			{"linux-6.12-more/rxe-removal/idle", "open/no-node"},
			{"linux-6.12-more/cred/mode-0600-user", "open/permission"},
			{"linux-6.12-more/cred/mode-0644-user", "open/permission"},
		},
		test: testOtherNode,
	},
	{
		id: "H5", name: "netns-open",
		met: "Where devices belong to one network namespace each (`rdma system set netns exclusive`), or while the device goes, the open of a node " +
			"that is there fails.",
		answer: "EPERM in another network namespace than the device's, which is looked at when the device is opened and not after " +
			"(`rdma_dev_access_netns`); EIO when the device has gone, but not yet the node that was found, and ENXIO when the node's last reference " +
			"has (`ib_uverbs_open`). Whoever looks for the node after that gets ENOENT.",
		shown: []shown{
			{"linux-6.12-more/rxe-removal/blocks-until-close", "open/no-node"},
			{"linux-6.12-removal/rm/without-disassociate", "open/no-node"},
			{"linux-6.12-removal/rm/back-again", "context/device-gone"},
		},
		test: testOpenRefused,
	},
	{
		id: "H6", name: "old-image",
		met: "A container of Ubuntu 18.04 finds no device on a node with 22.04: its libraries are older than what the kernel says of the device " +
			"(Mellanox/k8s-rdma-shared-dev-plugin issue 106).",
		answer: "The kernel takes what the first libraries sent: write() alone, and mlx5's request for a context in its first length of 8 bytes, which " +
			"gets the answer's first fields (`mlx5_ib_alloc_ucontext`). A program that takes the device for another driver's is EINVAL by ioctl " +
			"(`ib_uverbs_cmd_verbs`).",
		not: "Which device a library finds is decided in user space, by PCI numbers, driver id and ABI version.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/H6-old-library", ""},
			{"linux-6.12-mlx5/mlx5/ctx/v-8-ver", ""},
			{"linux-6.12-rxe/hdr/driver-unknown", "header/driver-id"},
		},
	},
	{
		id: "H7", name: "rdmacg",
		met: "A limit of the rdma control group is reached. Nobody has told of it in public; the kernel has the case.",
		answer: "EAGAIN, and the number that the object was to have is free again; the driver is not asked (`alloc_begin_idr_uobject`, " +
			"`ib_rdmacg_try_charge`). A context counts as hca_handle, an object with a handle as hca_object, a descriptor as nothing. The charge comes " +
			"with the attribute, before the handler, and stays with the group in which the object was made.",
		shown: []shown{
			{"linux-6.12-public/public/H7-number-again", "cgroup/exceeded"},
			{"linux-6.12-more/limit/cgroup-handle-1", "cgroup/exceeded"},
			{"linux-6.12-more/limit/cgroup-object-new-attr", "cgroup/exceeded"},
			{"linux-6.12-more/limit/cgroup-order-handler", "cgroup/exceeded"},
			{"linux-6.12-more/limit/cgroup-write-path", "cgroup/exceeded"},
			{"linux-6.12-more/limit/cgroup-fd-objects-free", ""},
			{"linux-6.12-more/limit/cgroup-leave", ""},
			{"linux-6.12-more/limit/cgroup-close-uncharges", ""},
		},
		test: testChargeGivesBack,
	},
}

// node is the path of a device node.
func node(n int) string { return fmt.Sprintf("/dev/infiniband/uverbs%d", n) }

// testOtherNode: two devices, whose nodes a user may open or not.
func testOtherNode(t *testing.T) {
	m := kernel.NewMachine(methods.Core())
	var devices []*kernel.Device
	for i := range 2 {
		d, err := m.Register(&core.Device{Name: fmt.Sprint("plain", i), Ops: withContext(core.DeviceOps{})}, kernel.Definitions{})
		require.NoError(t, err)
		devices = append(devices, d)
	}
	require.NoError(t, m.Chmod(node(1), 0o600))
	p := m.NewProcess(process.Options{Cred: &process.Cred{UID: 1000, EUID: 1000}})
	_, err := p.Open(node(1), syscall.O_RDWR)
	require.Equal(t, error(rule.OpenPermission), err)
	require.ErrorIs(t, err, syscall.EACCES)
	_, err = p.Open(node(2), syscall.O_RDWR)
	require.Equal(t, error(rule.OpenNoNode), err)
	require.ErrorIs(t, err, syscall.ENOENT)
	_, err = p.Open(node(0), syscall.O_RDWR)
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, []int{devices[0].OpenFiles(), devices[1].OpenFiles()}, "the second device was not asked")
}

// testOpenRefused: the namespace, and a removal that comes between the lookup of
// the node and the open of the device.
func testOpenRefused(t *testing.T) {
	t.Run("namespace", func(t *testing.T) {
		own, other := &process.NetNS{Name: "own"}, &process.NetNS{Name: "other"}
		for _, exclusive := range []bool{false, true} {
			var opts []kernel.Option
			if exclusive {
				opts = append(opts, kernel.ExclusiveNetNS)
			}
			m := kernel.NewMachine(methods.Core(), opts...)
			d, err := m.Register(&core.Device{Name: "plain0", Ops: withContext(core.DeviceOps{}), NetNS: own}, kernel.Definitions{})
			require.NoError(t, err)
			p := m.NewProcess(process.Options{NetNS: other})
			_, err = p.Open(node(0), syscall.O_RDWR)
			if !exclusive {
				require.NoError(t, err, "shared: from everywhere")
				continue
			}
			require.Equal(t, error(rule.OpenNetNS), err)
			require.ErrorIs(t, err, syscall.EPERM)
			require.Zero(t, d.OpenFiles())
			require.Empty(t, p.FDs())

			p.SetNetNS(own)
			fd, err := p.Open(node(0), syscall.O_RDWR)
			require.NoError(t, err)
			p.SetNetNS(other)
			_, err = p.Ioctl(fd, 0, 0)
			require.ErrorIs(t, err, syscall.ENOTTY, "the open file is the driver's to answer for, wherever its process goes")
		}
	})

	for _, c := range []struct {
		stop string
		want *rule.Rule
		is   syscall.Errno
	}{
		{"ib_uverbs_open", rule.OpenNoDevice, syscall.ENXIO}, // the node was found, and has gone since
		{"lists_mutex", rule.OpenDeviceGone, syscall.EIO},    // its device has gone since
	} {
		t.Run("removal at "+c.stop, func(t *testing.T) {
			l := newLockOrder(c.stop)
			m := boot(t, "stub", &casefile.Device{Has: []string{"disassociate_ucontext"}}, l)
			task := m.Process().(*model.Task)
			by := task.Thread()
			opened, removed := make(chan error, 1), make(chan error, 1)
			go func() {
				_, err := task.Open(syscall.O_RDWR)
				opened <- err
			}()
			<-l.stopped
			dev := m.Driver.Device()
			go func() { removed <- m.Remove(by) }()
			if c.want == rule.OpenNoDevice {
				require.NoError(t, <-removed, "nobody keeps the node")
			} else {
				require.Eventually(t, func() bool { return ibDeviceGone(dev) }, time.Minute, time.Millisecond)
			}
			close(l.onwards)
			err := <-opened
			require.Equal(t, error(c.want), err)
			require.ErrorIs(t, err, c.is)
			if c.want != rule.OpenNoDevice {
				require.NoError(t, <-removed)
			}
			_, err = task.Process().Open(node(dev.Num), syscall.O_RDWR)
			require.Equal(t, error(rule.OpenNoNode), err, "later it is not found")
			require.Zero(t, dev.OpenFiles())
			m.Shutdown()
		})
	}
}

// testChargeGivesBack: a charge that fails leaves no number taken.
func testChargeGivesBack(t *testing.T) {
	c := recorded(t, "linux-6.12-public")["public/H7-number-again"]
	require.NotNil(t, c)
	var handles []int
	r := player.Play(new(model.Model), c, player.Options{After: func(m player.Machine, _ int, _ *player.StepResult) {
		b := m.(*model.Machine).Books()
		if len(b.Files) > 0 {
			handles = append(handles, b.Files[0].Handles)
		}
	}})
	require.True(t, r.Passed())
	// open, context, a PD, two that are refused, two looks at the limit, another PD, a look
	require.Equal(t, []int{0, 0, 1, 1, 1, 1, 1, 2, 2}, handles)
}
