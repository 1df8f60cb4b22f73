package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Where the tests' queues lie.
const (
	cqBuffer = 0x200000
	newBuf   = 0x280000
	cqRecord = 0x300040
	eqBuffer = 0x400000
)

type eqOptions struct {
	uid    uint16
	log    uint64
	buffer Addr // 0 makes a queue without one
	vector uint64
	mask   uint64 // of event types 0 to 63
}

func (r *rig) createEQ(o eqOptions) uint32 {
	r.t.Helper()
	pages := 0
	if o.buffer != 0 {
		pages = max(1, EQESize<<o.log/ramPage)
	}
	in := Input(ifc.MLX5_CMD_OP_CREATE_EQ, o.uid, 0, 8*pages)
	ctx := in[16:]
	eqc.logSize.Set(ctx, o.log)
	eqc.uarPage.Set(ctx, uint64(r.uar))
	eqc.intr.Set(ctx, o.vector)
	binary.BigEndian.PutUint64(in[88:], o.mask)
	for i := range pages {
		binary.BigEndian.PutUint64(in[272+8*i:], o.buffer+Addr(i*ramPage))
	}
	return r.made(in)
}

type cqOptions struct {
	uid      uint16
	log, eqn uint32
	size     uint64 // cqe_sz
	oi, cc   bool
	apu      bool   // c_eqn names an element of a processor of the device's
	buffer   []Addr // pages; nil is those from cqBuffer on
	logPage  uint64
	offset   uint64
	record   Addr
}

func (o *cqOptions) input(op, opMod uint16) []byte {
	if o.buffer == nil {
		for i := range max(1, 128<<o.log/ramPage) {
			o.buffer = append(o.buffer, cqBuffer+Addr(i*ramPage))
		}
	}
	if o.record == 0 {
		o.record = cqRecord
	}
	in := Input(op, o.uid, opMod, 8*len(o.buffer))
	ctx := in[16:]
	flag := func(f ifc.Field, on bool) {
		if on {
			f.Set(ctx, 1)
		}
	}
	cqc.logSize.Set(ctx, uint64(o.log))
	cqc.cqeSize.Set(ctx, o.size)
	cqc.eqn.Set(ctx, uint64(o.eqn))
	cqc.logPageSize.Set(ctx, o.logPage)
	cqc.pageOffset.Set(ctx, o.offset)
	cqc.doorbell.Set(ctx, o.record)
	flag(cqc.ignoreOverrun, o.oi)
	flag(cqc.collapsed, o.cc)
	flag(cqc.apu, o.apu)
	for i, p := range o.buffer {
		binary.BigEndian.PutUint64(in[272+8*i:], p)
	}
	return in
}

func (r *rig) tryCQ(o cqOptions) (uint32, Status) {
	r.t.Helper()
	in := o.input(ifc.MLX5_CMD_OP_CREATE_CQ, 0)
	cqc.uarPage.Set(in[16:], uint64(r.uar))
	out, s := r.exec(in)
	return binary.BigEndian.Uint32(out[8:]), s
}

func (r *rig) createCQ(o cqOptions) uint32 {
	r.t.Helper()
	n, s := r.tryCQ(o)
	require.Equal(r.t, MLX5_CMD_STAT_OK, s)
	return n
}

// arm writes the doorbell record and rings, as a user library does.
func (r *rig) arm(cqn, sn, cmd, ci uint32) {
	word := sn<<28 | cmd | ci&bits24
	r.mem.put32(cqRecord+4, word)
	b := binary.BigEndian.AppendUint32(nil, word)
	r.UARPage(r.uar).Store(ifc.MLX5_CQ_DOORBELL, binary.BigEndian.AppendUint32(b, cqn))
}

func (r *rig) ringEQ(at int, eqn, ci uint32) {
	r.UARPage(r.uar).Store(at, binary.BigEndian.AppendUint32(nil, eqn<<24|ci))
}

// pendingEvents is how many events wait for Step.
func (r *rig) pendingEvents() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.Device.events)
}

func (r *rig) steps() (n int) {
	for r.Step() {
		n++
	}
	return n
}

// consumer polls a queue as a user library does: by the owner bit.
type consumer struct {
	r      *rig
	base   Addr
	log    uint
	stride Addr
	ci     uint32
}

func (c *consumer) entry(i uint32) []byte {
	at := c.base + Addr(i&(1<<c.log-1))*c.stride + c.stride - CQESize
	return c.r.mem.get(at, CQESize)
}

// invalid marks every entry as nobody's, as a user does before creation.
func (c *consumer) invalid() {
	for i := range Addr(1 << c.log) {
		c.r.mem.set(c.base+(i+1)*c.stride-1, []byte{ifc.MLX5_CQE_INVALID << 4})
	}
}

