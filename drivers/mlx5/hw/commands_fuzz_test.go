package hw

import (
	"encoding/binary"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/sim_test/watchdog"
)

// furnished is a device with objects of many kinds: queues for Ethernet with what
// steers to them, two connected queue pairs of which one receives from a shared queue,
// and each kind of shared queue.
type furnished struct {
	*etherRig
	ends []*end
	srqn uint32
}

func newFurnished(t testing.TB) *furnished {
	p, err := ConnectX6Dx.With(map[string]uint64{"dct": 1, "tag_matching": 1})
	require.NoError(t, err)
	r := &furnished{etherRig: newEtherRigOn(t, p, nil)}
	r.everything()
	o := &objectRig{rig: r.rig, pd: r.pd, td: r.td[0], cqn: r.cqs[0]}
	o.xrcd = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_XRCD, 0, 0, 0))
	for i := range srqTests {
		n := r.made(srqTests[i].input(o))
		if srqTests[i].name == "RMP" {
			r.srqn = n
		}
	}
	r.ends = append(r.ends,
		r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 1 << 28, gid: 1}),
		r.newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 2 << 28, gid: 1, srqn: r.srqn}),
		r.newEnd(endOptions{service: ifc.MLX5_QP_ST_UD, base: 3 << 28, gid: 1}))
	for i, e := range r.ends {
		e.connect(r.ends[[]int{1, 0, 2}[i]], connection{mtu: 1, timeout: 1, retries: 1, rnrRetries: 1, rnrTimer: 1, depth: 1})
	}
	return r
}

// rest lets the device do all that it has to do, for some time.
func (r *furnished) rest() {
	for range 8 {
		for n := 0; r.Step(); n++ {
			require.Less(r.t, n, 100000, "the work comes to an end")
		}
		r.fabric.Advance(time.Second)
	}
}

// over ends the device, of which nothing is left then.
func (r *furnished) over() {
	r.rest()
	_ = do(nil, r.Device, Input(ifc.MLX5_CMD_OP_ENABLE_HCA, 0, 0, 0)) // commands may have ended it
	_ = do(nil, r.Device, Input(ifc.MLX5_CMD_OP_INIT_HCA, 0, 0, 0))
	_, err := Shutdown(nil, r.Device)
	require.NoError(r.t, err)
	require.Empty(r.t, r.Counts())
}

// bytesOf takes an input to pieces; zeros follow it.
type bytesOf struct{ rest []byte }

func (b *bytesOf) next(n int) []byte {
	out := make([]byte, n)
	b.rest = b.rest[copy(out, b.rest):]
	return out
}

func (b *bytesOf) byte() int    { return int(b.next(1)[0]) }
func (b *bytesOf) uint16() int  { return int(binary.LittleEndian.Uint16(b.next(2))) }
func (b *bytesOf) more() bool   { return len(b.rest) > 0 }
func opcodesInOrder() []uint16  { return slices.Sorted(maps.Keys(rows)) }
func opcodeIndex(op uint16) int { return slices.Index(opcodesInOrder(), op) }

// oneCommand is an input of FuzzCommands.
func oneCommand(in []byte) []byte {
	b := binary.LittleEndian.AppendUint16(nil, uint16(opcodeIndex(binary.BigEndian.Uint16(in))))
	b = append(b, in[3], in[7])
	b = binary.LittleEndian.AppendUint16(b, uint16(len(in)-8))
	return append(b, in[8:]...)
}

// doneCommands has for each opcode an input that the device does, as far as nothing but
// the number of an object is wanted: the numbers of all that there are, one of which is
// of the right kind.
func doneCommands(t testing.TB) map[uint16][]byte {
	done := map[uint16][]byte{}
	r := newFurnished(t)
	for _, op := range opcodesInOrder() {
		for _, n := range r.numbers() {
			in := Input(op, 0, 0, 64)
			binary.BigEndian.PutUint32(in[8:], n)
			out := Output(op, 0)
			if r.Exec(nil, in, out) != nil {
				r = newFurnished(t)
				continue
			}
			if s, _ := Result(out); s == MLX5_CMD_STAT_OK {
				done[op] = in
				r = newFurnished(t) // it may be otherwise now
				break
			}
		}
	}
	return done
}

