package interpose

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/seccomp"
)

// A program is attached to a server by a line of text each way: the server says
// that it is there or what it lacks, the other side sends the listener, and the
// server says that it serves. The connection ends with the session.
const (
	helloLine = "uverbsim server"
	serveLine = "serving"
)

// ListenAndServe lets programs attach at a Unix socket, until the listener is
// closed; then it returns when the last of them is gone.
func (s *Supervisor) ListenAndServe(l *net.UnixListener) error {
	defer s.serving.Wait()
	for {
		conn, err := l.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ECONNABORTED):
			s.report("attach: %v", err)
			time.Sleep(time.Second) // programs may end meanwhile
			continue
		}
		if err != nil {
			return fmt.Errorf("interpose: %w", err)
		}
		s.serving.Add(1)
		go func() {
			defer s.serving.Done()
			defer conn.Close()
			if err := s.admit(conn); err != nil {
				s.report("attach: %v", err)
			}
		}()
	}
}

// greeting is how long who connects may take until he has sent his listener.
const greeting = 30 * time.Second

// admit serves a program that attaches.
func (s *Supervisor) admit(conn *net.UnixConn) error {
	if err := conn.SetDeadline(time.Now().Add(greeting)); err != nil {
		return err
	}
	pid, err := peer(conn)
	if err != nil {
		return err
	}
	if err := seccomp.Reach(pid); err != nil {
		fmt.Fprintln(conn, err)
		return fmt.Errorf("process %d: %w", pid, err)
	}
	if _, err := fmt.Fprintln(conn, helloLine); err != nil {
		return err
	}
	f, err := seccomp.RecvFile(conn)
	if errors.Is(err, io.EOF) {
		return nil // he only wanted to know who is there
	}
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	if _, err := fmt.Fprintln(conn, serveLine); err != nil {
		f.Close()
		return err
	}
	s.Serve(seccomp.NewListener(f))
	return nil
}

// peer returns the process at the other end.
func peer(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if credErr != nil {
		return 0, credErr
	}
	return int(cred.Pid), nil
}

// ErrServer says that a server cannot serve this process.
var ErrServer = errors.New("the server cannot serve this process")

// RunAttached starts a program whose system calls the server at a socket answers,
// and returns how it ended. The errors are those of seccomp.Launch, of the
// connection, and ErrServer.
func RunAttached(socket string, spec seccomp.Spec) (syscall.WaitStatus, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	if err := expect(in, helloLine); err != nil {
		return 0, err
	}
	p, err := seccomp.Launch(spec)
	if err != nil {
		return 0, err
	}
	err = seccomp.SendFile(conn, p.Listener.File())
	if err == nil {
		err = expect(in, serveLine)
	}
	if closeErr := p.Listener.Close(); err == nil { // the server has it
		err = closeErr
	}
	if err != nil {
		p.Stop()
		return 0, err
	}
	return goAndWait(p)
}

// expect reads a line of the server's.
func expect(in *bufio.Reader, want string) error {
	line, err := in.ReadString('\n')
	line = strings.TrimSuffix(line, "\n")
	switch {
	case line == want:
		return nil
	case line != "":
		return fmt.Errorf("%w: %s", ErrServer, line)
	}
	return fmt.Errorf("%w: %w", ErrServer, err)
}