// poll returns the next entry, nil if there is none, and does not move the
// consumer index that the device sees.
func (c *consumer) poll() []byte {
	e := c.entry(c.ci)
	if e[63]>>4 == ifc.MLX5_CQE_INVALID || uint32(e[63]&1) != c.ci>>c.log&1 {
		return nil
	}
	c.ci++
	return e
}

// commit moves the consumer index in the doorbell record.
func (c *consumer) commit() { c.r.mem.put32(cqRecord, c.ci&bits24) }

func TestCompletionBytes(t *testing.T) {
	c := Completion{
		Opcode: ifc.MLX5_CQE_RESP_SEND_IMM, Solicited: true, UserIndex: 0x01020304, Immediate: 0xdeadbeef, ByteCount: 64, SendOpcode: 0x0b,
		QPN: 0xabcdef, WQECounter: 0x1234, MLPath: 0x55, Checksum: 0x6677, SLID: 0x8899, FlagsRQPN: 0x10000041, HDSIPExt: 6, L4L3HdrType: 1, VLANInfo: 0x2003,
	}
	want := make([]byte, 64)
	for at, v := range map[int]string{
		17: "\x55", 20: "\x66\x77", 22: "\x88\x99", 24: "\x10\x00\x00\x41", 28: "\x06\x01\x20\x03", 32: "\x01\x02\x03\x04", 36: "\xde\xad\xbe\xef",
		44: "\x00\x00\x00\x40", 48: "\x00\x00\x00\x00\x00\x00\x00\x01", 56: "\x0b\xab\xcd\xef", 60: "\x12\x34", 63: "\x32",
	} {
		copy(want[at:], v)
	}
	r := newRig(t, nil)
	cqn := r.createCQ(cqOptions{log: 2, eqn: r.createEQ(eqOptions{})})
	require.NoError(t, r.Complete(cqn, c))
	require.Equal(t, want, r.mem.get(cqBuffer, 64))

	require.NoError(t, r.Complete(cqn, Completion{Opcode: ifc.MLX5_CQE_REQ_ERR, Syndrome: ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR, VendorSyndrome: 0xf9}))
	e := r.mem.get(cqBuffer+64, 64)
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0xf9, 0x05}, e[48:56], "a failure has syndromes instead of a time stamp")
	require.Equal(t, byte(0xd0), e[63])
}

func TestClock(t *testing.T) {
	mem := newRAM()
	now := uint64(1000)
	d := New(Config{Bus: mem, Clock: func() uint64 { now += 10; return now }})
	require.NoError(t, Boot(nil, d, somePages))
	r := &rig{Device: d, t: t, mem: mem}
	cqn := r.createCQ(cqOptions{log: 2, eqn: r.createEQ(eqOptions{})})
	require.NoError(t, d.Complete(cqn, Completion{}))
	require.Equal(t, uint64(1010), binary.BigEndian.Uint64(mem.get(cqBuffer+48, 8)))
}

// An entry is one write, whose last byte is the one with the owner bit.
func TestEntryIsOneWrite(t *testing.T) {
	for _, tt := range []struct {
		name string
		size uint64
		want []ramWrite
	}{
		{"64", ifc.CQE_STRIDE_64, []ramWrite{{cqBuffer + 64, 64}}},
		{"128", ifc.CQE_STRIDE_128, []ramWrite{{cqBuffer + 192, 64}}},
		{"128 padded", ifc.CQE_STRIDE_128_PAD, []ramWrite{{cqBuffer + 128, 128}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, nil)
			cqn := r.createCQ(cqOptions{log: 2, size: tt.size, eqn: r.createEQ(eqOptions{})})
			require.NoError(t, r.Complete(cqn, Completion{}))
			r.mem.writes = nil
			require.NoError(t, r.Complete(cqn, Completion{}))
			require.Equal(t, tt.want, r.mem.writes)
		})
	}
}

