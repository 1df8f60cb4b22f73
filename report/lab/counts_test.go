package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/kernel"
	"uverbsim/spec"
)

// Sizes of the user ABI, from include/uapi/rdma/rdma_user_ioctl_cmds.h.
const (
	hdrSize  = 24
	attrSize = 16
)

// counts plays an experiment without times and returns its rows, by the name of
// the row, behind that of its table if there are several, and the key of the
// column.
func counts(t *testing.T, name string, n int) map[string]map[string]any {
	t.Helper()
	i := slices.IndexFunc(Experiments, func(e Experiment) bool { return e.Name == name })
	r, err := Experiments[i].Run(Options{N: n, CountsOnly: true})
	require.NoError(t, err)
	require.Empty(t, r.Times)
	rows := map[string]map[string]any{}
	for _, table := range r.Counts {
		for _, row := range table.Rows {
			name := row.Name
			if len(r.Counts) > 1 {
				name = table.Title + ": " + name
			}
			require.NotContains(t, rows, name)
			rows[name] = map[string]any{}
			for i, c := range table.Columns {
				rows[name][c.Key] = row.Values[i]
			}
		}
	}
	return rows
}

// call is what one ioctl of k attributes copies, as the kernel's source has it:
// ib_uverbs_ioctl the header and ib_uverbs_run_method the array, and then whatever
// the handler and the driver ask for.
type call struct {
	attrs int
	in    []int // lengths of further copies from the user
	out   []int // of copies to the user
}

func (c call) counts() (copiesIn, bytesIn, copiesOut, bytesOut int) {
	bytesIn = hdrSize + c.attrs*attrSize
	for _, n := range c.in {
		bytesIn += n
	}
	for _, n := range c.out {
		bytesOut += n
	}
	return 2 + len(c.in), bytesIn, len(c.out), bytesOut
}

// The calls of the experiments.
var (
	// INFO_HANDLES: which type is inline. The list of one handle, 4 bytes, and how
	// many there are, of which the user has room for 4 of 8 bytes; each by
	// uverbs_copy_to, with its flag of 2 bytes by uverbs_set_output.
	infoHandlesCall = call{attrs: 3, out: []int{4, 2, 4, 2}}
	// QUERY_PORT: the port number is inline. The answer of 48 bytes by
	// uverbs_copy_to_struct_or_zero, whose length is the attribute's, so that
	// nothing is cleared, and the flag of 2 bytes by uverbs_set_output.
	queryPortCall = call{attrs: 2, out: []int{48, 2}}
	// CQ CREATE: the request of the driver, struct mlx5_ib_create_cq. The new
	// handle, 8 bytes, by put_user in uverbs_process_attr; the driver's answer by
	// ib_copy_to_udata of the 4 bytes of cqn; the number of entries, 4 bytes, with
	// its flag; and the flag of UHW_OUT, by ib_uverbs_run_method.
	createCQCall = call{attrs: 7, in: []int{32}, out: []int{8, 4, 4, 2, 2}}
	// CQ DESTROY: struct ib_uverbs_destroy_cq_resp, and its flag.
	destroyCQCall = call{attrs: 2, out: []int{8, 2}}
	// REG_MR by INVOKE_WRITE: the core's request is copied by uverbs_request, 40
	// bytes; the answer of 12 by uverbs_response, and its flag.
	regMRCall = call{attrs: 3, in: []int{40}, out: []int{12, 2}}
	// MR DESTROY has a handle and no answer.
	deregMRCall = call{attrs: 1}
)

