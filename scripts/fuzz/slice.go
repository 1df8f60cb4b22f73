package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// result is what came of running a target.
type result struct {
	Executions     int64     `json:"executions"`
	NewInteresting int64     `json:"new_interesting"`
	Seconds        float64   `json:"seconds"`
	Failures       []failure `json:"failures"`
}

// failure is an input that fails, or a target that could not be run.
type failure struct {
	Input  string `json:"input"` // the file that it is kept in, "" if there is none
	Output string `json:"output"`
}

// over says whether a target has ended because its time was over, which Go calls a
// failure when that comes at a bad moment.
func (f failure) over() bool {
	return f.Input == "" && ended.MatchString(f.Output) && !strings.Contains(f.Output, "panic")
}

// The lines of a fuzzing test binary that say that it has gone through the inputs that
// it begins with, how far it is, that its time was over, and where it has put an input.
var (
	fuzzing  = regexp.MustCompile(`^fuzz: elapsed: \S+, .* now fuzzing with `)
	progress = regexp.MustCompile(`^fuzz: elapsed: \S+, execs: (\d+) .*new interesting: (\d+)`)
	ended    = regexp.MustCompile(`    context (deadline exceeded|canceled)`)
	written  = regexp.MustCompile(`Failing input written to (\S+)`)
)

// mostOutput is how much of what a failing target says is kept: the end of it.
const mostOutput = 200 // lines

// overtime is how long a target may need beside its slice: before it for the inputs
// that it begins with, and after it for making a found one smaller, and for its
// watchdog.
const overtime = 5 * time.Minute

// margin is by how much the end of a slice has to be before the end of Go's own time.
// An interrupt that comes while a target ends by itself kills it, which looks like a
// failure.
const margin = time.Second

// runSlice runs a target for a turn. Go's own time begins with the process, and what
// is in the cache may take all of it, so Go's time is the most, and the target is
// interrupted when its turn is over.
func runSlice(ctx context.Context, t *target, turn turn) result {
	ctx, cancel := context.WithTimeout(ctx, turn.most+overtime)
	defer cancel()
	// Without a bound Go spends a minute on making each interesting input smaller.
	cmd := exec.CommandContext(ctx, t.binary, "-test.run=^$", "-test.fuzz=^"+t.Name+"$", "-test.fuzztime="+turn.most.String(),
		"-test.fuzzminimizetime=20x", "-test.parallel=1", "-test.fuzzcachedir="+t.cache)
	cmd.Dir = t.dir
	cmd.Env = append([]string{"GOGC=400"}, os.Environ()...) // most executions leave nothing; the user's own goes before
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}   // the workers are ended with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	start := time.Now()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return result{Failures: []failure{{Output: err.Error()}}}
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return result{Failures: []failure{{Output: err.Error()}}}
	}
	r := read(out, t.dir, func() {
		spent := time.Since(start)
		rest := max(turn.slice-spent, leastSlice)
		if turn.most-spent > rest+margin {
			time.AfterFunc(rest, func() { cmd.Process.Signal(os.Interrupt) }) // of one that is over, nothing
		}
	})
	err = cmd.Wait()
	r.Seconds = time.Since(start).Seconds()
	switch {
	case err == nil, ctx.Err() == context.Canceled, r.Failures[0].over():
		r.Failures = nil
	default:
		r.Failures[0].Output = fmt.Sprintf("%s\n%v", r.Failures[0].Output, err)
	}
	if ctx.Err() == context.DeadlineExceeded {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // whoever is left of it
	}
	return r
}

// read takes what a target says to pieces, and calls begins when it says that it
// begins to fuzz. Its failure, which it may be none of, has the end of it.
func read(out io.Reader, dir string, begins func()) (r result) {
	var f failure
	var lines []string
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		line := s.Text()
		if fuzzing.MatchString(line) {
			begins()
		}
		if m := progress.FindStringSubmatch(line); m != nil {
			r.Executions, _ = strconv.ParseInt(m[1], 10, 64)     // digits
			r.NewInteresting, _ = strconv.ParseInt(m[2], 10, 64) // as well
			continue
		}
		if m := written.FindStringSubmatch(line); m != nil {
			f.Input = filepath.Join(dir, m[1])
		}
		if lines = append(lines, line); len(lines) > mostOutput {
			lines = lines[1:]
		}
	}
	io.Copy(io.Discard, out) // of a line that is too long; the target is not to wait
	f.Output = strings.Join(lines, "\n")
	r.Failures = []failure{f}
	return r
}
