// Command lookon runs a program in a guest, looks on by interpose/ptrace and
// prints on standard error each call that the program and its children make on
// RDMA devices, as JSON.
package main

import (
	"context"
	"fmt"
	"os"

	"uverbsim/interpose/ptrace"
	"uverbsim/report/strace"
)

func main() {
	ptrace.ServeLauncher()
	printer := strace.New(os.Stderr, strace.Options{JSON: true, Verbose: true})
	status, err := ptrace.Run(context.Background(), os.Args[1:], nil, printer, ptrace.Options{Transfers: true})
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	case status.Signaled():
		os.Exit(128 + int(status.Signal()))
	}
	os.Exit(status.ExitStatus())
}
