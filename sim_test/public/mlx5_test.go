package public

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	mlx5ib "uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
)

// mlx5 are section I: firmware commands and objects of the user's own, queue
// pairs and shared receive queues, as mlx5_ib has them.
var mlx5 = []problem{
	{
		id: "I1", name: "devx-subscribe-unwind",
		met: "A subscription to events that failed half-way took the path on which what was put together is undone, and that " +
			"path followed a null pointer (linux-rdma patch \"Fix devx subscribe-event unwind NULL dereference\", dc34d7c2f, April 2026). " +
			"A descriptor for the events that is no eventfd leads there.",
		answer: "EBADF for a number that is not open and EINVAL for a file of another kind, both out of `eventfd_ctx_fdget`, which is " +
			"called when the event's entry in the table and the reference on the event file are there already. " +
			"`UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT)` then takes back every event of the list, entries that another " +
			"subscription uses excepted; the same call without the eventfd succeeds afterwards, and the object and the event file can go.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/I1-subscribe-bad-eventfd", "eventfd/bad"},
			{"linux-6.12-public-mlx5/public/I1-subscribe-bad-eventfd", "eventfd/foreign"},
			{"linux-6.12-mlx5/mlx5/devx-sub/cookie-fd", "mlx5-devx/subscribe-cookie"},
			{"linux-6.12-mlx5/mlx5/devx-sub/count-17", "mlx5-devx/subscribe-count"},
			{"linux-6.12-mlx5/mlx5/devx-sub/dev-0", "mlx5-devx/subscribe-type"},
		},
		test: func(t *testing.T) { unwinds(t, "linux-6.12-public-mlx5/public/I1-subscribe-bad-eventfd") },
	},
	{
		id: "I2", name: "devx-event-type",
		met: "A program made a receive memory pool with a DEVX command and subscribed to its SRQ events. The call succeeded, the event " +
			"happened, and nothing could be read (linux-rdma patch \"Fix obj_type mismatch for SRQ event subscriptions\", 1a9a1c607, August 2025).",
		answer: "The subscription is filed under the event's type, the kind of the object and its number. For events of old the kind comes " +
			"from the command that made the object (`get_legacy_obj_type`), and from the event itself when it arrives (`get_event_obj_type`). " +
			"In 6.12.117 both say 1, receive queue, for a pool made by CREATE_RMP, so the event is delivered; a kernel without the patch " +
			"filed it under 0. An event of the other kind and the same number is not for it.",
		shown: []shown{
			{"linux-6.12-mlx5/mlx5/devx-sub/obj-13", ""},
			{"linux-6.12-mlx5/mlx5/devx-sub/obj-15", "mlx5-devx/subscribe-type"},
		},
		test: testDevxEventType,
	},
	{
		id: "I4", name: "devx-async-fd",
		met: "Closing the descriptor that DEVX events are read from freed what the reader looked at next, and the clean-up of its " +
			"subscriptions met that of their objects (linux-rdma patches \"Fix use-after-free error while accessing ev_file pointer\" and " +
			"\"Fix async events cleanup flows\", c6e8f0bf8 and ea62808e8).",
		answer: "Each subscription holds the event file's object, so that it outlives them (`uverbs_uobject_get` in the handler, given back in " +
			"`devx_free_subscription`). `devx_async_event_destroy_uobj` marks the file first, wakes its reader and takes the subscriptions " +
			"out of the table; `devx_cleanup_subscription` does nothing the second time. When the device's file is closed, a " +
			"waiting reader gets EIO, poll says that there is something to read, and who would not wait gets EAGAIN, which " +
			"`devx_async_event_read` looks at first. The descriptor for the answers of commands does the same (`devx_async_cmd_event_read`).",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/I4-fd-closed-object-lives", "mlx5-devx/event-read-again"},
			{"linux-6.12-public-mlx5/public/I4-object-gone-fd-lives", "object/not-found"},
			{"linux-6.12-public-mlx5/public/I4-device-closed-data", "mlx5-devx/event-read-closed"},
			{"linux-6.12-public-mlx5/public/I4-device-closed-omit", "mlx5-devx/event-read-closed"},
			{"linux-6.12-public-mlx5/public/I4-reader-meets-close", "mlx5-devx/event-read-closed"},
			{"linux-6.12-public-mlx5/public/I4-command-fd-closed", "mlx5-devx/cmd-read-closed"},
		},
		test: testDevxAsyncFD,
	},
	{
		id: "I6", name: "raw-qp-zero-rq",
		met: "A raw packet QP was asked for with a receive queue and no memory for it, and the kernel followed a null pointer " +
			"(linux-rdma patch \"Fix null-ptr-deref in Raw Packet QP creation\", feacc8572, March 2026).",
		answer: "A request that counts no receives makes a QP without a receive queue, whatever the core's part asks for, and EINVAL if it has " +
			"no send queue either (`create_raw_packet_qp`). One that counts some and names no buffer passes `_create_user_qp`, which " +
			"pins nothing then, and 6.12.117 stops in `create_raw_packet_qp_rq` with a null pointer, as an emulated card showed. The " +
			"patch makes it EINVAL, and so does the model, with a warning.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/I6-recv-count-zero", "mlx5-qp/raw-empty"},
			{"linux-6.12-mlx5/mlx5/qp/raw-rq-only", ""},
			{"linux-6.12-rules-mlx5/rule/mlx5-qp-raw-empty", "mlx5-qp/raw-empty"},
		},
		test: testRawQPWithoutBuffer,
	},
	{
		id: "I7", name: "xrc-tgt-no-udata",
		met: "An XRC target QP made the kernel crash, since the driver read a request that was not there (linux-rdma patch " +
			"\"Protect from kernel crash if XRC_TGT doesn't have udata\", 170e0c622, June 2020).",
		answer: "`ib_create_qp_user` makes the real QP for itself, without the user's request and response, and gives the user another one " +
			"that is opened on it. The driver skips all that concerns the request when there is none (`mlx5_ib_create_qp`), so the call " +
			"succeeds with UHW_IN and UHW_OUT missing, and also with such as point nowhere. Any other type without a request is EINVAL (`process_udata_size`). " +
			"Where there is no memory for the opened QP or for the domain's note of it, 6.12.117 destroys the real one and leaves the domain counted as in use for ever (`create_xrc_qp_user`), and so does the model.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/I7-xrc-tgt-no-request", "xrcd/busy"},
			{"linux-6.12-public-mlx5/public/I7-other-type-no-request", "mlx5-qp/request-size"},
			{"linux-6.12-rules-stub/rule/qp-tgt-objects", "qp/tgt-objects"},
		},
		test: testXRCTgtFails,
	},
	{
		id: "I8", name: "srq-max-sge",
		met: "An SRQ was asked for with more pieces in one receive than the card can do, and nothing looked at the number " +
			"(linux-rdma patch \"Add check for srq max_sge attribute\", 18fa589f8, May 2024).",
		answer: "EINVAL above the length of the longest receive entry divided by the 16 bytes of a piece, 32 here, before anything of the request is " +
			"read (`mlx5_ib_create_srq`); so is a number of receives that the card has no SRQ for.",
		shown: []shown{
			{"linux-6.12-mlx5/mlx5/srq/sge-8", ""},
			{"linux-6.12-mlx5/mlx5/srq/sge-33", "mlx5-srq/size"},
			{"linux-6.12-mlx5/mlx5/srq/sge-4294967295", "mlx5-srq/size"},
			{"linux-6.12-mlx5/mlx5/srq/wr-2147483648-nobuf", "mlx5-srq/size"},
		},
	},
	{
		id: "I9", name: "ts-cq-qp",
		met: "A CQ was made with time stamps on a card whose queue pairs cannot stamp that way, and QPs were made on it all the same; since then " +
			"a flag that one call gave makes a later call fail (linux-rdma patch \"Fail QP creation if the device can not support the CQE TS\", 81c2f81aa, February 2021).",
		answer: "The flag is taken when the CQ is made, whatever the card can do, and looked at when a queue is to complete into it: EOPNOTSUPP " +
			"where that kind of queue cannot stamp with the free-running clock, or with the real time where the driver's part of the CQ asked for " +
			"that (`get_ts_format`), and where the two CQs of a QP want different clocks (`get_qp_ts_format`). A QP on CQs without the flag is made on the same card.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/I9-flag-then-qp", "mlx5-ts/format"},
			{"linux-6.12-public-mlx5/public/I9-flag-supported", ""},
			{"linux-6.12-public-mlx5/public/I9-clocks-differ", "mlx5-ts/mismatch"},
			{"linux-6.12-rules-mlx5/rule/mlx5-ts-format", "mlx5-ts/format"},
		},
	},
	{
		id: "I10", name: "devx-errno-zero",
		met: "When the command that registers memory could not be put together, the error was read from a pointer that held none, and the " +
			"call returned success without an object (linux-rdma patch \"Fix a error code in devx_umem_reg_cmd_alloc()\", 06d98053f, November 2020).",
		answer: "`devx_umem_reg_cmd_alloc` says EINVAL when no page size fits the memory and ENOMEM when there is no room for the command " +
			"(`uverbs_zalloc`), and the handler unpins what was pinned. No number is written and the handle is free again.",
		shown: []shown{
			{"linux-6.12-public-mlx5/public/I10-umem-reg-fails", "mlx5-devx/umem-page-size"},
			{"linux-6.12-mlx5/mlx5/umem/pgsz-fff-off0", "mlx5-devx/umem-page-size"},
		},
		test: testDevxUmemFails,
	},
	{
		id: "I11", name: "firmware-syndrome",
		met: "Programs report \"Remote I/O error\" from the creation of a DEVX object and a syndrome that only the vendor can read " +
			"(openucx/ucx issues 10451, 7738 and 9736); others time out or are cancelled where the card's command interface is down.",
		answer: "Of a command that a DEVX user composes, EREMOTEIO says that the card answered and refused; status and syndrome stand in CMD_OUT, " +
			"which is written although the call fails (`mlx5_cmd_do`, handlers of `MLX5_IB_METHOD_DEVX_OTHER` and `MLX5_IB_METHOD_DEVX_OBJ_CREATE`); it is EFAULT " +
			"where CMD_OUT cannot be written. Of a command that the driver composes, the status becomes an errno of its own, and the syndrome goes " +
			"to the log (`cmd_status_to_err`). When the card is in error, no command reaches it: ENXIO for the user's own, with nothing written, ENOLINK for " +
			"the driver's, and success for those that end something (`cmd_exec`, `mlx5_internal_err_ret_value`). ETIMEDOUT and ECANCELED come from the command " +
			"queue, `wait_func`, which the model does not have: a command is a call there.",
		shown: []shown{
			{"linux-6.12-mlx5/mlx5/devx-other/fw-error", "mlx5-cmd/status"},
			{"linux-6.12-public-mlx5/public/I11-refused-answer-unwritable", "attr/output-fault"},
		},
		test: testFirmwareRefuses,
	},
}

