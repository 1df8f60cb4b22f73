package process_test

import (
	"cmp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/rule"
)

const (
	handle = process.RDMACG_RESOURCE_HCA_HANDLE
	object = process.RDMACG_RESOURCE_HCA_OBJECT
)

// limitWords are texts behind hca_handle= or hca_object= in a line for rdma.max, and
// what the limit reads afterwards; nothing where the line was refused. The answers
// are those of a real kernel, Debian's 6.12.117, to which each line was written for
// an rxe device: for both resources, with a newline and without, all alike.
var limitWords = []struct{ text, limit string }{
	{"5", "5"}, {"0", "0"}, {"00", "0"}, {"010", "8"}, {"08", "0"}, {"0b11", "0"},
	{"0x10", "16"}, {"0X1f", "31"}, {"0x", "0"}, {"0xg", "0"},
	{"-", "0"}, {"-0", "0"}, {"-00", "0"}, {"-0x", "0"}, {"-0x0", "0"}, {"-x", "0"}, {"-max", "0"}, {"--1", "0"}, {"-+1", "0"}, {"-\x00", "0"},
	{"-1", ""}, {"-5", ""}, {"-0x1", ""}, {"+", ""}, {"+1", ""},
	{"", "max"}, {"m", "max"}, {"ma", "max"}, {"max", "max"}, {"max ", "max"}, {"\x00", "max"},
	{"maxx", ""}, {"maximum", ""}, {"max,", ""}, {"Max", ""}, {"MAX", ""}, {"x", ""}, {"=5", ""},
	{"5,", "5"}, {"5.5", "5"}, {"5=6", "5"}, {"5max", "5"}, {"1e3", "1"}, {"1_0", "1"},
	{"5 ", "5"}, {"5\t", "5"}, {"5\v", "5"}, {"5\f", "5"}, {"5\r", "5"}, {"5\xa0", "5"}, {"5 \n", "5"}, {"5\n\n", "5"}, {"5\nx", "5"},
	{" 5", ""}, {"\t5", ""}, {"\xa05", ""},
	{"5\x00", "5"}, {"5\x00x", "5"}, {"5\x00 hca_object=9", "5"},
	{"2147483647", "max"}, {"2147483648", ""}, {"4294967301", ""}, {"99999999999", ""}, {"-2147483648", ""}, {"-2147483649", ""},
	{"9223372036854775808", ""}, {"-9223372036854775808", ""}, {"18446744073709551615", ""}, {"99999999999999999999999", ""},
	{"18446744073709551616", "0"}, {"18446744073709551617", "1"}, {"-18446744073709551615", "1"}, {"-18446744073709551611", "5"},
	{"00000000000000000000001", "1"}, {"000000000000000000000001", ""}, // 23 and 24 characters
}

func TestCgroupLimitWords(t *testing.T) {
	const before = "hca_handle=7 hca_object=7 "
	for _, c := range limitWords {
		for _, name := range []string{"hca_handle=", "hca_object="} {
			for _, end := range []string{"", "\n"} {
				line, want := name+c.text+end, before
				if c.limit != "" {
					want = strings.Replace(before, name+"7", name+c.limit, 1)
				}
				testSetMax(t, line, want, c.limit == "")
			}
		}
	}
}

// TestCgroupLimits: lines with more than one word or none. The answers are of the same
// kernel as those of limitWords, with a newline and without.
func TestCgroupLimits(t *testing.T) {
	for _, c := range []struct {
		limits, max string // max empty: refused
	}{
		{"hca_handle=2 hca_object=3", "hca_handle=2 hca_object=3 "},
		{"hca_object=3 hca_handle=2", "hca_handle=2 hca_object=3 "},
		{"hca_handle=2 hca_handle=3", "hca_handle=3 hca_object=7 "},
		{"hca_handle=- hca_object=-0", "hca_handle=0 hca_object=0 "},
		{"hca_handle=max hca_object=max", "hca_handle=max hca_object=max "},
		{"hca_handle=2\thca_object=3", "hca_handle=2 hca_object=7 "},
		{"hca_handle=2\nhca_object=3", "hca_handle=2 hca_object=7 "},
		{"hca_handle=2,hca_object=3", "hca_handle=2 hca_object=7 "},
		{"hca_handle=5\nrxe0 hca_object=6", "hca_handle=5 hca_object=6 "}, // what was meant as a line of its own
		{"", "hca_handle=7 hca_object=7 "},
		{" ", "hca_handle=7 hca_object=7 "},
		{"\t", "hca_handle=7 hca_object=7 "},
		{"\x00hca_handle=5", "hca_handle=7 hca_object=7 "},
		{"hca_handle=2  hca_object=3", ""},
		{"hca_handle=2 hca_object=x", ""},
		{"hca_handle=2 hca_object", ""},
		{"hca_handle=2 hca_mr=3", ""},
		{"hca_handle=-1 hca_object=3", ""},
		{"hca_handle=5 rxe0 hca_object=6", ""},
		{" hca_handle=5", ""},
		{"\thca_handle=5", ""},
		{"hca_handle", ""},
		{"hca_handle =1", ""},
		{"hca_handl=1", ""},
		{"hca_handles=1", ""},
		{"HCA_HANDLE=1", ""},
		{"hca_mr=1", ""},
		{"hca_mr=x", ""},
		{"=1", ""},
		{"=", ""},
		{"5", ""},
	} {
		want := cmp.Or(c.max, "hca_handle=7 hca_object=7 ")
		testSetMax(t, c.limits, want, c.max == "")
		testSetMax(t, c.limits+"\n", want, c.max == "")
	}
}

