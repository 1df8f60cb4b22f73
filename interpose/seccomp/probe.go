package seccomp

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Probe says what this machine, or the container that the process runs in,
// lacks to supervise a program: a *Missing, or nil. It starts a launcher by
// spec's Command and does once, on it, all that a supervisor does.
func Probe(spec Spec) error {
	if runtime.GOARCH != "amd64" {
		return missingArch
	}
	p, err := launch(spec, launcherArgs{probe: true})
	if err != nil {
		return err
	}
	defer p.Listener.Close()
	state := make(chan *os.ProcessState, 1)
	if err := p.Go(); err != nil {
		return err
	}
	go func() {
		s, _ := p.Process.Wait()
		state <- s
	}()
	err = (&prober{Listener: p.Listener}).serve()
	if err != nil {
		p.Process.Kill()
	}
	s := <-state
	if err == nil && !s.Success() {
		return fmt.Errorf("the probe was answered, but not as it should be: %v", s)
	}
	return err
}

// What the probe's ioctl finds, leaves and returns.
var (
	probeAsk    = [8]byte{'p', 'r', 'o', 'b', 'e', ' ', 'm', 'e'}
	probeAnswer = [8]byte{'a', 'n', 's', 'w', 'e', 'r', 'e', 'd'}
)

const probeResult = 42

// prober answers the calls of probed.
type prober struct {
	*Listener
	opened bool
}

// serve answers calls until the probed process has ended or something fails.
func (p *prober) serve() error {
	var n Notif
	for {
		switch err := p.Recv(&n); err {
		case nil:
		case ErrGone:
			return nil
		case unix.ENOTTY, unix.EINVAL:
			return missingNotify
		default:
			return fmt.Errorf("receiving a notification: %w", err)
		}
		if err := p.answer(&n); err != nil && err != ErrTaskGone {
			return err
		}
	}
}

func (p *prober) answer(n *Notif) error {
	switch {
	case n.Nr == NrIoctl:
		if err := tryMemory(int(n.PID), uintptr(n.Args[2])); err != nil {
			return err
		}
		return p.Send(n.ID, probeResult, 0)
	case n.Nr == NrOpenat && !p.opened:
		p.opened = true
		_, err := p.AddFDSend(n.ID, p.fd, true)
		if err == unix.EINVAL || err == unix.ENOTTY {
			return missingAddFD
		}
		return err
	}
	err := p.Continue(n.ID)
	if err == unix.EINVAL {
		return missingContinue
	}
	return err
}

// tryMemory reads the probe's words and writes the answer.
func tryMemory(pid int, addr uintptr) error {
	var word [8]byte
	local := []unix.Iovec{{Base: &word[0], Len: 8}}
	remote := []unix.RemoteIovec{{Base: addr, Len: len(word)}}
	if _, err := unix.ProcessVMReadv(pid, local, remote, 0); err != nil {
		return memoryRefused(err)
	}
	if !bytes.Equal(word[:], probeAsk[:]) {
		return fmt.Errorf("process_vm_readv read %q of a child", word)
	}
	word = probeAnswer
	if _, err := unix.ProcessVMWritev(pid, local, remote, 0); err != nil {
		return memoryRefused(err)
	}
	return nil
}

// memoryRefused tells by whom another process's memory is refused.
func memoryRefused(err error) error {
	switch ptraceScope() {
	case "2":
		return missingPtraceCap
	case "3":
		return missingPtraceScope
	}
	m := *missingVM
	m.What += fmt.Sprintf(" (%v)", err)
	return &m
}

// ptraceScope is kernel.yama.ptrace_scope, empty where there is no Yama.
func ptraceScope() string {
	b, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return strings.TrimSpace(string(b))
}

// Reach says whether this process may read and write the memory of another,
// which it may of what it launched, but of what it did not only where Yama
// lets it: for a server that was sent a listener. The error is a *Missing, or
// unix.ESRCH when the process is gone.
func Reach(pid int) error {
	// Opening it is checked as the calls are.
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH):
		return unix.ESRCH
	case !errors.Is(err, os.ErrPermission):
		return err
	}
	if ptraceScope() == "1" {
		return missingAncestor
	}
	if os.Geteuid() != 0 {
		return missingOwner
	}
	return memoryRefused(err)
}

// probed makes the calls that Probe answers, and returns the status to exit
// with: the number of the call that was not answered as it should be, or 0.
func probed() int {
	word := probeAsk
	if r, errno := probeIoctl(&word); errno != 0 || r != probeResult || word != probeAnswer {
		return 1
	}
	fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil || isNull(fd) {
		return 2
	}
	fd, err = unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil || !isNull(fd) {
		return 3
	}
	return 0
}

// isNull says whether fd is a character device, and so not the file that is
// given in its place.
func isNull(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR
}
