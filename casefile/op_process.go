package casefile

import (
	"strconv"
	"strings"
)

// The operations that concern the process: credentials, limits, descriptors,
// children.

// Setuid calls setuid(2). It makes new credentials even for the same user.
type Setuid struct {
	UID int
}

func (a *Setuid) members(o *object) { lengthMember(o, "uid", &a.UID, must) }

// Setgid calls setgid(2). It makes new credentials even for the same group.
type Setgid struct {
	GID int
}

func (a *Setgid) members(o *object) { lengthMember(o, "gid", &a.GID, must) }

// Capset takes capabilities out of all three sets. It makes new credentials
// even when it takes out none.
type Capset struct {
	Drop []string // CAP_..., or all
}

func (a *Capset) members(o *object) {
	texts(o, "drop", &a.Drop, may, func(it item, name string) {
		if name != "all" && !strings.HasPrefix(name, "CAP_") {
			it.fail("%q is no capability", shorten(name))
		}
	})
}

// Rlimit sets a soft limit, to Cur or so that Free more descriptors can be
// opened.
type Rlimit struct {
	Which string // MEMLOCK or NOFILE
	Cur   *int64 // -1: the hard limit
	Free  *int   // NOFILE only
}

func (a *Rlimit) members(o *object) {
	o.text("which", &a.Which, must, "MEMLOCK", "NOFILE")
	o.oneOf(must, "cur", "free")
	optional(o, "cur", &a.Cur, integer)
	optional(o, "free", &a.Free, length)
	if o.c.reading && a.Free != nil && a.Which != "NOFILE" {
		o.fail("free is for NOFILE")
	}
}

// FDs counts the descriptors that are open beyond those at the start: the
// answer's ret.
type FDs struct{}

func (*FDs) members(*object) {}

// Cgroup has to do with the control group of the process and its RDMA limits.
type Cgroup struct {
	How string // enter (also when empty), set, leave or current
	Max string // of rdma.max for the device: hca_handle=N hca_object=N
}

func (a *Cgroup) members(o *object) {
	o.text("how", &a.How, may, "enter", "set", "leave", "current")
	o.text("max", &a.Max, may)
	if o.c.reading && a.Max != "" && (a.How == "leave" || a.How == "current") {
		o.fail("%s takes no max", a.How)
	}
}

// Chmod sets the mode of the device node.
type Chmod struct {
	Mode string // octal
}

func (a *Chmod) members(o *object) {
	o.text("mode", &a.Mode, must)
	if _, err := strconv.ParseUint(a.Mode, 8, 32); o.c.reading && err != nil {
		o.fail("mode %q is not octal", shorten(a.Mode))
	}
}

// Dup doubles a descriptor. The answer's ret is "*".
type Dup struct {
	FD  string
	As  string // the new descriptor's name
	How string // dup (also when empty), dup2, dup3, fdupfd or fdupfd_cloexec
	To  string // dup2, dup3: the descriptor that it takes the place of
	N   int    // fdupfd: the lowest number
}

func (a *Dup) members(o *object) {
	o.uses(descriptors, "fd", &a.FD, must)
	o.text("how", &a.How, may, "dup", "dup2", "dup3", "fdupfd", "fdupfd_cloexec")
	onto := a.How == "dup2" || a.How == "dup3"
	if onto {
		o.uses(descriptors, "to", &a.To, must)
	}
	if strings.HasPrefix(a.How, "fdupfd") {
		lengthMember(o, "n", &a.N, may)
	}
	o.makes(descriptors, "as", &a.As, may)
}

// Fork makes a child process with a copy of memory, names and descriptors. It
// waits for the steps that are its own. The answer's ret is "*".
type Fork struct {
	As string
}

func (a *Fork) members(o *object) { o.makes(processes, "as", &a.As, must) }

// Exec has a child call execve(2): its buffers are as at the start, names are
// kept, descriptors with O_CLOEXEC are closed.
type Exec struct{}

func (*Exec) members(*object) {}

// Exit has a child go without closing anything, and reaps it.
type Exit struct{}

func (*Exit) members(*object) {}

// Recvfd passes a descriptor of the first process to a child.
type Recvfd struct {
	FD string
	As string // the child's name for it
}

func (a *Recvfd) members(o *object) {
	o.uses(descriptors, "fd", &a.FD, must)
	o.makes(descriptors, "as", &a.As, must)
}
