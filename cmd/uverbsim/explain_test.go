package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/explain"
)

// explanations are cases whose whole explanation is kept: a file in
// testdata/explain each.
var explanations = []struct{ golden, corpus, only string }{
	{"attr-length", "linux-6.12-rxe.jsonl", "ptrin/type-len-8-for-u32"},
	{"attr-missing", "linux-6.12-rxe.jsonl", "cq/missing-cqe"},
	{"attr-unknown", "linux-6.12-rxe.jsonl", "attr/unknown-mandatory"},
	{"enum", "linux-6.12-stub.jsonl", "stub/enum/elem-255"},
	{"header-length", "linux-6.12-rxe.jsonl", "hdr/length-minus-1"},
	{"object-busy", "linux-6.12-rxe.jsonl", "busy/pd-with-mr"},
	{"driver-flag", "linux-6.12-rxe.jsonl", "flags/cq-timestamp"},
	{"write", "linux-6.12-rxe.jsonl", "write/body-short"},
	{"write-driver", "linux-6.12-mlx5.jsonl", "mlx5/cq/write-in-20"},
	{"mlx5-uhw", "linux-6.12-mlx5.jsonl", "mlx5/cq/in-len-0"},
	{"method-absent", "linux-6.12-rxe.jsonl", "method/absent-by-attribute"},
	{"read", "linux-6.12-rxe.jsonl", "close/fd-keeps-nothing-usable"},
}

func TestExplain(t *testing.T) {
	for _, e := range explanations {
		t.Run(e.golden, func(t *testing.T) {
			out, err := execute(newExplainCmd(), "", "--only", e.only, filepath.Join("../../sim_test/corpus", e.corpus))
			require.NoError(t, err)
			golden := filepath.Join("testdata/explain", e.golden+".txt")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(out), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), out)
		})
	}
}

func TestExplainJSON(t *testing.T) {
	out, err := execute(newExplainCmd(), shortHeader, "--json", "-")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(out, "\n"), "one line a case")
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	var c explain.Case
	require.NoError(t, dec.Decode(&c))
	require.Equal(t, "hdr/short", c.Name)
	require.Equal(t, "standard input", c.File)
	require.Equal(t, "stub", c.Driver)
	require.Len(t, c.Steps, 2)
	require.Empty(t, c.Steps[0].Refusals)
	require.Equal(t, "EINVAL", c.Steps[1].Errno)
	require.Len(t, c.Steps[1].Refusals, 1)
	r := c.Steps[1].Refusals[0]
	require.Equal(t, "header/length", r.Decided.Rule)
	require.Equal(t, "ib_uverbs_ioctl", r.Decided.Func)
	require.Equal(t, []string{"hdr.length != IOCTL_HDR_SIZE + hdr.num_attrs * IOCTL_ATTR_SIZE"}, r.Holding)
	require.Contains(t, r.Accepted, "length 24 goes with num_attrs 0.")
	var passed []string
	for _, p := range r.Passed {
		passed = append(passed, p.Rule)
	}
	require.Equal(t, []string{"fd/bad", "ioctl/no-operation", "cmd/unknown", "header/fault"}, passed)
	require.Equal(t, "header/reserved", r.Next[0].Rule)
	require.Equal(t, "header/driver-id", r.Next[1].Rule)
}

// TestExplainTellsOfDifferences: a case that is answered otherwise than recorded,
// and one that cannot be played to its end.
func TestExplainTellsOfDifferences(t *testing.T) {
	differs := strings.Replace(shortHeader, `"attrs":[]`, `"attrs":[],"got":{"ret":-1,"errno":"EIO"}`, 1)
	out, err := execute(newExplainCmd(), differs, "-")
	require.NoError(t, err)
	require.Contains(t, out, "not as recorded: errno: want EIO, got EINVAL\n")

	stops := strings.Replace(shortHeader, `{"op":"ioctl"`, `{"op":"mmap","fd":"f","off":0,"len":4096,"prot":"r","as":"m"},{"op":"peek","map":"m","off":0,"len":1},{"op":"ioctl"`, 1)
	out, err = execute(newExplainCmd(), stops, "-")
	require.ErrorContains(t, err, "standard input:1: case hdr/short cannot be played: step 2 (peek): ")
	require.Contains(t, out, "step 1: mmap f as m: ENODEV\n  refused by")
	require.Contains(t, out, "not played to its end: step 2 (peek): ")
}

func TestExplainRefuses(t *testing.T) {
	tests := []struct {
		in, want string
		args     []string
	}{
		{shortHeader, `no case of standard input begins with cq/`, []string{"--only", "cq/", "-"}},
		{shortHeader, `--driver hfi1: one of mlx5, rxe, stub`, []string{"--driver", "hfi1", "-"}},
		{shortHeader, `--kernel 2.6: one of `, []string{"--kernel", "2.6", "-"}},
		{`{"v":1,"name":"x","driver":"rxe","steps":[{"op":"dance"}]}`, `standard input:1: `, []string{"-"}},
		{"", "no such file", []string{"nowhere.jsonl"}},
	}
	for _, tt := range tests {
		var out, errs bytes.Buffer
		status := run(append([]string{"explain"}, tt.args...), strings.NewReader(tt.in), &out, &errs)
		require.Equal(t, 2, status, tt.args)
		require.Empty(t, out.String())
		require.Contains(t, errs.String(), tt.want)
		require.Equal(t, 1, strings.Count(errs.String(), "\n"), "one line: %s", errs.String())
	}
}
