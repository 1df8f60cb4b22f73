package process_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/rule"
)

func TestCapSet(t *testing.T) {
	require.True(t, process.FullCaps.Has(process.CAP_CHOWN))
	require.True(t, process.FullCaps.Has(process.CAP_LAST_CAP))
	require.False(t, process.FullCaps.Has(process.CAP_LAST_CAP+1))
	s := process.FullCaps.Without(process.CAP_NET_RAW, process.CAP_IPC_LOCK)
	require.False(t, s.Has(process.CAP_NET_RAW))
	require.False(t, s.Has(process.CAP_IPC_LOCK))
	require.True(t, s.Has(process.CAP_NET_ADMIN))
	require.Zero(t, process.FullCaps.Without(process.AllCaps()...))
}

// TestNewPointers: whoever sets something has new credentials afterwards, even
// if they say the same; a call that fails leaves them.
func TestNewPointers(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(p *process.Process) error
		err  error
	}{
		{"setuid to the same user", func(p *process.Process) error { return p.Setuid(0) }, nil},
		{"setgid to the same group", func(p *process.Process) error { return p.Setgid(0) }, nil},
		{"capset that drops nothing", func(p *process.Process) error { return p.Capset() }, nil},
		{"exec", func(p *process.Process) error { return p.Exec() }, nil},
		{"setuid to nobody", func(p *process.Process) error { return p.Setuid(^uint32(0)) }, rule.CredUID},
		{"setgid to nobody", func(p *process.Process) error { return p.Setgid(^uint32(0)) }, rule.CredGID},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := process.New(nil, process.Options{})
			old, say := p.Cred(), *p.Cred()
			err := c.call(p)
			require.Equal(t, say, *old, "credentials never change")
			require.Equal(t, say, *p.Cred())
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				require.Same(t, old, p.Cred())
				return
			}
			require.NoError(t, err)
			require.NotSame(t, old, p.Cred())
		})
	}
}

func TestSetuid(t *testing.T) {
	p := process.New(nil, process.Options{})
	require.NoError(t, p.Setuid(1000))
	require.Equal(t, process.Cred{UID: 1000, EUID: 1000, SUID: 1000}, *p.Cred(), "root no more: no capabilities")
	require.ErrorIs(t, p.Setuid(0), rule.CredSetuid)
	require.NoError(t, p.Setuid(1000))

	caps := process.CapSet(1) << process.CAP_SETUID
	p = process.New(nil, process.Options{Cred: &process.Cred{UID: 5, EUID: 5, SUID: 5, Permitted: caps, Effective: caps}})
	require.NoError(t, p.Setuid(7))
	require.Equal(t, process.Cred{UID: 7, EUID: 7, SUID: 7, Permitted: caps, Effective: caps}, *p.Cred())

	p = process.New(nil, process.Options{Cred: &process.Cred{UID: 5, EUID: 0, SUID: 0, Permitted: caps}})
	require.NoError(t, p.Setuid(5), "the real user, without the capability")
	require.Equal(t, process.Cred{UID: 5, EUID: 5, Permitted: caps}, *p.Cred())
	require.NoError(t, p.Setuid(0), "back to the saved user")
	require.Equal(t, process.Cred{UID: 5, Permitted: caps, Effective: caps}, *p.Cred())
}

func TestSetgid(t *testing.T) {
	p := process.New(nil, process.Options{})
	require.NoError(t, p.Setgid(100))
	require.Equal(t, uint32(100), p.Cred().SGID)
	require.Equal(t, process.FullCaps, p.Cred().Effective)
	require.NoError(t, p.Capset(process.CAP_SETGID))
	require.ErrorIs(t, p.Setgid(0), rule.CredSetgid)
	require.NoError(t, p.Setgid(100))

	p = process.New(nil, process.Options{Cred: &process.Cred{GID: 1, EGID: 2, SGID: 3}})
	require.NoError(t, p.Setgid(3))
	require.Equal(t, process.Cred{GID: 1, EGID: 3, SGID: 3}, *p.Cred())
	require.NoError(t, p.Setgid(1))
	require.ErrorIs(t, p.Setgid(2), rule.CredSetgid)
}

