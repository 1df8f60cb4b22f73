package seccomp

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The launcher and its parent talk over a pair of packet sockets. The launcher
// sends its listener, or what it failed by; the parent says go; the launcher
// executes the program, which closes the socket, or sends what it failed by.
const (
	msgListener = 'l' // with the listener's file
	msgGo       = 'g'
	msgFailed   = 'x' // exit status, text
	msgMissing  = 'm' // the fields of a Missing, separated by NUL
)

// maxMessage is longer than any message but one with an enormous path, which is
// then cut.
const maxMessage = 64 << 10

// launcherArgs are the launcher's command line.
type launcherArgs struct {
	socket int
	opts   Options
	probe  bool     // answer Probe instead of executing a program
	prog   []string // the program and its arguments
}

// strings returns the command line: descriptor and options in one argument, and
// the program's own as they are.
func (a launcherArgs) strings() []string {
	head := strconv.Itoa(a.socket)
	for _, o := range a.flags() {
		if *o.on {
			head += "," + o.name
		}
	}
	return append([]string{head}, a.prog...)
}

type launcherFlag struct {
	name string
	on   *bool
}

func (a *launcherArgs) flags() []launcherFlag {
	return []launcherFlag{
		{"munmap", &a.opts.Munmap},
		{"write", &a.opts.Write},
		{"listener", &a.opts.Listener},
		{"probe", &a.probe},
	}
}

func parseLauncherArgs(args []string) (launcherArgs, error) {
	var a launcherArgs
	if len(args) == 0 {
		return a, errors.New("the launcher is started by run, not by hand")
	}
	a.prog = args[1:]
	head := strings.Split(args[0], ",")
	var err error
	if a.socket, err = strconv.Atoi(head[0]); err != nil || a.socket < 3 {
		return a, fmt.Errorf("launcher: no descriptor: %q", head[0])
	}
	for _, name := range head[1:] {
		known := false
		for _, o := range a.flags() {
			if o.name == name {
				*o.on, known = true, true
			}
		}
		if !known {
			return a, fmt.Errorf("launcher: unknown option %q", name)
		}
	}
	if len(a.prog) == 0 && !a.probe {
		return a, errors.New("launcher: no program")
	}
	return a, nil
}

// sendMessage is a sendmsg, which the filter never notifies, as it may a write.
func sendMessage(socket int, msg []byte, f *os.File) error {
	var oob []byte
	if f != nil {
		oob = unix.UnixRights(int(f.Fd()))
	}
	for {
		err := unix.Sendmsg(socket, msg, oob, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

// recvMessage returns no bytes when the other end is closed.
func recvMessage(socket int) ([]byte, *os.File, error) {
	msg, oob := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(socket, msg, oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		f, err := passedFile(oob[:oobn])
		return msg[:n], f, err
	}
}

// failure makes a message of what the launcher failed by.
func failure(err error) []byte {
	var missing *Missing
	if errors.As(err, &missing) {
		return []byte(string(msgMissing) + missing.What + "\x00" + missing.Need + "\x00" + missing.Get)
	}
	start := &StartError{Status: notExecutable, Text: err.Error()}
	errors.As(err, &start)
	msg := append([]byte{msgFailed, byte(start.Status)}, start.Text...)
	return msg[:min(len(msg), maxMessage)]
}

// parseFailure is the reverse of failure.
func parseFailure(msg []byte) error {
	switch {
	case len(msg) > 1 && msg[0] == msgFailed:
		return &StartError{Status: int(msg[1]), Text: string(msg[2:])}
	case len(msg) > 0 && msg[0] == msgMissing:
		if f := strings.Split(string(msg[1:]), "\x00"); len(f) == 3 {
			return &Missing{What: f[0], Need: f[1], Get: f[2]}
		}
	}
	return fmt.Errorf("the launcher sent something else: %q", msg)
}
