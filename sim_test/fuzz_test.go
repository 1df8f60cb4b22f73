package sim_test

import (
	"encoding/binary"
	"maps"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/spec"
)

// Where a fuzzed call lies, and what it may point at.
const (
	fuzzCall    = 0x100000
	fuzzPayload = 0x200000
	fuzzBytes   = 4 * copyuser.PageSize // of each
)

// fuzzed is a process on a machine with rxe that has a context, a PD, a CQ with
// a channel, and an MR: handles 0 to 2, descriptors 3 (the device) and 4.
type fuzzed struct {
	m    *model.Machine
	task *process.Task
	idle *model.Books
	fd   int
}

func newFuzzed(tb testing.TB) *fuzzed {
	tb.Helper()
	booted, err := new(model.Model).Boot(&casefile.Case{Driver: "rxe"})
	require.NoError(tb, err)
	f := &fuzzed{m: booted.(*model.Machine)}
	f.idle = f.m.Books()
	f.task = f.m.Process().(*model.Task).Process().MainTask()
	for _, at := range []copyuser.Addr{fuzzCall, fuzzPayload} {
		_, err := f.task.MmapAt(at, -1, fuzzBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS|syscall.MAP_FIXED, 0)
		require.NoError(tb, err)
	}
	f.fd, err = f.task.Open(nodeOf(f.m.Driver.Device()), syscall.O_RDWR)
	require.NoError(tb, err)
	require.NoError(tb, f.ioctl(ioctlBytes(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT)))
	words := func(cmd uint32, in, out uint16, payload ...uint64) []byte {
		b := binary.LittleEndian.AppendUint32(nil, cmd)
		b = binary.LittleEndian.AppendUint16(b, in)
		b = binary.LittleEndian.AppendUint16(b, out)
		for _, p := range payload {
			b = binary.LittleEndian.AppendUint64(b, p)
		}
		return b
	}
	require.NoError(tb, f.write(words(spec.IB_USER_VERBS_CMD_ALLOC_PD, 4, 2, fuzzPayload)))
	require.NoError(tb, f.write(words(spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, 4, 1, fuzzPayload)))
	require.NoError(tb, f.ioctl(ioctlBytes(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE,
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_HANDLE},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_CQE, Len: 4, Data: 15},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, Len: 8, Data: 7},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, Data: 4},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, Len: 4},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, Len: 4, Data: fuzzPayload},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 16, Data: fuzzPayload})))
	require.NoError(tb, f.write(words(spec.IB_USER_VERBS_CMD_REG_MR, 12, 3, fuzzPayload, fuzzPayload, fuzzBytes, fuzzPayload, 1<<32)))
	return f
}

// ioctlBytes lays out header and attributes.
func ioctlBytes(driver uint32, object, method uint16, attrs ...spec.IoctlAttr) []byte {
	hdr := spec.IoctlHdr{Length: uint16(spec.IoctlHdrSize + len(attrs)*spec.IoctlAttrSize), ObjectID: object, MethodID: method,
		NumAttrs: uint16(len(attrs)), DriverID: driver}
	buf := make([]byte, hdr.Length)
	hdr.Encode((*[spec.IoctlHdrSize]byte)(buf))
	for i, a := range attrs {
		a.Encode((*[spec.IoctlAttrSize]byte)(buf[spec.IoctlHdrSize+i*spec.IoctlAttrSize:]))
	}
	return buf
}

// put stores bytes, of which those that do not fit are left out.
func (f *fuzzed) put(at copyuser.Addr, b []byte) uint64 {
	b = b[:min(len(b), fuzzBytes)]
	f.task.Mem.Store(at, b)
	return uint64(len(b))
}

func (f *fuzzed) ioctl(call []byte) error {
	f.put(fuzzCall, call)
	_, err := f.task.Ioctl(f.fd, spec.RDMA_VERBS_IOCTL, fuzzCall)
	return err
}

