//go:build linux

package device

import (
	"os"
	"strconv"
	"strings"
)

func fdDir(pid int) string { return "/proc/" + itoa(pid) + "/fd/" }

func itoa(n int) string { return strconv.Itoa(n) }

// fdsOf returns the descriptors of a process, in order of their names.
func fdsOf(pid int) []int {
	d, err := os.Open(fdDir(pid))
	if err != nil {
		return nil
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil
	}
	own := -1
	if pid == os.Getpid() {
		own = int(d.Fd())
	}
	var fds []int
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd != own {
			fds = append(fds, fd)
		}
	}
	return fds
}

// isVerbs says whether a descriptor of this process is of the device or of one
// of its event files.
func isVerbs(fd int) bool {
	to, err := os.Readlink(fdDir(os.Getpid()) + itoa(fd))
	return err == nil && (strings.HasPrefix(to, nodes) || strings.Contains(to, "[infiniband"))
}
