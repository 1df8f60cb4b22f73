package core

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestCheckMRAccess follows the recorded cases mr/access-… of rxe, which has
// both flush rights and no paging on demand, as far as the core decides.
func TestCheckMRAccess(t *testing.T) {
	flush := &Device{Attr: DeviceAttr{
		DeviceCapFlags: spec.IB_UVERBS_DEVICE_FLUSH_GLOBAL | spec.IB_UVERBS_DEVICE_FLUSH_PERSISTENT}}
	old := &Device{Kernel: spec.Linux6_1, Attr: flush.Attr}
	odp := &Device{Attr: DeviceAttr{KernelCapFlags: KernelOnDemandPaging}}
	tests := []struct {
		name   string
		dev    *Device
		access uint32
		want   *rule.Rule
	}{
		{"mr/access-2", flush, 0x2, rule.MRAccessNeedsLocalWrite},
		{"mr/access-3", flush, 0x3, nil},
		{"mr/access-4", flush, 0x4, nil},
		{"remote atomic alone", flush, 0x8, rule.MRAccessNeedsLocalWrite},
		{"mr/access-10", flush, 0x10, nil},
		{"mr/access-80", flush, 0x80, nil},
		{"mr/access-100", flush, 0x100, nil},
		{"mr/access-200", flush, 0x200, nil},
		{"mr/access-400", flush, 0x400, rule.MRAccessUnknown},
		{"mr/access-100000", flush, 0x100000, nil},
		{"mr/access-20000000", flush, 0x20000000, nil},
		{"mr/access-40000000", flush, 0x40000000, rule.MRAccessUnknown},
		{"paging on demand", flush, 0x40, rule.MRAccessNoOnDemand},
		{"paging on demand where there is", odp, 0x40, nil},
		{"global flush without it", odp, 0x100, rule.MRAccessNoFlush},
		{"persistent flush without it", odp, 0x200, rule.MRAccessNoFlush},
		{"local write comes first", odp, 0x400 | 0x2, rule.MRAccessNeedsLocalWrite},
		{"the unknown comes before paging", flush, 0x400 | 0x40, rule.MRAccessUnknown},
		{"mr/access-80 of 6.1", old, 0x80, nil},
		{"mr/access-100 of 6.1", old, 0x100, rule.MRAccessUnknown},
		{"persistent flush on 6.1", old, 0x200, rule.MRAccessUnknown},
		{"optional rights on 6.1", old, 0x100000, nil},
		{"paging on demand on 6.1", old, 0x40, rule.MRAccessOnDemandInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckMRAccess(tt.dev, tt.access)
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			require.Equal(t, error(tt.want), err)
		})
	}
}

// ofTask is a call of a thread, and nothing else.
type ofTask struct {
	Attrs
	task *process.Task
}

func (a ofTask) Task() *process.Task { return a.task }

// TestDeregMRUser: what a region is made of is in use until the driver has let the
// region go.
func TestDeregMRUser(t *testing.T) {
	var answer error
	dev := &Device{Ops: DeviceOps{DeregMR: func(*MR, *Udata) error { return answer }}}
	mr := &MR{Device: dev, PD: new(PD), DM: new(DM)}
	mr.PD.Usecnt.Store(2)
	mr.DM.Usecnt.Store(2)
	udata := &Udata{Attrs: ofTask{task: process.New(nil, process.Options{}).MainTask()}}
	answer = syscall.EBUSY
	require.Equal(t, answer, DeregMRUser(mr, udata))
	require.Equal(t, int32(2), mr.PD.Usecnt.Load())
	require.Equal(t, int32(2), mr.DM.Usecnt.Load())
	answer = nil
	require.NoError(t, DeregMRUser(mr, udata))
	require.Equal(t, int32(1), mr.PD.Usecnt.Load())
	require.Equal(t, int32(1), mr.DM.Usecnt.Load())
	mr.DM = nil
	require.NoError(t, DeregMRUser(mr, udata), "one of ordinary memory")
	require.Zero(t, mr.PD.Usecnt.Load())
}
