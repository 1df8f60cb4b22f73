package record

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"uverbsim/interpose/procstatus"
)

// Process is what is recorded of a process besides its calls.
type Process struct {
	Args []string // its command line

	UID, GID uint32
	Caps     uint64 // the effective capabilities, a bit each
	Memlock  int64  // soft limit of locked memory in bytes; negative: none
}

// allCaps are all capabilities up to CAP_CHECKPOINT_RESTORE,
// include/uapi/linux/capability.h.
const allCaps = 1<<41 - 1

// OfProc asks /proc about a process. What cannot be read is as of a process of root's.
func OfProc(pid int) Process {
	p := Process{Caps: allCaps, Memlock: -1}
	dir := fmt.Sprintf("/proc/%d/", pid)
	if line, err := os.ReadFile(dir + "cmdline"); err == nil && len(line) > 0 { // one that has ended has none
		p.Args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	}
	if s, err := procstatus.Read(pid); err == nil {
		p.UID, p.GID, p.Caps = s.UID.Effective, s.GID.Effective, s.Effective
	}
	limits, _ := os.ReadFile(dir + "limits")
	for s := bufio.NewScanner(bytes.NewReader(limits)); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "Max locked memory"); ok {
			soft, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			if n, err := strconv.ParseInt(soft, 10, 64); err == nil { // else it is "unlimited"
				p.Memlock = n
			}
		}
	}
	return p
}
