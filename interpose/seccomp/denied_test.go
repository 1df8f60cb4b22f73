package seccomp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// denials are the filters that a container or an older kernel is played with:
// each refuses what that would refuse.
var denials = map[string]struct {
	rule Rule
	want *Missing // nil: nothing is missing
}{
	"no permission": {
		Rule{[]uint32{NrSeccomp}, nil, refuse(unix.EPERM)}, missingPermission,
	},
	"no seccomp": {
		Rule{[]uint32{NrSeccomp}, nil, refuse(unix.ENOSYS)}, missingSeccomp,
	},
	"no listener": {
		Rule{[]uint32{NrSeccomp}, nil, refuse(unix.EINVAL)}, missingNotify,
	},
	"no WAIT_KILLABLE_RECV": {
		Rule{[]uint32{NrSeccomp}, []Condition{{Word: Low(1), Mask: 0x20, Value: 0x20}}, refuse(unix.EINVAL)}, nil,
	},
	"no ADDFD": {
		Rule{[]uint32{NrIoctl}, []Condition{{Word: Low(1), Value: 0x40182103}}, refuse(unix.EINVAL)}, missingAddFD,
	},
	"no SYNC_WAKE_UP": {
		Rule{[]uint32{NrIoctl}, []Condition{{Word: Low(1), Value: 0x40082104}}, refuse(unix.EINVAL)}, nil,
	},
	"no process_vm_readv": {
		Rule{[]uint32{310}, nil, refuse(unix.EPERM)}, missingVM,
	},
	"no process_vm_writev": {
		Rule{[]uint32{311}, nil, refuse(unix.ENOSYS)}, missingVM,
	},
}

func init() { clients["denied"] = clientDenied }

// clientDenied puts itself under a denial and probes.
func clientDenied(args []string) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := Compile([]Rule{denials[args[0]].rule})
	if _, err := SetFilter(filter, unix.SECCOMP_FILTER_FLAG_TSYNC); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	err = Probe(Spec{Command: []string{exe, "launcher"}})
	var m *Missing
	if err != nil && !errors.As(err, &m) {
		return fmt.Errorf("not a Missing: %w", err)
	}
	return err
}

func TestProbeSaysWhatIsMissing(t *testing.T) {
	mustProbe(t)
	for name, d := range denials {
		t.Run(name, func(t *testing.T) {
			c := self("denied", name)
			out, err := exec.Command(c[0], c[1:]...).CombinedOutput()
			if d.want == nil {
				require.NoError(t, err, "%s", out)
				return
			}
			require.Error(t, err)
			require.Contains(t, string(out), d.want.What)
			require.Contains(t, string(out), d.want.Get)
		})
	}
}

func TestNoSyncWakeUp(t *testing.T) {
	p := mustLaunch(t, clientSpec(t, "answers"))
	require.Equal(t, kernelAtLeast(6, 6), p.Listener.SyncWakeUp())
	require.NoError(t, p.Process.Kill())
	p.Process.Wait()
	require.NoError(t, p.Listener.Close())

	null, err := os.Open("/dev/null")
	require.NoError(t, err)
	l := NewListener(null)
	require.False(t, l.SyncWakeUp())
	require.NoError(t, l.Close())
}

// mustProbe skips where the kernel has not what it takes; not in CI.
func mustProbe(t *testing.T) {
	err := Probe(Spec{Command: launcherCommand(t)})
	if m := new(Missing); err != nil && os.Getenv("CI") == "" && asMissing(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
}