func (f *fuzzed) write(cmd []byte) error {
	_, err := f.task.Write(f.fd, fuzzCall, f.put(fuzzCall, cmd))
	return err
}

// check wants an answer that a user can get, a device that still answers, and
// the books as at the start when all is closed.
func (f *fuzzed) check(t *testing.T, err error) {
	if err != nil {
		require.NotEmptyf(t, rule.ErrnoName(rule.Errno(err)), "%v", err)
		require.NotEqual(t, rule.ENOIOCTLCMD, rule.Errno(err))
	}
	require.NoError(t, f.ioctl(ioctlBytes(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT,
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, Len: 8, Data: 1},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_RESP, Len: spec.QueryPortRespExSize, Data: fuzzPayload})))
	f.m.Shutdown()
	books := f.m.Books()
	books.Processes, f.idle.Processes = nil, nil
	if d := cmp.Diff(f.idle, books); d != "" {
		t.Fatalf("the books at the start (-) and when all is closed (+):\n%s", d)
	}
}

// FuzzIoctl makes one ioctl of any bytes.
func FuzzIoctl(f *testing.F) {
	seeds(f, func(c *casefile.Case, do casefile.Action, env *seedEnv) []byte {
		if call, ok := do.(*casefile.Ioctl); ok {
			b, _, _ := call.Bytes(c.Driver, env)
			return b
		}
		return nil
	})
	f.Fuzz(func(t *testing.T, call, payload []byte) {
		m := newFuzzed(t)
		m.put(fuzzPayload, payload)
		m.check(t, m.ioctl(call))
	})
}

// FuzzWrite makes one write of any bytes.
func FuzzWrite(f *testing.F) {
	seeds(f, func(_ *casefile.Case, do casefile.Action, env *seedEnv) []byte {
		if w, ok := do.(*casefile.Write); ok {
			b, _, _ := w.Bytes(env)
			return b
		}
		return nil
	})
	f.Fuzz(func(t *testing.T, cmd, payload []byte) {
		m := newFuzzed(t)
		m.put(fuzzPayload, payload)
		m.check(t, m.write(cmd))
	})
}

// seeds adds calls of recorded cases, each once, with the case's buffers as
// payload.
func seeds(f *testing.F, bytes func(*casefile.Case, casefile.Action, *seedEnv) []byte) {
	const path = "corpus/linux-6.12-rxe.jsonl"
	file, err := os.Open(path)
	require.NoError(f, err)
	defer file.Close()
	seen := map[string]bool{}
	n := 0
	for c, err := range casefile.Read(file, path) {
		require.NoError(f, err)
		env := newSeedEnv(c)
		for i := range c.Steps {
			if b := bytes(c, c.Steps[i].Do, env); len(b) > 0 && !seen[string(b)] {
				seen[string(b)] = true
				f.Add(b, env.payload)
				n++
			}
		}
	}
	require.Positive(f, n)
}

// seedEnv is a case's environment as the fuzzed process has it.
type seedEnv struct {
	at      map[string]int
	payload []byte
}

func newSeedEnv(c *casefile.Case) *seedEnv {
	e := &seedEnv{at: map[string]int{}}
	for _, name := range slices.Sorted(maps.Keys(c.Bufs)) {
		e.at[name] = len(e.payload)
		e.payload = append(e.payload, c.Bufs[name].Bytes()...)
		e.payload = append(e.payload, make([]byte, -len(e.payload)&7)...)
	}
	return e
}

// BufAddr implements casefile.Env.
func (e *seedEnv) BufAddr(name string) (uint64, bool) { return fuzzPayload + uint64(e.at[name]), true }

// BufNumber implements casefile.Env.
func (e *seedEnv) BufNumber(string, int, int) (uint64, bool) { return 1, true }

// Symbol implements casefile.Env: any handle is the CQ's.
func (e *seedEnv) Symbol(string) (uint64, bool, bool) { return 1, false, true }

// MapAddr implements casefile.Env.
func (e *seedEnv) MapAddr(string) (uint64, bool) { return fuzzPayload, true }
