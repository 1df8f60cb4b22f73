package kernel

import (
	"encoding/binary"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// batchRig is a rig whose machine has the batch entry, with memory for batches:
// two pages, behind which nothing is mapped.
type batchRig struct {
	*rig
	at copyuser.Addr
}

// untouched is what the results of a batch hold before it.
const untouched = 0x5a5a5a5a

func newBatchRig(tb testing.TB) *batchRig {
	tb.Helper()
	r := newRig(tb, nil)
	ExperimentalBatch(r.m)
	const prot, flags = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS
	at, err := r.p.Mmap(-1, 3*copyuser.PageSize, prot, flags, 0)
	require.NoError(tb, err)
	require.NoError(tb, r.p.Munmap(at+2*copyuser.PageSize, copyuser.PageSize))
	return &batchRig{r, at}
}

// batchHdr is the header of a batch.
func batchHdr(n, flags uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, n)
	return append(binary.LittleEndian.AppendUint32(b, flags), make([]byte, 8)...)
}

// putBatch writes a batch of these calls at an address.
func (r *batchRig) putBatch(tb testing.TB, at copyuser.Addr, flags uint32, calls ...copyuser.Addr) {
	tb.Helper()
	b := batchHdr(uint32(len(calls)), flags)
	for _, c := range calls {
		b = binary.LittleEndian.AppendUint64(b, uint64(c))
		b = binary.LittleEndian.AppendUint64(b, untouched)
	}
	require.True(tb, r.p.Mem.Store(at, b))
}

// results are the results of n entries.
func (r *batchRig) results(tb testing.TB, at copyuser.Addr, n int) (out []int32) {
	tb.Helper()
	for i := range n {
		var b [4]byte
		entry := at + BatchHdrSize + copyuser.Addr(i)*BatchEntrySize
		require.True(tb, r.p.Mem.Load(entry+BatchResultOffset, b[:]))
		out = append(out, int32(binary.LittleEndian.Uint32(b[:])))
	}
	return out
}

// creating and missing put a call that makes a test object and one that is
// refused with ENOENT into a slot of the rig's memory.
func (r *batchRig) creating(tb testing.TB, slot int) copyuser.Addr {
	at := r.mem + copyuser.Addr(slot)*64
	r.put(tb, at, testObject, testCreate, spec.IoctlAttr{})
	return at
}

func (r *batchRig) missing(tb testing.TB, slot int) copyuser.Addr {
	at := r.mem + copyuser.Addr(slot)*64
	r.put(tb, at, testObject, testUse, spec.IoctlAttr{Data: 1000})
	return at
}

// objects is how many test objects there are.
func (r *batchRig) objects() (n int) {
	for range r.file.Objects.Objects(nil) {
		n++
	}
	return n
}

func TestBatchIsNotLinux(t *testing.T) {
	r := newRig(t, nil)
	r.put(t, r.mem, testObject, testCreate, spec.IoctlAttr{})
	n, err := r.p.Ioctl(r.fd, BatchIoctl, r.mem)
	require.EqualValues(t, -1, n)
	require.ErrorIs(t, err, syscall.ENOTTY)
	ExperimentalBatch(r.m)
	for _, cmd := range []uint32{0, BatchIoctl + 1, BatchIoctl ^ 1<<31, 0xb0} {
		_, err := r.p.Ioctl(r.fd, cmd, r.mem)
		require.ErrorIs(t, err, syscall.ENOTTY, "command %#x", cmd)
	}
}

// TestBatchIoctlIsNobodys: the number of the command is not one that Linux has
// for RDMA (include/uapi/rdma/rdma_user_ioctl.h), and it says what the argument
// is as _IOWR does.
func TestBatchIoctlIsNobodys(t *testing.T) {
	cmd := uint32(BatchIoctl)
	require.EqualValues(t, 3, cmd>>30, "read and written")
	require.EqualValues(t, BatchHdrSize, cmd>>16&0x3fff)
	require.EqualValues(t, spec.RDMA_VERBS_IOCTL>>8&0xff, cmd>>8&0xff, "RDMA's magic number")
	nr := cmd & 0xff
	require.False(t, nr <= 4 || nr >= 0xe1 && nr <= 0xee)
}

func TestBatchMakesItsCallsInOrder(t *testing.T) {
	r := newBatchRig(t)
	calls := []copyuser.Addr{r.creating(t, 0), r.creating(t, 1), r.creating(t, 2)}
	r.putBatch(t, r.at, 0, calls...)
	n, err := r.p.Ioctl(r.fd, BatchIoctl, r.at)
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
	require.Equal(t, []int32{0, 0, 0}, r.results(t, r.at, 3))
	for want, at := range calls { // the lowest free number is the next one's
		handle, ok := r.p.Mem.GetUint64(at + spec.IoctlHdrSize + spec.IoctlAttrDataOffset)
		require.True(t, ok)
		require.EqualValues(t, want, handle)
	}
}