func TestBatchCounts(t *testing.T) {
	const n = 6
	rows := counts(t, "batch", n)
	for name, calls := range map[string][]call{
		"INFO_HANDLES":          {infoHandlesCall},
		"QUERY_PORT":            {queryPortCall},
		"CQ CREATE, CQ DESTROY": {createCQCall, destroyCQCall},
		"REG_MR, MR DESTROY":    {regMRCall, deregMRCall},
	} {
		var in, bytesIn, out, bytesOut int
		for _, c := range calls {
			ci, bi, co, bo := c.counts()
			in, bytesIn, out, bytesOut = in+n*ci, bytesIn+n*bi, out+n*co, bytesOut+n*bo
		}
		all := n * len(calls)
		alone := rows[name+", an ioctl each"]
		require.NotNil(t, alone)
		require.Equal(t, []any{all, all, in, bytesIn, out, bytesOut},
			[]any{alone["calls"], alone["crossings"], alone["copies_in"], alone["bytes_in"], alone["copies_out"], alone["bytes_out"]}, name)
		for size, batches := range map[int]int{1: 6, 4: 2, 6: 1} { // for one kind of call
			batches *= len(calls)
			row := rows[name+", batches of "+string(rune('0'+size))]
			require.NotNil(t, row, "%s, %d", name, size)
			// A batch copies its header and its entries, and writes 4 bytes for
			// each call.
			require.Equal(t, []any{all, batches, in + 2*batches, bytesIn + 16*batches + 16*all, out + all, bytesOut + 4*all},
				[]any{row["calls"], row["crossings"], row["copies_in"], row["bytes_in"], row["copies_out"], row["bytes_out"]},
				"%s, %d", name, size)
			require.Equal(t, alone["allocs"].(int)+batches, row["allocs"], "and asks for memory for the entries")
			require.Equal(t, alone["firmware"], row["firmware"])
		}
	}
	// Firmware commands: two for the port (its speed and its state), one to make
	// and one to destroy a queue or a key.
	require.Equal(t, 0, rows["INFO_HANDLES, an ioctl each"]["firmware"])
	require.Equal(t, 2*n, rows["QUERY_PORT, an ioctl each"]["firmware"])
	require.Equal(t, 2*n, rows["CQ CREATE, CQ DESTROY, an ioctl each"]["firmware"])
	require.Equal(t, 2*n, rows["REG_MR, MR DESTROY, an ioctl each"]["firmware"])
	// Memory: that of pinned pages is a struct ib_umem, the page for the list of pages, the
	// table of their addresses (sg_alloc_append_table_from_pages), and what it is mapped for the
	// device with; a firmware command has a message (mlx5_alloc_cmd_msg).
	const umem, command = 4, 1
	// INFO_HANDLES: the bundle is on the stack. QUERY_PORT: two commands besides.
	require.Equal(t, 0, rows["INFO_HANDLES, an ioctl each"]["allocs"])
	require.Equal(t, 2*n*command, rows["QUERY_PORT, an ioctl each"]["allocs"])
	// Of a queue: the bundle, too large for the stack; the object, struct ib_cq, its memory, the
	// command's input, its places in the trees of two event queues (mlx5_eq_add_cq), and a command
	// to make and one to destroy it. All records lie in one page, which takes a struct
	// mlx5_ib_user_db_page and is pinned by itself.
	require.Equal(t, n*(6+umem+2*command)+1+umem, rows["CQ CREATE, CQ DESTROY, an ioctl each"]["allocs"])
	// Of a region: the object, its memory, struct mlx5_ib_mr, the command's input, and two commands.
	require.Equal(t, n*(3+umem+2*command), rows["REG_MR, MR DESTROY, an ioctl each"]["allocs"])
}

