package main

import "github.com/spf13/cobra"

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
	newSpecCmd,
	newLabCmd,
	newRecordCmd,
	newCompareCmd,
	newGenCmd,
	newShrinkCmd,
	newGuestCmd,
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "uverbsim",
		Short: "The kernel side of Linux RDMA's ioctl, as a model",
		Long: `uverbsim is a model of what the Linux kernel does when a user program calls
RDMA_VERBS_IOCTL on /dev/infiniband/uverbsN. It answers as the kernel answers,
and says why.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	cobra.EnableCommandSorting = false
	for _, command := range commands {
		root.AddCommand(command())
	}
	return root
}