func TestBatchStopsOrGoesOn(t *testing.T) {
	noent := -int32(syscall.ENOENT)
	fault := -int32(syscall.EFAULT)
	for name, tc := range map[string]struct {
		flags   uint32
		bad     copyuser.Addr // of the second call; 0 is one whose object is missing
		made    int64
		results []int32
		objects int
	}{
		"stops at a refusal":      {0, 0, 2, []int32{0, noent, untouched}, 1},
		"goes on":                 {BatchContinue, 0, 3, []int32{0, noent, 0}, 2},
		"stops at no header":      {0, 1, 2, []int32{0, fault, untouched}, 1},
		"goes on after no header": {BatchContinue, 1, 3, []int32{0, fault, 0}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newBatchRig(t)
			bad := tc.bad
			if bad == 0 {
				bad = r.missing(t, 1)
			}
			r.putBatch(t, r.at, tc.flags, r.creating(t, 0), bad, r.creating(t, 2))
			n, err := r.p.Ioctl(r.fd, BatchIoctl, r.at)
			require.NoError(t, err)
			require.Equal(t, tc.made, n)
			require.Equal(t, tc.results, r.results(t, r.at, 3))
			require.Equal(t, tc.objects, r.objects())
		})
	}
}

// TestBatchFillsAPage: as many calls as fit into a page with the header.
func TestBatchFillsAPage(t *testing.T) {
	r := newBatchRig(t)
	calls := make([]copyuser.Addr, BatchMaxCalls)
	for i := range calls {
		calls[i] = r.missing(t, 0)
	}
	r.putBatch(t, r.at, BatchContinue, calls...)
	n, err := r.p.Ioctl(r.fd, BatchIoctl, r.at)
	require.NoError(t, err)
	require.Equal(t, int64(255), n)
	want := make([]int32, 255)
	for i := range want {
		want[i] = -int32(syscall.ENOENT)
	}
	require.Equal(t, want, r.results(t, r.at, 255))
}

// TestBatchOfWrongForm: nothing is made, and no result is written.
func TestBatchOfWrongForm(t *testing.T) {
	r := newBatchRig(t)
	call := r.creating(t, 0)
	lastWord := r.at + 2*copyuser.PageSize - 8 // only half of a header is mapped
	for name, tc := range map[string]struct {
		put  func()
		at   copyuser.Addr
		want *rule.Rule
	}{
		"no header":       {func() {}, 8, BatchFault},
		"half a header":   {func() {}, lastWord, BatchFault},
		"no call":         {func() { r.putBatch(t, r.at, 0) }, r.at, BatchCount},
		"too many":        {func() { require.True(t, r.p.Store(r.at, batchHdr(BatchMaxCalls+1, 0))) }, r.at, BatchCount},
		"so many":         {func() { require.True(t, r.p.Store(r.at, batchHdr(1<<31, 0))) }, r.at, BatchCount},
		"flag":            {func() { r.putBatch(t, r.at, 2, call) }, r.at, BatchFlags},
		"header reserved": {func() { r.putBatch(t, r.at, 0, call); r.p.Store(r.at+15, []byte{1}) }, r.at, BatchFlags},
		"entry reserved":  {func() { r.putBatch(t, r.at, 0, call); r.p.Store(r.at+31, []byte{1}) }, r.at, BatchFlags},
	} {
		t.Run(name, func(t *testing.T) {
			tc.put()
			n, err := r.p.Ioctl(r.fd, BatchIoctl, tc.at)
			require.EqualValues(t, -1, n)
			require.Equal(t, error(tc.want), err)
			require.Zero(t, r.objects())
		})
	}
}

// TestBatchHalfMapped: the second entry lies where nothing is mapped. The entries
// are copied before the first call, so none is made.
func TestBatchHalfMapped(t *testing.T) {
	r := newBatchRig(t)
	call := r.creating(t, 0)
	at := r.at + 2*copyuser.PageSize - BatchHdrSize - BatchEntrySize
	r.putBatch(t, at, BatchContinue, call)
	require.True(t, r.p.Store(at, batchHdr(2, BatchContinue)))
	_, err := r.p.Ioctl(r.fd, BatchIoctl, at)
	require.Equal(t, error(BatchFault), err)
	require.Zero(t, r.objects())
	require.Equal(t, []int32{untouched}, r.results(t, at, 1))
}

// TestBatchAnswerFaults: the page with the second and third entry cannot be
// written. The second call is made, which its result does not say; it is counted,
// and the last.
func TestBatchAnswerFaults(t *testing.T) {
	for _, flags := range []uint32{0, BatchContinue} {
		r := newBatchRig(t)
		at := r.at + copyuser.PageSize - BatchHdrSize - BatchEntrySize
		r.putBatch(t, at, flags, r.creating(t, 0), r.creating(t, 1), r.creating(t, 2))
		require.NoError(t, r.p.Mprotect(r.at+copyuser.PageSize, copyuser.PageSize, syscall.PROT_READ))
		n, err := r.p.Ioctl(r.fd, BatchIoctl, at)
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		require.Equal(t, []int32{0, untouched, untouched}, r.results(t, at, 3))
		require.Equal(t, 2, r.objects())
	}
}