// A consumer that goes by owner bits alone sees every completion once and in
// order, through many rounds, whatever the entry's size and the buffer's place.
func TestWrapAround(t *testing.T) {
	for _, tt := range []struct {
		name   string
		o      cqOptions
		base   Addr
		stride Addr
	}{
		{"one entry", cqOptions{log: 0}, cqBuffer, 64},
		{"64", cqOptions{log: 3}, cqBuffer, 64},
		{"64 over two pages", cqOptions{log: 7}, cqBuffer, 64},
		{"128", cqOptions{log: 3, size: ifc.CQE_STRIDE_128}, cqBuffer, 128},
		{"128 padded", cqOptions{log: 6, size: ifc.CQE_STRIDE_128_PAD}, cqBuffer, 128},
		{"not at the page's start", cqOptions{log: 6, offset: 63, buffer: []Addr{cqBuffer, cqBuffer + ramPage}}, cqBuffer + 63*64, 64},
		{"128, across the page's end", cqOptions{log: 2, size: ifc.CQE_STRIDE_128, offset: 63, buffer: []Addr{cqBuffer, cqBuffer + ramPage}}, cqBuffer + 63*64, 128},
		{"a page of 64 KiB", cqOptions{log: 8, logPage: 4, buffer: []Addr{cqBuffer}}, cqBuffer, 64},
		{"low bits of an address are none", cqOptions{log: 3, buffer: []Addr{cqBuffer | 3}}, cqBuffer, 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, nil)
			tt.o.eqn = r.createEQ(eqOptions{})
			c := &consumer{r: r, base: tt.base, log: uint(tt.o.log), stride: tt.stride}
			c.invalid()
			cqn := r.createCQ(tt.o)
			size := 1 << tt.o.log
			next, seen := uint32(0), uint32(0)
			for round := range 5*size + 7 {
				for range 1 + round%size {
					if int(next-seen) == size {
						break
					}
					require.NoError(t, r.Complete(cqn, Completion{ByteCount: next}))
					next++
				}
				for range 1 + round*7%size {
					e := c.poll()
					if e == nil {
						require.Equal(t, next, seen, "nothing is withheld")
						break
					}
					require.Equal(t, seen, binary.BigEndian.Uint32(e[44:]))
					seen++
				}
				c.commit()
			}
			require.Greater(t, int(next), 3*size)
		})
	}
}

// Counters have 24 bits; the owner bit goes on over their end.
func TestCounterWrap(t *testing.T) {
	r := newRig(t, nil)
	cqn := r.createCQ(cqOptions{log: 2, eqn: r.createEQ(eqOptions{})})
	q := r.objects[kindCQ].live[cqn].as.(*cq)
	q.pi, q.end = bits24-1, bits24-1
	c := &consumer{r: r, base: cqBuffer, log: 2, stride: 64, ci: bits24 - 1}
	c.commit()
	for i := range uint32(12) {
		require.NoError(t, r.Complete(cqn, Completion{ByteCount: i}))
		e := c.poll()
		require.NotNil(t, e)
		require.Equal(t, i, binary.BigEndian.Uint32(e[44:]))
		c.ci &= bits24
		c.commit()
	}
	require.Equal(t, uint32(10), c.ci)
	r.arm(cqn, 0, 0, bits24-1)
	require.Equal(t, 1, r.steps(), "an index before the wrap is behind one after it")
}

func TestCollapsed(t *testing.T) {
	r := newRig(t, nil)
	cqn := r.createCQ(cqOptions{log: 1, cc: true, oi: true, eqn: r.createEQ(eqOptions{})})
	for i := range uint16(5) {
		require.NoError(t, r.Complete(cqn, Completion{WQECounter: i}))
	}
	require.Equal(t, uint16(4), binary.BigEndian.Uint16(r.mem.get(cqBuffer+60, 2)))
	require.Equal(t, make([]byte, 64), r.mem.get(cqBuffer+64, 64))
}

func TestOverrun(t *testing.T) {
	const cqErrors = 1 << ifc.MLX5_EVENT_TYPE_CQ_ERROR
	for _, oi := range []bool{false, true} {
		r := newRig(t, nil)
		r.createEQ(eqOptions{mask: cqErrors})
		comp := r.createEQ(eqOptions{})
		cqn := r.createCQ(cqOptions{log: 2, oi: oi, eqn: comp})
		for i := range uint32(4) {
			require.NoError(t, r.Complete(cqn, Completion{ByteCount: i}))
		}
		err := r.Complete(cqn, Completion{ByteCount: 4})
		if oi {
			require.NoError(t, err)
			require.Equal(t, uint32(4), binary.BigEndian.Uint32(r.mem.get(cqBuffer+44, 4)), "the oldest is written over")
			require.Zero(t, r.steps())
			continue
		}
		require.ErrorIs(t, err, ErrCQOverrun)
		require.Equal(t, 1, r.steps())
		require.Len(t, r.events, 1)
		n, syndrome := r.events[0].CQError()
		require.Equal(t, uint8(ifc.MLX5_EVENT_TYPE_CQ_ERROR), r.events[0].Type)
		require.Equal(t, cqn, n)
		require.Equal(t, uint8(1), syndrome)
		require.Equal(t, uint32(0), binary.BigEndian.Uint32(r.mem.get(cqBuffer+44, 4)), "nothing is written over")

		r.mem.put32(cqRecord, 4)
		require.ErrorIs(t, r.Complete(cqn, Completion{}), ErrCQError, "room does not mend it")
		require.Zero(t, r.steps())
		out, _ := r.exec(named(ifc.MLX5_CMD_OP_QUERY_CQ, 0, cqn))
		require.Equal(t, uint64(ifc.MLX5_CQC_STATUS_CQ_OVERFLOW), cqc.status.Get(out[16:]))
		in := (&cqOptions{log: 3}).input(ifc.MLX5_CMD_OP_MODIFY_CQ, 1)
		binary.BigEndian.PutUint32(in[8:], cqn)
		r.ends(in, MLX5_CMD_STAT_BAD_RES_STATE_ERR)
		r.ends(named(ifc.MLX5_CMD_OP_DESTROY_CQ, 0, cqn), MLX5_CMD_STAT_OK)
	}
}

