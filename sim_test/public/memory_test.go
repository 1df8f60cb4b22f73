package public

import (
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
)

// memory are section F: registered memory, mappings of the device, fork.
var memory = []problem{
	{
		id: "F2", name: "read-only-buffer",
		met: "A buffer that can only be read, such as a mapped file or a receiver's view of shared memory, cannot be registered: EFAULT, " +
			"most often since a layer in between asked for LOCAL_WRITE on its own (ofiwg/libfabric issues 6467 and 7236, PR 7243; " +
			"dmf-mxl/mxl issue 516, which met it with EFA on 6.12).",
		answer: "6.12 pins for writing when the access flags say so and not otherwise (`ib_umem_get`): a page that may not be written is EFAULT " +
			"with LOCAL_WRITE and whatever needs that, and is registered with no access or REMOTE_READ; that goes for shared mappings too. " +
			"Such a region cannot become writable later (`ib_umem_check_rereg`). Linux 6.1 always pins for writing, by force where the access " +
			"flags do not ask for it: private pages are registered all the same, even with PROT_NONE, but a shared mapping without the right " +
			"to write is EFAULT whatever is asked for.",
		shown: []shown{
			{"linux-6.12-public/public/F2-read-only-page", "pin/write"},
			{"linux-6.12-public/public/F2-read-only-shared", "pin/write"},
			{"linux-6.1-public/public/F2-read-only-page", "pin/write"},
			{"linux-6.1-public/public/F2-read-only-shared", "pin/write"},
			{"linux-6.12-more/mem/mprotect-under-mr", "pin/write"},
			{"linux-6.12-rules/rule/umem-rereg-read-only", "umem/rereg-read-only"},
			{"linux-6.12-mlx5/mlx5/mr/readonly-0", ""},
			{"linux-6.12-mlx5/mlx5/mr/readonly-1", "pin/write"},
		},
	},
	{
		id: "F4", name: "io-mapping",
		met: "Memory of a device that a process has mapped cannot be registered (NVIDIA/gdrcopy issue 266).",
		answer: "EFAULT: pages of an area with VM_IO or VM_PFNMAP cannot be pinned (`check_vma_flags`, from `ib_umem_get`), which every mapping by " +
			"`rdma_user_mmap_io` has. Memory of another device comes by the descriptor of a dma-buf (REG_DMABUF_MR; any other descriptor is " +
			"EINVAL). An rxe queue is ordinary memory that was mapped, and can be registered.",
		shown: []shown{
			{"linux-6.12-rules-mlx5/rule/pin-io", "pin/io"},
			{"linux-6.12-rules-mlx5/rule/dmabuf-foreign", "dmabuf/foreign"},
			{"linux-6.12-more/mem/reg-queue", ""},
		},
	},
	{
		id: "F6", name: "mmap-offset-overflow",
		met: "The offset for mmap was put together in 16 bits, where the high byte of an index got lost: what was to be the page of one object " +
			"was that of another (linux-rdma, 2020-02, with 81b9f5246).",
		answer: "Index 256 and more have their high byte above the command (`mlx5_entry_to_mmap_offset`), and mmap finds the object again " +
			"(`mlx5_vma_to_pgoff`): the page of object 257 is not that of object 1, which may go without it.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/F6-index-256", "mlx5-mmap/no-entry"},
			{"linux-6.12-public-mlx5/public/F6-doorbell-256", "mlx5-mmap/no-entry"},
		},
		test: testOffsetsDecode,
	},
	{
		id: "F7", name: "uar-free-wrong-index",
		met: "Where a register that is made by its mapping could not be mapped in the end, the driver freed the UAR of its own count in place of " +
			"the one that the card had named (linux-rdma, 2026-06, with 1b0e453c6).",
		answer: "6.12.117 frees the card's number (`uar_mmap`). A private mapping gets that far and is EINVAL then, and the count of the card's UARs " +
			"is what it was; the register can be mapped after that. One that was mapped is freed when the context goes (`deallocate_uars`), not " +
			"by munmap.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/F7-dynamic-register", "umap/not-shared"},
			{"linux-6.12-mlx5-mmap/mlx5/mmap/private-6", "umap/not-shared"},
			{"linux-6.12-mlx5-mmap/mlx5/mmap/dyn-twice", "mlx5-mmap/dynamic-busy"},
		},
		test: testDynamicUAR,
	},
	{
		id: "F8", name: "fork",
		met: "A library that keeps children away from registered memory by MADV_DONTFORK splits areas until there may be no more (ENOMEM), takes " +
			"more than the page that it means, or ends a program at fork, where the kernel is not known to copy pinned pages " +
			"(rdma-core PR 1222, 1431 and 824; kvcache-ai/Mooncake issue 3639; gVisor PR 14042; ucx PR 11573).",
		answer: "6.12 copies pinned pages at fork: the region goes on in the parent's pages, and the child has what was there then. A mapping of the " +
			"device in a child is followed on its own (`rdma_umap_open`), and a removal takes both away. A child that is forked after the removal " +
			"finds SIGBUS, unless the parent had touched the page that the removal leaves. In a fork while the removal destroys the file's objects " +
			"`rdma_umap_open` gives the child's mapping up, but `dup_mmap` copies the parent's page tables after that: the child keeps the " +
			"device's page for good.",
		not: "The splitting of areas by madvise and its limit are the caller's memory, and whether the kernel copies pinned pages is told by " +
			"netlink (RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK), not by uverbs; the end of the program is the library's.",
		shown: []shown{
			{"linux-6.12-public/public/F8-fork-keeps-pages", ""},
			{"linux-6.12-public-stub/public/F8-fork-before-removal", ""},
			{"linux-6.12-public-stub/public/F8-fork-after-removal", ""},
			{"linux-6.12-public-stub/public/F8-fork-during-removal", ""},
			{"linux-6.12-removal/rmmap/child", ""},
			{"linux-6.12-removal/rmmap/fork-after-touched", ""},
			{"linux-6.12-more/proc/fork-mr-in-child", ""},
			{"linux-6.12-more/proc/fork-mapping-outlives", ""},
		},
		test: testForkIsFollowed,
	},
	{
		id: "F9", name: "criu",
		met: "A process that has doorbells mapped cannot be dumped and restored (checkpoint-restore/criu issue 267; NVIDIA/nvcf issue 891).",
		answer: "The mapping is of the device's pages, which nothing but the process can reach (`check_vma_flags` refuses to pin them), and it lives " +
			"on after its descriptor and its object; nothing of it can be made anew, since numbers and offsets are what is free at the time.",
		not: "Dump and restore are a tool's; no call of uverbs hands the state of a context out or takes one in.",
		shown: []shown{
			{"linux-6.12-rules-mlx5/rule/pin-io", "pin/io"},
			{"linux-6.12-mlx5-mmap/mlx5/mmap/after-close", ""},
			{"linux-6.12-mlx5-mmap/mlx5/mmap/uar-obj-0", "mlx5-mmap/no-entry"},
		},
	},
	{
		id: "F10", name: "lock-order",
		met: "A later kernel's change is named after a circular dependency of `mmap_lock` and `disassociation_lock`.",
		answer: "6.12 takes `disassociation_lock` in mmap and in fork, where `mmap_lock` is held (`ib_uverbs_mmap`, `rdma_umap_open`), and `mmap_lock` " +
			"under `disassociation_lock` when a removal takes the mappings away (`uverbs_user_mmap_disassociate`): a circle for lockdep. The two " +
			"cannot meet there: the removal first waits for each mmap that is under way (`ib_uverbs_free_hw_resources`), later ones are EIO before " +
			"the lock, and a fork does without when it does not get `hw_destroy_rwsem`.",
		shown: []shown{{"linux-6.12-removal-par/rmpar/mmap", ""}},
		test:  testLockOrder,
	},
}

