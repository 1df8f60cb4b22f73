//go:build linux

package device

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// request asks an agent for a system call. The last argument of a clone is the
// lane that the child is to serve.
type request struct {
	nr   uintptr
	args args
}

// reply is what the system call returned.
type reply struct {
	ret   uintptr
	errno uintptr
}

const (
	requestSize = unsafe.Sizeof(request{})
	replySize   = unsafe.Sizeof(reply{})
)

// ServeAgent does nothing in an ordinary process. In one that was started as an
// agent it serves until it is told to go, and does not return.
func ServeAgent() {
	role := os.Getenv(agentEnv)
	if role == "" {
		return
	}
	debug.SetGCPercent(-1) // a collection would wait for the threads that serve
	runtime.LockOSThread()
	if role != roleFirst {
		n, err := strconv.Atoi(role)
		if err != nil {
			os.Exit(2)
		}
		greet(n)
		serve(laneFD(n), new(request), new(reply))
	}
	for i := range lanes {
		for j := range fdsPerLane {
			inherited := firstInherited + i*fdsPerLane + j
			if _, err := unix.FcntlInt(uintptr(inherited), unix.F_DUPFD_CLOEXEC, int(laneFD(i))+j); err != nil {
				os.Exit(2)
			}
			unix.Close(inherited)
		}
	}
	for i := firstThread; i < firstChild; i++ {
		go func() {
			runtime.LockOSThread()
			serve(laneFD(i), new(request), new(reply))
		}()
	}
	greet(0)
	serve(laneFD(0), new(request), new(reply))
}

// greet tells the player that the agent listens.
func greet(lane int) {
	var hello [replySize]byte
	unix.Write(int(laneFD(lane)), hello[:]) // the player sees that nothing came
}

// serve makes the system calls that come in on a lane. After a fork it goes on
// in the child, where the Go runtime has lost its other threads: nothing in it
// may ask the runtime for anything, so it is one function without a check of
// its stack, at which the runtime would come in.
//
//go:nosplit
func serve(fd uintptr, q *request, r *reply) {
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(q)), requestSize)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || n != requestSize {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		r.ret, _, errno = unix.RawSyscall6(q.nr, q.args[0], q.args[1], q.args[2], q.args[3], q.args[4], q.args[5])
		r.errno = uintptr(errno)
		if q.nr == unix.SYS_CLONE && errno == 0 && r.ret == 0 {
			fd = q.args[5]
			continue
		}
		unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(r)), replySize)
	}
}
