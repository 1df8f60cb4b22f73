package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/sim_test/guest"
	"uverbsim/sim_test/guest/firmware"
)

func newGuestCmd() *cobra.Command {
	var g guestFlags
	var caps map[string]string
	var profile string
	cmd := &cobra.Command{
		Use:   "guest [flags] COMMAND...",
		Short: "Run a command on a real kernel",
		Long: `Guest boots a QEMU guest, as record does, and has a shell run COMMAND there. The
guest has rdma-core's programs, from Debian's packages, and a soft RoCE device
or, with --device mlx5, the unmodified mlx5_ib on this project's device model.

The exit status is 1 if the command's is not 0, 2 if it could not be run.`,
		Example: `  uverbsim guest --device mlx5 ibv_devinfo
  uverbsim guest --device mlx5 'ibv_rc_pingpong -g 1 & sleep 1; ibv_rc_pingpong -g 1 127.0.0.1'`,
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 {
				return errors.New("guest: no COMMAND")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.shell(cmd, strings.Join(args, " "), profile, caps)
		},
	}
	f := cmd.Flags()
	f.StringVar(&profile, "profile", hw.Recorded.Name(), "mlx5: what the device is: "+strings.Join(slices.Sorted(maps.Keys(firmware.Profiles)), ", "))
	f.StringToStringVar(&caps, "caps", nil, "mlx5: capabilities that the device shall have, as FIELD=NUMBER of cmd_hca_cap")
	g.flags(f, string(guest.RXE))
	return cmd
}

// shell has a shell run a command in a guest.
func (g *guestFlags) shell(cmd *cobra.Command, line, profile string, caps map[string]string) (err error) {
	if err := g.check(); err != nil {
		return err
	}
	wanted := map[string]uint64{}
	for name, text := range caps {
		if wanted[name], err = strconv.ParseUint(text, 0, 64); err != nil {
			return fmt.Errorf("--caps %s=%s: %w", name, text, errors.Unwrap(err))
		}
	}
	s, err := g.guests(cmd)
	if err != nil {
		return err
	}
	defer func() { err = s.end(err) }()
	if s.device == "" {
		s.device = guest.RXE
	}
	j, err := s.with(s.device, profile, wanted)
	if err != nil {
		return err
	}
	if j.Root, err = guest.FindPrograms(s.ctx, j.Kernel, s.say, guest.RDMAPrograms...); err != nil {
		return err
	}
	j.Path, j.Args, j.Stdout = guest.Shell, []string{"sh", "-c", line}, cmd.OutOrStdout()
	s.say("booting Linux %s with %s", j.Kernel.Release, &group{device: j.Device, caps: wanted})
	status, err := guest.Run(s.ctx, j)
	if err != nil {
		return err
	}
	if status != 0 {
		s.say("the command has ended with status %d", status)
		return errDiffers
	}
	return nil
}
