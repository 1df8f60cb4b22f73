package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands makes the subcommands, in the order of the help; each has a file of
// its own.
var commands = []func() *cobra.Command{
	newDemoCmd,
	newRunCmd,
	newServeCmd,
	newReplayCmd,
	newDecodeCmd,
	newRulesCmd,
	newTraceCmd,
	newExplainCmd,
	newFaultsCmd,
	newSpecCmd,
	newLabCmd,
	newBenchCmd,
	newRecordCmd,
	newCompareCmd,
	newGenCmd,
	newShrinkCmd,
	newGuestCmd,
}

// Cobra's settings are global.
func init() { cobra.EnableCommandSorting = false }

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "uverbsim",
		Short: "The kernel side of Linux RDMA's ioctl, as a model",
		Long: `uverbsim is a model of what the Linux kernel does when a user program calls
RDMA_VERBS_IOCTL on /dev/infiniband/uverbsN. It answers as the kernel answers,
and says why.`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return refuseEmpty(cmd.Flags()) },
		SilenceUsage:      true,
		SilenceErrors:     true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelpCmd(root))
	root.SetHelpFunc(help)
	for _, command := range commands {
		root.AddCommand(command())
	}
	return root
}

// help is cobra's, which prints an error of the standard output by itself and goes on: here
// it is in the output, as that of every command.
func help(cmd *cobra.Command, args []string) {
	var text bytes.Buffer
	out := cmd.OutOrStdout()
	cmd.SetOut(&text)
	(&cobra.Command{}).HelpFunc()(cmd, args) // cobra's own
	cmd.SetOut(out)
	text.WriteTo(out)
}

// newHelpCmd is cobra's, which takes a name that no command has for no error.
func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say more about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("unknown command %q for %q", rest[0], cmd.CommandPath())
			}
			if err != nil {
				return err
			}
			cmd.InitDefaultHelpFlag() // as --help has it
			return cmd.Help()
		},
	}
}

// atMost is for the arguments of a command that takes no more than so many.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return fmt.Errorf("%s: one argument too many: %s", cmd.Name(), args[n])
		}
		return nil
	}
}

// refuseEmpty is an error if a flag was given without anything in it, as a shell
// does that expands a variable which is not set: it would be as if it had not
// been given.
func refuseEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if text := f.Value.String(); (text == "" || text == "[]") && err == nil {
			err = fmt.Errorf("--%s: an empty value", f.Name)
		}
	})
	return err
}
