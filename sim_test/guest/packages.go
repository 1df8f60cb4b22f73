package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// missing is the error of a program that is not there.
func missing(program, pkg string) error {
	return fmt.Errorf("%s is missing: apt-get install %s", program, pkg)
}

// needTools is nil when all programs are there, given with the packages that
// they are in.
func needTools(tools map[string]string) error {
	for tool, pkg := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			return missing(tool, pkg)
		}
	}
	return nil
}

// makeInCache makes a directory of the cache: beside its place first, so that
// what stands there is always whole. Fill gets a directory for what it needs on
// the way, and the one to make.
func makeInCache(cache, name string, fill func(tmp, made string) error) error {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(cache, "making.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, "made")
	if err := fill(tmp, made); err != nil {
		return err
	}
	err = os.Rename(made, filepath.Join(cache, name))
	if errors.Is(err, os.ErrExist) { // somebody else was faster
		return nil
	}
	return err
}

// download fetches Debian packages into a directory and returns their files, in
// the packages' order.
func download(ctx context.Context, dir string, packages ...string) ([]string, error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return nil, errors.New("there is no apt-get to fetch " + strings.Join(packages, ", "))
	}
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"download"}, packages...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("apt-get download %s: %s: run apt-get update", strings.Join(packages, " "), lastError(string(out), err))
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return nil, err
	}
	var debs []string
	for _, p := range packages {
		i := slices.IndexFunc(all, func(deb string) bool { return strings.HasPrefix(filepath.Base(deb), p+"_") })
		if i < 0 {
			return nil, fmt.Errorf("apt-get download %s left no package", p)
		}
		debs = append(debs, all[i])
	}
	return debs, nil
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
