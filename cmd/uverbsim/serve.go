package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"uverbsim/interpose"
	"uverbsim/interpose/record"
)

func newServeCmd() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve [flags] SOCKET",
		Short: "Be the machine for several programs",
		Long: `Serve makes a machine with RDMA devices and lets programs use it that are started
by "uverbsim run --attach SOCKET". All of them see the same devices and can talk
to each other. SOCKET is a Unix socket, which is made and removed at the end.

An interrupt ends it when the last program has ended; a second one ends it at
once, and programs that still run lose many of their system calls.`,
		Example: `  uverbsim serve /tmp/rdma.sock &
  uverbsim run --attach /tmp/rdma.sock -- ibv_rc_pingpong -g 1 &
  uverbsim run --attach /tmp/rdma.sock -- ibv_rc_pingpong -g 1 localhost`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("serve: %d arguments: it takes one, the SOCKET", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.serve(cmd, args[0]) },
	}
	o.machine.flags(cmd.Flags())
	o.watch.flags(cmd.Flags())
	return cmd
}

// serveOptions are the flags of serve.
type serveOptions struct {
	machine machineOptions
	watch   watchOptions
}

func (o *serveOptions) serve(cmd *cobra.Command, socket string) (err error) {
	l, err := listen(socket)
	if err != nil {
		return err
	}
	defer l.Close()
	watcher, err := o.watch.open(cmd.ErrOrStderr(), record.Options{Device: o.machine.asked()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watcher.Close()) }()
	m, err := o.machine.make(watcher.sink)
	if err != nil {
		return err
	}
	s, err := interpose.New(m.config(watcher, reporter(cmd)))
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // who reads what is watched may go before the programs
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(stop)
	go func() {
		<-stop
		l.Close()
		<-stop
		s.Abandon()
		os.Exit(1)
	}()
	fmt.Fprintf(cmd.ErrOrStderr(), "serving at %s\n", socket)
	return errors.Join(s.ListenAndServe(l), s.Close())
}

// listen makes the socket. One that nobody listens at any more is replaced.
func listen(socket string) (*net.UnixListener, error) {
	at := &net.UnixAddr{Name: socket, Net: "unix"}
	l, err := net.ListenUnix("unix", at)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	if st, err := os.Lstat(socket); err == nil && st.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s is there, and no socket", socket)
	}
	if conn, err := net.DialUnix("unix", nil, at); !errors.Is(err, syscall.ECONNREFUSED) {
		if err == nil {
			conn.Close()
			return nil, fmt.Errorf("%s: another server is there", socket)
		}
		return nil, err
	}
	if err := os.Remove(socket); err != nil {
		return nil, err
	}
	return net.ListenUnix("unix", at)
}
