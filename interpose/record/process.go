package record

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
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
	if line, err := os.ReadFile(dir + "cmdline"); err == nil {
		p.Args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	}
	status, _ := os.ReadFile(dir + "status")
	for s := bufio.NewScanner(bytes.NewReader(status)); s.Scan(); {
		f := strings.Fields(s.Text())
		switch {
		case len(f) == 5 && f[0] == "Uid:":
			p.UID = number(f[2], 10, p.UID)
		case len(f) == 5 && f[0] == "Gid:":
			p.GID = number(f[2], 10, p.GID)
		case len(f) == 2 && f[0] == "CapEff:":
			p.Caps = number(f[1], 16, p.Caps)
		}
	}
	limits, _ := os.ReadFile(dir + "limits")
	for s := bufio.NewScanner(bytes.NewReader(limits)); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "Max locked memory"); ok {
			if f := strings.Fields(rest); len(f) > 0 && f[0] != "unlimited" {
				p.Memlock = number(f[0], 10, int64(math.MaxInt64))
			}
		}
	}
	return p
}

// number reads a number; what is none counts as otherwise.
func number[T uint32 | uint64 | int64](s string, base int, otherwise T) T {
	n, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		return otherwise
	}
	return T(n)
}
