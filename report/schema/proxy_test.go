package schema

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
)

// TestWhatAProxyMustKnow compares the document with what a proxy that exists
// knows of each attribute (testdata/proxy.json: the methods and attributes that
// gVisor's rdmaproxy lets pass, each with how it has to be passed on). Of some it
// knows only newer kernels have them.
func TestWhatAProxyMustKnow(t *testing.T) {
	b, err := os.ReadFile("testdata/proxy.json")
	require.NoError(t, err)
	var proxy map[string]map[string]string
	require.NoError(t, json.Unmarshal(b, &proxy))
	doc := build(t, "mlx5", spec.Linux6_12)
	newer := map[string]bool{}
	for _, n := range doc.Newer {
		newer[n.Name] = true
	}
	compared := 0
	for name, attrs := range proxy {
		_, method, _ := strings.Cut(name, ".")
		if newer[method] {
			continue
		}
		sel, err := doc.Find(name)
		require.NoError(t, err)
		for attr, kind := range attrs {
			if newer[attr] {
				continue
			}
			a := sel.Method.attr(attr)
			require.NotNil(t, a, attr)
			require.Contains(t, ways(a), kind, attr)
			compared++
		}
	}
	require.Greater(t, compared, 60)
}

func (m *Method) attr(name string) *Attribute {
	for i := range m.Attrs {
		if m.Attrs[i].Name == name {
			return &m.Attrs[i]
		}
	}
	return nil
}

// ways are the ways in which the document lets an attribute be passed on.
func ways(a *Attribute) []string {
	switch a.Data {
	case dataHandle:
		return []string{"handle"}
	case dataFD:
		return []string{"fd " + a.Direction}
	case dataValue:
		return []string{"value in", "bytes in"}
	}
	return []string{"bytes " + a.Direction}
}

// TestWritesOfAProxy has the commands that a proxy cannot pass on as bytes, by
// include/uapi/rdma/ib_user_verbs.h.
func TestWritesOfAProxy(t *testing.T) {
	doc := build(t, "mlx5", spec.Linux6_12)
	type member struct {
		part, name, role string
		offset           int
	}
	for command, want := range map[string][]member{
		"MR.REG_MR": {
			{"request", "start", "user_address", 8}, {"request", "hca_va", "device_address", 24},
			{"request", "pd_handle", "handle", 32}, {"response", "mr_handle", "handle", 0},
		},
		"MR.DEREG_MR":                      {{"request", "mr_handle", "handle", 0}},
		"PD.ALLOC_PD":                      {{"response", "pd_handle", "handle", 0}},
		"COMP_CHANNEL.CREATE_COMP_CHANNEL": {{"response", "fd", "fd", 0}},
		"CQ.CREATE_CQ": {
			{"request", "user_handle", "cookie", 8}, {"request", "comp_channel", "fd", 24}, {"response", "cq_handle", "handle", 0},
			{"udata_in", "buf_addr", "user_address", 0}, {"udata_in", "db_addr", "user_address", 8},
		},
		"CQ.EX_CREATE_CQ": {
			{"request", "user_handle", "cookie", 0}, {"request", "comp_channel", "fd", 16}, {"response", "base.cq_handle", "handle", 0},
			{"udata_in", "buf_addr", "user_address", 0}, {"udata_in", "db_addr", "user_address", 8},
		},
		"DEVICE.CMD_GET_CONTEXT": {{"response", "async_fd", "fd", 0}},
		"FLOW.EX_CREATE_FLOW": {
			{"request", "qp_handle", "handle", 4}, {"request", "handle", "handle", 8}, {"request", "handle", "handle", 8},
			{"response", "flow_handle", "handle", 4}, {"udata_in", "counters_data", "user_address", 0},
		},
		"RWQ_IND_TBL.EX_CREATE_RWQ_IND_TBL": {
			{"request", "wq_handles", "handle", 8}, {"response", "ind_tbl_handle", "handle", 8},
		},
	} {
		sel, err := doc.Find(command)
		require.NoError(t, err)
		var got []member
		for _, r := range sel.Write.Refs {
			if r.Role != "response_address" {
				got = append(got, member{r.Part, r.Member, r.Role, r.Offset})
			}
		}
		require.Equal(t, want, got, command)
	}
	flags := func(command string) []bool {
		sel, err := doc.Find(command)
		require.NoError(t, err)
		return []bool{sel.Write.TakesFD, sel.Write.GivesFD, sel.Write.Pointer}
	}
	require.Equal(t, []bool{false, false, false}, flags("PD.ALLOC_PD"))
	require.Equal(t, []bool{false, true, false}, flags("COMP_CHANNEL.CREATE_COMP_CHANNEL"))
	require.Equal(t, []bool{false, true, false}, flags("DEVICE.CMD_GET_CONTEXT"))
	require.Equal(t, []bool{true, false, true}, flags("CQ.CREATE_CQ"))
	require.Equal(t, []bool{false, false, true}, flags("MR.REG_MR"))
	require.Equal(t, []bool{true, false, false}, flags("XRCD.OPEN_XRCD"))
	require.Equal(t, []bool{false, false, true}, flags("FLOW.EX_CREATE_FLOW"))
}

// TestMethodsOfAProxy has what the attributes of a method say of it, by the
// macros of their declarations and the structs of mlx5-abi.h.
func TestMethodsOfAProxy(t *testing.T) {
	doc := build(t, "mlx5", spec.Linux6_12)
	type summary struct{ takes, returns, pointer bool }
	for name, want := range map[string]summary{
		"pd.destroy":              {},
		"counters.create":         {},
		"cq.create":               {takes: true, pointer: true},
		"cq.destroy":              {},
		"qp.create":               {takes: true, pointer: true},
		"mr.reg_dmabuf_mr":        {takes: true},
		"mr.dm_mr_reg":            {},
		"async_event.alloc":       {returns: true},
		"devx_async_cmd_fd.alloc": {returns: true},
		"devx.subscribe_event":    {takes: true},
		"devx_umem.reg":           {takes: true, pointer: true},
		"devx_obj.async_query":    {takes: true},
		"device.get_context":      {},
	} {
		sel, err := doc.Find(name)
		require.NoError(t, err)
		m := sel.Method
		require.Equal(t, want, summary{m.TakesFD, m.ReturnsFD, m.Pointer}, name)
	}
	sel, err := doc.Find("cq.create")
	require.NoError(t, err)
	require.Equal(t, "UVERBS_OBJECT_CQ", sel.Method.Creates)
	sel, err = doc.Find("pd.destroy")
	require.NoError(t, err)
	require.Equal(t, "UVERBS_OBJECT_PD", sel.Method.Destroys)

	// The one attribute that is not what it is declared as (case mlx5/anchor/ft-0): the
	// handler copies the table's id to where the value points.
	sel, err = doc.Find("steering_anchor.create")
	require.NoError(t, err)
	a := sel.Method.attr("MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID")
	require.Equal(t, []string{"PTR_IN", "out", "address", "user_address"}, []string{a.Type, a.Direction, a.Data, a.Is.Role})
	a = sel.Method.attr("MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY")
	require.Equal(t, []string{"PTR_IN", "in", "value"}, []string{a.Type, a.Direction, a.Data})
}