func TestUnreachableMemoryBreaksTheQueue(t *testing.T) {
	for name, o := range map[string]struct {
		bad    Addr
		buffer []Addr
	}{
		"the record":              {bad: cqRecord},
		"the buffer":              {bad: cqBuffer},
		"no page for the entries": {buffer: []Addr{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			eqn := r.createEQ(eqOptions{mask: 1 << ifc.MLX5_EVENT_TYPE_CQ_ERROR})
			cqn := r.createCQ(cqOptions{log: 0, buffer: o.buffer, eqn: eqn})
			if o.bad == cqRecord {
				require.NoError(t, r.Complete(cqn, Completion{}), "the record is not read before the queue seems full")
			}
			r.mem.bad[o.bad/ramPage] = o.bad != 0
			require.ErrorIs(t, r.Complete(cqn, Completion{}), ErrCQAccess)
			require.Equal(t, 1, r.steps())
			n, syndrome := r.events[0].CQError()
			require.Equal(t, cqn, n)
			require.Equal(t, uint8(CQErrorAccess), syndrome)
		})
	}
	r := newRig(t, nil)
	require.ErrorIs(t, r.Complete(77, Completion{}), ErrNoCQ)
}

func TestArm(t *testing.T) {
	plain, solicited, failed := Completion{}, Completion{Solicited: true}, Completion{Opcode: ifc.MLX5_CQE_RESP_ERR}
	const sol, any = ifc.MLX5_CQ_DB_REQ_NOT_SOL, ifc.MLX5_CQ_DB_REQ_NOT
	type action func(r *rig, cqn uint32)
	complete := func(c Completion) action {
		return func(r *rig, cqn uint32) { require.NoError(r.t, r.Complete(cqn, c)) }
	}
	arm := func(sn, cmd, ci uint32) action { return func(r *rig, cqn uint32) { r.arm(cqn, sn, cmd, ci) } }
	for _, tt := range []struct {
		name string
		do   []action
		want int
	}{
		{"not armed", []action{complete(plain)}, 0},
		{"armed", []action{arm(0, any, 0)}, 0},
		{"armed, then one", []action{arm(0, any, 0), complete(plain)}, 1},
		{"one event for an arming", []action{arm(0, any, 0), complete(plain), complete(plain), complete(solicited)}, 1},
		{"one, then armed", []action{complete(plain), arm(0, any, 0)}, 1},
		{"one that was seen, then armed", []action{complete(plain), arm(0, any, 1)}, 0},
		{"the same, then another", []action{complete(plain), arm(0, any, 1), complete(plain)}, 1},
		{"solicited only, an ordinary one", []action{arm(0, sol, 0), complete(plain)}, 0},
		{"solicited only, a solicited one", []action{arm(0, sol, 0), complete(plain), complete(solicited)}, 1},
		{"solicited only, a failure", []action{arm(0, sol, 0), complete(failed)}, 1},
		{"solicited only, at once", []action{complete(solicited), complete(plain), arm(0, sol, 0)}, 1},
		{"solicited only, it was seen", []action{complete(solicited), complete(plain), arm(0, sol, 1)}, 0},
		{"any stays after solicited only", []action{arm(0, any, 0), arm(0, sol, 0), complete(plain)}, 1},
		{"solicited only becomes any", []action{arm(0, sol, 0), arm(0, any, 0), complete(plain)}, 1},
		{"a stale number", []action{arm(0, any, 0), complete(plain), arm(0, any, 1), complete(plain)}, 1},
		{"a stale number, at once", []action{arm(0, any, 0), complete(plain), arm(0, any, 0)}, 1},
		{"the next number", []action{arm(0, any, 0), complete(plain), arm(1, any, 1), complete(plain)}, 2},
		{"again before it was seen", []action{arm(0, any, 0), complete(plain), arm(1, any, 0)}, 1},
		{"the same, then another one", []action{arm(0, any, 0), complete(plain), arm(1, any, 0), complete(plain)}, 2},
		{"two, of which the event told only one", []action{arm(0, any, 0), complete(plain), complete(plain), arm(1, any, 0)}, 2},
		{"numbers go round", []action{
			arm(0, any, 0), complete(plain), arm(1, any, 1), complete(plain), arm(2, any, 2), complete(plain),
			arm(3, any, 3), complete(plain), arm(0, any, 4), complete(plain)}, 5},
		{"another queue's number", []action{func(r *rig, cqn uint32) { r.arm(cqn+1, 0, any, 0) }, complete(plain)}, 0},
		{"on a page that is not the queue's", []action{complete(plain), func(r *rig, cqn uint32) {
			other := r.made(Input(ifc.MLX5_CMD_OP_ALLOC_UAR, 0, 0, 0))
			r.UARPage(other).Store(0x20, []byte{0, 0, 0, 0, 0, 0, byte(cqn >> 8), byte(cqn)})
		}}, 0},
		{"on a page that is freed", []action{complete(plain), func(r *rig, cqn uint32) {
			r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_UAR, 0, r.uar), MLX5_CMD_STAT_OK)
			r.arm(cqn, 0, any, 0)
		}}, 0},
		{"in two halves", []action{complete(plain), func(r *rig, cqn uint32) {
			r.UARPage(r.uar).Store(0x20, []byte{0, 0, 0, 0})
			require.Zero(r.t, r.pendingEvents())
			r.UARPage(r.uar).Store(0x24, []byte{0, 0, byte(cqn >> 8), byte(cqn)})
		}}, 1},
		{"BlueFlame is nobody's", []action{complete(plain), func(r *rig, cqn uint32) {
			r.UARPage(r.uar).Store(ifc.MLX5_BF_OFFSET, make([]byte, 64))
			r.UARPage(r.uar).Store(4095, []byte{1})
		}}, 0},
		{"destroyed before the event came", []action{arm(0, any, 0), complete(plain), func(r *rig, cqn uint32) {
			r.ends(named(ifc.MLX5_CMD_OP_DESTROY_CQ, 0, cqn), MLX5_CMD_STAT_OK)
		}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, nil)
			cqn := r.createCQ(cqOptions{log: 4, eqn: r.createEQ(eqOptions{})})
			for _, a := range tt.do {
				a(r, cqn)
			}
			require.Equal(t, tt.want, r.steps())
			require.Len(t, r.events, tt.want)
			for _, e := range r.events {
				require.Equal(t, uint8(ifc.MLX5_EVENT_TYPE_COMP), e.Type)
				require.Equal(t, cqn, e.CompCQN())
			}
		})
	}
}

