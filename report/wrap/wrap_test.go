package wrap

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		first, rest, text string
		width             int
		want              []string
	}{
		{"", "", "", 10, []string{""}},
		{"- ", "  ", " \n", 10, []string{"- "}},
		{"- ", "  ", "one two  three\nfour", 9, []string{"- one two", "  three", "  four"}},
		{"- ", "  ", "one two three", 8, []string{"- one", "  two", "  three"}},
		{"- ", "", "a word-that-is-wider b", 8, []string{"- a", "word-that-is-wider", "b"}},
		{"wider: ", "    ", "than that", 5, []string{"wider: than", "    that"}},
		{"", "", "ü ü ü", 3, []string{"ü ü", "ü"}},
		{"… ", "  ", "ü ü", 5, []string{"… ü ü"}},
	} {
		require.Equal(t, tt.want, Lines(tt.first, tt.rest, tt.text, tt.width), "%q at %d", tt.text, tt.width)
	}
}
