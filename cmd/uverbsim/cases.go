package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

// someFile is for the arguments of a command that reads files of cases.
func someFile(cmd *cobra.Command, files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("%s: no FILE; - is the standard input", cmd.Name())
	}
	if slices.Contains(files, "") {
		return fmt.Errorf("%s: the name of a FILE is empty; - is the standard input", cmd.Name())
	}
	return nil
}

// standardInput is the name of what - stands for.
const standardInput = "standard input"

// namesOf are the names of files, in one line.
func namesOf(files []string) string {
	names := slices.Clone(files)
	for i, name := range names {
		if name == "-" {
			names[i] = standardInput
		}
	}
	return strings.Join(names, ", ")
}

// caseFlags say which cases of the files a command takes.
type caseFlags struct{ only []string }

func (o *caseFlags) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.only, "only", nil, "only cases whose names begin with one of these prefixes")
}

func (o *caseFlags) wants(name string) bool {
	return len(o.only) == 0 || slices.ContainsFunc(o.only, func(p string) bool { return strings.HasPrefix(name, p) })
}

// read returns the cases that are wanted, at least one, and the file of each. What prepare,
// if there is one, refuses is told with its place.
func (o *caseFlags) read(stdin io.Reader, files []string, prepare func(*casefile.Case) error) (cases []*casefile.Case, from []string, err error) {
	some := false
	for _, file := range files {
		in, name := stdin, standardInput
		if file != "-" {
			f, err := os.Open(file)
			if err != nil {
				return nil, nil, err
			}
			defer f.Close()
			in, name = f, file
		}
		for c, err := range casefile.Read(&bounded{in, mostCases}, name) {
			if err != nil {
				return nil, nil, hinted(err)
			}
			some = true
			if !o.wants(c.Name) {
				continue
			}
			if prepare != nil {
				if err := prepare(c); err != nil {
					return nil, nil, fmt.Errorf("%s:%d: %w", name, c.Line, err)
				}
			}
			cases, from = append(cases, c), append(from, name)
		}
	}
	switch {
	case !some:
		return nil, nil, fmt.Errorf("no case in %s", namesOf(files))
	case len(cases) == 0:
		return nil, nil, fmt.Errorf("no case of %s begins with %s", namesOf(files), strings.Join(o.only, " or "))
	}
	return cases, from, nil
}

// unplayable says where the case is that could not be played to its end, and why. A call
// before that was refused otherwise than recorded is named, since what it was to make is
// missing then.
func unplayable(file string, r *player.Result) error {
	c := r.Case
	err := fmt.Errorf("%s:%d: case %s cannot be played: %w", file, c.Line, c.Name, r.Err)
	for i := range r.Steps {
		for _, d := range r.Steps[i].Differences {
			if d.Path == "errno" {
				return fmt.Errorf("%w; step %d before it was answered otherwise than recorded on %s (%v)", err, i, c.Driver, d)
			}
		}
	}
	return err
}

// unplayed is an error if some of that many cases could not be played. One is told by the
// error itself; of several each is printed.
func unplayed(stderr io.Writer, bad []error, of int) error {
	switch len(bad) {
	case 0:
		return nil
	case 1:
		return bad[0]
	}
	for _, err := range bad {
		fmt.Fprintln(stderr, "uverbsim:", err)
	}
	return fmt.Errorf("%d of %d cases could not be played", len(bad), of)
}

// checkRepeat refuses a --repeat that is no number of times.
func checkRepeat(n int) error {
	if n < 0 {
		return fmt.Errorf("--repeat %d: 0 or more", n)
	}
	return nil
}

// modelFlags say on which machine of the model cases are played.
type modelFlags struct{ driver, kernel string }

func (o *modelFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&o.driver, "driver", "", "play on this driver: "+model.DriverNames()+" (default: the case's own)")
	f.StringVar(&o.kernel, "kernel", "", "be this kernel: "+kernelNames()+" (default: the case's own)")
}

// version returns the kernel that was chosen, nil if none was. It is an error if there is
// none such, or no such driver.
func (o *modelFlags) version() (*spec.Kernel, error) {
	if _, ok := casefile.DriverID(o.driver); o.driver != "" && !ok {
		return nil, fmt.Errorf("--driver %s: one of %s", o.driver, model.DriverNames())
	}
	if o.kernel == "" {
		return nil, nil
	}
	return kernelByName("--kernel", o.kernel)
}

// fit has a case played on the chosen driver. It is an error if a case is to be played on
// its own kernel, and that is none of the modelled ones.
func (o *modelFlags) fit(c *casefile.Case) error {
	if o.driver != "" {
		c.Driver = o.driver
	}
	if o.kernel != "" || c.Kernel == "" {
		return nil
	}
	if _, ok := spec.KernelByRelease(c.Kernel); ok {
		return nil
	}
	return fmt.Errorf("case %s is of kernel %s, which is not modelled: choose one by --kernel, %s", c.Name, c.Kernel, kernelNames())
}

// kernelByName returns the kernel that a flag chooses.
func kernelByName(flag, name string) (*spec.Kernel, error) {
	k, ok := spec.KernelByName(name)
	if !ok {
		return nil, fmt.Errorf("%s %s: one of %s", flag, name, kernelNames())
	}
	return k, nil
}

// kernelNames are the kernels that can be chosen, in one line.
func kernelNames() string {
	var names []string
	for _, k := range spec.Kernels() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// mostCases is how many bytes of cases are read of a file.
const mostCases = 256 << 20

var errMostCases = fmt.Errorf("more than %d MiB of cases", mostCases>>20)

// bounded reads so many bytes of a file and refuses one that is longer.
type bounded struct {
	io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errMostCases
	}
	return n, err
}

// hinted says of a file whose JSON goes over several lines how to mend that.
func hinted(err error) error {
	var format *casefile.FormatError
	if errors.As(err, &format) && strings.Contains(format.Reason, "ends in the middle") {
		return fmt.Errorf("%w; one case a line, as \"jq -c .\" writes it", err)
	}
	return err
}
