package guest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"uverbsim/sim_test/guest/firmware"
)

// Job is a program to be run in a guest.
type Job struct {
	Kernel *Kernel
	Device Device // empty: RXE
	// MLX5 is what that device is to be.
	MLX5 MLX5Options
	// Init is the file of a static program that calls ServeInit.
	Init string
	// Program is the file of the static program to run, Init when empty, and
	// Args are its arguments.
	Program string
	Args    []string
	// Root is a directory whose content the guest's file system has from the
	// start, as FindPrograms makes it, and Path, if it is set, is the program there
	// that is run instead.
	Root, Path string
	// Files are put into the directory that the program runs in, by name, which
	// may be one in a directory below that.
	Files map[string][]byte

	CPUs   int           // 0: one
	Limit  time.Duration // 0: ten minutes
	Stdout io.Writer     // what the program writes, when it has ended
	Stderr io.Writer     // the same of its standard error, as it comes
	Log    io.Writer     // the kernel's log, when the guest has ended
}

// MLX5Options are what is special about a guest with MLX5.
type MLX5Options struct {
	Bridge   string            // the module's file, as BuildBridge returns it
	Profile  string            // of the device, by the name of firmware.Profiles; empty: hw.Recorded
	Caps     map[string]uint64 // capabilities that differ from the profile's
	Firmware io.Writer         // every command that the driver gives, when the guest has ended
}

const defaultLimit = 10 * time.Minute

// MaxCPUs is how many processors a guest can have: what QEMU's PC can.
const MaxCPUs = 255

// qemu is the program, and qemuPackage the Debian package that it is in.
const (
	qemu        = "qemu-system-x86_64"
	qemuPackage = "qemu-system-x86"
)

// Installed is nil when QEMU is there.
func Installed() error {
	if _, err := exec.LookPath(qemu); err != nil {
		return missing(qemu, qemuPackage)
	}
	return nil
}

// Run boots the kernel, runs the job's program and returns its exit status. The
// error is that of a guest that did not come so far.
func Run(ctx context.Context, j *Job) (status int, err error) {
	if err := Installed(); err != nil {
		return 0, err
	}
	if j.Device == "" {
		j.Device = RXE
	}
	if _, ok := devices[j.Device]; !ok {
		return 0, fmt.Errorf("no device %q: there are %s", j.Device, strings.Join(Devices, ", "))
	}
	dir, err := os.MkdirTemp("", "uverbsim-guest.")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := j.initramfs(filepath.Join(dir, "initramfs")); err != nil {
		return 0, err
	}
	limit := j.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, qemu, j.qemuArgs(dir)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if j.Stderr != nil {
		cmd.Stdout = struct{ io.Writer }{j.Stderr} // a pipe in any case: QEMU opens it anew, and a file would lose what it has
	}
	runErr := cmd.Run()
	if err := j.logs(dir); err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("the guest did not end within %v%s", limit, console(dir))
	}
	if runErr != nil {
		return 0, fmt.Errorf("%s: %w: %s", qemu, runErr, strings.TrimSpace(said.String()))
	}
	b, err := os.ReadFile(filepath.Join(dir, statusFile))
	if err != nil {
		return 0, err
	}
	if status, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
		return 0, fmt.Errorf("the guest has not run its program%s", console(dir))
	}
	return status, j.output(dir)
}

// Files of a run: what the guest's ports write to.
const (
	consoleFile  = "console"
	stdoutFile   = "stdout"
	statusFile   = "status"
	logFile      = "log"
	firmwareFile = "firmware"
)

// The numbers of the guest's ports.
const (
	stdoutPort = 1 + iota
	stderrPort
	statusPort
	logPort
	firmwarePort
)

// cpu is the processor: the largest that there is. Programs that are not this
// project's get one with four levels of page tables: a memory region that stands
// for a whole address space (implicit on-demand paging) has a list as long as that,
// with five levels a gigabyte of it, and no device here has so much room.
func (j *Job) cpu() string {
	if j.Root != "" {
		return "max,la57=off"
	}
	return "max"
}

func (j *Job) qemuArgs(dir string) []string {
	args := []string{
		"-accel", "tcg,thread=multi", "-cpu", j.cpu(), "-smp", strconv.Itoa(max(j.CPUs, 1)), "-m", strconv.Itoa(memoryMiB),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", filepath.Join(j.Kernel.dir, vmlinuz), "-initrd", filepath.Join(dir, "initramfs"),
		"-append", strings.Join([]string{
			"console=ttyS0 quiet loglevel=4 log_buf_len=4M panic=-1 rdinit=/init nokaslr mitigations=off",
			"no_timer_check", // a host that is busy lets the test of the timer fail, and the kernel panics
			initEnv + "=1", devices[j.Device].args,
		}, " "),
		"-chardev", fileChardev(dir, consoleFile), "-serial", "chardev:" + consoleFile,
		"-device", "virtio-serial-pci",
		// Not QEMU's stdio: the end of its standard input would close the port.
		"-chardev", "file,id=stderr,path=/dev/stdout", "-device", fmt.Sprintf("virtserialport,nr=%d,chardev=stderr", stderrPort),
	}
	for _, p := range []struct {
		file string
		port int
	}{{stdoutFile, stdoutPort}, {statusFile, statusPort}, {logFile, logPort}, {firmwareFile, firmwarePort}} {
		args = append(args, "-chardev", fileChardev(dir, p.file), "-device", fmt.Sprintf("virtserialport,nr=%d,chardev=%s", p.port, p.file))
	}
	return args
}

