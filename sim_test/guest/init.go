//go:build linux

package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/sim_test/device"
)

// initEnv is set for the first process of a guest, by the kernel's command
// line.
const initEnv = "UVERBSIM_GUEST"

// ServeInit does nothing in an ordinary process. As the first process of a
// guest it makes the device, runs the job and turns the machine off; it does
// not return. Nor does it in the process that is the guest's firmware.
func ServeInit() {
	if config := os.Getenv(firmwareEnv); config != "" {
		serveFirmware(config)
	}
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
	b, err := os.ReadFile("/" + commandFile)
	if err != nil {
		return err
	}
	var c command
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	defer writeLog()
	if err := mark(startMark); err != nil {
		return err
	}
	end, err := makers[c.Device](&c)
	if err != nil {
		return fmt.Errorf("the device %s: %w", c.Device, err)
	}
	if err := mark(readyMark); err != nil {
		return err
	}
	status, err := runJob(&c)
	if err != nil {
		return err
	}
	if err := mark(goneMark); err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	return tellStatus(status)
}

// makers make each device: load its modules, give it its addresses and wait
// until it is ready. End is called when the job is done.
var makers = map[Device]func(*command) (end func() error, err error){RXE: makeRXE, MLX5: makeMLX5}

// writeLog hands the kernel's log out.
func writeLog() {
	log, err := kernelLog()
	if err != nil {
		fmt.Println("uverbsim: the kernel's log:", err)
	}
	if p, err := port(logPort); err == nil {
		p.WriteString(log) // the outside sees that it is not there
		p.Close()
	}
}

// loadModules loads the device's modules, each after those that it needs.
func loadModules() error {
	order, err := os.ReadFile("/" + guestOrder)
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(order)) {
		if err := loadModule(name); err != nil {
			return err
		}
	}
	return nil
}

func loadModule(name string) error {
	f, err := os.Open(filepath.Join("/", guestModules, name))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), moduleParams[name], 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("module %s: %w", name, err)
	}
	return nil
}

// setUpNet gives a network device the guest's address.
func setUpNet(name string) error {
	if err := device.SetUp(name, true); err != nil {
		return err
	}
	return device.AddAddr(name, DeviceAddr)
}

// acceptAddrs turns duplicate address detection off, so that the GIDs are there
// at once.
func acceptAddrs() error {
	for _, scope := range []string{"all", "default"} {
		if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+scope+"/accept_dad", []byte("0"), 0); err != nil {
			return err
		}
	}
	return device.SetUp("lo", true)
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

// runJob runs the program and returns its exit status.
func runJob(c *command) (status int, err error) {
	cmd := exec.Command(c.Program, c.Args...)
	cmd.Dir = "/" + jobDir
	cmd.Env = []string{"HOME=/tmp", "PATH=/usr/bin:/bin:/", "GOGC=400"} // there is memory, and time is dear
	stdout, err := port(stdoutPort)
	if err != nil {
		return 0, err
	}
	stderr, err := port(stderrPort)
	if err != nil {
		return 0, err
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return 0, err
	}
	stdout.Close()
	stderr.Close()
	return cmd.ProcessState.ExitCode(), nil
}

// tellStatus tells the outside that all went well in the guest, and how the
// program ended.
func tellStatus(status int) error {
	p, err := port(statusPort)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p, status); err != nil {
		return err
	}
	return p.Close()
}
