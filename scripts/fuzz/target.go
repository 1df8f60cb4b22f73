package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// target is a fuzz target, and what came of it so far.
type target struct {
	Package string // import path
	Name    string // "FuzzRead"

	dir, binary, cache string

	result
	spent   int // slices
	running bool
}

func (t *target) String() string { return t.Package + ":" + t.Name }

// find returns the targets of the project that are named, each once, in the order of
// the names and, of one name, of their packages; without names all of them.
func find(ctx context.Context, names []string) ([]*target, error) {
	if len(names) == 0 {
		names = []string{"./..."}
	}
	var targets []*target
	known := map[string]bool{}
	for _, n := range names {
		named, err := ofName(ctx, n)
		if err != nil {
			return nil, err
		}
		for _, t := range named {
			if !known[t.String()] {
				known[t.String()] = true
				targets = append(targets, t)
			}
		}
	}
	return targets, nil
}

// ofName returns the targets of one name: "FuzzX", "./package" or "./package:FuzzX".
func ofName(ctx context.Context, name string) (targets []*target, err error) {
	pattern, function, both := strings.Cut(name, ":")
	if !both && strings.HasPrefix(name, "Fuzz") {
		pattern, function = "./...", name
	}
	packages, err := list(ctx, pattern)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		found, err := p.targets()
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if function == "" || f == function {
				targets = append(targets, &target{Package: p.ImportPath, Name: f, dir: p.Dir})
			}
		}
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("no target %s", name)
	}
	return targets, nil
}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
}

func list(ctx context.Context, pattern string) (packages []pkg, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", pattern)
	out, err := cmd.Output()
	if said := new(exec.ExitError); errors.As(err, &said) && len(said.Stderr) > 0 {
		return nil, fmt.Errorf("go list: %s", strings.ReplaceAll(strings.TrimSpace(string(said.Stderr)), "\n", "; "))
	}
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// targets are the names of the package's fuzz targets.
func (p *pkg) targets() (names []string, err error) {
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && isTarget(f) {
				names = append(names, f.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// isTarget says whether a function is func FuzzXxx(f *testing.F).
func isTarget(f *ast.FuncDecl) bool {
	if f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") || f.Type.Params.NumFields() != 1 {
		return false
	}
	p, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	s, ok := p.X.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "F"
}

// build makes an instrumented test binary of each package that has a target, and says
// where inputs that are interesting are kept.
func build(ctx context.Context, targets []*target, dir string, log io.Writer) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	cache := filepath.Join(strings.TrimSpace(string(out)), "fuzz")
	built := map[string]string{}
	for _, t := range targets {
		t.cache = filepath.Join(cache, t.Package)
		if t.binary = built[t.Package]; t.binary != "" {
			continue
		}
		t.binary = filepath.Join(dir, fmt.Sprint(len(built), ".test"))
		built[t.Package] = t.binary
		fmt.Fprintln(log, "build", t.Package)
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz=.", "-o", t.binary, t.Package)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", t.Package, err, out)
		}
	}
	return nil
}
