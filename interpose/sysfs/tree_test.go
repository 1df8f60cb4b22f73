package sysfs_test

import (
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/rxe"
	"uverbsim/interpose/sysfs"
	"uverbsim/process"
)

// TestLinks: each link in the twin is relative, leads to something, and does so
// within the twin.
func TestLinks(t *testing.T) {
	m := machine()
	adapter(t, m, mlx5.Config{})
	soft(t, m, rxe.Config{})
	tree := write(t, m, sysfs.Options{})
	links := 0
	for p, info := range names(t, tree) {
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		links++
		target, err := os.Readlink(tree.Dir() + p)
		require.NoError(t, err)
		require.False(t, filepath.IsAbs(target), p)
		real, err := filepath.EvalSymlinks(tree.Dir() + p)
		require.NoErrorf(t, err, "%s leads nowhere", p)
		require.True(t, strings.HasPrefix(real, tree.Dir()+"/"), "%s leads to %s", p, real)
	}
	require.NotZero(t, links)
}

// TestModes: another user than the twin's can read all of it.
func TestModes(t *testing.T) {
	m := machine()
	adapter(t, m, mlx5.Config{})
	for p, info := range names(t, write(t, m, sysfs.Options{})) {
		switch {
		case p == "" || info.Mode()&fs.ModeSymlink != 0:
		case info.IsDir():
			require.Equal(t, fs.FileMode(0o755), info.Mode().Perm(), p)
		case strings.HasPrefix(p, "/dev/"):
			require.Equal(t, fs.FileMode(0o666), info.Mode().Perm(), p)
		default:
			require.Contains(t, []fs.FileMode{0o444, 0o644}, info.Mode().Perm(), p)
		}
	}
}

// TestTwoDevices: each has its own place on the bus, its own number and node.
func TestTwoDevices(t *testing.T) {
	m := machine()
	fabric := hw.NewFabric(hw.Link{})
	a := adapter(t, m, mlx5.Config{Fabric: fabric})
	b := adapter(t, m, mlx5.Config{
		Name: "mlx5_1", Fabric: fabric, Profile: hw.Recorded.WithMAC([6]byte{2, 0, 0x5e, 0, 0x53, 2}),
		Addrs: []netip.Addr{netip.MustParseAddr("192.0.2.2")}, Netdev: "eth1",
	})
	tree := write(t, m, sysfs.Options{Interface: "lo", CPUs: 40})
	require.NotEqual(t, a.IB.Sysfs.PCI.Address, b.IB.Sysfs.PCI.Address)
	require.Equal(t, "mlx5_1\n", read(t, tree, "/sys/class/infiniband_verbs/uverbs1/ibdev"))
	require.Equal(t, "231:193\n", read(t, tree, "/sys/class/infiniband_verbs/uverbs1/dev"))
	require.Equal(t, "0200:5e03:0000:5302\n", read(t, tree, "/sys/class/infiniband/mlx5_1/node_guid"))
	require.Equal(t, "02:00:5e:00:53:02\n", read(t, tree, "/sys/class/infiniband/mlx5_1/device/net/lo/address"))
	require.Equal(t, "lo\n", read(t, tree, "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0"))
	require.Equal(t, "ff,ffffffff\n", read(t, tree, "/sys/class/infiniband/mlx5_0/device/local_cpus"))
	require.Equal(t, "0-39\n", read(t, tree, "/sys/class/infiniband/mlx5_0/device/local_cpulist"))
}

// TestTwoPorts: both have a directory.
func TestTwoPorts(t *testing.T) {
	m := machine()
	adapter(t, m, mlx5.Config{Profile: twoPorts(t)})
	tree := write(t, m, sysfs.Options{})
	require.Equal(t, "4: ACTIVE\n", read(t, tree, "/sys/class/infiniband/mlx5_0/ports/1/state"))
	require.Equal(t, "Ethernet\n", read(t, tree, "/sys/class/infiniband/mlx5_0/ports/2/link_layer"))
	e, ok := tree.Resolve("/sys/class/infiniband/mlx5_0/ports/3")
	require.True(t, ok)
	require.NoFileExists(t, e.Twin)
}

// TestRefresh: what changes is seen through a descriptor that was open before.
func TestRefresh(t *testing.T) {
	m := machine()
	d := soft(t, m, rxe.Config{})
	tree := write(t, m, sysfs.Options{})
	e, ok := tree.Resolve("/sys/class/infiniband/rxe0/ports/1/state")
	require.True(t, ok)
	open, err := os.Open(e.Twin)
	require.NoError(t, err)
	defer func() { require.NoError(t, open.Close()) }()

	rxe.SetLink(nil, d.IBDevice(), false)
	require.NoError(t, tree.Refresh(d))
	b, err := io.ReadAll(open)
	require.NoError(t, err)
	require.Equal(t, "1: DOWN\n", string(b))

	d.IBDevice().GIDs = d.IBDevice().GIDs[:1]
	require.NoError(t, tree.Refresh(d))
	require.Equal(t, strings.Repeat("0000:", 7)+"0000\n", read(t, tree, "/sys/class/infiniband/rxe0/ports/1/gids/1"))
	require.Empty(t, read(t, tree, "/sys/class/infiniband/rxe0/ports/1/gid_attrs/types/1"))
	info, err := os.Stat(e.Twin)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o444), info.Mode().Perm(), "the mode is left as it was")
}

