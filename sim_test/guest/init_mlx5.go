//go:build linux

package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/sim_test/device"
	"uverbsim/sim_test/guest/firmware"
)

// mlx5Device is the RDMA device of the only adapter.
const mlx5Device = "mlx5_0"

// firmwareEnv is set for the process that is the firmware, to its
// firmware.Config. It says by a byte to the descriptor readyFD that a driver may
// come, and ends when the other end of stopFD is closed.
const (
	firmwareEnv = "UVERBSIM_FIRMWARE"
	readyFD     = 3
	stopFD      = 4
)

// serveFirmware is that process.
func serveFirmware(config string) {
	var c firmware.Config
	err := json.Unmarshal([]byte(config), &c)
	if err == nil {
		ready, told := os.NewFile(readyFD, "ready"), os.NewFile(stopFD, "stop")
		stop := make(chan struct{})
		go func() {
			told.Read(make([]byte, 1)) // nothing comes but the end
			close(stop)
		}()
		err = firmware.Serve(c, func() {
			ready.Write([]byte{1}) // whoever waits sees that nothing came
			ready.Close()
		}, stop, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "uverbsim:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// makeMLX5 makes the device. At the end the driver is unloaded, and has to leave
// nothing behind.
func makeMLX5(c *command) (end func() error, err error) {
	if err := loadModule(bridgeModule); err != nil {
		return nil, err
	}
	stop, err := startFirmware(&c.MLX5)
	if err != nil {
		return nil, err
	}
	return func() error {
		for _, name := range []string{"mlx5_ib", "mlx5_core"} {
			if err := unix.DeleteModule(name, 0); err != nil {
				return fmt.Errorf("unloading %s: %w", name, err)
			}
		}
		return stop()
	}, bringUp(c)
}

// bringUp loads the drivers and waits until the device is ready.
func bringUp(c *command) error {
	if err := acceptAddrs(); err != nil {
		return err
	}
	if err := loadModules(); err != nil {
		return err
	}
	nets, err := filepath.Glob("/sys/class/infiniband/" + mlx5Device + "/device/net/*")
	if err != nil {
		return err
	}
	for _, n := range nets {
		if err := setUpNet(filepath.Base(n)); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(n), err)
		}
	}
	if roce, set := c.MLX5.Caps["roce"]; len(nets) == 0 || set && roce == 0 {
		return awaitNode() // a port without a network device has no GIDs of addresses
	}
	return device.AwaitReady(mlx5Device)
}

// startFirmware starts this program again as the firmware, and returns when a
// driver may come. Stop ends it once the driver has gone; its error is that
// something is left in the device.
func startFirmware(c *firmware.Config) (stop func() error, err error) {
	config, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var pipes [2]struct{ r, w *os.File }
	for i := range pipes {
		if pipes[i].r, pipes[i].w, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	ready, ending := pipes[0], pipes[1]
	log, err := port(firmwarePort)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{firmwareEnv + "=" + string(config)}
	cmd.Stderr = log
	cmd.ExtraFiles = []*os.File{ready.w, ending.r}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for _, theirs := range []*os.File{log, ready.w, ending.r} {
		theirs.Close()
	}
	if n, _ := ready.r.Read(make([]byte, 1)); n == 0 {
		return nil, errors.New("there is no firmware: its log says why")
	}
	return func() error {
		ending.w.Close()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("the firmware, whose log says more: %w", err)
		}
		return nil
	}, nil
}

// awaitNode waits for the device's node.
func awaitNode() error {
	const every, limit = 50 * time.Millisecond, 20 * time.Second
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(every) {
		if unix.Access(DevicePath, unix.F_OK) == nil {
			return nil
		}
	}
	return fmt.Errorf("no %s within %v: the driver has not taken the device", DevicePath, limit)
}
