//go:build linux

package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/sim_test/device"
)

// The guest's device.
const (
	// DevicePath is its node.
	DevicePath = "/dev/infiniband/uverbs0"

	rdmaDevice = "rxe0"
	netDevice  = "dummy0"
)

// The addresses of the guest's device, which make its GUIDs and GIDs.
var (
	DeviceMAC  = [6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, 0x01}
	DeviceAddr = netip.MustParsePrefix("192.0.2.1/24")
)

// initEnv is set for the first process of a guest, by the kernel's command
// line.
const initEnv = "UVERBSIM_GUEST"

// ServeInit does nothing in an ordinary process. As the first process of a
// guest it makes the device, runs the job and turns the machine off; it does
// not return.
func ServeInit() {
	if os.Getpid() != 1 || os.Getenv(initEnv) == "" {
		return
	}
	os.Unsetenv(initEnv)
	if err := serve(); err != nil {
		fmt.Println("uverbsim:", err)
	}
	unix.Sync()
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF) // if not, the time limit ends the guest
	select {}
}

// mounts are the file systems, in order.
var mounts = []struct{ typ, dir string }{
	{"devtmpfs", "/dev"}, {"proc", "/proc"}, {"sysfs", "/sys"}, {"cgroup2", "/sys/fs/cgroup"}, {"tmpfs", "/tmp"},
}

func serve() error {
	for _, m := range mounts {
		if err := unix.Mount(m.typ, m.dir, m.typ, 0, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", m.typ, err)
		}
	}
	if err := loadModules(); err != nil {
		return err
	}
	if err := makeDevice(); err != nil {
		return err
	}
	return runJob()
}

func loadModules() error {
	order, err := os.ReadFile("/" + guestModules + "/" + orderFile)
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(order)) {
		f, err := os.Open(filepath.Join("/", guestModules, name))
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), "", 0)
		f.Close()
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("module %s: %w", name, err)
		}
	}
	return nil
}

// makeDevice makes the RDMA device. Without duplicate address detection the
// GIDs are there at once.
func makeDevice() error {
	for _, scope := range []string{"all", "default"} {
		if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+scope+"/accept_dad", []byte("0"), 0); err != nil {
			return err
		}
	}
	for _, f := range []func() error{
		func() error { return device.SetUp("lo", true) },
		func() error { return device.SetHardwareAddr(netDevice, DeviceMAC) },
		func() error { return device.SetUp(netDevice, true) },
		func() error { return device.AddAddr(netDevice, DeviceAddr) },
		func() error { return device.NewLink(rdmaDevice, "rxe", netDevice) },
		func() error { return device.AwaitReady(rdmaDevice) },
	} {
		if err := f(); err != nil {
			return fmt.Errorf("the device %s on %s: %w", rdmaDevice, netDevice, err)
		}
	}
	return nil
}

// port opens one of the ports to the outside, which take a moment to come.
func port(n int) (*os.File, error) {
	const tries, pause = 100, 20 * time.Millisecond
	var err error
	for range tries {
		var f *os.File
		if f, err = os.OpenFile(fmt.Sprintf("/dev/vport0p%d", n), os.O_WRONLY, 0); err == nil {
			return f, nil
		}
		time.Sleep(pause)
	}
	return nil, err
}

func runJob() error {
	b, err := os.ReadFile("/" + commandFile)
	if err != nil {
		return err
	}
	var c command
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	cmd := exec.Command(c.Program, c.Args...)
	cmd.Dir = "/" + jobDir
	cmd.Env = []string{"HOME=/tmp", "PATH=/", "GOGC=400"} // there is memory, and time is dear
	stdout, err := port(1)
	if err != nil {
		return err
	}
	stderr, err := port(2)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	stdout.Close()
	stderr.Close()
	status, err := port(3)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(status, cmd.ProcessState.ExitCode())
	if err != nil {
		return err
	}
	return status.Close()
}