// during does something once, when the first call of a batch has begun.
type during struct {
	once sync.Once
	do   func()
}

func (d *during) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Enter && e.Name == "ib_uverbs_cmd_verbs" {
		d.once.Do(d.do)
	}
}

// TestBatchChangesUnderWay: the entries are copied before the first call, so that
// another thread that writes to them changes nothing; a call is copied when it is
// its turn.
func TestBatchChangesUnderWay(t *testing.T) {
	r := newBatchRig(t)
	second := r.creating(t, 1)
	r.putBatch(t, r.at, 0, r.creating(t, 0), second)
	hook := &during{do: func() {
		r.putBatch(t, r.at, 0, 1, 1)
		r.missing(t, 1)
	}}
	task := r.p.NewTask(trace.NewTask(1, hook))
	n, err := task.Ioctl(r.fd, BatchIoctl, r.at)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Equal(t, []int32{0, -int32(syscall.ENOENT)}, r.results(t, r.at, 2))
	require.Equal(t, 1, r.objects())
}

// TestBatchOutlivesItsDescriptor: another thread closes the descriptor during the
// first call. The batch has the file, as any system call has, and makes the rest;
// then the file is released.
func TestBatchOutlivesItsDescriptor(t *testing.T) {
	r := newBatchRig(t)
	r.putBatch(t, r.at, 0, r.creating(t, 0), r.creating(t, 1))
	hook := &during{do: func() {
		require.NoError(t, r.p.Close(r.fd))
		require.Equal(t, 1, r.d.OpenFiles())
	}}
	task := r.p.NewTask(trace.NewTask(1, hook))
	n, err := task.Ioctl(r.fd, BatchIoctl, r.at)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Equal(t, []int32{0, 0}, r.results(t, r.at, 2))
	require.Zero(t, r.d.OpenFiles())
	require.Zero(t, r.objects())
}

// TestBatchAllocatesNothing on a file that was used before.
func TestBatchAllocatesNothing(t *testing.T) {
	r := newBatchRig(t)
	r.putBatch(t, r.at, BatchContinue, r.missing(t, 0), r.missing(t, 1))
	call := func() { r.p.Ioctl(r.fd, BatchIoctl, r.at) }
	call()
	require.Zero(t, testing.AllocsPerRun(1000, call))
}

// failBatch makes the allocation of a batch's entries fail.
type failBatch struct{}

func (failBatch) Event(*trace.Task, *trace.Event) {}
func (failBatch) Fail(_ *trace.Task, s trace.Step, what string) bool {
	return s == trace.Alloc && what == "batch"
}

func TestBatchWithoutMemory(t *testing.T) {
	r := newBatchRig(t)
	r.putBatch(t, r.at, 0, r.creating(t, 0))
	task := r.p.NewTask(trace.NewTask(1, failBatch{}))
	_, err := task.Ioctl(r.fd, BatchIoctl, r.at)
	require.Equal(t, error(BatchNoMemory), err)
	require.Zero(t, r.objects())
}

// TestBatchMeetsRemoval: the device goes during the first call. A removal waits
// for the calls that are under way, not for the batch; what comes after it is
// refused as a single call is.
func TestBatchMeetsRemoval(t *testing.T) {
	r := newBatchRig(t)
	r.d.IBDevice().Ops.DisassociateUcontext = func(*process.Task, *core.Ucontext) {}
	r.putBatch(t, r.at, BatchContinue, r.creating(t, 0), r.creating(t, 1))
	gone := make(chan struct{})
	hook := &between{gone: gone, do: func() {
		go func() {
			defer close(gone)
			r.m.Unregister(r.m.NewProcess(process.Options{}).MainTask(), r.d)
		}()
	}}
	task := r.p.NewTask(trace.NewTask(1, hook))
	n, err := task.Ioctl(r.fd, BatchIoctl, r.at)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Equal(t, []int32{0, -int32(syscall.EIO)}, r.results(t, r.at, 2))
	require.Zero(t, r.objects())
	_, single := r.p.Ioctl(r.fd, spec.RDMA_VERBS_IOCTL, r.mem)
	require.ErrorIs(t, single, syscall.EIO)
}

// between starts something when the first call's handler is done, and waits for it
// before the second call.
type between struct {
	do    func()
	gone  chan struct{}
	calls int
}

func (b *between) Event(_ *trace.Task, e *trace.Event) {
	switch {
	case e.Kind == trace.Leave && strings.HasPrefix(e.Name, "ib_uverbs_handler_"):
		if b.calls++; b.calls == 1 {
			b.do()
		}
	case e.Kind == trace.CopyOut && e.B == 4 && b.calls == 1: // the first result
		<-b.gone
	}
}
