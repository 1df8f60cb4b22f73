package mlx5

import (
	"math"
	"math/bits"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

// clockMask is how many bits of the counter the driver uses.
const clockMask = 1<<41 - 1

// initClockInfo makes the page by which users turn the counter into time. The
// driver would go on updating it; here it stays as it begins, at time 0. It
// models mlx5_timecounter_init, mlx5_init_clock_info and
// mlx5_init_overflow_period in drivers/net/ethernet/mellanox/mlx5/core/lib/clock.c.
func (d *Device) initClockInfo() {
	d.clockInfo = copyuser.NewPage()
	khz := d.caps.get(capDeviceFrequency)
	if khz == 0 {
		return
	}
	const nsecPerMsec, nsecPerJiffy = 1000000, 4000000 // 250 jiffies a second
	shift := min(log2Floor(khz)+16, log2Floor(math.MaxUint32/nsecPerMsec*khz))
	mult := (nsecPerMsec<<shift + khz/2) / khz
	cycles := min(math.MaxInt64/mult, clockMask/3)
	d.clockInfo.Store(0, spec.Bytes(&spec.Mlx5ClockInfo{
		Mult: uint32(mult), Shift: uint32(shift), Mask: clockMask,
		OverflowPeriod: cycles * mult >> shift / nsecPerJiffy,
	}))
}

func log2Floor(n uint64) uint64 { return uint64(bits.Len64(n) - 1) }
