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
)

// Job is a program to be run in a guest.
type Job struct {
	Kernel *Kernel
	// Init is the file of a static program that calls ServeInit.
	Init string
	// Program is the file of the static program to run, Init when empty, and
	// Args are its arguments.
	Program string
	Args    []string
	// Files are put into the directory that the program runs in, by name, which
	// may be one in a directory below that.
	Files map[string][]byte

	CPUs   int           // 0: one
	Limit  time.Duration // 0: ten minutes
	Stdout io.Writer     // what the program writes, when it has ended
	Stderr io.Writer     // the same of its standard error, as it comes
}

const defaultLimit = 10 * time.Minute

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
		cmd.Stdout = j.Stderr
	}
	runErr := cmd.Run()
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
	consoleFile = "console"
	stdoutFile  = "stdout"
	statusFile  = "status"
)

func (j *Job) qemuArgs(dir string) []string {
	file := func(id string) string { return "file,id=" + id + ",path=" + filepath.Join(dir, id) }
	return []string{
		"-accel", "tcg,thread=multi", "-cpu", "max", "-smp", strconv.Itoa(max(j.CPUs, 1)), "-m", "1024",
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", filepath.Join(j.Kernel.dir, vmlinuz), "-initrd", filepath.Join(dir, "initramfs"),
		"-append", "console=ttyS0 quiet loglevel=4 panic=-1 rdinit=/init nokaslr mitigations=off " + initEnv + "=1",
		"-chardev", file(consoleFile), "-serial", "chardev:" + consoleFile,
		"-device", "virtio-serial-pci",
		"-chardev", file(stdoutFile), "-device", "virtserialport,nr=1,chardev=" + stdoutFile,
		"-chardev", "stdio,signal=off,id=stderr", "-device", "virtserialport,nr=2,chardev=stderr",
		"-chardev", file(statusFile), "-device", "virtserialport,nr=3,chardev=" + statusFile,
	}
}

// console is the end of what the guest's kernel said, for a message.
func console(dir string) string {
	const most = 2000
	b, err := os.ReadFile(filepath.Join(dir, consoleFile))
	b = bytes.TrimSpace(b)
	if err != nil || len(b) == 0 {
		return ""
	}
	return ":\n" + string(b[max(0, len(b)-most):])
}

// output hands on what the program wrote. A kernel that found itself faulty
// makes its answers worthless.
func (j *Job) output(dir string) error {
	if b, err := os.ReadFile(filepath.Join(dir, consoleFile)); err == nil {
		for _, sign := range []string{"BUG: ", "WARNING: ", "Oops: ", "general protection fault"} {
			if i := bytes.Index(b, []byte(sign)); i >= 0 {
				line, _, _ := strings.Cut(string(b[i:]), "\n")
				return fmt.Errorf("the guest's kernel reports a fault of its own: %s", strings.TrimSpace(line))
			}
		}
	}
	if j.Stdout == nil {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, stdoutFile))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(j.Stdout, f)
	return err
}

// Where things are in the guest.
const (
	initProgram   = "init"
	jobDir        = "job"
	commandFile   = "job/command.json"
	guestModules  = "modules"
	defaultBinary = "/init"
)

// command is what the guest's first process is told to run.
type command struct {
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
	for _, dir := range []string{"dev", "proc", "sys", "tmp", jobDir, guestModules} {
		c.dir(dir)
	}
	program := command{Program: defaultBinary, Args: j.Args}
	if err := c.copy(initProgram, 0o755, j.Init); err != nil {
		return err
	}
	if j.Program != "" {
		program.Program = "/program"
		if err := c.copy("program", 0o755, j.Program); err != nil {
			return err
		}
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

func (c *cpioWriter) copy(name string, perm int, from string) error {
	b, err := os.ReadFile(from)
	if err == nil {
		c.file(name, perm, b)
	}
	return err
}

func (j *Job) modules(c *cpioWriter) error {
	dir := filepath.Join(j.Kernel.dir, modulesDir)
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := c.copy(guestModules+"/"+f.Name(), 0o644, filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}
