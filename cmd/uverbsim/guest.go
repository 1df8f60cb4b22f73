package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"uverbsim/sim_test/guest"
)

// guestFlags say which guest is to be asked.
type guestFlags struct {
	kernel           guest.KernelOptions
	device           string
	bridge           string
	log, firmwareLog string
	cpus             int
	limit            time.Duration
}

// flags adds them to a command's. Otherwise says which device it is if the user
// does not choose.
func (g *guestFlags) flags(f *pflag.FlagSet, otherwise string) {
	f.StringVar(&g.device, "device", "", "the guest's device: rxe, or mlx5 for the real mlx5_ib on this project's device (default: "+otherwise+")")
	g.machineFlags(f)
}

// machineFlags adds those that do not say which device it is.
func (g *guestFlags) machineFlags(f *pflag.FlagSet) {
	f.StringVar(&g.kernel.Release, "kernel-release", guest.Release, "boot the kernel of this Debian release")
	f.StringVar(&g.kernel.Package, "kernel-package", "", "take the kernel from this .deb file")
	f.StringVar(&g.kernel.Cache, "cache", "", "keep the kernel in this directory (default: uverbsim in the user's cache directory)")
	f.StringVar(&g.bridge, "bridge", "", "mlx5: take the bridge's kernel module from this file instead of building it")
	f.StringVar(&g.log, "kernel-log", "", "append the guests' kernel logs to this file")
	f.StringVar(&g.firmwareLog, "firmware-log", "", "mlx5: append every command that the driver gives the device to this file")
	f.IntVar(&g.cpus, "cpus", 1, "processors of the guest; each is a completion vector")
	f.DurationVar(&g.limit, "limit", 10*time.Minute, "how long the guest may take")
}

// check refuses what no guest can be. It is to be asked before any work is done.
func (g *guestFlags) check() error {
	switch {
	case g.device != "" && !slices.Contains(guest.Devices, g.device):
		return fmt.Errorf("--device %s: there are %s", g.device, strings.Join(guest.Devices, " and "))
	case g.cpus < 1 || g.cpus > guest.MaxCPUs:
		return fmt.Errorf("--cpus %d: 1 to %d", g.cpus, guest.MaxCPUs)
	case g.limit <= 0:
		return fmt.Errorf("--limit %v: more than 0", g.limit)
	}
	return nil
}

// self is this program's package.
const self = "uverbsim/cmd/uverbsim"

// guests boots guests for one command, one after the other.
type guests struct {
	ctx    context.Context
	job    guest.Job // what all have in common
	device guest.Device
	say    func(format string, args ...any)
	undo   []func() error
}

// guests makes ready for a command's guests, whose flags were checked.
func (g *guestFlags) guests(cmd *cobra.Command) (_ *guests, err error) {
	if err := guest.Installed(); err != nil {
		return nil, err
	}
	s := &guests{ctx: cmd.Context(), device: guest.Device(g.device)}
	if s.ctx == nil {
		s.ctx = context.Background()
	}
	s.untilSignal()
	s.say = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), "uverbsim: "+format+"\n", args...) }
	defer func() {
		if err != nil {
			err = s.end(err)
		}
	}()
	s.job = guest.Job{CPUs: g.cpus, Limit: g.limit, Stderr: cmd.ErrOrStderr()}
	s.job.MLX5.Bridge = g.bridge
	for _, l := range []struct {
		name string
		to   *io.Writer
	}{{g.log, &s.job.Log}, {g.firmwareLog, &s.job.MLX5.Firmware}} {
		if l.name == "" {
			continue
		}
		f, err := os.OpenFile(l.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		s.undo = append(s.undo, f.Close)
		*l.to = f
	}
	o := g.kernel
	o.Log = s.say
	if s.job.Kernel, err = guest.FindKernel(s.ctx, o); err != nil {
		return nil, err
	}
	return s, s.program()
}

// program finds a static program for the guests, or builds one.
func (s *guests) program() error {
	var ok bool
	if s.job.Init, ok = guest.Self(); ok {
		return nil
	}
	dir, err := os.MkdirTemp("", "uverbsim-static.")
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return os.RemoveAll(dir) })
	s.say("building a static uverbsim for the guest")
	s.job.Init, err = guest.Build(s.ctx, self, dir)
	return err
}

// signalled is the error of a command that a signal has ended.
type signalled struct{ syscall.Signal }

// Error implements error.
func (s signalled) Error() string { return "ended by a signal: " + s.Signal.String() }

// untilSignal has a signal that would end this command end the guest, so that what was made
// for it is removed. The next one ends the command at once.
func (s *guests) untilSignal() {
	ctx, cancel := context.WithCancelCause(s.ctx)
	signals := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // as nohup has it
			signal.Notify(signals, sig)
		}
	}
	go func() {
		select {
		case sig := <-signals:
			signal.Stop(signals)
			cancel(signalled{sig.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	s.ctx = ctx
	s.undo = append(s.undo, func() error {
		signal.Stop(signals)
		cancel(nil)
		return nil
	})
}

// end removes what was made. It returns what the command's error is then: the signal if
// there was one, which is why the rest has failed.
func (s *guests) end(err error) error {
	var sig signalled
	if errors.As(context.Cause(s.ctx), &sig) {
		err = sig
	}
	errs := []error{err}
	for _, f := range slices.Backward(s.undo) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// with returns the job of a guest with that device, which has other capabilities
// than its profile where caps says so.
func (s *guests) with(d guest.Device, profile string, caps map[string]uint64) (*guest.Job, error) {
	if d == guest.MLX5 && s.job.MLX5.Bridge == "" {
		var err error
		if s.job.MLX5.Bridge, err = guest.BuildBridge(s.ctx, s.job.Kernel, s.say); err != nil {
			return nil, err
		}
	}
	j := s.job
	j.Device, j.MLX5.Profile, j.MLX5.Caps = d, profile, caps
	return &j, nil
}
