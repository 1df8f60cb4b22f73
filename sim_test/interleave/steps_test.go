package interleave

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

// The steps that the pairs are made of, in the format of cases.

// stubHas are the operations that the stub driver has here.
const stubHas = `["disassociate_ucontext","mmap","reg_user_mr","rereg_user_mr","create_qp","modify_qp","query_qp"]`

// buffers are those that the steps name.
const buffers = `{
 "o_pd":{"fill":"a5","len":4},"o_pd2":{"fill":"a5","len":4},"o_pd3":{"fill":"a5","len":4},"o_new":{"fill":"a5","len":4},
 "o_ch":{"fill":"a5","len":4},"data":{"zero":64},"big":{"zero":12288},"rm_mr":{"fill":"a5","len":12},
 "rr":{"fill":"a5","len":8},"rr2":{"fill":"a5","len":8},"cqe":{"fill":"a5","len":4},"u_cq":{"fill":"a5","len":16},
 "r_cq":{"fill":"a5","len":8},"r_cq2":{"fill":"a5","len":8},"r_qp":{"fill":"a5","len":4},
 "rcap":{"fill":"a5","len":20},"qpn":{"fill":"a5","len":4},"quhw":{"fill":"a5","len":32},"cap":{"hex":"0800000008000000020000000200000000000000"},
 "lk":{"fill":"a5","len":4},"rk":{"fill":"a5","len":4},"ln":{"fill":"a5","len":8},"io":{"fill":"a5","len":8},
 "rq1":{"hex":"1000000004000000000000000000000001000000000000000000000000000000"},"pdn":{"fill":"a5","len":8},
 "o_a":{"fill":"a5","len":4},"o_b":{"fill":"a5","len":4},"o_c":{"fill":"a5","len":4},
 "rm_new":{"fill":"a5","len":12},"rm_a":{"fill":"a5","len":12},"rm_b":{"fill":"a5","len":12},"rm_c":{"fill":"a5","len":12},"port":{"fill":"a5","len":48},"total":{"fill":"a5","len":4},"list":{"fill":"a5","len":64},
 "qb":{"zero":8192},"qd":{"zero":64},"quh":{"fill":"a5","len":40},"cap5":{"hex":"1000000010000000010000000100000000000000"},
 "qr":{"hex":"0000000000000000000000000000000010000000100000000600000000040000000000000100000000000000000000000000000000000000","reloc":[{"at":0,"size":8,"value":{"ptr":"qb"}},{"at":8,"size":8,"value":{"ptr":"qd"}}]},
 "cqb":{"zero":4096},"db":{"zero":64},"cqo":{"fill":"a5","len":8},
 "cq3":{"hex":"0000000000000000000000000000000040000000000000000000000000000000","reloc":[{"at":0,"size":8,"value":{"ptr":"cqb"}},{"at":8,"size":8,"value":{"ptr":"db"}}]}
}`

