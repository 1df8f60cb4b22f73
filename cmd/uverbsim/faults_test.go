package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A case that opens the node, has it answer a context and the number of its handles,
// and closes nothing.
const shortLife = `{"v":1,"name":"life/short","driver":"stub","bufs":{"n":{"zero":4},"pd":{"zero":4},"d":{"zero":4}},"steps":[` +
	`{"op":"open","fd":"f"},` +
	`{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3},"attrs":[{"id":0,"flags":0,"len":4,"data":{"ptr":"n"}}]}]}`

func TestFaults(t *testing.T) {
	out, err := execute(newFaultsCmd(), shortLife, "-")
	require.NoError(t, err)
	require.Equal(t, `case life/short  (standard input:1)
  step 0: open f
    #  kind   what                 where           answers  books    file   close frees
    0  fd     get_unused_fd_flags                  EMFILE   balance  works  all
    1  file   alloc_empty_file                     ENOMEM   balance  works  all
    2  alloc  ib_uverbs_file       ib_uverbs_open  ENOMEM   balance  works  all
  step 1: ioctl f UVERBS_METHOD_GET_CONTEXT
    #   kind    what                  where                 answers  books    file   close frees
    0   copy    copy_from_user        ib_uverbs_ioctl       EFAULT   balance  works  all
    1   middle  copy_from_user        ib_uverbs_ioctl       EFAULT   balance  works  all
    2   alloc   _uverbs_alloc         ib_uverbs_run_method  ENOMEM   balance  works  all
    3   copy    copy_from_user        ib_uverbs_run_method  EFAULT   balance  works  all
    4   middle  copy_from_user        ib_uverbs_run_method  EFAULT   balance  works  all
    5   copy    copy_to_user          uverbs_copy_to        EFAULT   balance  works  all
    6   middle  copy_to_user          uverbs_copy_to        EFAULT   balance  works  all
    7   copy    put_user              uverbs_set_output     EFAULT   balance  works  all
    8   alloc   ib_ucontext           ib_alloc_ucontext     ENOMEM   balance  works  all
    9   charge  rdmacg                ib_rdmacg_try_charge  EAGAIN   balance  works  all
    10  alloc   rdmacg_resource_pool  ib_rdmacg_try_charge  ENOMEM   balance  works  all
    11  op      alloc_ucontext        ib_init_ucontext      EXFULL   balance  works  all
15 faults in 2 calls of 1 case: 0 ignored, 0 with a known effect, nothing lost
`, out)
}

const createDestroy = "../../sim_test/corpus/linux-6.12-rxe.jsonl"

// TestFaultsKnown: a destroy whose answer cannot be written is done, as on a real
// kernel (case cq/destroy-resp-fault of the corpus).
func TestFaultsKnown(t *testing.T) {
	out, err := execute(newFaultsCmd(), "", "--only", "cq/create-destroy", createDestroy)
	require.NoError(t, err)
	require.Contains(t, out, "the object is gone by then")
	require.Contains(t, out, "nothing lost\n")
}

func TestFaultsPairs(t *testing.T) {
	out, err := execute(newFaultsCmd(), "", "--pairs", "--json", "--only", "cq/create-destroy", createDestroy)
	require.NoError(t, err)
	pairs := 0
	for line := range strings.Lines(out) {
		var f struct {
			Faults []struct{ N int }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &f))
		if len(f.Faults) == 2 {
			pairs++
			require.Less(t, f.Faults[0].N, f.Faults[1].N)
		}
	}
	require.Positive(t, pairs)
}

func TestFaultsJSON(t *testing.T) {
	out, err := execute(newFaultsCmd(), shortLife, "--json", "-")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Equal(t, `{"case":"life/short","file":"standard input","line":1,"step":0,"call":"open","faults":[{"n":0,"kind":"fd",`+
		`"what":"get_unused_fd_flags","where":""}],"answer":"EMFILE","ignored":false,"known":[],"trouble":[]}`, lines[0])
	require.Equal(t, `{"sum":{"calls":2,"cases":1,"faults":15,"ignored":0,"known":0,"lost":0}}`, lines[len(lines)-1])
}

// missingHandle is a case that no machine plays to its end: what is to make its handle is refused.
const missingHandle = `{"v":1,"name":"life/none","driver":"stub","steps":[{"op":"open","fd":"f"},` +
	`{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},"attrs":[{"id":0,"flags":1,"len":0}],"save":{"cq":{"attr":0}}},` +
	`{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":1},"attrs":[{"id":0,"flags":1,"len":0,"data":{"handle":"cq"}}]}]}`

// TestUnplayable: a case that cannot be played is located, in one line, and those before and
// behind it are played.
func TestUnplayable(t *testing.T) {
	const says = `:2: case life/none cannot be played: step 2 (ioctl): attrs[0]: no handle "cq"`
	cases := file(t, shortLife, missingHandle, strings.Replace(shortLife, "life/short", "life/again", 1))
	for _, command := range []string{"faults", "trace", "explain"} {
		status, out, errs := uverbsim(t, "", command, cases)
		require.Equal(t, 2, status, command)
		require.Equal(t, "uverbsim: "+cases+says+"\n", errs, command)
		require.Contains(t, out, "life/short", command)
		require.Contains(t, out, "life/again", command)
		if command == "faults" {
			require.True(t, strings.HasSuffix(out, "\n30 faults in 4 calls of 2 cases: 0 ignored, 0 with a known effect, nothing lost\n"), out)
		}
		status, _, errs = uverbsim(t, "", command, "--only", "life/none", cases, cases)
		require.Equal(t, 2, status, command)
		require.Equal(t, strings.Repeat("uverbsim: "+cases+says+"\n", 2)+"uverbsim: 2 of 2 cases could not be played\n", errs, command)
	}
}

// TestUnplayableOnDriver: what was refused on another driver than the case's is named.
func TestUnplayableOnDriver(t *testing.T) {
	for _, command := range []string{"faults", "trace", "explain"} {
		status, _, errs := uverbsim(t, "", command, "--driver", "mlx5", "--only", "cq/create-destroy", createDestroy)
		require.Equal(t, 2, status, command)
		require.Regexp(t, `^uverbsim: `+createDestroy+`:\d+: case cq/create-destroy cannot be played: step 3 \(ioctl\): attrs\[0\]: no handle "cq"; `+
			`step 1 before it was answered otherwise than recorded on mlx5 \(errno: want "", got EINVAL\)\n$`, errs, command)
	}
}

func TestFaultsRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		args []string
		want string
	}{
		"no case":   {"", []string{"-"}, "no case in"},
		"not JSON":  {"x\n", []string{"-"}, "standard input:1"},
		"no driver": {shortLife, []string{"--driver", "efa", "-"}, "efa"},
		"no kernel": {shortLife, []string{"--kernel", "5.0", "-"}, "5.0"},
		"no prefix": {shortLife, []string{"--only", "zz", "-"}, "zz"},
		"no handle": {`{"v":1,"name":"a/b","driver":"stub","steps":[{"op":"add"},{"op":"netdev","type":"up"}]}`, []string{"-"}, "cannot be played"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := execute(newFaultsCmd(), c.in, c.args...)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}