// boot starts a machine with a device of the driver's, whose threads report to
// the sink.
func boot(t *testing.T, driver string, d *casefile.Device, sink trace.Sink) *model.Machine {
	t.Helper()
	md := new(model.Model)
	if sink != nil {
		md.Trace = func(*casefile.Case) trace.Sink { return sink }
	}
	m, err := md.Boot(&casefile.Case{Driver: driver, Device: d})
	require.NoError(t, err)
	return m.(*model.Machine)
}

// testOffsetsDecode: the offsets of 258 objects are all different, and have the
// bytes of the index around the command.
func testOffsetsDecode(t *testing.T) {
	for _, name := range []string{"public/F6-index-256", "public/F6-doorbell-256"} {
		c := recorded(t, "linux-6.12-public-mlx5")[name]
		require.NotNil(t, c)
		offsets := map[string]int{}
		r := player.Play(new(model.Model), c, player.Options{After: func(_ player.Machine, i int, r *player.StepResult) {
			if off := r.Got.Bufs["off"]; off != "" {
				offsets[off]++
			}
		}})
		require.True(t, r.Passed())
		require.Len(t, offsets, 258, "each has an offset of its own")
		require.Equal(t, 1, offsets["0000900000000000"], "index 0: command 9, a page of 4096 bytes")
		require.Equal(t, 1, offsets["00f09f0000000000"], "index 255")
		require.Equal(t, 1, offsets["0000901000000000"], "index 256: the high byte is above the command")
		require.Equal(t, 1, offsets["0010901000000000"], "index 257")
	}
}

