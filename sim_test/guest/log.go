package guest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// faults begin the lines with which a kernel says that something is wrong in
// itself.
var faults = []string{"BUG: ", "WARNING: ", "Oops: ", "general protection fault", "refcount_t: ", "INFO: task "}

// faultIn returns the first line of a log that has such a beginning, from there
// on, or "".
func faultIn(log string) string {
	for line := range strings.Lines(log) {
		for _, f := range faults {
			if i := strings.Index(line, f); i >= 0 {
				return strings.TrimSpace(line[i:])
			}
		}
	}
	return ""
}

// The lines that the guest's first process writes into the kernel's log: before it
// makes the device, when the device is there and the job begins, and before the
// device goes.
const (
	startMark = "uverbsim: the device is made"
	readyMark = "uverbsim: the job begins"
	goneMark  = "uverbsim: the job is done"
)

// harmless are what the kernel or a driver says at the level of a warning or
// above and what is not about the device.
var harmless = []*regexp.Regexp{
	// A machine without KVM: its clocks run as the host lets it run.
	regexp.MustCompile(`^(tsc|TSC|clocksource|hrtimer|perf|rcu|sched|workqueue)\b`),
	// The bridge is not Debian's.
	regexp.MustCompile(`^uverbsim_bridge: loading out-of-tree module taints kernel`),
	// The function has no capability of Mellanox's own in its configuration space
	// (vendor specific), through which diagnosis tools reach an adapter.
	regexp.MustCompile(`^mlx5_core [0-9a-f:.]+: mlx5_pci_vsc_init:\d+:\(pid \d+\): Failed to get valid vendor specific ID$`),
	// Capabilities without which an adapter has no network device, or one that can
	// do less; a device may be asked for without them.
	regexp.MustCompile(`^mlx5_core [0-9a-f:.]+: mlx5_eth_supported:\d+:\(pid \d+\): (Missing \w+ capability|CQ moderation is not supported)$`),
}

const warning = 4 // KERN_WARNING; what is worse has a smaller number

// complaints returns what the log has at the level of a warning or above while the
// device comes and while it goes, and what is not harmless. In between, a job may
// give the driver reasons to complain.
func complaints(log string) (odd []string) {
	_, device, _ := strings.Cut(log, startMark)
	before, job, _ := strings.Cut(device, readyMark)
	_, after, _ := strings.Cut(job, goneMark)
next:
	for line := range strings.Lines(before + after) {
		level, text, ok := cutLevel(line)
		if !ok || level > warning {
			continue
		}
		for _, h := range harmless {
			if h.MatchString(text) {
				continue next
			}
		}
		odd = append(odd, fmt.Sprintf("<%d>%s", level, text))
	}
	return odd
}

// logLineForm is a line of the log: level, time and text.
var logLineForm = regexp.MustCompile(`^<(\d)>\[ *[\d.]+\] (.*)$`)

// cutLevel takes a line apart.
func cutLevel(line string) (level int, text string, ok bool) {
	m := logLineForm.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
	if m == nil {
		return 0, "", false
	}
	level, err := strconv.Atoi(m[1])
	return level, m[2], err == nil
}
