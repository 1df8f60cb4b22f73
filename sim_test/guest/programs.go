package guest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// RDMAPrograms are the packages of rdma-core's programs and of what they need: the
// C library, libibverbs with its providers, and a shell that is one program.
var RDMAPrograms = []string{
	"ibverbs-utils", "ibverbs-providers", "libibverbs1", "libnl-3-200", "libnl-route-3-200", "libc6", "busybox-static",
}

// Shell is the shell of RDMAPrograms; its first argument is "sh".
const Shell = "/bin/busybox"

// FindPrograms returns a directory with the files of Debian packages, to be the
// Root of a Job. It lies in the kernel's cache afterwards; the first time the
// packages are fetched. Documentation and what turns texts from one character
// set into another is left out.
func FindPrograms(ctx context.Context, k *Kernel, log func(format string, args ...any), packages ...string) (string, error) {
	if log == nil {
		log = func(string, ...any) {}
	}
	sum := sha256.Sum256([]byte(strings.Join(packages, " ")))
	name := "programs-" + hex.EncodeToString(sum[:8])
	dir := filepath.Join(k.cache, name)
	if isDir(dir) {
		return dir, nil
	}
	return dir, makeInCache(k.cache, name, func(tmp, made string) error {
		if err := needTools(map[string]string{"dpkg-deb": "dpkg"}); err != nil {
			return err
		}
		log("fetching the packages %s", strings.Join(packages, ", "))
		debs, err := download(ctx, tmp, packages...)
		if err != nil {
			return err
		}
		if err := extract(ctx, made, debs...); err != nil {
			return err
		}
		return prune(made)
	})
}

// extract unpacks packages into one directory.
func extract(ctx context.Context, dir string, debs ...string) error {
	for _, deb := range debs {
		if out, err := exec.CommandContext(ctx, "dpkg-deb", "-x", deb, dir).CombinedOutput(); err != nil {
			return fmt.Errorf("dpkg-deb -x %s: %w: %s", deb, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// prune removes what no program of the guest looks at.
func prune(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || !slices.Contains([]string{"share", "gconv"}, d.Name()) {
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return fs.SkipDir
	})
}
