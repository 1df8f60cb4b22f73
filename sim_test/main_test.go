package sim_test

import (
	"os"
	"testing"

	"uverbsim/sim_test/device"
	"uverbsim/sim_test/suite"
)

// TestMain has more cases played at once than there are processors, since some of
// them wait for time to pass.
func TestMain(m *testing.M) {
	device.ServeAgent()
	suite.AtOnce(16)
	os.Exit(m.Run())
}