// testSetMax writes a line for one device of a group whose limits are 7.
func testSetMax(t *testing.T, limits, want string, refused bool) {
	t.Helper()
	g := process.NewCgroup(nil)
	require.NoError(t, g.SetMax("rxe0", "hca_handle=7 hca_object=7"))
	err := g.SetMax("rxe0", limits)
	if refused {
		require.ErrorIs(t, err, rule.CgroupSyntax, "%q", limits)
	} else {
		require.NoError(t, err, "%q", limits)
	}
	require.Equal(t, want, g.Max("rxe0"), "%q", limits)
	require.Equal(t, "hca_handle=max hca_object=max ", g.Max("other"))
}

// TestTryCharge: the group and all above it are charged, or none.
func TestTryCharge(t *testing.T) {
	p := process.New(nil, process.Options{})
	task := p.MainTask()
	root := p.Cgroup()
	parent := process.NewCgroup(root)
	child := process.NewCgroup(parent)
	require.NoError(t, parent.SetMax("d", "hca_object=2"))
	require.NoError(t, child.SetMax("d", "hca_object=3 hca_handle=1"))

	one, err := child.TryCharge(task, "d", object)
	require.NoError(t, err)
	two, err := child.TryCharge(task, "d", object)
	require.NoError(t, err)
	require.Equal(t, "hca_handle=0 hca_object=2 ", root.Current("d"))
	none, err := child.TryCharge(task, "d", object)
	require.ErrorIs(t, err, rule.CgroupExceeded)
	none.Uncharge(task)
	require.Equal(t, "hca_handle=0 hca_object=2 ", child.Current("d"), "the parent refused: the child was not charged")
	require.Equal(t, "hca_handle=0 hca_object=2 ", root.Current("d"))

	_, err = child.TryCharge(task, "other", object)
	require.NoError(t, err, "another device")
	context, err := child.TryCharge(task, "d", handle)
	require.NoError(t, err, "another resource")
	_, err = child.TryCharge(task, "d", handle)
	require.ErrorIs(t, err, rule.CgroupExceeded)

	p.SetCgroup(root)
	one.Uncharge(task)
	require.Equal(t, "hca_handle=1 hca_object=1 ", child.Current("d"), "the charge stays with its group")
	require.NoError(t, parent.SetMax("d", "hca_object=0"))
	_, err = child.TryCharge(task, "d", object)
	require.ErrorIs(t, err, rule.CgroupExceeded)
	two.Uncharge(nil)
	context.Uncharge(task)
	for _, g := range []*process.Cgroup{root, parent, child} {
		require.Equal(t, "hca_handle=0 hca_object=0 ", g.Current("d"))
	}
	require.Panics(t, func() { two.Uncharge(task) })
}

func TestTryChargeNoMemory(t *testing.T) {
	p := withFailing(nil, "rdmacg_resource_pool")
	child := process.NewCgroup(p.Cgroup())
	_, err := child.TryCharge(p.MainTask(), "d", object)
	require.ErrorIs(t, err, rule.CgroupAlloc)
	require.NoError(t, child.SetMax("d", "hca_object=9"))
	_, err = child.TryCharge(p.MainTask(), "d", object)
	require.ErrorIs(t, err, rule.CgroupAlloc, "the group above has no pool")
	require.Equal(t, "hca_handle=0 hca_object=0 ", child.Current("d"))
}

// TestUnregisterDevice: limits and charges of a device go with it.
func TestUnregisterDevice(t *testing.T) {
	p := process.New(nil, process.Options{})
	g := process.NewCgroup(p.Cgroup())
	require.NoError(t, g.SetMax("d", "hca_object=1"))
	require.NoError(t, g.SetMax("e", "hca_object=1"))
	charge, err := g.TryCharge(p.MainTask(), "d", object)
	require.NoError(t, err)
	p.Cgroup().UnregisterDevice("d")
	require.Equal(t, "hca_handle=max hca_object=max ", g.Max("d"))
	require.Equal(t, "hca_handle=max hca_object=1 ", g.Max("e"))
	require.Equal(t, "hca_handle=max hca_object=max ", p.Cgroup().Max("d"))
	charge.Uncharge(p.MainTask())
}

// TestChargeParallel: a limit is never passed, and nothing is lost.
func TestChargeParallel(t *testing.T) {
	p := process.New(nil, process.Options{})
	g := process.NewCgroup(p.Cgroup())
	require.NoError(t, g.SetMax("d", "hca_object=3"))
	var wg sync.WaitGroup
	var held atomic.Int32 // charges, of those that there are
	for range 8 {
		task := p.NewTask(nil)
		wg.Go(func() {
			for range 500 {
				charge, err := g.TryCharge(task, "d", object)
				if err != nil {
					continue
				}
				if n := held.Add(1); n > 3 {
					t.Errorf("%d charges at once", n)
				}
				runtime.Gosched()
				held.Add(-1)
				charge.Uncharge(task)
			}
		})
	}
	wg.Wait()
	require.Equal(t, "hca_handle=0 hca_object=0 ", g.Current("d"))
}