func TestLoadReadsZeros(t *testing.T) {
	r := newRig(t, nil)
	p := r.UARPage(r.uar)
	p.Store(0x20, []byte{1, 2, 3, 4})
	b := []byte{9, 9, 9, 9}
	p.Load(0x20, b)
	require.Equal(t, make([]byte, 4), b)
}

// resize asks for a new buffer of 64-byte entries at newBuf.
func (r *rig) resize(cqn, log uint32) Status {
	o := cqOptions{log: log, buffer: []Addr{newBuf, newBuf + ramPage}}
	in := o.input(ifc.MLX5_CMD_OP_MODIFY_CQ, ifc.MLX5_CQ_OPMOD_RESIZE)
	binary.BigEndian.PutUint32(in[8:], cqn)
	cqFieldSelect.Set(in, 7)
	_, s := r.exec(in)
	return s
}

// follow does what a user library does after a resize: it takes the entries that
// are left in the old buffer over into the new one.
func (c *consumer) follow(log uint) {
	to := &consumer{r: c.r, base: newBuf, log: log, stride: 64}
	i := c.ci
	for e := c.entry(i); e[63]>>4 != ifc.MLX5_CQE_RESIZE_CQ; e = c.entry(i) {
		require.Equal(c.r.t, i>>c.log&1, uint32(e[63]&1), "an entry that is the user's")
		i++
		e[63] = e[63]&^1 | byte(i>>log&1)
		c.r.mem.set(newBuf+Addr(i&(1<<log-1))*64, e)
	}
	to.ci = c.ci + 1
	*c = *to
	c.commit()
}

