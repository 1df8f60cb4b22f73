package sim_test

import (
	"flag"
	"os"
	"testing"

	"uverbsim/sim_test/device"
)

// atOnce is how many cases are played at once, unless -parallel says otherwise:
// more than there are processors, since some of them wait for time to pass.
const atOnce = "16"

func TestMain(m *testing.M) {
	device.ServeAgent()
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
