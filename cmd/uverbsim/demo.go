package main

import (
	"github.com/spf13/cobra"

	"uverbsim/report/demo"
)

func newDemoCmd() *cobra.Command {
	var brief, json bool
	cmd := &cobra.Command{
		Use:   "demo [flags]",
		Short: "Show the life of a completion queue, and seven mistakes",
		Long: `Demo boots a machine with an emulated mlx5 device and plays a program on it: it
opens the device, makes a completion channel and a queue of 256 entries, lets
the device complete one request, takes the event, polls the queue, and destroys
it. Each step is printed with what the kernel does about it, as ftrace's
function_graph shows it: the functions by the kernel's own names, the copies
with their sizes, the walk through the tree of methods and attributes, handles,
firmware commands, and the device's accesses to memory.

Then it makes seven mistakes on the way, and says of each what refuses it:
the errno, the rule, the kernel's function and file that check it, why, and what
to do.`,
		Example: `  uverbsim demo | less
  uverbsim demo --brief
  uverbsim demo --json | jq 'select(.mistake) | {title, errno, rule}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if json {
				return demo.JSON(cmd.OutOrStdout())
			}
			return demo.Text(cmd.OutOrStdout(), brief)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&brief, "brief", "q", false, "leave out what the kernel does meanwhile")
	f.BoolVar(&json, "json", false, "print JSON, one object a line")
	cmd.MarkFlagsMutuallyExclusive("brief", "json")
	cmd.AddCommand(newPingpongCmd())
	return cmd
}
