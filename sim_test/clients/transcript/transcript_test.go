package transcript_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/sim_test/clients/onlooker"
	"uverbsim/sim_test/clients/transcript"
	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

func recorded(t *testing.T) []transcript.Program {
	t.Helper()
	programs, err := transcript.Recorded()
	require.NoError(t, err)
	return programs
}

func program(t *testing.T, name string) *transcript.Program {
	t.Helper()
	p, ok := transcript.Find(recorded(t), name)
	require.True(t, ok, name)
	return p
}

// TestRecordedIsReadWhole: what was read writes the transcript again, byte for
// byte.
func TestRecordedIsReadWhole(t *testing.T) {
	f, err := os.Open("testdata/linux-6.12-mlx5-clients.txt.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	want, err := io.ReadAll(z)
	require.NoError(t, err)
	var got bytes.Buffer
	ioctls, mmaps := 0, 0
	for _, p := range recorded(t) {
		_, err := p.WriteTo(&got)
		require.NoError(t, err)
		for i := range p.Calls {
			if p.Calls[i].Mmap != nil {
				mmaps++
			} else {
				ioctls++
			}
		}
	}
	require.Equal(t, strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
	require.Equal(t, []int{269, 30}, []int{ioctls, mmaps}, "lines that begin with ioctl and with mmap")
}

// TestEqualToItself: and that two runs of the same program differ in nothing that
// is compared but how they wait.
func TestEqualToItself(t *testing.T) {
	for _, p := range recorded(t) {
		require.Empty(t, transcript.Compare(p.Calls, p.Calls, transcript.Options{}), p.Name)
	}
	rc, uc := program(t, "ibv_rc_pingpong -g 1 -n 3"), program(t, "ibv_uc_pingpong -g 1 -n 3")
	differences := transcript.Compare(rc.Calls, uc.Calls, transcript.Options{Ignore: []transcript.Kind{transcript.Number}})
	require.NotEmpty(t, differences)
	for _, d := range differences {
		require.Contains(t, []string{"UVERBS_METHOD_QP_CREATE", "IB_USER_VERBS_CMD_MODIFY_QP"}, d.Call, "%v", d)
	}
	events := program(t, "ibv_rc_pingpong -g 1 -n 3 -e")
	differences = transcript.Compare(rc.Calls, events.Calls, transcript.Options{Ignore: []transcript.Kind{transcript.Number, transcript.Traffic}})
	require.NotEmpty(t, differences)
	require.Equal(t, "IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL", differences[0].Call)
	require.Equal(t, "not made", differences[0].Want)
}

// find returns the first call of that name.
func find(t *testing.T, calls []transcript.Call, name string) *transcript.Ioctl {
	t.Helper()
	i := slices.IndexFunc(calls, func(c transcript.Call) bool { return c.String() == name })
	require.GreaterOrEqual(t, i, 0, name)
	return calls[i].Ioctl
}

func attr(t *testing.T, i *transcript.Ioctl, id uint16) *transcript.Attr {
	t.Helper()
	for n := range i.Attrs {
		if i.Attrs[n].ID == id {
			return &i.Attrs[n]
		}
	}
	t.Fatalf("no attribute %#x", id)
	return nil
}

// TestDoctored: each change of what is compared is told, and none of what is
// not.
func TestDoctored(t *testing.T) {
	const (
		regMR   = "IB_USER_VERBS_CMD_REG_MR"
		allocPD = "IB_USER_VERBS_CMD_ALLOC_PD"
		channel = "IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL"
		modify  = "IB_USER_VERBS_CMD_MODIFY_QP"
		cq      = "UVERBS_METHOD_CQ_CREATE"
		qp      = "UVERBS_METHOD_QP_CREATE"
		uar     = "MLX5_IB_METHOD_UAR_OBJ_ALLOC"
		context = "UVERBS_METHOD_GET_CONTEXT"
		devx    = "MLX5_IB_METHOD_DEVX_OTHER"
		gid     = "UVERBS_METHOD_QUERY_GID_ENTRY"
		destroy = "UVERBS_METHOD_CQ_DESTROY"
	)
	flip := func(call string, id uint16, after bool, at int) func(*testing.T, []transcript.Call) {
		return func(t *testing.T, calls []transcript.Call) {
			a := attr(t, find(t, calls, call), id)
			v := &a.Before
			if after {
				v = &a.After
			}
			if v.Pointer {
				v.Bytes[at] ^= 0x40
			} else {
				v.Number ^= 0x40 << (8 * at)
			}
		}
	}
	for name, tt := range map[string]struct {
		change func(*testing.T, []transcript.Call)
		want   string // what the difference begins with; "": there is none
		number bool   // only of a device's numbers
	}{
		"address of memory":        {change: flip(regMR, 0, false, 8)},
		"address of the answer":    {change: flip(regMR, 0, false, 0)},
		"length of memory":         {flip(regMR, 0, false, 16), "CORE_IN, from byte 16", false},
		"virtual address":          {change: flip(regMR, 0, false, 24)},
		"protection domain":        {flip(regMR, 0, true, 32), "CORE_IN after the call, from byte 32", false},
		"handle":                   {flip(regMR, 1, true, 0), "CORE_OUT after the call, from byte 0", false},
		"local key":                {flip(regMR, 1, true, 4), "CORE_OUT after the call, from byte 4", true},
		"room of the answer":       {change: flip(regMR, 1, false, 5)},
		"PD's number":              {flip(allocPD, 0x1001, true, 0), "UHW_OUT after the call, from byte 0", true},
		"descriptor of a channel":  {change: flip(channel, 1, true, 0)},
		"descriptor in a CQ":       {change: flip(cq, 3, false, 0)},
		"CQ's object":              {change: flip(cq, 2, false, 0)},
		"CQ's buffer":              {change: flip(cq, 0x1000, false, 3)},
		"CQ's doorbell":            {change: flip(cq, 0x1000, false, 15)},
		"CQ's entry size":          {flip(cq, 0x1000, false, 16), "UHW_IN, from byte 16", false},
		"CQ's UAR":                 {flip(cq, 0x1000, false, 24), "UHW_IN, from byte 24", true},
		"CQ's entries":             {flip(cq, 1, false, 0), "CREATE_CQ_CQE", false},
		"CQ's handle":              {flip(cq, 0, true, 0), "CREATE_CQ_HANDLE after the call", false},
		"QP's queue":               {flip(qp, 0x1000, false, 16), "UHW_IN, from byte 16", false},
		"QP's number":              {flip(qp, 0xe, true, 0), "CREATE_QP_RESP_QP_NUM after the call", true},
		"offset of a UAR":          {flip(uar, 0x1002, true, 1), "UAR_OBJ_ALLOC_MMAP_OFFSET after the call", false},
		"capabilities of a driver": {flip(context, 0x1001, true, 60), "UHW_OUT after the call", false},
		"firmware's answer":        {flip(devx, 0x1001, true, 100), "DEVX_OTHER_CMD_OUT after the call", false},
		"GID":                      {flip(gid, 3, true, 15), "QUERY_GID_ENTRY_RESP_ENTRY after the call", false},
		"events":                   {flip(destroy, 1, true, 0), "DESTROY_CQ_RESP after the call", false},
		"flags": {func(t *testing.T, c []transcript.Call) { attr(t, find(t, c, cq), 6).AfterFlags = 1 },
			"CREATE_CQ_RESP_CQE: the flags after the call", false},
		"length":           {func(t *testing.T, c []transcript.Call) { attr(t, find(t, c, cq), 1).Len = 8 }, "CREATE_CQ_CQE: the length", false},
		"driver":           {func(t *testing.T, c []transcript.Call) { find(t, c, cq).Driver = 14 }, "the driver", false},
		"fewer attributes": {func(t *testing.T, c []transcript.Call) { i := find(t, c, cq); i.Attrs = i.Attrs[1:] }, "the attributes", false},
		"result":           {func(_ *testing.T, c []transcript.Call) { c[1].Errno = syscall.EINVAL }, "the result", false},
		"errno":            {func(_ *testing.T, c []transcript.Call) { c[0].Errno = syscall.EINVAL }, "the result", false},
		"offset of mmap":   {func(_ *testing.T, c []transcript.Call) { c[2].Mmap.Offset++ }, "the offset", false},
		"length of mmap":   {func(_ *testing.T, c []transcript.Call) { c[2].Mmap.Length++ }, "the length", false},
		"prot of mmap":     {func(_ *testing.T, c []transcript.Call) { c[2].Mmap.Prot++ }, "the protection", false},
		"descriptor":       {change: func(_ *testing.T, c []transcript.Call) { c[2].Mmap.FD++ }},
		"packet numbers": {change: func(_ *testing.T, c []transcript.Call) {
			for i := range c {
				if c[i].String() == modify {
					copy(c[i].Ioctl.Attrs[1].Before.Bytes[76:84], "any text")
					copy(c[i].Ioctl.Attrs[1].After.Bytes[76:84], "any text")
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			const client = "ibv_rc_pingpong -g 1 -n 3 -e"
			want, got := program(t, client).Calls, program(t, client).Calls
			tt.change(t, got)
			differences := transcript.Compare(want, got, transcript.Options{})
			if tt.want == "" {
				require.Empty(t, differences)
				return
			}
			require.Len(t, differences, 1)
			require.True(t, strings.HasPrefix(differences[0].What, tt.want), "%v", differences[0])
			require.NotEqual(t, differences[0].Want, differences[0].Got)
			require.NotZero(t, differences[0].Line)
			rest := transcript.Compare(want, got, transcript.Options{Ignore: []transcript.Kind{transcript.Number}})
			require.Equal(t, tt.number, len(rest) == 0)
		})
	}
}

// TestRename: a device may have other numbers, but each stands for one thing.
func TestRename(t *testing.T) {
	const name = "ibv_srq_pingpong -g 1 -n 20"
	const qpNumber, uhwIn, bfreg = spec.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, spec.UVERBS_ATTR_UHW_IN, 36
	options := transcript.Options{Rename: true}
	want, got := program(t, name).Calls, program(t, name).Calls
	var qps []*transcript.Ioctl
	for i := range got {
		if got[i].String() == "UVERBS_METHOD_QP_CREATE" {
			qps = append(qps, got[i].Ioctl)
			attr(t, got[i].Ioctl, qpNumber).After.Bytes[1] = 7 // all other, and still different
		}
	}
	require.Len(t, qps, 16)
	require.Empty(t, transcript.Compare(want, got, options))
	require.Len(t, transcript.Compare(want, got, transcript.Options{}), 16)
	copy(attr(t, qps[5], qpNumber).After.Bytes, attr(t, qps[4], qpNumber).After.Bytes)
	differences := transcript.Compare(want, got, options)
	require.Len(t, differences, 1, "two have the same")
	require.Equal(t, "CREATE_QP_RESP_QP_NUM after the call, the number at byte 0", differences[0].What)

	got = program(t, name).Calls
	for i := range got {
		if got[i].String() == "UVERBS_METHOD_QP_CREATE" {
			attr(t, got[i].Ioctl, uhwIn).Before.Bytes[bfreg] ^= 0x80
			break
		}
	}
	require.NotEmpty(t, transcript.Compare(want, got, options), "a page that was not given out")
}

// TestMissingCalls: calls that one side alone has are told, and the others are
// compared all the same.
func TestMissingCalls(t *testing.T) {
	const name = "ibv_ud_pingpong -g 1 -n 3 -s 1024"
	want, got := program(t, name).Calls, program(t, name).Calls
	extra := got[4]
	got = slices.Delete(got, 10, 11)
	got = append(got, extra)
	got[len(got)-2].Errno = syscall.EBUSY
	var lines []string
	for _, d := range transcript.Compare(want, got, transcript.Options{}) {
		lines = append(lines, d.Call+": "+d.What+": "+d.Want+", "+d.Got)
	}
	require.Equal(t, []string{
		want[10].String() + ": the call: made, not made",
		want[len(want)-1].String() + ": the result: success, Device or resource busy",
		extra.String() + ": the call: not made, made",
	}, lines)
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"ioctl obj=0 method=0 drv=1":                                                                        "line 1: ",
		"== p\nioctl obj=0 method=x drv=1":                                                                  "line 2: ",
		"== p\nioctl obj=0 drv=1":                                                                           `"drv=1" where method is wanted`,
		"== p\nioctl obj=0x10000 method=0 drv=1":                                                            "value out of range",
		"== p\nioctl obj=0 method=0 drv=1\n  {id=1 len=2 fl=3}":                                             "no data",
		"== p\nioctl obj=0 method=0 drv=1\n  {id=1 len=2 fl=3 u=0 data=-> 0g}":                              "invalid byte",
		"== p\nioctl obj=0 method=0 drv=1\n  = -1 Out of luck":                                              `no error "Out of luck"`,
		"== p\nioctl obj=0 method=0 drv=1\n  = 0 \n  after id=0x1 fl=1 0":                                   "more attributes",
		"== p\nioctl obj=0 method=0 drv=1\n  {id=0x2 len=0 fl=1 u=0 data=0}\n  = 0 \n  after id=0x1 fl=1 0": "attribute 0x1 after the call where 0x2",
		"== p\nmmap len=1 prot=1 fd=3 off=zero = ok":                                                        "invalid syntax",
		"== p\nmmap len=1 prot=1 fd=3 off=0 = Perhaps":                                                      "no error",
	} {
		_, err := transcript.Parse(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}

// TestTape: the modelled library on the modelled kernel makes the calls of the
// real ones, and is answered alike.
func TestTape(t *testing.T) {
	m := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(m, mlx5.Config{})
	require.NoError(t, err)
	var tape transcript.Tape
	look := &onlooker.Machine{Watcher: &tape, Kernel: spec.Linux6_12, Device: dev.Uverbs}
	sys := look.Watch(m.NewProcess(process.Options{}))
	pingpong(t, sys)
	require.Equal(t, []int{sys.PID}, tape.PIDs())
	want := program(t, "ibv_rc_pingpong -g 1 -n 3 -e")
	options := transcript.Options{Ignore: []transcript.Kind{transcript.Traffic}, Rename: true}
	for _, d := range transcript.Compare(want.Calls, tape.Calls(sys.PID), options) {
		t.Error(d)
	}
	require.NotEmpty(t, transcript.Compare(want.Calls, tape.Calls(sys.PID), transcript.Options{}), "numbers, and events that were not read")
	// What a tape has can be written and read.
	live := transcript.Program{Name: "live", Calls: tape.Calls(sys.PID), Output: []string{"done"}}
	var b bytes.Buffer
	_, err = live.WriteTo(&b)
	require.NoError(t, err)
	again, err := transcript.Parse(&b)
	require.NoError(t, err)
	require.Len(t, again, 1)
	require.Empty(t, transcript.Compare(live.Calls, again[0].Calls, transcript.Options{}))
	require.Equal(t, live.Output, again[0].Output)
}

// pingpong does what the client of ibv_rc_pingpong -e does with its objects.
func pingpong(t *testing.T, sys verbs.System) {
	c, err := libmlx5.OpenDevice(sys, "/dev/infiniband/uverbs0")
	require.NoError(t, err)
	ch, err := c.CreateCompChannel()
	require.NoError(t, err)
	pd, err := c.AllocPD()
	require.NoError(t, err)
	buf, err := verbs.Alloc(sys, 4096)
	require.NoError(t, err)
	mr, err := pd.RegMR(buf, 4096, uint64(buf), verbs.IBV_ACCESS_LOCAL_WRITE)
	require.NoError(t, err)
	cq, err := c.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 501, Channel: ch}})
	require.NoError(t, err)
	qp, err := c.CreateQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 500, MaxSendSGE: 1, MaxRecvSGE: 1}})
	require.NoError(t, err)
	_, _, err = qp.Query(verbs.IBV_QP_CAP)
	require.NoError(t, err)
	require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1},
		verbs.IBV_QP_STATE|verbs.IBV_QP_PKEY_INDEX|verbs.IBV_QP_PORT|verbs.IBV_QP_ACCESS_FLAGS))
	_, err = c.QueryPort(1)
	require.NoError(t, err)
	gid, err := c.QueryGID(1, 1)
	require.NoError(t, err)
	require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RTR, PathMTU: verbs.IBV_MTU_1024, DestQPNum: qp.Num,
		MaxDestRdAtomic: 1, MinRNRTimer: 12,
		AHAttr: verbs.AHAttr{IsGlobal: true, PortNum: 1, GRH: verbs.GlobalRoute{DGID: gid, SGIDIndex: 1, HopLimit: 1}}},
		verbs.IBV_QP_STATE|verbs.IBV_QP_AV|verbs.IBV_QP_PATH_MTU|verbs.IBV_QP_DEST_QPN|verbs.IBV_QP_RQ_PSN|
			verbs.IBV_QP_MAX_DEST_RD_ATOMIC|verbs.IBV_QP_MIN_RNR_TIMER))
	require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RTS, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MaxRdAtomic: 1},
		verbs.IBV_QP_STATE|verbs.IBV_QP_TIMEOUT|verbs.IBV_QP_RETRY_CNT|verbs.IBV_QP_RNR_RETRY|verbs.IBV_QP_SQ_PSN|
			verbs.IBV_QP_MAX_QP_RD_ATOMIC))
	for _, do := range []func() error{qp.Destroy, cq.Destroy, mr.Dereg, pd.Dealloc} {
		require.NoError(t, do())
	}
	c.Close()
}

// Where two programs differ is told call by call.
func ExampleCompare() {
	programs, err := transcript.Recorded()
	if err != nil {
		fmt.Println(err)
		return
	}
	polling, _ := transcript.Find(programs, "ibv_rc_pingpong -g 1 -n 3")
	waiting, _ := transcript.Find(programs, "ibv_rc_pingpong -g 1 -n 3 -e")
	ignore := []transcript.Kind{transcript.Number, transcript.Traffic}
	for _, d := range transcript.Compare(polling.Calls, waiting.Calls, transcript.Options{Ignore: ignore}) {
		fmt.Println(d)
	}
	// Output:
	// call 13 (IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL): the call: want not made, got made
	// call 16 (UVERBS_METHOD_CQ_CREATE), line 321: the attributes: want [0x0 0x6 0x1 0x2 0x4 0x7 0x1000 0x1001], got [0x0 0x6 0x1 0x2 0x3 0x4 0x7 0x1000 0x1001]
}
