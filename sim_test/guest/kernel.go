package guest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Release is the kernel that is booted unless another is asked for: the one
// whose answers are recorded.
const Release = "6.12.117+deb12-amd64"

// Kernel is a kernel in the cache.
type Kernel struct {
	Release string
	dir     string
}

const (
	vmlinuz    = "vmlinuz"
	modulesDir = "modules"
	orderFile  = "order"
)

// KernelOptions say which kernel is wanted. The zero value is the ordinary one.
type KernelOptions struct {
	Release string // empty: the constant Release
	Package string // the .deb to take it from; empty: the cache's, or what apt-get fetches
	Cache   string // the directory; empty: uverbsim in os.UserCacheDir
	Log     func(format string, args ...any)
}

// FindKernel returns the kernel, from the cache if it is there.
func FindKernel(ctx context.Context, o KernelOptions) (*Kernel, error) {
	if o.Release == "" {
		o.Release = Release
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no directory for the kernel: %w", err)
		}
		o.Cache = filepath.Join(dir, "uverbsim")
	}
	if o.Package != "" {
		o.Release = releaseOf(o.Package)
	}
	k := &Kernel{Release: o.Release, dir: filepath.Join(o.Cache, "linux-"+o.Release)}
	if _, err := os.Stat(filepath.Join(k.dir, vmlinuz)); err == nil {
		return k, nil
	}
	if err := k.make(ctx, &o); err != nil {
		return nil, err
	}
	return k, nil
}

// packagePrefix and a release are the name of a kernel's package.
const packagePrefix = "linux-image-"

// releaseOf is the release of the kernel in a package, from its file's name.
func releaseOf(deb string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(deb), packagePrefix), "_")
	return name
}

// make unpacks the package into the cache: beside its place first, so that what
// stands there is always whole.
func (k *Kernel) make(ctx context.Context, o *KernelOptions) error {
	for tool, pkg := range map[string]string{"dpkg-deb": "dpkg", "xz": "xz-utils"} {
		if _, err := exec.LookPath(tool); err != nil {
			return missing(tool, pkg)
		}
	}
	if err := os.MkdirAll(o.Cache, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(o.Cache, "making.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	deb := o.Package
	if deb == "" {
		o.Log("fetching the package %s%s", packagePrefix, o.Release)
		if deb, err = download(ctx, tmp, packagePrefix+o.Release); err != nil {
			return err
		}
	}
	o.Log("unpacking %s", filepath.Base(deb))
	made := filepath.Join(tmp, "made")
	if err := unpack(ctx, deb, o.Release, made); err != nil {
		return fmt.Errorf("%s: %w", deb, err)
	}
	err = os.Rename(made, k.dir)
	if errors.Is(err, os.ErrExist) { // somebody else was faster
		return nil
	}
	return err
}

// missing is the error of a program that is not there.
func missing(program, pkg string) error {
	return fmt.Errorf("%s is missing: apt-get install %s", program, pkg)
}

// download fetches a Debian package into a directory.
func download(ctx context.Context, dir, pkg string) (string, error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return "", fmt.Errorf("no kernel in the cache and no apt-get to fetch one: give the file of a %s… package", packagePrefix)
	}
	cmd := exec.CommandContext(ctx, "apt-get", "download", pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get download %s: %s: run apt-get update, or give the package's file", pkg, lastError(string(out), err))
	}
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(debs) != 1 {
		return "", fmt.Errorf("apt-get download %s left no package", pkg)
	}
	return debs[0], nil
}

// lastError is the last line with which a program of apt says what is wrong.
func lastError(out string, err error) string {
	text := err.Error()
	for line := range strings.Lines(out) {
		if msg, ok := strings.CutPrefix(line, "E: "); ok {
			text = strings.TrimSpace(msg)
		}
	}
	return text
}

// unpack takes the kernel and the wanted modules out of a package.
func unpack(ctx context.Context, deb, release, dir string) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	boot, packed, err := pick(out, release)
	if err != nil {
		cmd.Process.Kill() // the error is already there
		cmd.Wait()         // the same
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	if boot == nil {
		return fmt.Errorf("it has no boot/vmlinuz-%s", release)
	}
	order, modules, err := loadOrder(wanted, func(name string) ([]byte, error) {
		if packed[name] == nil {
			return nil, errors.New("it is not in the package")
		}
		return unxz(ctx, packed[name])
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, modulesDir), 0o755); err != nil {
		return err
	}
	for name, b := range modules {
		if err := os.WriteFile(filepath.Join(dir, modulesDir, name), b, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, modulesDir, orderFile), []byte(strings.Join(order, "\n")), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, vmlinuz), boot, 0o644)
}

// pick reads a package's files: its kernel, and the modules, packed as they
// are, of the directories where those that are wanted can be.
func pick(r io.Reader, release string) (boot []byte, modules map[string][]byte, err error) {
	modules = map[string][]byte{}
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, r)
			return boot, modules, err
		}
		if err != nil {
			return nil, nil, err
		}
		name := path.Clean("/" + h.Name)
		isModule := strings.HasPrefix(name, "/lib/modules/") || strings.HasPrefix(name, "/usr/lib/modules/")
		switch {
		case name == "/boot/vmlinuz-"+release:
			boot, err = io.ReadAll(t)
		case isModule && strings.Contains(name, ".ko") && mayBeWanted(name):
			modules[moduleName(path.Base(name))], err = io.ReadAll(t)
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// mayBeWanted spares reading the drivers of all hardware there is.
func mayBeWanted(name string) bool {
	_, rest, _ := strings.Cut(name, "/kernel/")
	if driver, ok := strings.CutPrefix(rest, "drivers/"); ok {
		return strings.HasPrefix(driver, "infiniband/") || strings.HasPrefix(driver, "net/dummy")
	}
	for _, dir := range []string{"crypto/", "lib/", "net/", "arch/x86/"} {
		if strings.HasPrefix(rest, dir) {
			return true
		}
	}
	return false
}

func unxz(ctx context.Context, b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte("\xfd7zXZ")) {
		return b, nil
	}
	cmd := exec.CommandContext(ctx, "xz", "-dc")
	cmd.Stdin = bytes.NewReader(b)
	return cmd.Output()
}