// TestAddRemove: after all devices are gone the twin is that of a machine which had
// none, and one that is removed leaves the other alone.
func TestAddRemove(t *testing.T) {
	m := machine()
	tree := write(t, m, sysfs.Options{})
	empty := names(t, tree)
	a, b := soft(t, m, rxe.Config{}), soft(t, m, rxe.Config{Name: "rxe1"})
	c := adapter(t, m, mlx5.Config{})
	require.NoError(t, tree.Add(a))
	require.NoError(t, tree.Add(b))
	require.NoError(t, tree.Add(c.Uverbs))
	require.NoError(t, tree.Add(a), "it is there")
	full := names(t, tree)

	task := m.NewProcess(process.Options{}).MainTask()
	m.Unregister(task, a)
	require.NoError(t, tree.Refresh(a), "it is gone")
	require.NoError(t, tree.Remove(a))
	require.NoError(t, tree.Remove(a), "it is gone from here too")
	for p := range names(t, tree) {
		require.NotContains(t, p, "rxe0")
		require.NotContains(t, p, "uverbs0")
		delete(full, p)
	}
	for p := range full {
		require.Regexp(t, "rxe0|uverbs0|231:192", p, "only the device's places are gone")
	}
	require.Equal(t, "2\n", read(t, tree, "/sys/class/infiniband_verbs/uverbs1/abi_version"))

	require.NoError(t, tree.Remove(b))
	require.NoError(t, tree.Remove(c.Uverbs))
	now := names(t, tree)
	require.Len(t, now, len(empty))
	for p := range now {
		require.Contains(t, empty, p)
	}
}

// TestTwice: two devices that sysfs has one place for are refused.
func TestTwice(t *testing.T) {
	m := machine()
	soft(t, m, rxe.Config{})
	soft(t, m, rxe.Config{})
	_, err := sysfs.Write(tempDir(t), m, sysfs.Options{})
	require.ErrorContains(t, err, "another device has that place: /sys/class/infiniband/rxe0")
}

// TestInterface: a name that would lead elsewhere is refused.
func TestInterface(t *testing.T) {
	for _, name := range []string{"..", "../eth0", "."} {
		_, err := sysfs.Write(tempDir(t), machine(), sysfs.Options{Interface: name})
		require.ErrorContains(t, err, "no network device can have that name")
	}
}

// TestHostPCI: the bus lists the real machine's functions beside the devices, and
// only a device's path is the twin's.
func TestHostPCI(t *testing.T) {
	host := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(host, "0000:00:00.0"), 0o755))
	m := machine()
	d := adapter(t, m, mlx5.Config{})
	tree := write(t, m, sysfs.Options{HostPCI: host})
	e, ok := tree.Resolve("/sys/bus/pci/devices")
	require.True(t, ok)
	list, err := filepath.Glob(e.Twin + "/*")
	require.NoError(t, err)
	require.Equal(t, []string{e.Twin + "/0000:00:00.0", e.Twin + "/" + d.IB.Sysfs.PCI.Address}, list)
	_, ok = tree.Resolve("/sys/bus/pci/devices/0000:00:00.0")
	require.False(t, ok)
	e, ok = tree.Resolve("/sys/bus/pci/devices/" + d.IB.Sysfs.PCI.Address + "/infiniband/mlx5_0")
	require.True(t, ok)
	require.DirExists(t, e.Twin)

	_, ok = write(t, m, sysfs.Options{}).Resolve("/sys/bus/pci/devices")
	require.False(t, ok, "the listing is the real one")
}

// TestHostPCISameAddress: a real function with a device's address is not seen.
func TestHostPCISameAddress(t *testing.T) {
	host := t.TempDir()
	m := machine()
	d := adapter(t, m, mlx5.Config{})
	require.NoError(t, os.Mkdir(filepath.Join(host, d.IB.Sysfs.PCI.Address), 0o755))
	tree := write(t, m, sysfs.Options{HostPCI: host})
	require.Equal(t, "0x15b3\n", read(t, tree, "/sys/bus/pci/devices/"+d.IB.Sysfs.PCI.Address+"/vendor"))
}