// testDynamicUAR counts the UARs of the card around mappings that make one, and
// looks which one the card gives next.
func testDynamicUAR(t *testing.T) {
	recordedCase := recorded(t, "linux-6.12-public-mlx5")["public/F7-dynamic-register"]
	require.NotNil(t, recordedCase)
	c := *recordedCase
	c.Steps = slices.Clone(c.Steps)
	for i := range c.Steps {
		c.Steps[i].Mask, c.Steps[i].Got = nil, nil // the numbers are what it is about
	}
	index := map[string]string{}
	var uars []int
	r := player.Play(new(model.Model), &c, player.Options{After: func(m player.Machine, _ int, r *player.StepResult) {
		for name, b := range r.Got.Bufs {
			index[name] = b
		}
		uars = append(uars, m.(*model.Machine).Books().Hardware["uar"])
	}})
	require.NoError(t, r.Err)
	own, base := uars[0], uars[1] // without a context, and with one
	require.Equal(t, 8, base-own, "a context has 16 registers, two on a page")
	var change []int
	for _, n := range uars[2:] {
		change = append(change, n-base)
	}
	require.Equal(t, []int{
		1, 0, // an object comes and goes
		0,    // the private mapping leaves nothing
		1, 0, // an object again
		1,    // the shared mapping
		1,    // the same once more: refused
		2,    // an object beside it
		2, 2, // munmap does not free the register, and it cannot be mapped again
		own - base, own - base, // close, open
		0, 1, // the next context, and an object of it
	}, change)
	require.Equal(t, index["idx0"], index["idx1"], "what the failed mapping was given is free again")
	require.NotEqual(t, index["idx0"], index["idx2"], "a mapped register is not")
	require.Equal(t, index["idx0"], index["idx3"], "until the file is closed")
}

// testForkIsFollowed counts the mappings that a file follows.
func testForkIsFollowed(t *testing.T) {
	c := recorded(t, "linux-6.12-public-stub")["public/F8-fork-before-removal"]
	require.NotNil(t, c)
	var umaps []int
	r := player.Play(new(model.Model), c, player.Options{After: func(m player.Machine, i int, _ *player.StepResult) {
		if c.Steps[i].Proc == "" {
			umaps = append(umaps, m.(*model.Machine).Books().Files[0].Umaps)
		}
	}})
	require.True(t, r.Passed())
	// open, context, mmap, peek, fork, removal, peek
	require.Equal(t, []int{0, 0, 1, 1, 2, 0, 0}, umaps)
}

// lockOrder notes which locks are taken while which others are held, and can
// stop a thread before it takes one.
type lockOrder struct {
	mu    sync.Mutex
	held  map[*trace.Task][]string
	pairs map[[2]string]bool

	stop             string        // the lock or function before which the thread that comes first stops, once
	stopped, onwards chan struct{} // it has stopped; it may go on
}

func newLockOrder(stop string) *lockOrder {
	return &lockOrder{held: map[*trace.Task][]string{}, pairs: map[[2]string]bool{},
		stop: stop, stopped: make(chan struct{}), onwards: make(chan struct{})}
}

var (
	_ trace.Sink      = (*lockOrder)(nil)
	_ trace.Scheduler = (*lockOrder)(nil)
)

func (l *lockOrder) Event(t *trace.Task, e *trace.Event) {
	if e.Kind == trace.Enter {
		l.pass(e.Name)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case trace.Lock:
		for _, outer := range l.held[t] {
			l.pairs[[2]string{outer, e.Name}] = true
		}
		l.held[t] = append(l.held[t], e.Name)
	case trace.Unlock:
		h := l.held[t]
		for i := len(h) - 1; i >= 0; i-- {
			if h[i] == e.Name {
				l.held[t] = slices.Delete(h, i, i+1)
				return
			}
		}
	}
}

