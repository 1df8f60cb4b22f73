package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"uverbsim/interpose/record"
	"uverbsim/interpose/watch"
	"uverbsim/report/chrome"
	"uverbsim/report/funcgraph"
	"uverbsim/report/strace"
	"uverbsim/report/tracecase"
	"uverbsim/trace"
)

// watchOptions are the flags that say how the calls of programs are watched.
type watchOptions struct {
	strace        bool
	straceOptions strace.Options
	output        string
	trace         string
	record        string
}

func (o *watchOptions) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.strace, "strace", false, "print each call on a device with all that it says, and why it was refused")
	f.StringVarP(&o.output, "output", "o", "", "with --strace: print to this file, not to the standard error")
	f.BoolVar(&o.straceOptions.JSON, "json", false, "with --strace: print JSON, an object a line")
	f.BoolVar(&o.straceOptions.Verbose, "verbose", false, "with --strace: leave nothing out")
	f.BoolVar(&o.straceOptions.Raw, "raw", false, "with --strace: add the bytes")
	f.BoolVarP(&o.straceOptions.Durations, "times", "T", false, "with --strace: add how long each call took")
	f.StringVar(&o.trace, "trace", "", "write what the modelled kernel does to this file, as its name ends: .json for Perfetto, .jsonl as JSON lines, else as ftrace prints it")
	f.StringVar(&o.record, "record", "", "write the calls to this file as cases, which replay plays")
}

// given returns the first of the flags that was given.
func (o *watchOptions) given() string {
	switch {
	case o.strace:
		return "--strace"
	case o.trace != "":
		return "--trace"
	case o.record != "":
		return "--record"
	}
	return ""
}

// watchers are those who watch a run, and the files that they write.
type watchers struct {
	watch.Watchers
	sink    trace.Sink
	closers []func() error
}

// open opens the files. The options are what cases say of where they were recorded.
func (o *watchOptions) open(stderr io.Writer, recorded record.Options) (_ *watchers, err error) {
	w := &watchers{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if !o.strace && (o.output != "" || o.straceOptions != strace.Options{}) {
		return w, errors.New("--output, --json, --verbose, --raw and --times say how --strace prints, which was not given")
	}
	if err := o.distinct(); err != nil {
		return w, err
	}
	if o.strace {
		out := stderr
		if o.output != "" {
			if out, err = w.create(o.output); err != nil {
				return w, err
			}
		}
		s := strace.New(out, o.straceOptions)
		w.Watchers = append(w.Watchers, s)
		w.closers = append(w.closers, s.Err)
	}
	if o.record != "" {
		f, err := os.Create(o.record)
		if err != nil {
			return w, err
		}
		r, err := record.New(f, recorded)
		if err != nil {
			return w, errors.Join(err, f.Close())
		}
		w.Watchers = append(w.Watchers, r)
		w.closers = append(w.closers, f.Close, r.Close)
	}
	if o.trace != "" {
		out, err := w.create(o.trace)
		if err != nil {
			return w, err
		}
		w.trace(out, filepath.Ext(o.trace))
	}
	return w, nil
}

// distinct refuses a file that is to be written by two. Devices, as /dev/null, are none.
func (o *watchOptions) distinct() error {
	outputs := []struct{ flag, name string }{{"--output", o.output}, {"--record", o.record}, {"--trace", o.trace}}
	for i, a := range outputs {
		for _, b := range outputs[:i] {
			if a.name != "" && b.name != "" && sameOutput(a.name, b.name) {
				return fmt.Errorf("%s %s and %s %s are one file: each wants its own", b.flag, b.name, a.flag, a.name)
			}
		}
	}
	return nil
}

// sameOutput says whether two names are of one file, which need not be there yet.
func sameOutput(a, b string) bool {
	at, errA := os.Stat(a)
	bt, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(at, bt) && at.Mode()&os.ModeDevice == 0
	}
	a, errA = filepath.Abs(a)
	b, errB = filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}

// trace writes what the kernel does, in the format for files that end so. It is
// written some time after it has happened, so that calls do not wait for it.
func (w *watchers) trace(out io.Writer, ext string) {
	var to trace.Batcher
	var clock func() time.Duration
	switch ext {
	case ".json":
		clock = stopwatch()
		p := chrome.New(out, chrome.Options{Clock: clock})
		p.Process("modelled kernel")
		to, w.closers = p, append(w.closers, p.Close)
	case ".jsonl":
		p := tracecase.JSON(out)
		to, w.closers = p, append(w.closers, p.Close)
	default:
		p := funcgraph.New(out, funcgraph.Options{Notes: true})
		to, w.closers = p, append(w.closers, p.Err)
	}
	r := trace.NewRecorder(to)
	w.closers = append(w.closers, func() error { r.Drain(); return nil })
	w.sink = r
	if clock != nil {
		w.sink = trace.Timed(r, clock)
	}
}

// create makes a file that is written in pieces, and flushed at the end.
func (w *watchers) create(name string) (io.Writer, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(f)
	w.closers = append(w.closers, f.Close, out.Flush)
	return out, nil
}

// Close writes what is left. The error says what could not be written, each once: a file's
// error is also that of who writes to it.
func (w *watchers) Close() error {
	var errs []error
	for i := len(w.closers) - 1; i >= 0; i-- { // a file is closed after who writes to it
		err := w.closers[i]()
		if err != nil && !slices.ContainsFunc(errs, func(told error) bool { return told.Error() == err.Error() }) {
			errs = append(errs, err)
		}
	}
	w.closers = nil
	errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, syscall.EPIPE) }) // nobody reads on
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("what was watched: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}