const (
	open    = `{"op":"open","fd":"f"}`
	openG   = `{"op":"open","fd":"g"}`
	dup     = `{"op":"dup","fd":"f","as":"g"}`
	closeF  = `{"op":"close","fd":"f"}`
	closeG  = `{"op":"close","fd":"g"}`
	closeCh = `{"op":"close","fd":"ch"}`
	closeE  = `{"op":"close","fd":"e"}`
	remove  = `{"op":"remove"}`

	context     = `{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3},"attrs":[]}`
	contextMLX5 = `{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3},"attrs":[{"id":4096,"len":32,"flags":1,"data":{"ptr":"rq1"}}]}`

	destroyPD      = `{"op":"ioctl","fd":"f","hdr":{"object_id":1,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1,"data":{"handle":"pd"}}]}`
	destroyPD2     = `{"op":"ioctl","fd":"f","hdr":{"object_id":1,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1,"data":{"handle":"pd2"}}]}`
	destroyPDWrite = `{"op":"write","fd":"f","hex":"040000000300000000000000","reloc":[{"at":8,"size":4,"value":{"handle":"pd"}}]}`
	destroyCQ      = `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":1},"attrs":[{"id":0,"len":0,"flags":1,"data":{"handle":"cq"}},{"id":1,"len":8,"flags":1,"data":{"ptr":"r_cq"}}]}`
	destroyCQ2     = `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":1},"attrs":[{"id":0,"len":0,"flags":1,"data":{"handle":"cq"}},{"id":1,"len":8,"flags":1,"data":{"ptr":"r_cq2"}}]}`
	destroyCQWrite = `{"op":"write","fd":"f","hex":"140000000600020000000000000000000000000000000000","reloc":[{"at":8,"size":8,"value":{"ptr":"r_cq2"}},{"at":16,"size":4,"value":{"handle":"cq"}}]}`
	destroyQP      = `{"op":"ioctl","fd":"f","hdr":{"object_id":4,"method_id":1},"attrs":[{"id":0,"len":0,"flags":1,"data":{"handle":"qp"}},{"id":1,"len":4,"flags":1,"data":{"ptr":"r_qp"}}]}`
	destroyMR      = `{"op":"ioctl","fd":"f","hdr":{"object_id":7,"method_id":1},"attrs":[{"id":0,"len":0,"flags":1,"data":{"handle":"mr"}}]}`
	queryMR        = `{"op":"ioctl","fd":"f","hdr":{"object_id":7,"method_id":3},"attrs":[{"id":0,"len":0,"flags":1,"data":{"handle":"mr"}},{"id":1,"len":4,"flags":1,"data":{"ptr":"lk"}},{"id":2,"len":4,"flags":1,"data":{"ptr":"rk"}},{"id":3,"len":8,"flags":1,"data":{"ptr":"ln"}},{"id":4,"len":8,"flags":1,"data":{"ptr":"io"}}]}`
	queryPort      = `{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":2},"attrs":[{"id":0,"len":8,"flags":1,"data":1},{"id":1,"len":48,"flags":1,"data":{"ptr":"port"}}]}`
	listQPs        = `{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":1},"attrs":[{"id":0,"len":8,"flags":1,"data":4},{"id":1,"len":4,"flags":1,"data":{"ptr":"total"}},{"id":2,"len":64,"flags":1,"data":{"ptr":"list"}}]}`

	cq       = `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1},{"id":1,"len":4,"flags":1,"data":16},{"id":2,"len":8,"flags":1,"data":4386},{"id":4,"len":4,"flags":1,"data":0},{"id":6,"len":4,"flags":1,"data":{"ptr":"cqe"}},{"id":4097,"len":16,"flags":1,"data":{"ptr":"u_cq"}}],"save":{"cq":{"attr":0}}}`
	cqCh     = `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1},{"id":1,"len":4,"flags":1,"data":16},{"id":2,"len":8,"flags":1,"data":4386},{"id":3,"len":0,"flags":1,"data":{"handle":"ch"}},{"id":4,"len":4,"flags":1,"data":0},{"id":6,"len":4,"flags":1,"data":{"ptr":"cqe"}}],"save":{"cq":{"attr":0}}}`
	cqMLX5   = `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1},{"id":1,"len":4,"flags":1,"data":16},{"id":2,"len":8,"flags":1,"data":4386},{"id":4,"len":4,"flags":1,"data":0},{"id":6,"len":4,"flags":1,"data":{"ptr":"cqe"}},{"id":4096,"len":32,"flags":1,"data":{"ptr":"cq3"}},{"id":4097,"len":8,"flags":1,"data":{"ptr":"cqo"}}],"save":{"cq":{"attr":0}}}`
	cqChMLX5 = `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1},{"id":1,"len":4,"flags":1,"data":16},{"id":2,"len":8,"flags":1,"data":4386},{"id":3,"len":0,"flags":1,"data":{"handle":"ch"}},{"id":4,"len":4,"flags":1,"data":0},{"id":6,"len":4,"flags":1,"data":{"ptr":"cqe"}},{"id":4096,"len":32,"flags":1,"data":{"ptr":"cq3"}},{"id":4097,"len":8,"flags":1,"data":{"ptr":"cqo"}}],"save":{"cq":{"attr":0}}}`
	qp       = `{"op":"ioctl","fd":"f","hdr":{"object_id":4,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1},{"id":2,"len":0,"flags":1,"data":{"handle":"pd"}},{"id":4,"len":0,"flags":1,"data":{"handle":"cq"}},{"id":5,"len":0,"flags":1,"data":{"handle":"cq"}},{"id":7,"len":8,"flags":1,"data":119},{"id":8,"len":20,"flags":1,"data":{"ptr":"cap"}},{"id":9,"len":8,"flags":1,"data":2},{"id":10,"len":4,"flags":1,"data":4096},{"id":13,"len":20,"flags":1,"data":{"ptr":"rcap"}},{"id":14,"len":4,"flags":1,"data":{"ptr":"qpn"}},{"id":4097,"len":32,"flags":1,"data":{"ptr":"quhw"}}],"save":{"qp":{"attr":0}}}`
	qpMLX5   = `{"op":"ioctl","fd":"f","hdr":{"object_id":4,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1},{"id":2,"len":0,"flags":1,"data":{"handle":"pd"}},{"id":4,"len":0,"flags":1,"data":{"handle":"cq"}},{"id":5,"len":0,"flags":1,"data":{"handle":"cq"}},{"id":7,"len":8,"flags":1,"data":0},{"id":8,"len":20,"flags":1,"data":{"ptr":"cap5"}},{"id":9,"len":8,"flags":1,"data":2},{"id":13,"len":20,"flags":1,"data":{"ptr":"rcap"}},{"id":14,"len":4,"flags":1,"data":{"ptr":"qpn"}},{"id":4096,"len":56,"flags":1,"data":{"ptr":"qr"}},{"id":4097,"len":40,"flags":1,"data":{"ptr":"quh"}}],"save":{"qp":{"attr":0}}}`

	async  = `{"op":"ioctl","fd":"f","hdr":{"object_id":16,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1}],"save_fd":{"e":{"attr":0}}}`
	readE  = `{"op":"read","fd":"e","len":16}`
	readCh = `{"op":"read","fd":"ch","len":8}`
	comp   = `{"op":"event","object":"cq","index":0,"type":"comp"}`

	mmap   = `{"op":"mmap","fd":"f","off":0,"len":4096,"prot":"rw","flags":"shared","as":"m"}`
	mmapR  = `{"op":"mmap","fd":"f","off":0,"len":4096,"prot":"r","flags":"shared","as":"m"}`
	mmap2  = `{"op":"mmap","fd":"f","off":0,"len":4096,"prot":"rw","flags":"shared","as":"m2"}`
	munmap = `{"op":"munmap","map":"m","len":4096}`
)

