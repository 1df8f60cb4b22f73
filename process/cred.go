package process

import (
	"syscall"

	"uverbsim/rule"
)

// Cap is a capability.
type Cap uint8

// The CAP_* numbers, include/uapi/linux/capability.h.
const (
	CAP_CHOWN           Cap = 0
	CAP_DAC_OVERRIDE    Cap = 1
	CAP_DAC_READ_SEARCH Cap = 2
	CAP_SETGID          Cap = 6
	CAP_SETUID          Cap = 7
	CAP_NET_ADMIN       Cap = 12
	CAP_NET_RAW         Cap = 13
	CAP_IPC_LOCK        Cap = 14
	CAP_SYS_ADMIN       Cap = 21
	CAP_SYS_RESOURCE    Cap = 24
	CAP_LAST_CAP        Cap = 40
)

// CapSet is a set of capabilities: kernel_cap_t.
type CapSet uint64

// FullCaps has every capability: CAP_FULL_SET.
const FullCaps CapSet = 1<<(CAP_LAST_CAP+1) - 1

// Has reports whether c is in the set.
func (s CapSet) Has(c Cap) bool { return s>>c&1 != 0 }

// Without returns the set less those capabilities.
func (s CapSet) Without(caps ...Cap) CapSet {
	for _, c := range caps {
		s &^= 1 << c
	}
	return s
}

// AllCaps returns every capability.
func AllCaps() []Cap {
	caps := make([]Cap, CAP_LAST_CAP+1)
	for i := range caps {
		caps[i] = Cap(i)
	}
	return caps
}

// Cred are the credentials of a process: struct cred of include/linux/cred.h.
// They never change. Every call that sets something makes new ones, even if
// they say the same, so that two pointers are equal only if no such call came
// between.
type Cred struct {
	UID, EUID, SUID uint32
	GID, EGID, SGID uint32

	Permitted, Effective, Inheritable CapSet
}

// Root returns new credentials of user 0 with all capabilities.
func Root() *Cred { return &Cred{Permitted: FullCaps, Effective: FullCaps} }

// Cred models current_cred: the credentials as they are now.
func (p *Process) Cred() *Cred {
	if p.host != nil {
		return p.host.Cred()
	}
	return p.cred.Load()
}

// Capable models capable in kernel/capability.c.
func (p *Process) Capable(c Cap) bool { return p.Cred().Effective.Has(c) }

// CanDoMlock models can_do_mlock in mm/mlock.c: whether the process may lock
// memory at all.
func (p *Process) CanDoMlock() bool {
	return p.Rlimit(RLIMIT_MEMLOCK) != 0 || p.Capable(CAP_IPC_LOCK)
}

// setCred models prepare_creds and commit_creds in kernel/cred.c around a
// change of the credentials.
func (p *Process) setCred(change func(old, next *Cred) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.Cred()
	next := *old
	if err := change(old, &next); err != nil {
		return err
	}
	p.cred.Store(&next)
	return nil
}

const invalidID = ^uint32(0)

// Setuid models setuid(2): __sys_setuid in kernel/sys.c, for all threads, as
// the C library makes it. Its errors are the rules cred/uid and cred/setuid.
func (t *Task) Setuid(uid uint32) error {
	t.enter()
	defer t.leave()
	if uid == invalidID {
		return rule.CredUID
	}
	return t.setCred(func(old, next *Cred) error {
		switch {
		case old.Effective.Has(CAP_SETUID):
			next.UID, next.SUID = uid, uid
		case uid != old.UID && uid != old.SUID:
			return rule.CredSetuid
		}
		next.EUID = uid
		next.emulateSetxuid(old)
		return nil
	})
}

// emulateSetxuid models cap_emulate_setxuid in security/commoncap.c: whoever
// stops being root loses the capabilities.
func (c *Cred) emulateSetxuid(old *Cred) {
	wasRoot := old.UID == 0 || old.EUID == 0 || old.SUID == 0
	isRoot := c.UID == 0 || c.EUID == 0 || c.SUID == 0
	if wasRoot && !isRoot {
		c.Permitted, c.Effective = 0, 0
	}
	if old.EUID == 0 && c.EUID != 0 {
		c.Effective = 0
	}
	if old.EUID != 0 && c.EUID == 0 {
		c.Effective = c.Permitted
	}
}

// Setgid models setgid(2): __sys_setgid in kernel/sys.c. Its errors are the
// rules cred/gid and cred/setgid.
func (t *Task) Setgid(gid uint32) error {
	t.enter()
	defer t.leave()
	if gid == invalidID {
		return rule.CredGID
	}
	return t.setCred(func(old, next *Cred) error {
		switch {
		case old.Effective.Has(CAP_SETGID):
			next.GID, next.SGID = gid, gid
		case gid != old.GID && gid != old.SGID:
			return rule.CredSetgid
		}
		next.EGID = gid
		return nil
	})
}

// Capset models capset(2) in kernel/capability.c, where it only takes away: it
// drops the capabilities from the three sets.
func (t *Task) Capset(drop ...Cap) error {
	t.enter()
	defer t.leave()
	return t.setCred(func(_, next *Cred) error {
		next.Permitted = next.Permitted.Without(drop...)
		next.Effective = next.Effective.Without(drop...)
		next.Inheritable = next.Inheritable.Without(drop...)
		return nil
	})
}

// execCred models cap_bprm_creds_from_file in security/commoncap.c for a
// program without capabilities of its own: root gets all, others lose all.
func (p *Process) execCred() {
	_ = p.setCred(func(old, next *Cred) error {
		next.Permitted, next.Effective = 0, 0
		if old.UID == 0 || old.EUID == 0 {
			next.Permitted = FullCaps
		}
		if old.EUID == 0 {
			next.Effective = next.Permitted
		}
		next.SUID, next.SGID = next.EUID, next.EGID
		return nil
	})
}

// What GenericPermission is asked for: MAY_*, include/linux/fs.h.
const (
	MAY_WRITE = 2
	MAY_READ  = 4
)

// GenericPermission models generic_permission in fs/namei.c for a file that is
// no directory and is not executed: whether these credentials may open an
// inode of that owner, group and mode for what mask says. Its error is the
// rule open/permission.
func GenericPermission(c *Cred, owner, group, mode uint32, mask int) error {
	bits := mode
	switch {
	case c.EUID == owner:
		bits = mode >> 6
	case c.EGID == group:
		bits = mode >> 3
	}
	switch {
	case uint32(mask)&^bits == 0:
		return nil
	case mask == MAY_READ && c.Effective.Has(CAP_DAC_READ_SEARCH):
		return nil
	case c.Effective.Has(CAP_DAC_OVERRIDE):
		return nil
	}
	return rule.OpenPermission
}

// OpenMask returns what GenericPermission is to be asked for by an open with
// those flags: ACC_MODE, include/linux/fs.h.
func OpenMask(flags int) (mask int) { return openMasks[flags&syscall.O_ACCMODE] }

var openMasks = [...]int{
	syscall.O_RDONLY:  MAY_READ,
	syscall.O_WRONLY:  MAY_WRITE,
	syscall.O_RDWR:    MAY_READ | MAY_WRITE,
	syscall.O_ACCMODE: MAY_READ | MAY_WRITE, // it is asked for both and gets neither
}