func TestResize(t *testing.T) {
	for _, tt := range []struct {
		name               string
		from, to           uint32
		before, taken      int // completions, and how many of them were polled
		want               Status
		after              int
		oi, recordNonsense bool
	}{
		{name: "empty", from: 2, to: 4, after: 10},
		{name: "larger, some left", from: 3, to: 5, before: 21, taken: 16, after: 20},
		{name: "smaller, some left", from: 5, to: 3, before: 40, taken: 36, after: 4},
		{name: "smaller, as many left as it holds", from: 5, to: 2, before: 10, taken: 6, after: 0},
		{name: "smaller, one too many left", from: 5, to: 2, before: 10, taken: 5, want: MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR},
		{name: "full", from: 2, to: 4, before: 4, want: MLX5_CMD_STAT_BAD_RES_STATE_ERR},
		{name: "one short of full", from: 2, to: 4, before: 7, taken: 4, after: 12},
		{name: "too large", from: 2, to: 23, want: MLX5_CMD_STAT_BAD_PARAM_ERR},
		{name: "a consumer index that cannot be", from: 4, to: 2, recordNonsense: true, want: MLX5_CMD_STAT_OK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, nil)
			c := &consumer{r: r, base: cqBuffer, log: uint(tt.from), stride: 64}
			c.invalid()
			(&consumer{r: r, base: newBuf, log: uint(min(tt.to, 6)), stride: 64}).invalid()
			cqn := r.createCQ(cqOptions{log: tt.from, eqn: r.createEQ(eqOptions{})})
			next, seen := uint32(0), uint32(0)
			complete := func() { require.NoError(t, r.Complete(cqn, Completion{ByteCount: next})); next++ }
			poll := func() bool {
				e := c.poll()
				if e == nil {
					return false
				}
				require.Equal(t, seen, binary.BigEndian.Uint32(e[44:]))
				seen++
				c.commit()
				return true
			}
			for range tt.before {
				complete()
				if int(seen) < tt.taken {
					require.True(t, poll())
				}
			}
			if tt.recordNonsense {
				r.mem.put32(cqRecord, 0xa5a5a5a5)
			}
			require.Equal(t, tt.want, r.resize(cqn, tt.to))
			if tt.recordNonsense {
				return
			}
			if tt.want != MLX5_CMD_STAT_OK {
				for poll() {
				}
				require.Equal(t, next, seen, "a refused resize changes nothing")
				complete()
				require.True(t, poll())
				return
			}
			c.follow(uint(tt.to))
			for range tt.after {
				if int(next-seen) == 1<<tt.to {
					require.True(t, poll())
				}
				complete()
			}
			for poll() {
			}
			require.Equal(t, next, seen)
			for range 3 << tt.to {
				complete()
				require.True(t, poll())
			}
			out, _ := r.exec(named(ifc.MLX5_CMD_OP_QUERY_CQ, 0, cqn))
			require.Equal(t, uint64(tt.to), cqc.logSize.Get(out[16:]))
			require.Equal(t, uint64(c.ci), cqc.producer.Get(out[16:]))
		})
	}
}

// The entry that announces a resize is no completion: it raises no event, and
// what was outstanding counts one place on.
func TestResizeAndEvents(t *testing.T) {
	r := newRig(t, nil)
	cqn := r.createCQ(cqOptions{log: 3, eqn: r.createEQ(eqOptions{})})
	r.arm(cqn, 0, 0, 0)
	require.Equal(t, MLX5_CMD_STAT_OK, r.resize(cqn, 4))
	require.Zero(t, r.steps())
	require.NoError(t, r.Complete(cqn, Completion{}))
	require.Equal(t, 1, r.steps())

	r = newRig(t, nil)
	cqn = r.createCQ(cqOptions{log: 3, eqn: r.createEQ(eqOptions{})})
	for range 2 {
		require.NoError(t, r.Complete(cqn, Completion{Solicited: true}))
	}
	require.Equal(t, MLX5_CMD_STAT_OK, r.resize(cqn, 4))
	r.arm(cqn, 0, ifc.MLX5_CQ_DB_REQ_NOT_SOL, 3)
	require.Zero(t, r.steps(), "both were seen, at 1 and 2")
	r.arm(cqn, 0, ifc.MLX5_CQ_DB_REQ_NOT_SOL, 2)
	require.Equal(t, 1, r.steps(), "the one at 2 was not")
}