// TestDevice: what is told is what the device says, its function on the bus too.
func TestDevice(t *testing.T) {
	m := machine()
	d := adapter(t, m, mlx5.Config{
		Profile: hw.ConnectX6Dx, NoCarrier: true, MTU: 9000, Netdev: "eth7",
		PCI: &core.PCIFunction{
			Address: "0000:5e:00.1", Driver: "mlx5_core", Vendor: 0x15b3, Device: 0x1021, SubsystemVendor: 0x15b3,
			SubsystemDevice: 0x23, Class: 0x020700, Revision: 2, NUMANode: 1, LinkGen: 5, LinkWidth: 8,
		},
	})
	tree := write(t, m, sysfs.Options{})
	const ib = "/sys/class/infiniband/mlx5_0/"
	for path, want := range map[string]string{
		"board_id": "SIM0000000002", "hca_type": "MT4129", "hw_rev": "2", "ports/1/state": "1: DOWN", "ports/1/phys_state": "3: Disabled",
		"device/class": "0x020700", "device/numa_node": "1", "device/revision": "0x02", "device/current_link_speed": "32.0 GT/s PCIe",
		"device/max_link_width": "8", "device/modalias": "pci:v000015B3d00001021sv000015B3sd00000023bc02sc07i00",
		"device/net/eth7/mtu": "9000", "device/net/eth7/operstate": "down", "device/net/eth7/speed": "-1", "device/net/eth7/carrier": "0",
	} {
		require.Equal(t, want+"\n", read(t, tree, ib+path), path)
	}
	require.Equal(t, uint32(0x1021), d.IB.Attr.VendorPartID)
	e, ok := tree.Resolve("/sys/devices/pci0000:5e/0000:5e:00.1/config")
	require.True(t, ok)
	config, err := os.ReadFile(e.Twin)
	require.NoError(t, err)
	require.Equal(t, []byte{0xb3, 0x15, 0x21, 0x10}, config[:4])
	require.Len(t, config, 256)
}

// TestConcurrent: clients are answered while devices come, change and go.
func TestConcurrent(t *testing.T) {
	m := machine()
	stays := adapter(t, m, mlx5.Config{})
	tree := write(t, m, sysfs.Options{})
	goes := adapter(t, m, mlx5.Config{Name: "mlx5_1"})
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				tree.Resolve("/sys/class/infiniband/mlx5_1/ports/1/state")
				if e, ok := tree.Resolve("/sys/class/infiniband/mlx5_0/ports/1/state"); !ok || e.Kind != sysfs.Path {
					t.Error("the device that stays is gone")
					return
				}
			}
		})
	}
	for range 5 {
		require.NoError(t, tree.Add(goes.Uverbs))
		require.NoError(t, tree.Refresh(stays.Uverbs))
		require.NoError(t, tree.Remove(goes.Uverbs))
	}
	close(stop)
	clients.Wait()
}

// TestPort: states, widths and speeds that no driver here has, by their names.
func TestPort(t *testing.T) {
	m := machine()
	d := soft(t, m, rxe.Config{})
	var a core.PortAttr
	d.IBDevice().Ops.QueryPort = func(_ *process.Task, _ *core.Device, _ uint32, to *core.PortAttr) error {
		*to = a
		return nil
	}
	tree := write(t, m, sysfs.Options{})
	for _, c := range []struct {
		attr core.PortAttr
		file string
		want string
	}{
		{core.PortAttr{State: 2}, "state", "2: INIT\n"},
		{core.PortAttr{State: 6}, "state", "6: UNKNOWN\n"},
		{core.PortAttr{PhysState: 7}, "phys_state", "7: Phy Test\n"},
		{core.PortAttr{PhysState: 8}, "phys_state", "8: <unknown>\n"},
		{core.PortAttr{ActiveWidth: 1, ActiveSpeed: 1}, "rate", "2.5 Gb/sec (1X SDR)\n"},
		{core.PortAttr{ActiveWidth: 2, ActiveSpeed: 128}, "rate", "400 Gb/sec (4X NDR)\n"},
		{core.PortAttr{ActiveWidth: 16, ActiveSpeed: 32}, "rate", "50 Gb/sec (2X EDR)\n"},
		{core.PortAttr{ActiveWidth: 8, ActiveSpeed: 9}, "rate", "30 Gb/sec (12X SDR)\n"},
		{core.PortAttr{ActiveWidth: 3, ActiveSpeed: 1}, "rate", ""},
		{core.PortAttr{LID: 0x1f, LMC: 3}, "lid", "0x1f\n"},
		{core.PortAttr{LID: 0x1f, LMC: 3}, "lid_mask_count", "3\n"},
		{core.PortAttr{SMLID: 10, SMSL: 4}, "sm_lid", "0xa\n"},
		{core.PortAttr{SMLID: 10, SMSL: 4}, "sm_sl", "4\n"},
		{core.PortAttr{PortCapFlags: 0x10000}, "cap_mask", "0x00010000\n"},
	} {
		a = c.attr
		require.NoError(t, tree.Refresh(d))
		require.Equal(t, c.want, read(t, tree, "/sys/class/infiniband/rxe0/ports/1/"+c.file))
	}
}
