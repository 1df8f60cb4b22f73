package process_test

import (
	"runtime"
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

func TestCgroupLimits(t *testing.T) {
	for _, c := range []struct {
		limits, max string // max empty: refused
	}{
		{"hca_handle=2 hca_object=3", "hca_handle=2 hca_object=3 "},
		{"hca_object=0", "hca_handle=7 hca_object=0 "},
		{"hca_object=5 hca_object=6", "hca_handle=7 hca_object=6 "},
		{"hca_handle=max", "hca_handle=max hca_object=7 "},
		{"hca_handle=m", "hca_handle=max hca_object=7 "},
		{"hca_handle=", "hca_handle=max hca_object=7 "},
		{"hca_handle=2147483647", "hca_handle=max hca_object=7 "},
		{"", "hca_handle=7 hca_object=7 "},
		{"hca_handle=2 hca_object=3\n", "hca_handle=2 hca_object=3 "},
		{"hca_handle=0x10 hca_object=010", "hca_handle=16 hca_object=8 "},
		{"hca_handle=0X1f hca_object=0x", "hca_handle=31 hca_object=0 "},
		{"hca_handle=08 hca_object=0xg", "hca_handle=0 hca_object=0 "},
		{"hca_handle=3more hca_object=5=6", "hca_handle=3 hca_object=5 "},
		{"hca_handle=1\thca_object=2", "hca_handle=1 hca_object=7 "},
		{"hca_handle=- hca_object=-0", "hca_handle=0 hca_object=0 "},
		{"hca_handle=18446744073709551617", "hca_handle=1 hca_object=7 "}, // 64 bits and no more
		{"hca_handle=00000000000000000000001", "hca_handle=1 hca_object=7 "},
		{"hca_handle=000000000000000000000001", ""}, // 24 characters
		{"hca_handle=+1", ""},
		{"hca_handle= 1", ""},
		{"hca_handle=-2147483649", ""},
		{"hca_handle", ""},
		{"hca_handle=-1", ""},
		{"hca_handle=2147483648", ""},
		{"hca_handle=maximum", ""},
		{"hca_handle=1  hca_object=1", ""},
		{"hca_mr=1", ""},
	} {
		g := process.NewCgroup(nil)
		require.NoError(t, g.SetMax("d", "hca_handle=7 hca_object=7"))
		err := g.SetMax("d", c.limits)
		if c.max == "" {
			require.ErrorIs(t, err, rule.CgroupSyntax, c.limits)
			require.Equal(t, "hca_handle=7 hca_object=7 ", g.Max("d"), c.limits)
			continue
		}
		require.NoError(t, err, c.limits)
		require.Equal(t, c.max, g.Max("d"), c.limits)
		require.Equal(t, "hca_handle=max hca_object=max ", g.Max("other"))
	}
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
