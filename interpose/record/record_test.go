package record_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/interpose/record"
)

// TestRecordedProgramsReplay: what a program did on the model is answered the
// same on a fresh one.
func TestRecordedProgramsReplay(t *testing.T) {
	for name, run := range programs {
		t.Run(name, func(t *testing.T) {
			m := boot(t, record.Options{})
			run(m)
			cases := m.cases()
			require.NotEmpty(t, cases)
			for _, c := range cases {
				require.Greater(t, len(c.Steps), 10)
				play(t, c)
			}
		})
	}
}
