package guest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bridgeModule is the name of the kernel module of ./bridge, and bridgeSources
// are the files that it is built from.
const bridgeModule = "uverbsim_bridge"

var bridgeSources = []string{bridgeModule + ".c", "Kbuild"}

// BuildBridge builds the kernel module that MLX5 needs for a kernel, from its
// source in the module that the working directory lies in, and returns its file.
// It lies in the cache afterwards. The headers are those that are installed, or
// else are fetched.
func BuildBridge(ctx context.Context, k *Kernel, log func(format string, args ...any)) (string, error) {
	if log == nil {
		log = func(string, ...any) {}
	}
	source, err := bridgeSource(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	texts := map[string][]byte{}
	for _, name := range bridgeSources {
		b, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", err
		}
		sum.Write(b)
		texts[name] = b
	}
	name := "bridge-" + k.Release + "-" + hex.EncodeToString(sum.Sum(nil)[:8])
	file := filepath.Join(k.cache, name, bridgeModule+".ko")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	err = makeInCache(k.cache, name, func(tmp, made string) error {
		if err := needTools(map[string]string{"make": "make", "dpkg-deb": "dpkg"}); err != nil {
			return err
		}
		headers, err := k.headers(ctx, tmp, log)
		if err != nil {
			return err
		}
		if err := os.Mkdir(made, 0o755); err != nil {
			return err
		}
		for name, b := range texts {
			if err := os.WriteFile(filepath.Join(made, name), b, 0o644); err != nil {
				return err
			}
		}
		log("building %s for Linux %s", bridgeModule, k.Release)
		return makeModule(ctx, headers, made)
	})
	return file, err
}

// bridgeSource is the directory of the module's source.
func bridgeSource(ctx context.Context) (string, error) {
	const pkg, below = "uverbsim/sim_test/guest", "bridge"
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("no bridge to the device, and no go command to find its source with: give the built module of %s/%s", pkg, below)
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		return "", fmt.Errorf("the bridge's source is not found: run in the project's directory, or give the built module of %s/%s", pkg, below)
	}
	return filepath.Join(strings.TrimSpace(string(out)), below), nil
}

// headers returns the directory that modules for the kernel are built against.
func (k *Kernel) headers(ctx context.Context, tmp string, log func(format string, args ...any)) (string, error) {
	name := "linux-headers-" + k.Release
	if installed := "/usr/src/" + name; isDir(installed) {
		return installed, nil
	}
	// 6.12.117+deb12-amd64: what is the same for all flavours is named without it.
	i := strings.LastIndexByte(k.Release, '-')
	if i < 0 {
		return "", fmt.Errorf("a kernel of Debian has a flavour in its release: %s", k.Release)
	}
	common, kbuild := "linux-headers-"+k.Release[:i]+"-common", "linux-kbuild-"+k.Release[:i]
	log("fetching the packages %s, %s, %s", name, common, kbuild)
	debs, err := download(ctx, tmp, name, common, kbuild)
	if err != nil {
		return "", err
	}
	root := filepath.Join(tmp, "headers")
	if err := extract(ctx, root, debs...); err != nil {
		return "", err
	}
	src := filepath.Join(root, "usr/src")
	// The flavour's Makefile leads on to the common one by an absolute path.
	include := "include " + filepath.Join(src, common, "Makefile") + "\n"
	return filepath.Join(src, name), os.WriteFile(filepath.Join(src, name, "Makefile"), []byte(include), 0o644)
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// makeModule builds the module in a directory. Type information, which wants one
// more program and which nothing here reads, is left out.
func makeModule(ctx context.Context, headers, dir string) error {
	cmd := exec.CommandContext(ctx, "make", "-s", "-C", headers, "M="+dir, "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the bridge cannot be built, which takes the compiler of the kernel's release (gcc-12 for %s): %w: %s", Release, err, bytes.TrimSpace(out))
	}
	if _, err := os.Stat(filepath.Join(dir, bridgeModule+".ko")); err != nil {
		return errors.New("the bridge cannot be built: make has left no module")
	}
	return nil
}
