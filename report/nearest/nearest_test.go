package nearest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0},
		{"qc", "cq", 1}, {"creat", "create", 1}, {"abcd", "badc", 2}, {"ca", "abc", 3},
	} {
		require.Equal(t, test.want, Distance(test.a, test.b), test)
		require.Equal(t, test.want, Distance(test.b, test.a), test)
	}
}
