package guest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/guest"
)

// lookedOn are programs that uverbsim looks on at: one that asks for the device,
// and two that send each other messages and wait for events; the second starts
// when the first listens on its port, 18515.
const lookedOn = `
	ibv_devinfo
	ibv_rc_pingpong -g 1 -n 20 -e &
	until grep -q ':4853 .* 0A ' /proc/net/tcp /proc/net/tcp6 2>/dev/null; do sleep 1; done
	ibv_rc_pingpong -g 1 -n 20 -e 127.0.0.1 || exit
	wait`

// printed is a call that package report/strace has printed.
type printed struct {
	PID                        int
	Call, Path, Object, Method string
	Driver, Command, Errno     string
	Ret                        int64
	Attrs                      []struct {
		Name string
		Out  json.RawMessage
	}
}

func (p *printed) String() string {
	name := p.Method
	switch {
	case p.Command != "":
		name = p.Command
	case name == "":
		name = p.Call
	}
	return strings.TrimSpace(name + " " + p.Errno)
}

// out is what a call has put out in an attribute.
func (p *printed) out(name string) string {
	for _, a := range p.Attrs {
		if a.Name == name {
			return string(a.Out)
		}
	}
	return ""
}

// devinfo are the calls of libibverbs 44's ibv_devinfo on a real mlx5_ib.
var devinfo = []string{
	"open", "IB_USER_VERBS_CMD_QUERY_DEVICE ENOSPC", "UVERBS_METHOD_GET_CONTEXT", "mmap", "mmap",
	"MLX5_IB_METHOD_DEVX_OTHER", "MLX5_IB_METHOD_DEVX_OTHER", "MLX5_IB_METHOD_DEVX_OTHER",
	"IB_USER_VERBS_EX_CMD_QUERY_DEVICE", "UVERBS_METHOD_QUERY_PORT", "MLX5_IB_METHOD_UAR_OBJ_ALLOC", "mmap",
	"UVERBS_METHOD_ASYNC_EVENT_ALLOC", "IB_USER_VERBS_EX_CMD_QUERY_DEVICE", "MLX5_IB_METHOD_DEVX_OTHER",
	"UVERBS_METHOD_QUERY_PORT", "MLX5_IB_METHOD_UAR_OBJ_DESTROY", "close", "close", "exit",
}

// TestLookOn: uverbsim run --passthrough sees each call of unmodified programs on
// a real kernel, with what it has answered.
func TestLookOn(t *testing.T) {
	j := programs(t, mlx5(t), lookedOn)
	watched := append([]string{"run", "--passthrough", "--strace", "--json", "--verbose", "--write", "--", j.Path}, j.Args...)
	j.Path, j.Args = "/init", watched
	t.Parallel()
	var out, errs bytes.Buffer
	j.Stdout, j.Stderr = &out, &errs
	status, err := guest.Run(context.Background(), j)
	require.NoError(t, err, errs.String())
	require.Zero(t, status, errs.String())
	require.Equal(t, 2, strings.Count(out.String(), "\n20 iters in "), out.String())
	require.Contains(t, out.String(), "PORT_ACTIVE (4)")

	var pids []int
	calls := map[int][]*printed{}
	for line := range strings.Lines(errs.String()) {
		var p printed
		require.NoError(t, json.Unmarshal([]byte(line), &p), line)
		if calls[p.PID] == nil {
			pids = append(pids, p.PID)
		}
		calls[p.PID] = append(calls[p.PID], &p)
	}
	require.Len(t, pids, 3)

	var names []string
	for _, c := range calls[pids[0]] {
		names = append(names, c.String())
		if c.Call == "ioctl" {
			require.Equal(t, "RDMA_DRIVER_MLX5", c.Driver)
			require.Equal(t, guest.DevicePath, c.Path)
		}
		if c.Method == "UVERBS_METHOD_QUERY_PORT" {
			require.Contains(t, c.out("UVERBS_ATTR_QUERY_PORT_RESP"), `"state":"IB_PORT_ACTIVE"`)
		}
	}
	require.Equal(t, devinfo, names)

	for _, pid := range pids[1:] {
		count := map[string]int{}
		for _, c := range calls[pid] {
			count[c.String()]++
			if c.Method == "UVERBS_METHOD_QP_CREATE" {
				var n int
				require.NoError(t, json.Unmarshal([]byte(c.out("UVERBS_ATTR_CREATE_QP_RESP_QP_NUM")), &n))
				require.Contains(t, out.String(), fmt.Sprintf("local address:  LID 0x0000, QPN 0x%06x", n))
			}
			if c.Call == "read" {
				require.Equal(t, "[infinibandevent]", c.Path)
				require.EqualValues(t, 8, c.Ret, "struct ib_uverbs_comp_event_desc")
			}
		}
		for name, want := range map[string]int{
			"open": 1, "IB_USER_VERBS_CMD_REG_MR": 1, "UVERBS_METHOD_CQ_CREATE": 1, "UVERBS_METHOD_QP_CREATE": 1,
			"IB_USER_VERBS_CMD_MODIFY_QP": 3, "UVERBS_METHOD_QP_DESTROY": 1, "mmap": 4, "exit": 1,
		} {
			require.Equal(t, want, count[name], "%s of %v", name, count)
		}
		require.Positive(t, count["read"])
	}
}
