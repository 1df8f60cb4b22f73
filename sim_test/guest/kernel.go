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
	cache   string // what stands beside it
}

const (
	vmlinuz     = "vmlinuz"
	modulesDir  = "modules"
	orderPrefix = "order." // and the device: in which order its modules are loaded
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
	k := &Kernel{Release: o.Release, dir: filepath.Join(o.Cache, "kernel-"+o.Release), cache: o.Cache}
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
	return makeInCache(o.Cache, filepath.Base(k.dir), func(tmp, made string) error {
		if err := needTools(map[string]string{"dpkg-deb": "dpkg", "xz": "xz-utils"}); err != nil {
			return err
		}
		deb := o.Package
		if deb == "" {
			o.Log("fetching the package %s%s", packagePrefix, o.Release)
			debs, err := download(ctx, tmp, packagePrefix+o.Release)
			if err != nil {
				return fmt.Errorf("no kernel in the cache: %w; or give the file of a %s… package", err, packagePrefix)
			}
			deb = debs[0]
		}
		o.Log("unpacking %s", filepath.Base(deb))
		if err := unpack(ctx, deb, o.Release, made); err != nil {
			return fmt.Errorf("%s: %w", deb, err)
		}
		return nil
	})
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
	if err := os.MkdirAll(filepath.Join(dir, modulesDir), 0o755); err != nil {
		return err
	}
	for name, d := range devices {
		order, modules, err := loadOrder(d.modules, func(name string) ([]byte, error) {
			if packed[name] == nil {
				return nil, errors.New("it is not in the package")
			}
			return unxz(ctx, packed[name])
		})
		if err != nil {
			return err
		}
		for name, b := range modules {
			if err := os.WriteFile(filepath.Join(dir, modulesDir, name), b, 0o644); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, orderPrefix+string(name)), []byte(strings.Join(order, "\n")), 0o644); err != nil {
			return err
		}
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
	for _, start := range []string{
		"crypto/", "lib/", "net/", "arch/x86/", "drivers/infiniband/", "drivers/net/dummy",
		"drivers/net/ethernet/mellanox/", "drivers/pci/controller/",
	} {
		if strings.HasPrefix(rest, start) {
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