// TestReuseCounts: how the buffer comes about makes no difference to the kernel.
func TestReuseCounts(t *testing.T) {
	const n = 5
	rows := counts(t, "reuse", n)
	qIn, qBytesIn, qOut, qBytesOut := queryPortCall.counts()
	for _, way := range wayNames {
		row := rows["Counts, of 5 QUERY_PORT: "+way]
		require.Equal(t, []any{n, n * qIn, n * qBytesIn, n * qOut, n * qBytesOut, 2 * n}, // the messages of two commands
			[]any{row["crossings"], row["copies_in"], row["bytes_in"], row["copies_out"], row["bytes_out"], row["allocs"]}, way)
	}
	users := func(row map[string]any) []any {
		return []any{row["stores"], row["stored_bytes"], row["loads"], row["loaded_bytes"]}
	}
	const request, answer = hdrSize + 2*attrSize, 48
	// The library stores what the answer's room holds and the buffer, and loads
	// both; whoever knows what is in the buffer stores what has to change.
	require.Equal(t, []any{2 * n, n * (answer + request), 2 * n, n * (request + answer)}, users(rows["Counts, of 5 QUERY_PORT: by the library"]))
	require.Equal(t, []any{n, n * request, n, n * answer}, users(rows["Counts, of 5 QUERY_PORT: built anew"]))
	require.Equal(t, []any{n, n * 2, n, n * answer}, users(rows["Counts, of 5 QUERY_PORT: used again, put right"]))
	require.Equal(t, []any{0, 0, n, n * answer}, users(rows["Counts, of 5 QUERY_PORT: used again"]))

	cIn, cBytesIn, cOut, cBytesOut := createCQCall.counts()
	dIn, dBytesIn, dOut, dBytesOut := destroyCQCall.counts()
	for _, way := range wayNames {
		row := rows["Counts, of 5 CQ CREATE and CQ DESTROY: "+way]
		bytesIn := n * (cBytesIn + dBytesIn)
		if way == "by the library" {
			bytesIn += n * attrSize // EVENT_FD
		}
		require.Equal(t, []any{2 * n, n * (cIn + dIn), bytesIn, n * (cOut + dOut), n * (cBytesOut + dBytesOut)},
			[]any{row["crossings"], row["copies_in"], row["bytes_in"], row["copies_out"], row["bytes_out"]}, way)
	}
	// The handle of 8 bytes goes from one request to the other; put right are
	// three flags of 2 bytes.
	require.Equal(t, []any{n, n * 8, n, n * 8}, users(rows["Counts, of 5 CQ CREATE and CQ DESTROY: used again"]))
	require.Equal(t, []any{4 * n, n * (8 + 3*2), n, n * 8}, users(rows["Counts, of 5 CQ CREATE and CQ DESTROY: used again, put right"]))
}

// TestReusedBufferKeepsWhatItSaid: a buffer that is used again and not put right
// says of a call that was refused what it said of the one before.
func TestReusedBufferKeepsWhatItSaid(t *testing.T) {
	m, err := boot()
	require.NoError(t, err)
	q, err := m.queryPort()
	require.NoError(t, err)
	th := &thread{Task: m.p.MainTask()}
	flags := func() uint16 {
		var b [attrSize]byte
		m.load(q.at+hdrSize+attrSize, b[:])
		return spec.DecodeIoctlAttr(&b).Flags
	}
	require.NoError(t, th.ioctl(m.fd, q))
	require.NotZero(t, flags()&spec.UVERBS_ATTR_F_VALID_OUTPUT)
	q.setData(0, 200) // no such port
	require.Error(t, th.ioctl(m.fd, q))
	require.NotZero(t, flags()&spec.UVERBS_ATTR_F_VALID_OUTPUT, "of the call before")
	require.NoError(t, putRight(th, q.flagsOf(1)))
	require.Error(t, th.ioctl(m.fd, q))
	require.Zero(t, flags()&spec.UVERBS_ATTR_F_VALID_OUTPUT)
}

func TestTrimCounts(t *testing.T) {
	const n = 3
	rows := counts(t, "trim", n)
	in, bytesIn, out, bytesOut := createCQCall.counts()
	for name, want := range map[string]struct{ attrs, unknown int }{
		"needed":                  {7, 0},
		"needed, none mandatory":  {7, 0},
		"needed and FLAGS":        {8, 0},
		"needed and EVENT_FD":     {8, 0},
		"needed and COMP_CHANNEL": {8, 0},
		"needed and UAR_INDEX":    {8, 0},
		"all":                     {11, 0},
		"all and 4 unknown":       {15, 4},
	} {
		row := rows[name]
		require.NotNil(t, row, name)
		// The method is found by a walk; so is what the method does not have.
		require.Equal(t, n, row["crossings"], name)
		require.Equal(t, []any{n * want.attrs, n * (want.attrs - want.unknown), n * (1 + want.unknown)},
			[]any{row["attrs"], row["slots"], row["lookups"]}, name)
		require.Equal(t, []any{n * in, n * (bytesIn + attrSize*(want.attrs-createCQCall.attrs)), n * out, n * bytesOut},
			[]any{row["copies_in"], row["bytes_in"], row["copies_out"], row["bytes_out"]}, name)
		require.Equal(t, rows["needed"]["allocs"], row["allocs"], name)
	}
	require.Equal(t, rows["needed"], rows["needed, none mandatory"])
}

