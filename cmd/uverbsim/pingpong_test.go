package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPingpong(t *testing.T) {
	out, err := execute(newPingpongCmd(), "", "--messages", "20", "--size", "100")
	require.NoError(t, err)
	require.Contains(t, out, "20 messages, 2000 bytes, 40 completions")

	out, err = execute(newPingpongCmd(), "", "-n", "200", "--loss", "0.1", "--seed", "4", "--json")
	require.NoError(t, err)
	var r struct {
		Messages int    `json:"messages"`
		Bytes    uint64 `json:"bytes"`
		Lost     uint64 `json:"packets_lost"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, 200, r.Messages)
	require.Equal(t, uint64(200*4096), r.Bytes)
	require.NotZero(t, r.Lost)
}

func TestPingpongRefuses(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--messages", "0"}, "--messages 0: at least 1"},
		{[]string{"--size", "0"}, "--size 0: 1 to 1073741824 bytes"},
		{[]string{"--loss", "1.5"}, "--loss 1.5: 0 to 1"},
		{[]string{"--loss", "NaN"}, "--loss NaN: 0 to 1"},
		{[]string{"--delay", "2m"}, "--delay 2m0s: 0 to 1m0s"},
		{[]string{"more"}, "pingpong: one argument too many: more"},
	} {
		_, err := execute(newPingpongCmd(), "", tt.args...)
		require.ErrorContains(t, err, tt.want, tt.args)
	}
}
