package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"uverbsim/casefile"
	"uverbsim/sim_test/device"
	"uverbsim/sim_test/player"
)

func newRecordCmd() *cobra.Command {
	var r recorder
	cmd := &cobra.Command{
		Use:   "record [flags] FILE...",
		Short: "Record cases on a real kernel",
		Long: `Record plays the cases of each FILE on a real kernel and writes them with its
answers. FILE has one case a line, as JSON; - is the standard input. Answers that
a case already has are replaced.

The kernel runs in a QEMU guest that record boots. Its package is fetched with
apt-get the first time. The guest has a soft RoCE device or, for cases of the
driver mlx5, the unmodified mlx5_ib on this project's device model; each set of
capabilities that such cases ask for is a guest of its own. With --target the
kernel is the one that is running, and the cases are played on that device node,
as root.

The exit status is 2 if a case could not be played.`,
		Example: `  uverbsim record cases.jsonl > recorded.jsonl
  uverbsim record --target /dev/infiniband/uverbs0 cases.jsonl > recorded.jsonl`,
		Args: someFile,
		RunE: func(cmd *cobra.Command, files []string) error { return r.run(cmd, files) },
	}
	f := cmd.Flags()
	f.StringVar(&r.target, "target", "", "play on this device node instead of in a guest")
	f.StringVarP(&r.output, "output", "o", "", "write to this file (default: the standard output)")
	f.IntVar(&r.repeat, "repeat", 0, "play a case that is to be repeated at most so often (default: as often as it says)")
	r.caseFlags.flags(f)
	r.guest.flags(f, ofCases)
	return cmd
}

// recorder are the flags of record.
type recorder struct {
	caseFlags
	target, output string
	repeat         int
	guest          guestFlags
}

func (r *recorder) run(cmd *cobra.Command, files []string) (err error) {
	if err := checkRepeat(r.repeat); err != nil {
		return err
	}
	if err := r.guest.check(); err != nil {
		return err
	}
	cases, from, err := r.read(cmd.InOrStdin(), files, nil)
	if err != nil {
		return err
	}
	if r.target == "" {
		return r.there(cmd, cases, from)
	}
	out := cmd.OutOrStdout()
	if r.output != "" {
		f, failed := os.Create(r.output)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, f.Close()) }() // the function's own err
		out = f
	}
	return r.here(cases, from, out, cmd.ErrOrStderr())
}

// there has a guest's kernel answer the cases. A file gets them when it has: what was in
// it stays if it has not.
func (r *recorder) there(cmd *cobra.Command, cases []*casefile.Case, from []string) error {
	if r.output != "" {
		if err := canWrite(r.output); err != nil {
			return err
		}
	}
	recorded, err := r.guest.ask(cmd, cases, "--repeat", strconv.Itoa(r.repeat))
	if err != nil {
		return err
	}
	text, err := marshal(recorded)
	if err != nil {
		return err
	}
	if r.output != "" {
		err = os.WriteFile(r.output, text, 0o644)
	} else {
		_, err = cmd.OutOrStdout().Write(text)
	}
	if err != nil {
		return err
	}
	return unanswered(cases, from, recorded)
}

// here records cases on a device node of this machine. Cases that cannot be
// played are named and left out.
func (r *recorder) here(cases []*casefile.Case, from []string, out, stderr io.Writer) error {
	target, err := device.New(r.target)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	kernel, bad := runningKernel(), 0
	for i, c := range cases {
		got, err := player.Record(target, c, player.Options{Repeat: r.repeat})
		if err != nil {
			bad++
			fmt.Fprintln(stderr, "uverbsim:", unplayable(from[i], &player.Result{Case: c, Err: err}))
			if errors.Is(err, player.ErrStuck) {
				return errors.Join(errors.New("the device is not free for the cases after that one"), w.Flush())
			}
			continue
		}
		got.Kernel = kernel
		if _, err := got.WriteTo(w); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d cases could not be played", bad, len(cases))
	}
	return nil
}

// runningKernel is the kernel's release, and Debian's version of it if it is
// Debian's.
func runningKernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	release := unix.ByteSliceToString(u.Release[:])
	_, rest, ok := strings.Cut(unix.ByteSliceToString(u.Version[:]), "Debian ")
	if version := strings.Fields(rest); ok && len(version) > 0 {
		return fmt.Sprintf("%s (Debian %s)", release, version[0])
	}
	return release
}

// marshal writes cases as a case file.
func marshal(cases []*casefile.Case) ([]byte, error) {
	var b bytes.Buffer
	for _, c := range cases {
		if _, err := c.WriteTo(&b); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return b.Bytes(), nil
}
