package strace_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/interpose/watch"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/report/strace"
	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

var update = flag.Bool("update", false, "write the golden files")

const node = "/dev/infiniband/uverbs0"

// objects are numbers that the program got in a session.
type objects struct{ lkey, qpn, cqn uint32 }

// session runs a program with one of each thing, an event, and calls that are
// refused.
func session(t *testing.T, w watch.Watcher) (o objects) {
	machine := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(machine, mlx5.Config{Profile: hw.Recorded})
	require.NoError(t, err)
	proc := machine.NewProcess(process.Options{})
	sys := newWatched(machine, proc, spec.RDMA_DRIVER_MLX5, w)

	ctx, err := libmlx5.OpenDevice(sys, node)
	require.NoError(t, err)
	_, err = ctx.QueryGID(1, 0)
	require.NoError(t, err)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	at, err := verbs.Alloc(proc, 8192)
	require.NoError(t, err)
	mr, err := pd.RegMR(at, 8192, uint64(at), verbs.IBV_ACCESS_LOCAL_WRITE|verbs.IBV_ACCESS_REMOTE_READ)
	require.NoError(t, err)
	ch, err := ctx.CreateCompChannel()
	require.NoError(t, err)
	cq, err := ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 200, Channel: ch}})
	require.NoError(t, err)
	_, err = ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 1, CompVector: 77}})
	require.ErrorIs(t, err, syscall.EINVAL)
	qp, err := ctx.CreateQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}})
	require.NoError(t, err)
	attr := verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1, QPAccessFlags: verbs.IBV_ACCESS_REMOTE_WRITE}
	require.NoError(t, qp.Modify(&attr, verbs.IBV_QP_STATE|verbs.IBV_QP_PKEY_INDEX|verbs.IBV_QP_PORT|verbs.IBV_QP_ACCESS_FLAGS))
	require.NoError(t, cq.ReqNotify(false))
	_, err = qp.PostRecv(&libmlx5.RecvWR{WRID: 1})
	require.NoError(t, err)
	require.NoError(t, dev.HW.Complete(cq.CQN, hw.Completion{Opcode: ifc.MLX5_CQE_RESP_SEND, QPN: qp.Num}))
	for dev.Step(nil) {
		continue
	}
	_, err = ctx.GetCQEvent(ch)
	require.NoError(t, err)
	cq.AckEvents(1)
	_, err = pd.RegMR(at+0x100000000, 4096, 0, 1)
	require.ErrorIs(t, err, syscall.EFAULT)
	require.ErrorIs(t, pd.Dealloc(), syscall.EBUSY)

	require.NoError(t, qp.Destroy())
	require.NoError(t, cq.Destroy())
	require.NoError(t, ch.Destroy())
	require.NoError(t, mr.Dereg())
	require.NoError(t, pd.Dealloc())
	command(t, sys, proc)
	ctx.Close()
	return objects{mr.LKey, qp.Num, cq.CQN}
}

// command makes a call of write() that is a command, as libraries of old do,
// on a file of its own.
func command(t *testing.T, sys *watched, proc *process.Process) {
	t.Helper()
	fd, err := sys.Open(node, syscall.O_RDWR)
	require.NoError(t, err)
	at, err := verbs.Alloc(proc, 4096)
	require.NoError(t, err)
	words := func(n int) uint16 { return uint16(n / 4) }
	hdr := spec.CmdHdr{Command: spec.IB_USER_VERBS_CMD_GET_CONTEXT,
		InWords:  words(spec.CmdHdrSize + spec.GetContextSize + spec.Mlx5AllocUcontextReqSize),
		OutWords: words(spec.GetContextRespSize + 16)}
	req := spec.GetContext{Response: uint64(at) + 1024}
	drv := spec.Mlx5AllocUcontextReq{TotalNumBfregs: 16, NumLowLatencyBfregs: 4}
	b := slices.Concat(spec.Bytes(&hdr), spec.Bytes(&req), spec.Bytes(&drv))
	require.True(t, proc.Store(at, b))
	_, err = sys.Write(fd, at, uint64(len(b)))
	require.NoError(t, err)
	require.NoError(t, sys.Close(fd))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// TestSession: the files' content was checked by hand against the structs of
// the headers.
func TestSession(t *testing.T) {
	for name, opts := range map[string]strace.Options{
		"session.txt":         {},
		"session-verbose.txt": {Verbose: true, PIDs: true},
		"session.jsonl":       {JSON: true},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			s := strace.New(&b, opts)
			o := session(t, s)
			require.NoError(t, s.Err())
			for _, number := range []string{fmt.Sprintf("%#x", o.lkey), strconv.Itoa(int(o.qpn)), strconv.Itoa(int(o.cqn))} {
				require.Contains(t, b.String(), number)
			}
			if opts.JSON {
				for l := range bytes.Lines(b.Bytes()) {
					require.True(t, json.Valid(l), string(l))
				}
			}
			golden(t, name, b.Bytes())
		})
	}
}
