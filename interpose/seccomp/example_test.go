package seccomp_test

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/seccomp"
)

// A program is started that opens what does not exist; it gets another file.
func Example() {
	exe, _ := os.Executable()
	p, err := seccomp.Launch(seccomp.Spec{
		Command: []string{exe, "launcher"}, // whose main calls seccomp.Main
		Prog:    []string{"cat", "/dev/infiniband/greeting"},
		Options: seccomp.Defaults(),
		Stdout:  os.Stdout,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, w, _ := os.Pipe()
	w.WriteString("hello from the supervisor\n")
	w.Close()

	go func() {
		var n seccomp.Notif
		for p.Listener.Recv(&n) == nil {
			if n.Nr == seccomp.NrOpenat && path(n) == "/dev/infiniband/greeting" {
				p.Listener.AddFDSend(n.ID, int(r.Fd()), true)
				continue
			}
			p.Listener.Continue(n.ID)
		}
	}()
	if err := p.Go(); err != nil {
		fmt.Println(err)
		return
	}
	state, _ := p.Process.Wait()
	fmt.Println(state)
	// Output:
	// hello from the supervisor
	// exit status 0
}

// path reads the path that an openat names from the program's memory.
func path(n seccomp.Notif) string {
	var b [64]byte
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	remote := []unix.RemoteIovec{{Base: uintptr(n.Args[1]), Len: len(b)}}
	if _, err := unix.ProcessVMReadv(int(n.PID), local, remote, 0); err != nil {
		return ""
	}
	return unix.ByteSliceToString(b[:])
}
