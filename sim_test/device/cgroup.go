//go:build linux

package device

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/sim_test/player"
)

// cgroupRoot is where control groups of version 2 are.
const cgroupRoot = "/sys/fs/cgroup"

// cgroup is a control group that a case has made, and the RDMA device that it
// limits.
type cgroup struct{ dir, ibdev string }

// newCgroup makes an empty group with an RDMA controller.
func newCgroup(ibdev string) (*cgroup, error) {
	if err := wantRDMA(cgroupRoot); err != nil {
		return nil, &player.Unplayable{Op: "cgroup", Reason: fmt.Sprintf("%s has no RDMA controller: %v", cgroupRoot, err)}
	}
	dir, err := os.MkdirTemp(cgroupRoot, "uverbsim.")
	if err != nil {
		return nil, noErrno(err)
	}
	return &cgroup{dir, ibdev}, nil
}

// wantRDMA has the groups below the root count RDMA resources. What is no file system
// of control groups would take any file, and any line.
func wantRDMA(root string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(root, &fs); err != nil {
		return err
	}
	if fs.Type != unix.CGROUP2_SUPER_MAGIC {
		return errors.New("no control groups of version 2")
	}
	return write(root, "cgroup.subtree_control", "+rdma")
}

// remove takes the group away; the kernel may take a moment to let it go. The
// limits go first: with them in place the device keeps a pointer to the group
// (rdmacg_css_offline in kernel/cgroup/rdma.c frees no pool), which its removal
// follows.
func (g *cgroup) remove() {
	const tries = 50
	write(g.dir, "rdma.max", g.ibdev+" hca_handle=max hca_object=max") // it may have none
	for range tries {
		if unix.Rmdir(g.dir) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// write is the answer of a write to one of a group's files.
func write(dir, file, text string) error {
	err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0)
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// errNoGroup is the error of a case that asks for a group before it entered one.
var errNoGroup = &player.Unplayable{Op: "cgroup", Reason: "the process has entered no group"}

// EnterCgroup implements player.Identity.
func (t *Task) EnterCgroup(max string) (err error) {
	m := t.m
	if m.group == nil {
		if m.group, err = newCgroup(m.target.ibdev); err != nil {
			return err
		}
	}
	if max != "" {
		if err := t.CgroupMax(max); err != nil {
			return err
		}
	}
	return write(m.group.dir, "cgroup.procs", itoa(t.pid))
}

// CgroupMax implements player.Identity.
func (t *Task) CgroupMax(max string) error {
	if t.m.group == nil {
		return errNoGroup
	}
	return write(t.m.group.dir, "rdma.max", t.m.target.ibdev+" "+max)
}

// LeaveCgroup implements player.Identity.
func (t *Task) LeaveCgroup() error { return write(cgroupRoot, "cgroup.procs", itoa(t.pid)) }

// CgroupCurrent implements player.Identity.
func (t *Task) CgroupCurrent() (string, error) {
	if t.m.group == nil {
		return "", errNoGroup
	}
	b, err := os.ReadFile(filepath.Join(t.m.group.dir, "rdma.current"))
	if err != nil {
		return "", noErrno(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, t.m.target.ibdev+" "); ok {
			return rest, nil
		}
	}
	return "", nil
}
