package firmware

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"uverbsim/drivers/mlx5/hw"
)

// Config is what a device is to be.
type Config struct {
	BAR, Size uint64            // where BAR 0 is, and how long
	Profile   string            // a name of Profiles; empty: that of hw.Recorded
	Caps      map[string]uint64 // capabilities that are other than the profile's, as hw.Profile.With names them
	Log       bool              // tell of every command
}

// Profiles are what a device can be, by name.
var Profiles = map[string]*hw.Profile{}

func init() {
	for _, p := range []*hw.Profile{hw.Recorded, hw.ConnectX6Dx, hw.Small} {
		Profiles[p.Name()] = p
	}
}

// profile returns the profile that is asked for.
func (c *Config) profile() (*hw.Profile, error) {
	if c.Profile == "" {
		return hw.Recorded.With(c.Caps)
	}
	p, ok := Profiles[c.Profile]
	if !ok {
		return nil, fmt.Errorf("firmware: no profile %q: there are %s", c.Profile, strings.Join(slices.Sorted(maps.Keys(Profiles)), ", "))
	}
	return p.With(c.Caps)
}

// Check says whether a device can be as it is asked for.
func (c *Config) Check() error {
	_, err := c.profile()
	return err
}