func TestCapset(t *testing.T) {
	p := process.New(nil, process.Options{})
	require.True(t, p.Capable(process.CAP_NET_RAW))
	require.NoError(t, p.Capset(process.CAP_NET_RAW))
	require.False(t, p.Capable(process.CAP_NET_RAW))
	require.False(t, p.Cred().Permitted.Has(process.CAP_NET_RAW))
	require.True(t, p.Capable(process.CAP_IPC_LOCK))
	require.NoError(t, p.Capset(process.AllCaps()...))
	require.Equal(t, process.Cred{}, *p.Cred())
	require.NoError(t, p.Exec())
	require.True(t, p.Capable(process.CAP_NET_RAW), "root has all again after exec")
	require.NoError(t, p.Setuid(1))
	require.NoError(t, p.Exec())
	require.Equal(t, process.Cred{UID: 1, EUID: 1, SUID: 1}, *p.Cred())
}

func TestCanDoMlock(t *testing.T) {
	p := process.New(nil, process.Options{})
	require.True(t, p.CanDoMlock())
	require.NoError(t, p.SetRlimit(process.RLIMIT_MEMLOCK, process.Rlimit{Max: 4096}))
	require.True(t, p.CanDoMlock(), "by its capability")
	require.NoError(t, p.Capset(process.CAP_IPC_LOCK))
	require.False(t, p.CanDoMlock())
	require.NoError(t, p.SetRlimit(process.RLIMIT_MEMLOCK, process.Rlimit{Cur: 1, Max: 4096}))
	require.True(t, p.CanDoMlock(), "by its limit")
}

func TestGenericPermission(t *testing.T) {
	const r, w, both = process.MAY_READ, process.MAY_WRITE, process.MAY_READ | process.MAY_WRITE
	user := process.Cred{UID: 1, EUID: 1000, EGID: 100}
	capable := func(c process.Cap) process.Cred {
		cred := user
		cred.Effective = 1 << c
		return cred
	}
	for _, c := range []struct {
		name         string
		cred         process.Cred
		owner, group uint32
		mode         uint32
		mask         int
		ok           bool
	}{
		{"everybody", user, 0, 0, 0o666, both, true},
		{"others read", user, 0, 0, 0o644, r, true},
		{"others write", user, 0, 0, 0o644, w, false},
		{"others both", user, 0, 0, 0o644, both, false},
		{"owner only", user, 0, 0, 0o600, r, false},
		{"owner", user, 1000, 0, 0o600, both, true},
		{"owner shut out", user, 1000, 100, 0o066, r, false},
		{"group", user, 0, 100, 0o060, both, true},
		{"group shut out", user, 0, 100, 0o606, r, false},
		{"effective, not real", user, 1, 0, 0o600, r, false},
		{"override", capable(process.CAP_DAC_OVERRIDE), 0, 0, 0, both, true},
		{"search reads", capable(process.CAP_DAC_READ_SEARCH), 0, 0, 0, r, true},
		{"search does not write", capable(process.CAP_DAC_READ_SEARCH), 0, 0, 0, both, false},
		{"root without capabilities", process.Cred{}, 7, 7, 0o600, r, false},
	} {
		err := process.GenericPermission(&c.cred, c.owner, c.group, c.mode, c.mask)
		if c.ok {
			require.NoError(t, err, c.name)
		} else {
			require.ErrorIs(t, err, syscall.EACCES, c.name)
		}
	}
	require.Equal(t, r, process.OpenMask(syscall.O_RDONLY|syscall.O_NONBLOCK))
	require.Equal(t, w, process.OpenMask(syscall.O_WRONLY))
	require.Equal(t, both, process.OpenMask(syscall.O_RDWR|syscall.O_CLOEXEC))
}
