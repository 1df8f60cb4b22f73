package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"uverbsim/interpose"
	"uverbsim/interpose/ptrace"
	"uverbsim/interpose/record"
	"uverbsim/interpose/seccomp"
)

// launchArgument makes this command the launcher of a program.
const launchArgument = "__launch"

func newRunCmd() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] -- PROGRAM [ARG...]",
		Short: "Run an RDMA program without a card",
		Long: `Run starts PROGRAM so that it, and every process that comes of it, finds RDMA
devices: in /sys/class/infiniband, in /dev/infiniband, by ibv_get_device_list.
What it does with them is answered by the modelled kernel and carried out by
emulated adapters, which are on one network. The program need not be changed, and
neither privileges nor a kernel module are needed. It does need Linux 5.9 or newer
on x86-64; --check says whether all that is needed is there.

Run ends as PROGRAM ends, with its status or by its signal, when all processes
that came of it have ended too. Its own errors have status 2, and 3 says that this
machine lacks something; 126 and 127 mean of PROGRAM what they do in a shell.

--device may be given several times; ports=N gives an adapter N ports, each a
device of its own, as Ethernet adapters have them. The profiles are ` + profileNames() + `.

Programs of several runs meet on one machine if it is made by "uverbsim serve".
With --passthrough the program uses the RDMA devices that the machine really has,
and its calls are only watched.`,
		Example: `  uverbsim run -- ibv_devinfo -v
  uverbsim run -- sh -c 'ibv_rc_pingpong -g 1 & sleep 1; ibv_rc_pingpong -g 1 localhost'
  uverbsim run --strace -- ibv_devinfo
  uverbsim run --device mlx5,ports=2 --device mlx5,profile=small -- ibv_devices
  uverbsim run --record calls.jsonl -- ./my_test && uverbsim replay calls.jsonl
  uverbsim run --passthrough --strace -- ib_send_lat server`,
		Args: func(_ *cobra.Command, args []string) error { return o.check(args) },
		RunE: func(cmd *cobra.Command, prog []string) error { return o.run(cmd, prog) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // what follows the program is the program's
	o.machine.flags(f)
	o.watch.flags(f)
	f.StringVar(&o.attach, "attach", "", "use the machine of the server at this socket")
	f.BoolVar(&o.passthrough, "passthrough", false, "use the real devices, and only watch")
	f.BoolVar(&o.write, "write", false, "answer write() on devices too, as libraries before rdma-core 19 make their calls; every write of the program then takes longer")
	f.BoolVar(&o.probe, "check", false, "only say whether this machine has what is needed")
	return cmd
}

// runOptions are the flags of run.
type runOptions struct {
	machine     machineOptions
	watch       watchOptions
	attach      string
	passthrough bool
	write       bool
	probe       bool
}

func (o *runOptions) check(args []string) error {
	machine := o.machine.given()
	switch {
	case o.probe && len(args) > 0:
		return errors.New("--check takes no program")
	case !o.probe && len(args) == 0:
		return errors.New("no program: uverbsim run [flags] -- PROGRAM [ARG...]")
	case o.attach != "" && o.passthrough:
		return errors.New("--attach and --passthrough exclude each other")
	case o.attach != "" && (machine != "" || o.watch.given() != ""):
		return fmt.Errorf("%s is for serve, which has the machine that --attach uses", machine+o.watch.given())
	case o.passthrough && machine != "":
		return fmt.Errorf("%s is for the simulated machine, which --passthrough does not use", machine)
	case o.passthrough && o.watch.given() == "":
		return errors.New("--passthrough only watches: it wants --strace or --record")
	case o.passthrough && o.watch.trace != "":
		return errors.New("--trace shows the modelled kernel, which --passthrough does not use")
	}
	return nil
}

func (o *runOptions) run(cmd *cobra.Command, prog []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	spec := seccomp.Spec{Command: []string{self, launchArgument}, Prog: prog, Options: seccomp.Defaults()}
	spec.Options.Listener = true
	spec.Write = o.write
	if o.probe {
		if err := seccomp.Probe(spec); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "this machine has all that is needed")
		return nil
	}
	status, err := o.start(cmd, spec)
	if err != nil {
		return err
	}
	interpose.Die(status)
	return nil
}

// start runs the program to its end.
func (o *runOptions) start(cmd *cobra.Command, spec seccomp.Spec) (syscall.WaitStatus, error) {
	abandon := func() {}
	defer relay(&spec, func(s syscall.Signal) {
		abandon()
		interpose.Die(syscall.WaitStatus(s))
	})()
	if o.attach != "" {
		status, err := interpose.RunAttached(o.attach, spec)
		if err != nil {
			err = fmt.Errorf("--attach %s: %w", o.attach, err)
		}
		return status, err
	}
	recorded := record.Options{Device: o.machine.asked()}
	if o.passthrough {
		recorded = record.Options{Kernel: runningKernel()}
	}
	watcher, err := o.watch.open(cmd.ErrOrStderr(), recorded)
	if err != nil {
		return 0, err
	}
	var status syscall.WaitStatus
	if o.passthrough {
		status, err = ptrace.Run(cmd.Context(), spec.Prog, nil, watcher, ptrace.Options{Transfers: true, Started: spec.Started})
	} else {
		status, err = o.simulate(cmd, spec, watcher, &abandon)
	}
	return status, errors.Join(err, watcher.Close())
}

// simulate runs the program on a machine of its own. It sets what gives the machine up.
func (o *runOptions) simulate(cmd *cobra.Command, spec seccomp.Spec, w *watchers, abandon *func()) (syscall.WaitStatus, error) {
	m, err := o.machine.make(w.sink)
	if err != nil {
		return 0, err
	}
	s, err := interpose.New(m.config(w, reporter(cmd)))
	if err != nil {
		return 0, err
	}
	*abandon = s.Abandon
	status, err := s.Run(spec)
	return status, errors.Join(err, s.Close())
}

// reporter prints what goes wrong while programs run.
func reporter(cmd *cobra.Command) func(string) {
	return func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), "uverbsim:", line) }
}

// relay has signals that would end this command end the program, which a terminal
// sends its own to anyhow. When the program has ended, and others that came of it have
// not, they end this command. What it returns ends that.
func relay(spec *seccomp.Spec, end func(syscall.Signal)) (stop func()) {
	signals := make(chan os.Signal, 8)
	started := make(chan *os.Process, 1)
	spec.Started = func(pid int) {
		if p, err := os.FindProcess(pid); err == nil {
			started <- p
		}
	}
	signal.Ignore(syscall.SIGPIPE) // who reads what is watched may go before the program
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		var program *os.Process
		for s := range signals {
			select {
			case program = <-started:
			default:
			}
			if program == nil {
				continue
			}
			// A terminal has sent the first two to the program itself.
			sent := s.(syscall.Signal)
			if sent == syscall.SIGINT || sent == syscall.SIGQUIT {
				sent = 0
			}
			if errors.Is(program.Signal(sent), os.ErrProcessDone) {
				end(s.(syscall.Signal))
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}