// pd allocates a PD under a name, by INVOKE_WRITE.
func pd(name string) string {
	return fmt.Sprintf(`{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},"attrs":[{"id":2,"len":8,"flags":1,"data":3},{"id":0,"len":8,"flags":1,"data":0},{"id":1,"len":4,"flags":1,"data":{"ptr":"o_%s"}}],"save":{%[1]q:{"buf":"o_%[1]s","off":0,"size":4}}}`, name)
}

// pdMLX5 is pd with what mlx5 answers.
func pdMLX5(name string) string {
	return strings.Replace(pd(name), `}}],"save"`, `}},{"id":4097,"len":4,"flags":1,"data":{"ptr":"pdn"}}],"save"`, 1)
}

// onG is a step on the other descriptor.
func onG(step string) string { return strings.Replace(step, `"fd":"f"`, `"fd":"g"`, 1) }

// channel makes a completion channel under a name.
func channel(name string) string {
	return fmt.Sprintf(`{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},"attrs":[{"id":2,"len":8,"flags":1,"data":17},{"id":0,"len":8,"flags":1,"inline":"0000000000000000"},{"id":1,"len":4,"flags":1,"data":{"ptr":"o_%s"}}],"save_fd":{%[1]q:{"buf":"o_%[1]s","off":0,"size":4}}}`, name)
}

// mr registers memory in a PD under a name, by write().
func mr(name, pd string) string {
	return fmt.Sprintf(`{"op":"write","fd":"f","hex":"090000000c00030000000000000000000000000000000000400000000000000000000000000000000000000001000000","reloc":[{"at":16,"size":8,"value":{"ptr":"data"}},{"at":32,"size":8,"value":{"ptr":"data"}},{"at":40,"size":4,"value":{"handle":%q}},{"at":8,"size":8,"value":{"ptr":"rm_%s"}}],"save":{%[2]q:{"buf":"rm_%[2]s","off":0,"size":4}}}`, pd, name)
}

// rereg gives the region another PD, by write(). The answer goes to a buffer.
func rereg(pd, answer string) string {
	return fmt.Sprintf(`{"op":"write","fd":"f","hex":"0b0000000e000200000000000000000000000000020000000000000000000000400000000000000000000000000000000000000001000000","reloc":[{"at":8,"size":8,"value":{"ptr":%q}},{"at":16,"size":4,"value":{"handle":"mr"}},{"at":48,"size":4,"value":{"handle":%q}}]}`, answer, pd)
}

// reregMemory gives the region more memory, by write(): mlx5 makes a new region for
// that.
func reregMemory(answer string) string {
	return fmt.Sprintf(`{"op":"write","fd":"f","hex":"0b0000000e000200000000000000000000000000010000000000000000000000003000000000000000000000000000000000000001000000","reloc":[{"at":8,"size":8,"value":{"ptr":%q}},{"at":16,"size":4,"value":{"handle":"mr"}},{"at":24,"size":8,"value":{"ptr":"big"}},{"at":40,"size":8,"value":{"ptr":"big"}}]}`, answer)
}

// named are those of the buffers that a text names, and those that they name.
func named(t *testing.T, text string) string {
	t.Helper()
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(buffers), &all))
	used := map[string]json.RawMessage{}
	for more := true; more; {
		more = false
		for name, b := range all {
			if _, ok := used[name]; !ok && strings.Contains(text, `"`+name+`"`) {
				used[name], more = b, true
				text += string(b)
			}
		}
	}
	b, err := json.Marshal(used)
	require.NoError(t, err)
	return string(b)
}

// build makes a case of steps and threads.
func build(t *testing.T, name, driver string, before []string, threads [][]string) *casefile.Case {
	t.Helper()
	var par []string
	for _, steps := range threads {
		par = append(par, "["+strings.Join(steps, ",")+"]")
	}
	steps := append(before[:len(before):len(before)], `{"op":"par","threads":[`+strings.Join(par, ",")+`]}`)
	device := ""
	if driver == "stub" {
		device = `,"device":{"has":` + stubHas + `}`
	}
	all := strings.Join(steps, ",")
	text := fmt.Sprintf(`{"v":1,"name":%q,"why":"-","driver":%q,"bufs":%s,"steps":[%s]%s}`, name, driver, named(t, all), all, device)
	c, err := casefile.Unmarshal([]byte(text))
	require.NoError(t, err)
	return c
}