// card is a machine with a mlx5 adapter, and a process that has a DEVX context
// on it.
type card struct {
	*testing.T
	m   *kernel.Machine
	dev *mlx5ib.Device
	p   *process.Process
	fd  int

	mem, none copyuser.Addr // what nobody has taken of its memory, and where that ends
}

func newCard(t *testing.T, cfg mlx5ib.Config, seam *trace.Task) *card {
	t.Helper()
	c := &card{T: t, m: kernel.NewMachine(methods.Core())}
	var err error
	c.dev, err = mlx5ib.New(c.m, cfg)
	require.NoError(t, err)
	c.p = c.m.NewProcess(process.Options{Trace: seam})
	c.fd, err = c.p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(t, err)
	const pages = 64
	c.mem, err = c.p.Mmap(-1, pages*copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(t, err)
	c.none = c.mem + pages*copyuser.PageSize
	req := spec.Mlx5AllocUcontextReqV2{TotalNumBfregs: 16, NumLowLatencyBfregs: 4, MaxCQEVersion: 1, Flags: spec.MLX5_IB_ALLOC_UCTX_DEVX}
	require.NoError(t, c.call(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT, c.in(spec.UVERBS_ATTR_UHW_IN, spec.Bytes(&req))))
	return c
}

// take puts bytes into the process's memory and returns where.
func (c *card) take(b []byte) copyuser.Addr {
	c.Helper()
	at := c.mem
	c.mem += copyuser.Addr(len(b)+63) &^ 63
	require.LessOrEqual(c, c.mem, c.none)
	require.True(c, c.p.Store(at, b))
	return at
}

func (c *card) bytes(at copyuser.Addr, n int) []byte {
	c.Helper()
	b := make([]byte, n)
	require.True(c, c.p.Load(at, b))
	return b
}

// attrOf is an attribute of n bytes whose data is that number, or lies there.
func attrOf(id uint16, n int, data uint64) spec.IoctlAttr {
	return spec.IoctlAttr{AttrID: id, Len: uint16(n), Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: data}
}

// in is an attribute of those bytes, which lie in the call itself if they fit.
func (c *card) in(id uint16, b []byte) spec.IoctlAttr {
	c.Helper()
	if len(b) <= 8 {
		var word [8]byte
		copy(word[:], b)
		return attrOf(id, len(b), binary.LittleEndian.Uint64(word[:]))
	}
	return attrOf(id, len(b), uint64(c.take(b)))
}

// out is an attribute with room for n bytes, which are 0xa5 up to then.
func (c *card) out(id uint16, n int) spec.IoctlAttr {
	c.Helper()
	return attrOf(id, n, uint64(c.take(blank(n))))
}

func blank(n int) []byte { return slices.Repeat([]byte{0xa5}, n) }

// call makes a call; what the kernel made of the attributes is in attrs
// afterwards.
func (c *card) call(object, method uint16, attrs ...spec.IoctlAttr) error {
	c.Helper()
	buf := spec.EncodeMethod(spec.RDMA_DRIVER_MLX5, object, method, attrs...)
	at := c.take(buf)
	_, err := c.p.Ioctl(c.fd, spec.RDMA_VERBS_IOCTL, at)
	back := c.bytes(at, len(buf))
	for i := range attrs {
		attrs[i] = spec.DecodeIoctlAttr((*[spec.IoctlAttrSize]byte)(back[spec.IoctlHdrSize+i*spec.IoctlAttrSize:]))
	}
	return err
}

// create makes a DEVX object with a command of n bytes and returns its handle
// and CMD_OUT.
func (c *card) create(opcode uint16, n int, fill func(cmd []byte)) (uint32, []byte, error) {
	c.Helper()
	cmd := make([]byte, n)
	binary.BigEndian.PutUint16(cmd, opcode)
	if fill != nil {
		fill(cmd)
	}
	const outLen = 16
	attrs := []spec.IoctlAttr{attrOf(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0, 0),
		c.in(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, cmd), c.out(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, outLen)}
	err := c.call(spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_CREATE, attrs...)
	return uint32(attrs[0].Data), c.bytes(copyuser.Addr(attrs[2].Data), outLen), err
}

func (c *card) destroy(handle uint32) error {
	c.Helper()
	return c.call(spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
		attrOf(spec.MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, 0, uint64(handle)))
}

// createCQ makes a completion queue without memory: the first completion breaks
// it, which is an event. It returns its number too.
func (c *card) createCQ() (handle, cqn uint32) {
	c.Helper()
	eqn := c.out(spec.MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, 4)
	require.NoError(c, c.call(spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_QUERY_EQN,
		attrOf(spec.MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 4, 0), eqn))
	n := binary.LittleEndian.Uint32(c.bytes(copyuser.Addr(eqn.Data), 4))
	context := ifc.Must("create_cq_in").Field("cq_context")
	handle, out, err := c.create(ifc.MLX5_CMD_OP_CREATE_CQ, 272, func(cmd []byte) {
		ifc.Must("cqc").Field("c_eqn_or_apu_element").Set(context.Bytes(cmd), uint64(n))
	})
	require.NoError(c, err)
	return handle, binary.BigEndian.Uint32(out[8:])
}

// eventFD makes a descriptor for events.
func (c *card) eventFD() int {
	c.Helper()
	attrs := []spec.IoctlAttr{attrOf(spec.MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0, 0),
		attrOf(spec.MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 4, 0)}
	require.NoError(c, c.call(spec.MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, spec.MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC, attrs...))
	fd := int(int32(attrs[0].Data))
	require.NoError(c, c.p.SetNonblock(fd, true))
	return fd
}

func (c *card) subscribe(fd int, object uint32, event uint16, cookie uint64) error {
	c.Helper()
	return c.call(spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT,
		attrOf(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, 0, uint64(fd)),
		attrOf(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, 0, uint64(object)),
		attrOf(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 2, uint64(event)),
		attrOf(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 8, cookie))
}

// eventLen is the length of an event with its data: the cookie and the entry.
const eventLen = 8 + hw.EQESize

// forger plays an adapter that has other events than the emulated one: it
// replaces an entry in an event queue's memory, after the adapter has written it
// and before it interrupts.
type forger struct {
	dev   *mlx5ib.Device
	event hw.EQE
}

func (f *forger) Event(_ *trace.Task, e *trace.Event) {
	if f.dev == nil || e.Kind != trace.DMA || e.Name != "eqe" || e.B != hw.EQESize {
		return
	}
	entry := make([]byte, hw.EQESize-1) // whose it is stands in the last byte
	entry[1], entry[3] = f.event.Type, f.event.Subtype
	copy(entry[32:], f.event.Data[:])
	if err := f.dev.Bus.WriteAt(entry, e.A); err != nil {
		panic(err)
	}
}

// testXRCTgtFails: whatever step fails, an XRC target QP leaves nothing, but for
// two: when the real QP is there, and the one that is opened on it cannot be made
// or the domain cannot remember it, the domain stays in use.
func testXRCTgtFails(t *testing.T) {
	const file, name = "linux-6.12-public-mlx5", "public/I7-xrc-tgt-no-request"
	const opened, remembered = "ib_qp", "tgt_qps"
	unwindsBut(t, []string{opened, remembered}, file+"/"+name)
	for _, f := range []*nth{{of: trace.Alloc, name: opened, n: 2}, {of: trace.Alloc, name: remembered, n: 1}} {
		var uses []int32
		player.Play(&model.Model{Trace: func(*casefile.Case) trace.Sink { return f }}, recorded(t, file)[name], player.Options{
			After: func(m player.Machine, _ int, r *player.StepResult) {
				if errors.Is(r.Refused, syscall.ENOMEM) {
					for _, o := range m.(*model.Machine).Books().Files[0].Objects {
						uses = append(uses, o.Uses)
					}
				}
			},
		})
		require.Equal(t, []int32{1}, uses, "the domain is the only object")
	}
}

// testDevxEventType: an SRQ event of the kind that receive queues have comes to
// who subscribed to it for a receive memory pool; one with the same number of
// another kind does not.
func testDevxEventType(t *testing.T) {
	const srqLastWQE = 0x13 // MLX5_EVENT_TYPE_SRQ_LAST_WQE
	const qpKind, rqKind = 0, 1
	f := &forger{event: hw.EQE{Type: srqLastWQE}}
	c := newCard(t, mlx5ib.Config{Trace: trace.NewTask(1, f)}, nil)
	pool, out, err := c.create(ifc.MLX5_CMD_OP_CREATE_RMP, 512, nil)
	require.NoError(t, err)
	copy(f.event.Data[24:28], out[8:12])
	fd := c.eventFD()
	require.NoError(t, c.subscribe(fd, pool, srqLastWQE, 5))
	buf := c.take(make([]byte, eventLen))

	happen := func(kind byte) (int64, error) {
		f.event.Data[20] = kind
		_, cqn := c.createCQ()
		f.dev = c.dev
		require.ErrorIs(t, c.dev.HW.Complete(cqn, hw.Completion{}), hw.ErrCQAccess)
		for c.dev.Step(nil) {
		}
		f.dev = nil
		return c.p.Read(fd, buf, eventLen)
	}
	_, err = happen(qpKind)
	require.ErrorIs(t, err, rule.MLX5DevxEventReadAgain)
	n, err := happen(rqKind)
	require.NoError(t, err)
	require.EqualValues(t, eventLen, n)
	got := c.bytes(buf, eventLen)
	require.EqualValues(t, 5, binary.LittleEndian.Uint64(got))
	require.EqualValues(t, srqLastWQE, got[8+1])
}

// testDevxAsyncFD has an event, a reader, the destruction of the object and the
// close of the descriptor happen at the same time. Nothing that is gone may be
// looked at, and nothing may be left.
func testDevxAsyncFD(t *testing.T) {
	profile, err := hw.Recorded.With(map[string]uint64{"event_cap": 0}) // users may have the events of old
	require.NoError(t, err)
	c := newCard(t, mlx5ib.Config{Profile: profile}, nil)
	counts := func() map[string]int {
		n := c.dev.HW.Counts()
		delete(n, "eq") // that of the completions is made with the first queue
		return n
	}
	before := counts()
	files := len(c.p.FDs())
	start := c.mem
	for range 200 {
		c.mem = start
		object, cqn := c.createCQ()
		fd := c.eventFD()
		for cookie := range uint64(3) {
			require.NoError(t, c.subscribe(fd, object, 0, cookie))
			require.NoError(t, c.subscribe(fd, object, ifc.MLX5_EVENT_TYPE_CQ_ERROR, cookie))
		}
		buf := c.take(make([]byte, eventLen))
		var all sync.WaitGroup
		all.Go(func() {
			c.dev.HW.Complete(cqn, hw.Completion{}) // the queue may be gone
			for c.dev.Step(nil) {
			}
		})
		all.Go(func() {
			task := c.p.NewTask(nil)
			for range 3 {
				task.Read(fd, buf, eventLen) // so may the descriptor
			}
		})
		var closed error
		all.Go(func() { closed = c.p.NewTask(nil).Close(fd) })
		require.NoError(t, c.destroy(object))
		all.Wait()
		require.NoError(t, closed)
	}
	for c.dev.Step(nil) {
	}
	require.Len(t, c.p.FDs(), files)
	require.Empty(t, gocmp.Diff(before, counts()))
	require.NoError(t, c.p.Close(c.fd))
	require.Zero(t, c.dev.Uverbs.OpenFiles())
}

// warnings are the functions that found a state which the kernel would warn
// about, or stop in.
type warnings struct{ names []string }

func (w *warnings) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Warn {
		w.names = append(w.names, e.Name)
	}
}