// TestAsyncLocks: who waits for whom, as the kernel's source has it.
func TestAsyncLocks(t *testing.T) {
	rows := counts(t, "async", 1)
	const both, mine, nobody = "both", "mine", "nobody"
	scope := map[string]string{
		"disassociate_srcu": nobody, "hw_destroy_rwsem": nobody, // readers
		"xa_lock": mine, "uobjects_lock": mine, "db_page_mutex": mine, "ev_queue.lock": mine, // struct ib_uverbs_file, mlx5_ib_ucontext
		"rdmacg_mutex": both, "comp_lock": both, "cq_table.lock": both, "slow_path_mutex": both, // global, mlx5_eq_table, mlx5_eq, mlx5_ib_dev
	}
	waits := map[string][]any{both: {"waits", "waits"}, mine: {"waits", "goes on"}, nobody: {"goes on", "goes on"}}
	seen := map[string]int{}
	for name, want := range map[string]call{
		"INFO_HANDLES": {attrs: 3, out: []int{0, 2, 4, 2}}, // this file has no protection domain
		"QUERY_PORT":   queryPortCall, "CQ CREATE": createCQCall, "CQ DESTROY": destroyCQCall,
		"REG_MR": regMRCall, "MR DESTROY": deregMRCall,
	} {
		key := "Counts, of one call: " + name
		row := rows[key]
		require.NotNil(t, row, name)
		in, bytesIn, out, bytesOut := want.counts()
		require.Equal(t, []any{1, in, bytesIn, out, bytesOut},
			[]any{row["crossings"], row["copies_in"], row["bytes_in"], row["copies_out"], row["bytes_out"]}, name)
		delete(rows, key)
	}
	for name, row := range rows {
		call, lock, ok := strings.Cut(strings.TrimPrefix(name, "Locks of "), ": ")
		require.True(t, ok, name)
		seen[call]++
		require.Contains(t, scope, lock)
		require.Equal(t, waits[scope[lock]], []any{row["same_file"], row["other_file"]}, name)
		require.NotEmpty(t, row["guards"])
	}
	require.Equal(t, 1, seen["QUERY_PORT"])
	require.Equal(t, 2, seen["INFO_HANDLES"]) // gather_objects_handle walks the list
	require.Len(t, seen, len(inFlights))
	// create_mkey waits for the firmware under slow_path_mutex, and
	// mlx5_ib_db_map_user pins under db_page_mutex; nothing else does either with
	// a lock that it has alone.
	for name, row := range rows {
		_, lock, _ := strings.Cut(name, ": ")
		if scope[lock] == nobody {
			continue
		}
		firmware, pins := 0, 0
		switch name {
		case "Locks of REG_MR: slow_path_mutex":
			firmware = 1
		case "Locks of CQ CREATE: db_page_mutex":
			pins = 1
		}
		require.Equal(t, []any{firmware, pins}, []any{row["firmware"], row["pins"]}, name)
	}
}

func TestWrongOptions(t *testing.T) {
	for i := range Experiments {
		for _, n := range []int{-1, 0, kernel.BatchMaxCalls + 1} {
			_, err := Experiments[i].Run(Options{N: n, CountsOnly: true})
			if Experiments[i].Repeats {
				require.ErrorContains(t, err, "1 to 255")
			} else {
				require.NoError(t, err)
			}
		}
	}
}
