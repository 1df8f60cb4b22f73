package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGen(t *testing.T) {
	status, out, errs := uverbsim(t, "", "gen", "--seed", "7", "--count", "3")
	require.Zero(t, status, errs)
	require.Equal(t, 3, strings.Count(out, "\n"))
	_, again, _ := uverbsim(t, "", "gen", "--seed", "7", "--count", "3")
	require.Equal(t, out, again)
	_, other, _ := uverbsim(t, "", "gen", "--seed", "8", "--count", "3")
	require.NotEqual(t, out, other)

	status, played, _ := uverbsim(t, out, "replay", "-")
	require.Zero(t, status)
	require.Equal(t, "3 passed, 0 failed\n", played, "without answers every answer is right")
}

func TestGenErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"--driver mlx5: one of rxe": {"gen", "--driver", "mlx5"},
		"--count -1: 0 or more":     {"gen", "--count", "-1"},
	} {
		status, out, errs := uverbsim(t, "", args...)
		require.Equal(t, 2, status)
		require.Empty(t, out)
		require.Equal(t, "uverbsim: "+want+"\n", errs)
	}
}