// testRawQPWithoutBuffer takes the buffer away from a raw packet QP that has
// nothing but a receive queue.
func testRawQPWithoutBuffer(t *testing.T) {
	line, err := recorded(t, "linux-6.12-mlx5")["mlx5/qp/raw-rq-only"].Marshal()
	require.NoError(t, err)
	c, err := casefile.Unmarshal(line)
	require.NoError(t, err)
	request := c.Bufs["qr"]
	isBuffer := func(r casefile.Reloc) bool { return r.At == 0 }
	require.True(t, slices.ContainsFunc(request.Reloc, isBuffer))
	request.Reloc = slices.DeleteFunc(request.Reloc, isBuffer)

	var seen warnings
	var refused []error
	var before *model.Books
	player.Play(&model.Model{Trace: func(*casefile.Case) trace.Sink { return &seen }}, c, player.Options{
		Before: func(m player.Machine, _ int) { before = m.(*model.Machine).Books() },
		After: func(m player.Machine, _ int, r *player.StepResult) {
			if r.Refused != nil {
				refused = append(refused, r.Refused)
				if d := gocmp.Diff(before, m.(*model.Machine).Books()); d != "" {
					t.Errorf("it left something (-before +after):\n%s", d)
				}
			}
		},
	})
	require.Equal(t, []error{rule.MLX5QPRawRecvNoBuffer}, refused)
	require.ErrorIs(t, refused[0], syscall.EINVAL)
	require.Equal(t, []string{"create_raw_packet_qp_rq"}, seen.names)
}

