package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// reader runs what stands in a page, as one who reads it would.
type reader struct {
	root     string // where the commands run
	module   string // the folder of the module uverbsim
	work     string // a folder of the page's own
	programs bool   // build and run the go blocks
	update   bool   // write what differs

	page     *page
	problems []string
	edits    []edit
}

// edit puts other lines in the place of some of a page.
type edit struct {
	from, to int
	lines    []string
}

// patience is how long a command may take.
const patience = 2 * time.Minute

// read runs everything in the page and returns what is not as the page has it; with update, it writes the page and
// the diagrams instead.
func (r *reader) read(p *page) ([]string, error) {
	r.page, r.problems = p, slices.Clone(p.problems)
	for _, dir := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(r.work, dir), 0o755); err != nil {
			return nil, err
		}
	}
	for _, c := range p.commands {
		r.expect(c.line, c.from, c.to, c.text, r.run(r.root, "sh", "-c", c.text))
	}
	for _, d := range p.diagrams {
		if err := r.draw(d); err != nil {
			return nil, err
		}
	}
	if r.programs && len(p.programs) > 0 {
		if err := r.build(); err != nil {
			return nil, err
		}
	}
	if len(r.edits) > 0 {
		return r.problems, r.write()
	}
	return r.problems, nil
}

func (r *reader) problem(line int, format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf("%s:%d: ", r.page.path, line+1)+fmt.Sprintf(format, args...))
}

// expect compares what came out with the lines of the page.
func (r *reader) expect(line, from, to int, what, out string) {
	steps := align(r.page.lines[from:to], outputLines(out))
	switch {
	case matches(steps):
	case r.update:
		r.edits = append(r.edits, edit{from, to, updated(steps)})
	default:
		r.problem(line, "%s\nprints otherwise (-update writes it):\n%s", what, difference(steps))
	}
}

// outputLines are the lines of an output, without blank ones at its end.
func outputLines(out string) []string {
	out = strings.TrimRight(out, "\n")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// run runs a program and returns what it printed, and how it ended if that was not well.
func (r *reader) run(dir string, args ...string) string {
	out, err := os.CreateTemp(filepath.Join(r.work, "tmp"), "output")
	if err != nil {
		return err.Error()
	}
	defer out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, r.environ()
	if dir != r.root {
		cmd.Env = append(cmd.Env, "GOFLAGS=-mod=mod") // a module of the page's own
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left running; there may be nothing
	}
	text, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		return readErr.Error()
	}
	printed := strings.ReplaceAll(string(text), r.work, "$WORK")
	if err == nil {
		return printed
	}
	if printed != "" && !strings.HasSuffix(printed, "\n") {
		printed += "\n"
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return printed + fmt.Sprintf("(exit %d)\n", exit.ExitCode())
	}
	return printed + fmt.Sprintf("(%v)\n", err)
}