// numbers are those of all objects.
func (r *furnished) numbers() []uint32 {
	set := map[uint32]bool{0: true}
	for k := range r.objects {
		for n := range r.objects[k].live {
			set[n] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// TestDoneCommands: most of the commands have a seed that is done.
func TestDoneCommands(t *testing.T) {
	done := doneCommands(t)
	require.Greater(t, len(done), 80, "of %d", len(rows))
}

// FuzzCommands sends several commands, one after another, to a device that has objects
// of many kinds. Each answer has a status that goes with its syndrome, the device
// comes to rest, and a teardown leaves nothing alive.
func FuzzCommands(f *testing.F) {
	ops := opcodesInOrder()
	done := doneCommands(f)
	for i, op := range ops {
		one, next := oneCommand(Input(op, 0, 0, 8)), oneCommand(Input(ops[(i+1)%len(ops)], 0, 0, 8))
		f.Add(slices.Concat(one, next))
		if in := done[op]; in != nil {
			f.Add(slices.Concat(oneCommand(in), next, oneCommand(in)))
		}
	}
	r := newFurnished(f)
	o := &objectRig{rig: r.rig, pd: r.pd, td: r.td[0], cqn: r.cqs[0]}
	create := cqOptions{log: 2, eqn: 1}
	for _, in := range [][]byte{create.input(ifc.MLX5_CMD_OP_CREATE_CQ, 0), r.rqIn(0), r.sqIn(1), srqTests[0].input(o), srqTests[2].input(o),
		r.ends[0].qpInput(endOptions{service: ifc.MLX5_QP_ST_RC, base: 4 << 28})} {
		f.Add(oneCommand(in))
		f.Add(slices.Concat(oneCommand(in), oneCommand(in)))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		watchdog.On(t)
		r := newFurnished(t)
		b := &bytesOf{input}
		for n := 0; b.more() && n < 16; n++ {
			op := ops[b.uint16()%len(ops)]
			in := Input(op, uint16(b.byte()), uint16(b.byte()), 0)
			body := b.next(b.uint16() % 2048)
			if len(in) < 8+len(body) {
				in = append(in, make([]byte, 8+len(body)-len(in))...)
			}
			copy(in[8:], body)
			kept := slices.Clone(in)
			out := Output(op, 0)
			if err := r.Exec(nil, in, out); err != nil {
				require.ErrorIs(t, err, ErrDevice)
				return
			}
			s, syndrome := Result(out)
			require.Equal(t, s == MLX5_CMD_STAT_OK, syndrome == 0)
			require.Equal(t, syndrome != 0, SyndromeText(syndrome) != "")
			require.Equal(t, kept, in, "the input is the caller's")
			if n%4 == 3 {
				r.rest()
			}
		}
		r.over()
	})
}

// The memory of queues that a user of the device can write, with its length.
var queueMemory = []struct {
	at Addr
	n  int
}{
	{etherSQ, 64 << etherLogSQ}, {etherRQs, 64 << etherLogRQ}, {etherRQs + ramPage, 64 << etherLogRQ},
	{etherCQs, 3 * ramPage}, {etherRecord, 0x600}, {srqBuffer, 4 * 32}, {srqRecord, 8},
	{1<<28 + endQP, 0x1000}, {1<<28 + endCQ, CQESize << endLogCQ}, {1<<28 + endRecord, 0x80},
	{2<<28 + endQP, 0x1000}, {2<<28 + endCQ, CQESize << endLogCQ}, {2<<28 + endRecord, 0x80},
	{3<<28 + endQP, 0x1000}, {3<<28 + endCQ, CQESize << endLogCQ}, {3<<28 + endRecord, 0x80},
}

// FuzzQueues has a user write what it likes into the memory of its queues, of every
// kind: work requests, receives, shared receives, completions, records of doorbells;
// and ring doorbells, while frames arrive. The device comes to rest, its queues stay
// within their lengths, and nothing is left at the end.
func FuzzQueues(f *testing.F) {
	nop := make([]byte, 64)
	nop[3], nop[7], nop[11] = ifc.MLX5_OPCODE_SEND, 3, 8
	for i := range queueMemory {
		f.Add(slices.Concat([]byte{0, byte(i), 0, 0, 64}, nop, []byte{1, 0, 8}, make([]byte, 8), []byte{2, 0}))
	}
	f.Add([]byte{0, 4, 0, 0, 4, 0, 0, 0, 2, 2, 1, 2, 3, 3})
	f.Fuzz(func(t *testing.T, input []byte) {
		watchdog.On(t)
		r := newFurnished(t)
		for range 4 {
			r.post(1, 0x800)
		}
		b := &bytesOf{input}
		for n := 0; b.more() && n < 64; n++ {
			switch b.byte() % 6 {
			case 0: // memory
				m := queueMemory[b.byte()%len(queueMemory)]
				at := b.uint16() % m.n
				p := b.next(b.byte())
				r.mem.set(m.at+Addr(at), p[:min(len(p), m.n-at)])
			case 1: // a register
				r.UARPage(r.uar).Store(b.uint16()%4096&^7, b.next(8))
			case 2: // whoever wrote no register is looked for
				r.Scan()
				r.Drain()
			case 3: // a frame
				r.post(0, 0x800)
				r.send(ethWQE{data: seedFrames()[b.byte()%len(seedFrames())]})
			case 4: // an entry of the queue pair that is nearly right
				e := r.ends[b.byte()%len(r.ends)]
				w := wr{op: opcodes[b.byte()%len(opcodes)], sgl: []seg{e.data(b.byte(), b.uint16())}}
				if sendOps[w.op].remote {
					to := r.ends[0].data(b.byte(), b.uint16())
					w.remote = &to
				}
				if e.kind == ifc.MLX5_QP_ST_UD {
					w.ud = addressVector(e, 0x1234)
				}
				e.post(w)
			case 5:
				r.fabric.Advance(time.Duration(b.byte()) * time.Millisecond)
				for range b.byte() {
					r.Step()
				}
			}
		}
		r.over()
	})
}
