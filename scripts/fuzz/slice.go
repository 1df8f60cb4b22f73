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
	return f.Input == "" && strings.Contains(f.Output, "    context deadline exceeded") && !strings.Contains(f.Output, "panic")
}

// The lines of a fuzzing test binary that say how far it is, and where it has put an
// input.
var (
	progress = regexp.MustCompile(`^fuzz: elapsed: \S+, execs: (\d+) .*new interesting: (\d+)`)
	written  = regexp.MustCompile(`Failing input written to (\S+)`)
)

// mostOutput is how much of what a failing target says is kept: the end of it.
const mostOutput = 200 // lines

// overtime is how long a target may go on after its slice: for the inputs that it
// begins with, for making a found one smaller, and for its watchdog.
const overtime = 5 * time.Minute

// runSlice runs a target for a while.
func runSlice(ctx context.Context, t *target, d time.Duration) result {
	ctx, cancel := context.WithTimeout(ctx, d+overtime)
	defer cancel()
	// Without a bound Go spends a minute on making each interesting input smaller.
	cmd := exec.CommandContext(ctx, t.binary, "-test.run=^$", "-test.fuzz=^"+t.Name+"$", "-test.fuzztime="+d.String(),
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
	r := read(out, t.dir)
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

// read takes what a target says to pieces. Its failure, which it may be none of, has
// the end of it.
func read(out io.Reader, dir string) (r result) {
	var f failure
	var lines []string
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		line := s.Text()
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
