package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"uverbsim/casefile"
	"uverbsim/sim_test/guest"
)

// guestFlags say which guest is to be asked.
type guestFlags struct {
	kernel guest.KernelOptions
	cpus   int
	limit  time.Duration
}

func (g *guestFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&g.kernel.Release, "kernel-release", guest.Release, "boot the kernel of this Debian release")
	f.StringVar(&g.kernel.Package, "kernel-package", "", "take the kernel from this .deb file")
	f.StringVar(&g.kernel.Cache, "cache", "", "keep the kernel in this directory (default: uverbsim in the user's cache directory)")
	f.IntVar(&g.cpus, "cpus", 1, "processors of the guest; each is a completion vector")
	f.DurationVar(&g.limit, "limit", 10*time.Minute, "how long the guest may take")
}

// self is this program's package.
const self = "uverbsim/cmd/uverbsim"

// jobFile is the name of the case file in the guest.
const jobFile = "cases.jsonl"

// record has this program record the cases in a guest, with some more flags.
func (g *guestFlags) record(cmd *cobra.Command, cases []*casefile.Case, flags ...string) ([]byte, error) {
	if err := guest.Installed(); err != nil {
		return nil, err
	}
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	say := func(format string, args ...any) {
		fmt.Fprintf(cmd.ErrOrStderr(), "uverbsim: "+format+"\n", args...)
	}
	o := g.kernel
	o.Log = say
	kernel, err := guest.FindKernel(ctx, o)
	if err != nil {
		return nil, err
	}
	program, ok := guest.Self()
	if !ok {
		dir, err := os.MkdirTemp("", "uverbsim-static.")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		say("building a static uverbsim for the guest")
		if program, err = guest.Build(ctx, self, dir); err != nil {
			return nil, err
		}
	}
	text, err := marshal(cases)
	if err != nil {
		return nil, err
	}
	say("booting Linux %s to play %d cases", kernel.Release, len(cases))
	begun := time.Now()
	var out bytes.Buffer
	status, err := guest.Run(ctx, &guest.Job{
		Kernel: kernel, Init: program,
		Args:  append([]string{"record", "--target", guest.DevicePath, jobFile}, flags...),
		Files: map[string][]byte{jobFile: text},
		CPUs:  g.cpus, Limit: g.limit,
		Stdout: &out, Stderr: cmd.ErrOrStderr(),
	})
	if err != nil {
		return nil, err
	}
	say("the guest has answered %d cases in %.1f s", bytes.Count(out.Bytes(), []byte("\n")), time.Since(begun).Seconds())
	if status != 0 && out.Len() == 0 {
		return nil, fmt.Errorf("the guest's uverbsim has failed with status %d", status)
	}
	return out.Bytes(), nil
}