func TestModifyCQ(t *testing.T) {
	r := newRig(t, nil)
	cqn := r.createCQ(cqOptions{log: 2, eqn: r.createEQ(eqOptions{})})
	modify := func(opMod uint16, fields uint64) Status {
		in := Input(ifc.MLX5_CMD_OP_MODIFY_CQ, 0, opMod, 0)
		binary.BigEndian.PutUint32(in[8:], cqn)
		cqFieldSelect.Set(in, fields)
		cqc.period.Set(in[16:], 0x123)
		cqc.maxCount.Set(in[16:], 0x4567)
		cqc.ignoreOverrun.Set(in[16:], 1)
		_, s := r.exec(in)
		return s
	}
	ctx := func() []byte { out, _ := r.exec(named(ifc.MLX5_CMD_OP_QUERY_CQ, 0, cqn)); return out[16:] }
	require.Equal(t, MLX5_CMD_STAT_OK, modify(0, ifc.MLX5_CQ_MODIFY_PERIOD|ifc.MLX5_CQ_MODIFY_COUNT))
	require.Equal(t, uint64(0x123), cqc.period.Get(ctx()))
	require.Equal(t, uint64(0x4567), cqc.maxCount.Get(ctx()))
	require.Zero(t, cqc.ignoreOverrun.Get(ctx()))
	require.Equal(t, MLX5_CMD_STAT_BAD_PARAM_ERR, modify(0, 1<<31))
	require.Equal(t, MLX5_CMD_STAT_BAD_PARAM_ERR, modify(1, 8))
	require.Equal(t, MLX5_CMD_STAT_BAD_PARAM_ERR, modify(2, 0))
	require.Equal(t, MLX5_CMD_STAT_OK, modify(0, ifc.MLX5_CQ_MODIFY_OVERRUN))
	for range 9 {
		require.NoError(t, r.Complete(cqn, Completion{}), "overruns are ignored from now on")
	}
}

func TestCreateCQRefusals(t *testing.T) {
	r := newRig(t, nil)
	uid := uint16(r.made(Input(ifc.MLX5_CMD_OP_CREATE_UCTX, 0, 0, 0)))
	own := r.createEQ(eqOptions{})
	shared := r.createEQ(eqOptions{uid: ifc.MLX5_SHARED_RESOURCE_UID})
	for _, tt := range []struct {
		name string
		o    cqOptions
		want Status
	}{
		{"too many entries", cqOptions{log: 23, buffer: []Addr{cqBuffer}, eqn: own}, MLX5_CMD_STAT_BAD_PARAM_ERR},
		{"an unknown entry size", cqOptions{size: 3, eqn: own}, MLX5_CMD_STAT_BAD_PARAM_ERR},
		{"no such event queue", cqOptions{eqn: 200}, MLX5_CMD_STAT_BAD_RES_ERR},
		{"no such event queue, and an element of a processor that the device has not", cqOptions{apu: true, eqn: 200}, MLX5_CMD_STAT_BAD_RES_ERR},
		{"the driver's event queue for a user", cqOptions{uid: uid, eqn: own}, MLX5_CMD_STAT_BAD_RES_ERR},
		{"a shared event queue for a user", cqOptions{uid: uid, eqn: shared}, MLX5_CMD_STAT_OK},
		{"a shared event queue for the driver", cqOptions{eqn: shared}, MLX5_CMD_STAT_OK},
	} {
		_, s := r.tryCQ(tt.o)
		require.Equal(t, tt.want, s, tt.name)
	}
	require.Equal(t, 2, r.Counts()["cq"])
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_EQ, 0, shared), MLX5_CMD_STAT_RES_BUSY)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_CQ, uid, 1), MLX5_CMD_STAT_OK)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_CQ, 0, 2), MLX5_CMD_STAT_OK)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_EQ, 0, shared), MLX5_CMD_STAT_OK)
}