// nth makes one of the steps of a kind fail.
type nth struct {
	of    trace.Step
	name  string // the steps of that name alone; empty is all
	n     int64  // counted from 1; 0 lets all succeed
	count atomic.Int64
}

func (*nth) Event(*trace.Task, *trace.Event) {}

func (f *nth) Fail(_ *trace.Task, step trace.Step, what string) bool {
	return step == f.of && (f.name == "" || f.name == what) && f.count.Add(1) == f.n
}

// umemReg registers a page, and returns what the kernel wrote as its number.
func (c *card) umemReg() ([]byte, uint32, error) {
	c.Helper()
	id := c.out(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 4)
	attrs := []spec.IoctlAttr{attrOf(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0, 0),
		attrOf(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 8, uint64(c.mem.PageDown())), attrOf(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 8, copyuser.PageSize),
		attrOf(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 4, spec.IB_ACCESS_LOCAL_WRITE), id}
	err := c.call(spec.MLX5_IB_OBJECT_DEVX_UMEM, spec.MLX5_IB_METHOD_DEVX_UMEM_REG, attrs...)
	return c.bytes(copyuser.Addr(id.Data), 4), uint32(attrs[0].Data), err
}

func (c *card) umemDereg(handle uint32) {
	c.Helper()
	require.NoError(c, c.call(spec.MLX5_IB_OBJECT_DEVX_UMEM, spec.MLX5_IB_METHOD_DEVX_UMEM_DEREG,
		attrOf(spec.MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, 0, uint64(handle))))
}

