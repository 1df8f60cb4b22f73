package guest

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// isStatic says whether a program needs nothing but itself to run.
func isStatic(file string) (bool, error) {
	f, err := elf.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return false, nil
		}
	}
	return true, nil
}

// Self returns the running program's file if it is linked statically.
func Self() (file string, ok bool) {
	file, err := os.Executable()
	if err != nil {
		return "", false
	}
	static, err := isStatic(file)
	return file, err == nil && static
}

// Build builds a package as a statically linked program in a directory and
// returns its file. The package has to be one of the module that the working
// directory lies in.
func Build(ctx context.Context, pkg, dir string) (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", errors.New("no static program and no go command to build one: build this one with CGO_ENABLED=0")
	}
	file := filepath.Join(dir, path.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", file, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOTMPDIR="+dir) // who ends the build by a signal removes dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("a static %s, which the guest needs, cannot be built: %w: %s", pkg, err, strings.TrimSpace(string(out)))
	}
	return file, nil
}
