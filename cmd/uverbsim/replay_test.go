package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Three cases, of which the second expects what is not so.
const (
	opens  = `{"v":1,"name":"a/opens","why":"the node opens","driver":"stub","steps":[{"op":"open","fd":"f","got":{"ret":"*","errno":""}}]}`
	closes = `{"v":1,"name":"a/closes","driver":"stub","steps":[{"op":"open","fd":"f"},{"op":"close","fd":"f","got":{"ret":-1,"errno":"EIO"}}]}`
	reads  = `{"v":1,"name":"b/reads","driver":"stub","steps":[{"op":"open","fd":"f"},{"op":"read","fd":"f","len":8,"got":{"ret":-1,"errno":"EINVAL"}}]}`
)

// uverbsim runs the command and returns its exit status and what it wrote.
func uverbsim(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	status = run(args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

func file(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cases.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	return name
}

func TestReplayPasses(t *testing.T) {
	status, out, errs := uverbsim(t, opens+"\n\n# a comment\n"+reads, "replay", "-")
	require.Zero(t, status)
	require.Equal(t, "2 passed, 0 failed\n", out)
	require.Empty(t, errs)
}

func TestReplayFails(t *testing.T) {
	name := file(t, opens, closes)
	status, out, errs := uverbsim(t, "", "replay", name)
	require.Equal(t, 1, status)
	require.Equal(t, `FAIL a/closes  (`+name+`:2)
  step 1  close f
     ret: want -1, got 0
     errno: want EIO, got ""
1 passed, 1 failed
`, out)
	require.Empty(t, errs, "what differs is told once")
}

func TestReplayVerbose(t *testing.T) {
	status, out, _ := uverbsim(t, reads, "replay", "-v", "-")
	require.Zero(t, status)
	require.Contains(t, out, "ok   b/reads  (standard input:1)")
	require.Contains(t, out, "step 1  read f: EINVAL")
	require.Contains(t, out, "refused by read/no-operation")
}

func TestReplayOnly(t *testing.T) {
	name := file(t, opens, closes, reads)
	status, out, _ := uverbsim(t, "", "replay", "--only", "a/opens,b/", name)
	require.Zero(t, status)
	require.Equal(t, "2 passed, 0 failed\n", out)
	status, _, errs := uverbsim(t, "", "replay", "--only", "c/", name)
	require.Equal(t, 2, status)
	require.Contains(t, errs, "c/")
}

func TestReplayJSON(t *testing.T) {
	status, out, _ := uverbsim(t, opens+"\n"+closes, "replay", "--json", "-")
	require.Equal(t, 1, status)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.Len(t, lines, 3)
	var last map[string]int
	require.NoError(t, json.Unmarshal([]byte(lines[2]), &last))
	require.Equal(t, map[string]int{"passed": 1, "failed": 1}, last)
}

// TestReplayDriver plays a case of one driver on another, whose id is then in
// the header.
func TestReplayDriver(t *testing.T) {
	const call = `{"v":1,"name":"a/b","driver":"stub","steps":[{"op":"open","fd":"f"},
		{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":77},"got":{"ret":-1,"errno":"EPROTONOSUPPORT"}}]}`
	for _, driver := range []string{"stub", "rxe", "mlx5"} {
		status, out, _ := uverbsim(t, strings.ReplaceAll(call, "\n", ""), "replay", "--driver", driver, "-")
		require.Zero(t, status, "%s: %s", driver, out)
	}
}

// TestReplayUsage: what cannot be done is told in one line, and nothing is
// played.
func TestReplayUsage(t *testing.T) {
	bad := file(t, opens, `{"v":1,"name":"a/b","driver":"stub","steps":[{"op":"fly"}]}`)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"not a case":        {[]string{"replay", bad}, bad + ":2: "},
		"no such file":      {[]string{"replay", "no-such-file"}, "no-such-file"},
		"no file":           {[]string{"replay"}, "no FILE"},
		"no such flag":      {[]string{"replay", "--fast", bad}, "--fast"},
		"no such driver":    {[]string{"replay", "--driver", "efa", bad}, "efa"},
		"no such kernel":    {[]string{"replay", "--kernel", "2.4", bad}, "2.4"},
		"no kernel":         {[]string{"replay", "--kernel", "", bad}, "--kernel: an empty value"},
		"no prefix":         {[]string{"replay", "--only", "", bad}, "--only: an empty value"},
		"no such command":   {[]string{"rewind"}, "rewind"},
		"no such shorthand": {[]string{"replay", "-x", bad}, "-x"},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, errs := uverbsim(t, "", c.args...)
			require.Equal(t, 2, status)
			require.Empty(t, out)
			require.Contains(t, errs, c.want)
			require.Equal(t, 1, strings.Count(errs, "\n"), errs)
		})
	}
}

// TestReplayOtherKernel: the answers of a kernel that is not modelled are not held
// against another one, unless that is asked for.
func TestReplayOtherKernel(t *testing.T) {
	of := func(kernel string) string {
		return file(t, "", strings.Replace(opens, `"driver"`, `"kernel":"`+kernel+`","driver"`, 1))
	}
	newer := of("6.8.0-45-generic")
	for _, command := range []string{"replay", "trace", "explain"} {
		status, out, errs := uverbsim(t, "", command, newer)
		require.Equal(t, 2, status)
		require.Empty(t, out)
		require.Equal(t, "uverbsim: "+newer+":2: case a/opens is of kernel 6.8.0-45-generic, which is not modelled: "+
			"choose one by --kernel, "+kernelNames()+"\n", errs)
		status, _, errs = uverbsim(t, "", command, "--kernel", "6.12", newer)
		require.Zero(t, status, errs)
		status, _, errs = uverbsim(t, "", command, of("6.1"))
		require.Zero(t, status, errs)
	}
}

func TestHelp(t *testing.T) {
	status, out, _ := uverbsim(t, "", "help")
	require.Zero(t, status)
	require.Contains(t, out, "replay")
	status, out, _ = uverbsim(t, "", "replay", "--help")
	require.Zero(t, status)
	for _, flag := range []string{"--driver", "--kernel", "--only", "--json", "-v"} {
		require.Contains(t, out, flag)
	}
	status, again, _ := uverbsim(t, "", "help", "replay")
	require.Zero(t, status)
	require.Equal(t, out, again)
	for name, args := range map[string][]string{
		`unknown command "rewind" for "uverbsim"`:      {"help", "rewind"},
		`unknown command "fast" for "uverbsim replay"`: {"help", "replay", "fast"},
	} {
		status, out, errs := uverbsim(t, "", args...)
		require.Equal(t, 2, status)
		require.Empty(t, out)
		require.Equal(t, "uverbsim: "+name+"\n", errs)
	}
}