// testDevxUmemFails: whatever allocation fails, UMEM_REG is ENOMEM, no memory
// stays pinned and the next one gets the handle.
func testDevxUmemFails(t *testing.T) {
	f := &nth{of: trace.Alloc}
	c := newCard(t, mlx5ib.Config{}, trace.NewTask(1, f))
	mapped := c.dev.Bus.Mapped()
	f.count.Store(0)
	_, first, err := c.umemReg()
	require.NoError(t, err)
	require.Equal(t, mapped+1, c.dev.Bus.Mapped())
	c.umemDereg(first)
	steps := f.count.Load()
	require.GreaterOrEqual(t, steps, int64(2), "the object and the command")
	for n := range steps {
		f.n = n + 1
		f.count.Store(0)
		id, h, err := c.umemReg()
		if f.count.Load() < f.n { // what the file keeps is not allocated a second time
			require.NoError(t, err)
			f.n = 0
			c.umemDereg(h)
			continue
		}
		require.ErrorIsf(t, err, syscall.ENOMEM, "allocation %d", f.n)
		require.Equal(t, blank(4), id)
		require.Equal(t, mapped, c.dev.Bus.Mapped())
	}
	f.n = 0
	_, again, err := c.umemReg()
	require.NoError(t, err)
	require.Equal(t, first, again)
}

