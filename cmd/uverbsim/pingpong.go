package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"uverbsim/report/pingpong"
)

func newPingpongCmd() *cobra.Command {
	var o pingpong.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pingpong [flags]",
		Short: "Exchange messages between two processes on two devices",
		Long: `Pingpong boots a machine with two emulated mlx5 devices on one link and a process
on each. They connect a pair of RC queue pairs and send each other messages by
turns, polling for completions; each message is checked by its receiver. At the
end it prints how many messages, bytes and completions that were in a second.

The link loses and delays nothing unless told so; what it loses is sent again.`,
		Example: `  uverbsim demo pingpong
  uverbsim demo pingpong --messages 100 --size 1048576
  uverbsim demo pingpong --loss 0.01 --delay 5us --seed 3`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkPingpong(&o); err != nil {
				return err
			}
			bar := newProgress(cmd.ErrOrStderr(), o.Messages, "messages")
			o.Progress = bar.show
			r, err := pingpong.Run(o)
			bar.clear()
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			return r.Text(cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntVarP(&o.Messages, "messages", "n", 1000, "how many, by both together")
	f.Uint64VarP(&o.Size, "size", "s", 4096, "of a message, in bytes")
	f.Float64Var(&o.Link.Loss, "loss", 0, "the part of all packets that the link loses, 0 to 1")
	f.DurationVar(&o.Link.Delay, "delay", 0, "of a packet on the link")
	f.Uint64Var(&o.Link.Seed, "seed", 0, "of the random numbers of the link")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// largestMessage keeps two buffers within what a machine of today has.
const largestMessage = 1 << 30

func checkPingpong(o *pingpong.Options) error {
	switch {
	case o.Messages < 1:
		return fmt.Errorf("--messages %d: at least 1", o.Messages)
	case o.Size < 1 || o.Size > largestMessage:
		return fmt.Errorf("--size %d: 1 to %d bytes", o.Size, largestMessage)
	case !(o.Link.Loss >= 0 && o.Link.Loss <= 1): // NaN is neither
		return fmt.Errorf("--loss %v: 0 to 1", o.Link.Loss)
	case o.Link.Delay < 0 || o.Link.Delay > time.Minute:
		return fmt.Errorf("--delay %v: 0 to %v", o.Link.Delay, time.Minute)
	}
	return nil
}