func fileChardev(dir, id string) string { return "file,id=" + id + ",path=" + filepath.Join(dir, id) }

// console is the end of what the guest said outside its program, for a message:
// its kernel, its first process and its firmware.
func console(dir string) string {
	const most = 2000
	text := ""
	for _, file := range []string{firmwareFile, consoleFile} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if b = bytes.TrimSpace(b); err == nil && len(b) > 0 {
			text += ":\n" + string(b[max(0, len(b)-most):])
		}
	}
	return text
}

// logs hands on what the guest said besides.
func (j *Job) logs(dir string) error {
	for _, o := range []struct {
		file string
		to   io.Writer
	}{{logFile, j.Log}, {firmwareFile, j.MLX5.Firmware}} {
		if err := copyFile(o.to, filepath.Join(dir, o.file)); err != nil {
			return err
		}
	}
	return nil
}

// output hands on what the program wrote. A kernel that found itself faulty
// makes its answers worthless.
func (j *Job) output(dir string) error {
	for _, file := range []string{consoleFile, logFile} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		if fault := faultIn(string(b)); fault != "" {
			return fmt.Errorf("the guest's kernel reports a fault of its own: %s", fault)
		}
		if file == logFile && j.Device == MLX5 {
			if odd := complaints(string(b)); len(odd) > 0 {
				return fmt.Errorf("the driver complains of the device when it takes it or leaves it:\n%s", strings.Join(odd, "\n"))
			}
		}
	}
	return copyFile(j.Stdout, filepath.Join(dir, stdoutFile))
}

// copyFile copies a file to a writer, if there is one.
func copyFile(to io.Writer, file string) error {
	if to == nil {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}

// Where things are in the guest.
const (
	initProgram   = "init"
	jobDir        = "job"
	commandFile   = "command.json"
	guestModules  = "modules"
	guestOrder    = "modules/order"
	defaultBinary = "/init"
)

// command is what the guest's first process is told to do.
type command struct {
	Device  Device
	MLX5    firmware.Config // of that device
	Program string
	Args    []string
}

// initramfs writes the guest's file system.
func (j *Job) initramfs(file string) error {
	static, err := isStatic(j.Init)
	if err != nil {
		return err
	}
	if !static {
		return errors.New(j.Init + " is linked dynamically and cannot run in the guest: build it with CGO_ENABLED=0")
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	c := &cpioWriter{w: w}
	if j.Root != "" {
		if err := c.tree(j.Root); err != nil {
			return err
		}
	}
	for _, dir := range []string{"dev", "proc", "sys", "tmp", jobDir, guestModules} {
		c.dir(dir)
	}
	program := command{Device: j.Device, Program: defaultBinary, Args: j.Args}
	program.MLX5 = firmware.Config{
		BAR: barAt, Size: barSize, Profile: j.MLX5.Profile, Caps: j.MLX5.Caps, Log: j.MLX5.Firmware != nil,
	}
	if err := program.MLX5.Check(); err != nil {
		return err
	}
	if err := c.copy(initProgram, 0o755, j.Init); err != nil {
		return err
	}
	if j.Program != "" {
		program.Program = "/program"
		if err := c.copy("program", 0o755, j.Program); err != nil {
			return err
		}
	}
	if j.Path != "" {
		program.Program = j.Path
	}
	text, err := json.Marshal(program)
	if err != nil {
		return err
	}
	c.file(commandFile, 0o644, text)
	for _, name := range slices.Sorted(maps.Keys(j.Files)) {
		if dir := path.Dir(name); dir != "." {
			c.dir(jobDir + "/" + dir)
		}
		c.file(jobDir+"/"+name, 0o644, j.Files[name])
	}
	if err := j.modules(c); err != nil {
		return err
	}
	if err := c.end(); err != nil {
		return err
	}
	return w.Flush()
}

// modules puts the device's modules into the file system, and the order in which
// they are loaded. The bridge comes first: the device is behind it.
func (j *Job) modules(c *cpioWriter) error {
	b, err := os.ReadFile(filepath.Join(j.Kernel.dir, orderPrefix+string(j.Device)))
	if err != nil {
		return err
	}
	order := strings.Fields(string(b))
	for _, name := range order {
		if err := c.copy(guestModules+"/"+name, 0o644, filepath.Join(j.Kernel.dir, modulesDir, name)); err != nil {
			return err
		}
	}
	if j.Device == MLX5 {
		if err := c.copy(guestModules+"/"+bridgeModule, 0o644, j.MLX5.Bridge); err != nil {
			return err
		}
	}
	c.file(guestOrder, 0o644, b)
	return c.err
}