// testFirmwareRefuses: what becomes of a command that the adapter refuses, and of
// one that does not reach it.
func testFirmwareRefuses(t *testing.T) {
	f := &nth{of: trace.Command}
	c := newCard(t, mlx5ib.Config{}, trace.NewTask(1, f))
	live, _, err := c.create(ifc.MLX5_CMD_OP_CREATE_TIS, 512, nil)
	require.NoError(t, err)
	before := c.dev.HW.Counts()

	f.n = 1
	f.count.Store(0)
	_, out, err := c.create(ifc.MLX5_CMD_OP_CREATE_TIS, 512, nil)
	require.ErrorIs(t, err, syscall.EREMOTEIO)
	status, syndrome := hw.Result(out)
	require.NotEqual(t, hw.MLX5_CMD_STAT_OK, status, "CMD_OUT is written though the call failed")
	require.NotZero(t, syndrome)
	require.Equal(t, before, c.dev.HW.Counts())

	f.count.Store(0)
	_, _, err = c.umemReg() // the driver's own command
	require.NotErrorIs(t, err, syscall.EREMOTEIO)
	var r *rule.Rule
	require.ErrorAs(t, err, &r)
	require.Equal(t, "cmd_status_to_err", r.Func)

	f.n = 0
	next, _, err := c.create(ifc.MLX5_CMD_OP_CREATE_TIS, 512, nil)
	require.NoError(t, err)
	require.Equal(t, live+1, next, "the refused ones have no handle")

	c.dev.HW.Fail()
	_, out, err = c.create(ifc.MLX5_CMD_OP_CREATE_TIS, 512, nil)
	require.ErrorIs(t, err, syscall.ENXIO)
	require.Equal(t, blank(16), out)
	_, _, err = c.umemReg()
	require.ErrorIs(t, err, syscall.ENOLINK)
	require.NoError(t, c.destroy(live))
	require.NoError(t, c.destroy(next))
	require.ErrorIs(t, c.destroy(next), syscall.ENOENT)
}
