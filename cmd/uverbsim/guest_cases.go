package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"uverbsim/casefile"
	"uverbsim/sim_test/guest"
)

// group are cases that one guest can play: those of one device.
type group struct {
	device  guest.Device
	profile string
	caps    map[string]uint64
	places  []int // among all cases
}

// groups sorts the cases by the devices that they ask for, in the order of their
// first case. A device that is given is that of all cases.
func groups(device guest.Device, cases []*casefile.Case) (all []*group) {
	for i, c := range cases {
		want := &group{device: device}
		if want.device == "" {
			want.device = guest.RXE
			if c.Driver == string(guest.MLX5) {
				want.device = guest.MLX5
			}
		}
		if c.Device != nil && want.device == guest.MLX5 {
			want.profile, want.caps = c.Device.Profile, c.Device.Caps
		}
		at := slices.IndexFunc(all, func(o *group) bool {
			return o.device == want.device && o.profile == want.profile && maps.Equal(o.caps, want.caps)
		})
		if at < 0 {
			at = len(all)
			all = append(all, want)
		}
		all[at].places = append(all[at].places, i)
	}
	return all
}

// ofCases says which device plays cases.
const ofCases = "that of the cases' driver"

// jobFile is the name of the case file in the guest. Its lines are not those of the user's file.
const jobFile = "guest.jsonl"

// ask records the cases in guests, one for each device that they ask for, with
// some more flags of record. It returns those that could be played, in their
// order.
func (g *guestFlags) ask(cmd *cobra.Command, cases []*casefile.Case, flags ...string) (_ []*casefile.Case, err error) {
	s, err := g.guests(cmd)
	if err != nil {
		return nil, err
	}
	defer func() { err = s.end(err) }()
	recorded := make([]*casefile.Case, len(cases))
	for _, group := range groups(s.device, cases) {
		j, err := s.with(group.device, group.profile, group.caps)
		if err != nil {
			return nil, err
		}
		if err := group.record(s, j, cases, recorded, flags); err != nil {
			return nil, err
		}
	}
	recorded = slices.DeleteFunc(recorded, func(c *casefile.Case) bool { return c == nil })
	if len(recorded) == 0 {
		return nil, errors.New("the guest has answered no case")
	}
	return recorded, nil
}

// record has this program record the group's cases in one guest and puts them
// into their places. To that program the device is as it is, so what a case asks
// of it is left out for the time.
func (g *group) record(s *guests, j *guest.Job, cases, recorded []*casefile.Case, flags []string) error {
	plain := make([]*casefile.Case, len(g.places))
	for i, at := range g.places {
		c := *cases[at]
		if g.device == guest.MLX5 {
			c.Device = nil
		}
		plain[i] = &c
	}
	text, err := marshal(plain)
	if err != nil {
		return err
	}
	s.say("booting Linux %s with %s to play %d cases", j.Kernel.Release, g, len(plain))
	begun := time.Now()
	var out bytes.Buffer
	j.Args = append([]string{"record", "--target", guest.DevicePath, jobFile}, flags...)
	j.Files = map[string][]byte{jobFile: text}
	j.Stdout = &out
	status, err := guest.Run(s.ctx, j)
	if err != nil {
		return err
	}
	s.say("the guest has answered %d cases in %.1f s", bytes.Count(out.Bytes(), []byte("\n")), time.Since(begun).Seconds())
	if status != 0 && out.Len() == 0 {
		return fmt.Errorf("the guest's uverbsim has failed with status %d", status)
	}
	places := g.places
	for c, err := range casefile.Read(&out, "the guest's answers") {
		if err != nil {
			return err
		}
		for len(places) > 0 && cases[places[0]].Name != c.Name { // it could not be played
			places = places[1:]
		}
		if len(places) == 0 {
			return fmt.Errorf("the guest has answered a case that it was not asked: %s", c.Name)
		}
		c.Device = cases[places[0]].Device
		recorded[places[0]] = c
		places = places[1:]
	}
	return nil
}

// String says which device it is.
func (g *group) String() string {
	var caps []string
	if g.profile != "" {
		caps = append(caps, g.profile)
	}
	for _, name := range slices.Sorted(maps.Keys(g.caps)) {
		caps = append(caps, fmt.Sprintf("%s=%d", name, g.caps[name]))
	}
	if len(caps) == 0 {
		return string(g.device)
	}
	return string(g.device) + " (" + strings.Join(caps, ", ") + ")"
}