func (r *reader) environ() []string {
	env := []string{
		"HOME=" + filepath.Join(r.work, "home"), "TMPDIR=" + filepath.Join(r.work, "tmp"), "WORK=" + r.work,
		"LC_ALL=C.UTF-8", "NO_COLOR=1", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local",
	}
	for _, name := range []string{"PATH", "GOROOT", "GOCOVERDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, goCaches()...)
}

// draw compares a diagram with its file.
func (r *reader) draw(d diagram) error {
	got := r.run(r.root, "sh", "-c", d.command)
	if !strings.HasSuffix(got, "</svg>\n") { // a status would be behind it
		r.problem(d.line, "%s\nprints no picture:\n%s", d.command, got)
		return nil
	}
	file := filepath.Join(r.root, d.file)
	want, err := os.ReadFile(file)
	if err == nil && string(want) == got {
		return nil
	}
	if !r.update {
		r.problem(d.line, "%s is not what %s draws (-update writes it)", d.file, d.command)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(got), 0o644)
}

// build makes a module of the page's programs, builds it, and runs each.
func (r *reader) build() error {
	dir := filepath.Join(r.work, "programs")
	sum, err := os.ReadFile(filepath.Join(r.module, "go.sum"))
	if err != nil {
		return err
	}
	files := map[string]string{
		"go.mod": "module book\n\ngo 1.26\n\nrequire uverbsim v0.0.0\n\nreplace uverbsim => " + r.module + "\n",
		"go.sum": string(sum),
	}
	name := func(i int) string { return fmt.Sprintf("p%d", i+1) }
	tests := 0
	for i, g := range r.page.programs {
		file := "main.go"
		if g.test {
			file = "book_test.go"
			tests++
		}
		// The compiler then says where in the page a mistake is.
		files[filepath.Join(name(i), file)] = fmt.Sprintf("//line %s:%d\n%s", r.page.path, g.line+1, g.text)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	bin := filepath.Join(dir, "bin") + "/"
	if tests < len(r.page.programs) {
		if out := r.run(dir, "go", "build", "-o", bin, "./..."); out != "" {
			r.problem(r.page.programs[0].line, "the programs of this page cannot be built:\n%s", out)
			return nil
		}
	}
	for i, g := range r.page.programs {
		switch {
		case g.test:
			if out := r.run(dir, "go", "test", "./"+name(i)); !strings.HasPrefix(out, "ok ") {
				r.problem(g.line, "the test fails:\n%s", out)
			}
		case g.told:
			r.expect(g.line, g.from, g.to, "the program", r.run(r.root, bin+name(i)))
		default:
			if out := r.run(r.root, bin+name(i)); endedBadly.MatchString(out) {
				r.problem(g.line, "the program fails:\n%s", out)
			}
		}
	}
	return nil
}

// endedBadly is what run writes behind the output of a program that did not end well.
var endedBadly = regexp.MustCompile(`(?m)^\((exit \d+|signal: .*|context .*)\)\n\z`)

// write writes the page with its edits.
func (r *reader) write() error {
	slices.SortFunc(r.edits, func(a, b edit) int { return b.from - a.from })
	lines := slices.Clone(r.page.lines)
	for _, e := range r.edits {
		lines = slices.Replace(lines, e.from, e.to, e.lines...)
	}
	return os.WriteFile(filepath.Join(r.root, r.page.path), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// elision is what stands for any text in a line, and for any lines.
const elision = "..."

// lineMatches says whether a printed line is what a line of the page says.
func lineMatches(want, got string) bool {
	if !strings.Contains(want, elision) {
		return want == got
	}
	parts := strings.Split(want, elision)
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got)
}

// step is one step of laying printed lines beside those of the page: a line of each that match, or one that
// only the page or only the output has.
type step struct {
	want, got string
	kind      stepKind
}

type stepKind uint8

const (
	stepMatch   stepKind = iota
	stepElision          // a line ... of the page
	stepRemoved
	stepAdded
)

// align lays printed lines beside those of the page with as few steps as it can that remove or add a line.
func align(want, got []string) []step {
	cost := alignCosts(want, got)
	var steps []step
	for i, j := 0, 0; i < len(want) || j < len(got); {
		c := cost[i][j]
		switch {
		case i < len(want) && want[i] == elision:
			if c != cost[i+1][j] {
				j++ // it stands for this one too
				continue
			}
			steps = append(steps, step{want: elision, kind: stepElision})
			i++
		case i < len(want) && j < len(got) && c == cost[i+1][j+1] && lineMatches(want[i], got[j]):
			steps = append(steps, step{want: want[i], got: got[j]})
			i, j = i+1, j+1
		case i < len(want) && j < len(got) && c == replacedCost+cost[i+1][j+1]:
			steps = append(steps, step{want: want[i], kind: stepRemoved}, step{got: got[j], kind: stepAdded})
			i, j = i+1, j+1
		case j < len(got) && c == addedCost+cost[i][j+1]:
			steps = append(steps, step{got: got[j], kind: stepAdded})
			j++
		default:
			steps = append(steps, step{want: want[i], kind: stepRemoved})
			i++
		}
	}
	return steps
}

// What a step costs that does not match. To replace a line costs less than to remove it and have an elision take
// what came instead.
const replacedCost, removedCost, addedCost = 2, 3, 2

// alignCosts returns what it costs to make want[i:] match got[j:], for all i and j.
func alignCosts(want, got []string) [][]int {
	cost := make([][]int, len(want)+1)
	for i := len(want); i >= 0; i-- {
		cost[i] = make([]int, len(got)+1)
		free := i < len(want) && want[i] == elision
		for j := len(got); j >= 0; j-- {
			if i == len(want) && j == len(got) {
				continue
			}
			c := math.MaxInt
			if i < len(want) {
				c = min(c, cost[i+1][j]+unless(free, removedCost))
			}
			if j < len(got) {
				c = min(c, cost[i][j+1]+unless(free, addedCost))
			}
			if i < len(want) && j < len(got) && !free {
				c = min(c, cost[i+1][j+1]+unless(lineMatches(want[i], got[j]), replacedCost))
			}
			cost[i][j] = c
		}
	}
	return cost
}

func unless(free bool, cost int) int {
	if free {
		return 0
	}
	return cost
}

// matches says whether no step removes or adds a line.
func matches(steps []step) bool {
	return !slices.ContainsFunc(steps, func(s step) bool { return s.kind == stepRemoved || s.kind == stepAdded })
}

// updated returns what the page has to say; its elisions stay.
func updated(steps []step) []string {
	var lines []string
	for _, s := range steps {
		switch s.kind {
		case stepMatch, stepElision:
			lines = append(lines, s.want)
		case stepAdded:
			lines = append(lines, s.got)
		}
	}
	return lines
}

// difference shows the steps that remove or add a line.
func difference(steps []step) string {
	const most = 60
	var b strings.Builder
	n := 0
	for _, s := range steps {
		if s.kind != stepRemoved && s.kind != stepAdded {
			continue
		}
		if n++; n > most {
			continue
		}
		if s.kind == stepRemoved {
			fmt.Fprintf(&b, "- %s\n", s.want)
		} else {
			fmt.Fprintf(&b, "+ %s\n", s.got)
		}
	}
	if n > most {
		fmt.Fprintf(&b, "and %d lines\n", n-most)
	}
	return b.String()
}