func (l *lockOrder) Before(_ *trace.Task, p *trace.Point) {
	if p.Kind == trace.Lock {
		l.pass(p.Name)
	}
}

// pass stops the thread if it is here that it is to stop.
func (l *lockOrder) pass(name string) {
	l.mu.Lock()
	here := name == l.stop
	if here {
		l.stop = ""
	}
	l.mu.Unlock()
	if here {
		close(l.stopped)
		<-l.onwards
	}
}

func (l *lockOrder) has(outer, inner string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pairs[[2]string{outer, inner}]
}

// context opens the device and makes a context.
func context(t *testing.T, m *model.Machine, driver uint32) (task *model.Task, fd int) {
	t.Helper()
	task = m.Process().(*model.Task)
	fd, err := task.Open(syscall.O_RDWR)
	require.NoError(t, err)
	call := spec.EncodeMethod(driver, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT)
	at, err := task.Map(copyuser.PageSize)
	require.NoError(t, err)
	require.Equal(t, len(call), task.Store(at, call))
	_, err = task.Ioctl(fd, spec.RDMA_VERBS_IOCTL, at)
	require.NoError(t, err)
	return task, fd
}

// testLockOrder: the two locks are taken in both orders, and a removal that
// comes between them waits.
func testLockOrder(t *testing.T) {
	const outer, inner = "mmap_lock", "disassociation_lock"
	const prot = syscall.PROT_READ | syscall.PROT_WRITE
	device := &casefile.Device{Has: []string{"mmap", "disassociate_ucontext"}}
	load := func(task *model.Task, at uint64) (b [4]byte) {
		require.Equal(t, 4, task.Load(at, b[:]))
		return b
	}
	gone := [4]byte{}
	there := [4]byte{0xc3, 0xc3, 0xc3, 0xc3}

	t.Run("both orders", func(t *testing.T) {
		l := newLockOrder("")
		m := boot(t, "stub", device, l)
		task, fd := context(t, m, spec.RDMA_DRIVER_MLX5)
		at, err := task.Mmap(fd, copyuser.PageSize, prot, syscall.MAP_SHARED, 0)
		require.NoError(t, err)
		require.Equal(t, there, load(task, at))
		require.True(t, l.has(outer, inner), "mmap")
		require.False(t, l.has(inner, outer))
		_, err = task.Fork()
		require.NoError(t, err)
		require.True(t, l.has("hw_destroy_rwsem", inner), "fork")
		require.False(t, l.has(inner, outer))
		require.NoError(t, m.Remove(task))
		require.True(t, l.has(inner, outer), "removal")
		require.Equal(t, gone, load(task, at))
		m.Shutdown()
	})

	t.Run("they do not meet", func(t *testing.T) {
		l := newLockOrder(inner)
		m := boot(t, "stub", device, l)
		task, fd := context(t, m, spec.RDMA_DRIVER_MLX5)
		by := task.Thread()
		var at uint64
		mapped, removed := make(chan error, 1), make(chan error, 1)
		go func() {
			var err error
			at, err = task.Mmap(fd, copyuser.PageSize, prot, syscall.MAP_SHARED, 0)
			mapped <- err
		}()
		<-l.stopped // it holds mmap_lock and wants disassociation_lock
		dev := m.Driver.Device()
		go func() { removed <- m.Remove(by) }()
		require.Eventually(t, func() bool { return ibDeviceGone(dev) }, time.Minute, time.Millisecond)
		select {
		case <-removed:
			t.Fatal("the removal did not wait for the mmap")
		case <-time.After(50 * time.Millisecond):
		}
		require.False(t, l.has(inner, outer), "nor did it take the locks")
		close(l.onwards)
		require.NoError(t, <-mapped)
		require.NoError(t, <-removed)
		require.True(t, l.has(inner, outer))
		require.Equal(t, gone, load(task, at), "the mapping was made and taken away")
		m.Shutdown()
	})
}

// ibDeviceGone says whether a removal has come as far as to take the device
// from the node.
func ibDeviceGone(d *kernel.Device) bool { return d.IBDevice() == nil }