func TestEventQueueInMemory(t *testing.T) {
	r := newRig(t, nil)
	eqn := r.createEQ(eqOptions{log: 2, buffer: eqBuffer, vector: 5})
	cqn := r.createCQ(cqOptions{log: 4, oi: true, eqn: eqn})
	for i := range 4 { // the driver presets the owner bits
		r.mem.set(eqBuffer+Addr(i*64)+63, []byte{1})
	}
	sn := uint32(0)
	event := func() {
		out, _ := r.exec(named(ifc.MLX5_CMD_OP_QUERY_CQ, 0, cqn))
		r.arm(cqn, sn, 0, uint32(cqc.producer.Get(out[16:])))
		sn = (sn + 1) & 3
		require.NoError(t, r.Complete(cqn, Completion{}))
	}
	read := func(ci uint32) (EQE, bool) {
		e, owner := DecodeEQE(r.mem.get(eqBuffer+Addr(ci&3)*64, 64))
		return e, owner == uint8(ci>>2&1)
	}
	event()
	_, ok := read(0)
	require.False(t, ok, "nothing before the step")
	r.mem.writes = nil
	require.True(t, r.Step())
	require.Equal(t, []ramWrite{{eqBuffer, 64}}, r.mem.writes)
	e, ok := read(0)
	require.True(t, ok)
	require.Equal(t, cqn, e.CompCQN())
	require.Empty(t, r.irqs, "the queue is not armed")

	r.ringEQ(ifc.MLX5_EQ_DOORBELL, eqn, 0)
	require.True(t, r.Step())
	require.Equal(t, []int{5}, r.irqs, "armed with an entry there already")
	require.False(t, r.Step())

	r.ringEQ(ifc.MLX5_EQ_DOORBELL, eqn, 1)
	require.False(t, r.Step())
	event()
	event()
	require.Equal(t, 2, r.steps())
	require.Equal(t, []int{5, 5}, r.irqs, "one interrupt for an arming")

	// Four entries are outstanding at most; the fifth waits for the driver.
	for range 4 {
		event()
	}
	require.Equal(t, 2, r.steps())
	require.Equal(t, 2, r.pendingEvents())
	r.ringEQ(ifc.MLX5_EQ_DOORBELL_CI, eqn, 3)
	require.Equal(t, 2, r.steps())
	require.Equal(t, []int{5, 5}, r.irqs, "moving the index does not arm")
	for ci := uint32(3); ci < 7; ci++ {
		_, ok := read(ci)
		require.True(t, ok, "entry %d", ci)
	}
	_, ok = read(7)
	require.False(t, ok)

	out, _ := r.exec(named(ifc.MLX5_CMD_OP_QUERY_EQ, 0, eqn))
	require.Equal(t, uint64(7), eqc.producer.Get(out[16:]))
	require.Equal(t, uint64(3), eqc.consumer.Get(out[16:]))
	require.Equal(t, uint64(ifc.MLX5_EQC_ST_FIRED), eqc.st.Get(out[16:]))
}

func TestEventQueueThatCannotBeWritten(t *testing.T) {
	r := newRig(t, nil)
	eqn := r.createEQ(eqOptions{log: 2, buffer: eqBuffer})
	cqn := r.createCQ(cqOptions{log: 4, eqn: eqn})
	r.ringEQ(ifc.MLX5_EQ_DOORBELL, eqn, 0)
	r.mem.bad[eqBuffer/ramPage] = true
	r.arm(cqn, 0, 0, 0)
	require.NoError(t, r.Complete(cqn, Completion{}))
	require.Equal(t, 1, r.steps())
	require.Empty(t, r.irqs)
	out, _ := r.exec(named(ifc.MLX5_CMD_OP_QUERY_EQ, 0, eqn))
	require.Equal(t, uint64(ifc.MLX5_EQC_STATUS_EQ_WRITE_FAILURE), eqc.status.Get(out[16:]))
}

func TestCreateEQRefusals(t *testing.T) {
	r := newRig(t, nil)
	in := Input(ifc.MLX5_CMD_OP_CREATE_EQ, 0, 0, 8)
	eqc.logSize.Set(in[16:], 7) // two pages
	r.ends(in, MLX5_CMD_STAT_BAD_PARAM_ERR)
	eqc.logSize.Set(in[16:], 6)
	r.ends(in, MLX5_CMD_STAT_OK)
	eqc.logSize.Set(in[16:], 23)
	r.ends(in, MLX5_CMD_STAT_BAD_PARAM_ERR)
}

func TestAsyncEventsGoWhereTheyAreWanted(t *testing.T) {
	r := newRig(t, nil)
	comp := r.createEQ(eqOptions{mask: 0})
	async := r.createEQ(eqOptions{mask: 1<<ifc.MLX5_EVENT_TYPE_CQ_ERROR | 1<<63})
	var to []uint32
	r.cfg.Event = func(eqn uint32, e EQE) { to = append(to, eqn) }
	cqn := r.createCQ(cqOptions{log: 0, eqn: comp})
	require.NoError(t, r.Complete(cqn, Completion{}))
	require.ErrorIs(t, r.Complete(cqn, Completion{}), ErrCQOverrun)
	r.steps()
	require.Equal(t, []uint32{async}, to)
}

func TestRun(t *testing.T) {
	mem := newRAM()
	got := make(chan EQE)
	d := New(Config{Bus: mem, Event: func(_ uint32, e EQE) { got <- e }})
	require.NoError(t, Boot(nil, d, somePages))
	r := &rig{Device: d, t: t, mem: mem}
	r.uar = r.made(Input(ifc.MLX5_CMD_OP_ALLOC_UAR, 0, 0, 0))
	cqn := r.createCQ(cqOptions{log: 3, eqn: r.createEQ(eqOptions{})})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { d.Run(stop); close(stopped) }()
	for i := range uint32(5) {
		r.arm(cqn, i&3, 0, i)
		require.NoError(t, d.Complete(cqn, Completion{}))
		e := <-got
		require.Equal(t, cqn, e.CompCQN())
	}
	close(stop)
	<-stopped
}
