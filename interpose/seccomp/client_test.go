package seccomp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The programs run on their first thread.
func init() { runtime.LockOSThread() }

// The test binary is the launcher and the programs that are launched too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "launcher":
			os.Exit(Main(os.Args[2:]))
		case "client":
			if err := clients[os.Args[2]](os.Args[3:]); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	// Under the race detector, programs would sleep a second when they end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// uverbs is the ioctl that the filter notifies. It needs no device: the tests
// answer it.
func uverbs(fd int, arg int) (int, unix.Errno) {
	r, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), RDMA_VERBS_IOCTL, uintptr(arg))
	return int(r), errno
}

// noFD is a descriptor that no client has.
const noFD = 1000

// clients are the programs, which say what went wrong.
var clients map[string]func(args []string) error

func init() {
	clients = map[string]func([]string) error{
		"answers":  clientAnswers,
		"open":     clientOpen,
		"reopen":   clientReopen,
		"loop":     clientLoop,
		"forks":    clientForks,
		"execs":    clientExecs,
		"threads":  clientThreads,
		"storm":    clientStorm,
		"ident":    clientIdent,
		"end":      clientEnd,
		"netlink":  clientNetlink,
		"listener": clientListener,
		"leader":   clientLeader,
	}
}

// clientAnswers wants the answers of answerAll.
func clientAnswers([]string) error {
	if r, errno := uverbs(7, 20); errno != 0 || r != 21 {
		return fmt.Errorf("ioctl(7, 20) = %d, %v", r, errno)
	}
	if r, errno := uverbs(8, 20); errno != unix.EDQUOT {
		return fmt.Errorf("ioctl(8, 20) = %d, %v", r, errno)
	}
	if r, errno := uverbs(9, 20); errno != unix.EBADF {
		return fmt.Errorf("ioctl(9, 20) goes on: %d, %v", r, errno)
	}
	return nil
}

// clientReopen times n opens of a path.
func clientReopen(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	start := time.Now()
	for range n {
		fd, err := unix.Open(args[0], unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		unix.Close(fd)
	}
	fmt.Print(time.Since(start).Nanoseconds())
	return nil
}

func clientOpen(args []string) error {
	fd, err := unix.Open(args[0], unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(os.NewFile(uintptr(fd), args[0]))
	fmt.Printf("%d %d %s", fd, flags&unix.FD_CLOEXEC, content)
	return err
}

// clientLoop times calls on a descriptor, for which it wants EINVAL, after some
// on one that it has not.
func clientLoop(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	fd, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	want := unix.EINVAL
	if fd == noFD {
		want = unix.EBADF
	}
	runtime.LockOSThread()
	for range 10 {
		uverbs(noFD, 0)
	}
	start := time.Now()
	for i := range n {
		if r, errno := uverbs(fd, i); errno != want {
			return fmt.Errorf("call %d: %d, %v", i, r, errno)
		}
	}
	fmt.Print(time.Since(start).Nanoseconds())
	return nil
}

func self(name string, args ...string) []string {
	return append([]string{"/proc/self/exe", "client", name}, args...)
}

func clientForks([]string) error {
	for range 2 {
		c := self("answers")
		out, err := exec.Command(c[0], c[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("child: %w: %s", err, out)
		}
	}
	return clientAnswers(nil)
}

func clientExecs([]string) error {
	return syscall.Exec("/proc/self/exe", self("answers"), os.Environ())
}

func clientThreads(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	errs := make(chan error, n)
	for i := range n {
		go func() {
			runtime.LockOSThread() // which ends the thread with the goroutine
			for k := range 50 {
				want := i*1000 + k + 1
				if r, errno := uverbs(7, want-1); errno != 0 || r != want {
					errs <- fmt.Errorf("thread %d: %d, %v", i, r, errno)
					return
				}
			}
			errs <- nil
		}()
	}
	for range n {
		err = errors.Join(err, <-errs)
	}
	return err
}

// clientStorm makes calls while signals come to their thread.
func clientStorm(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGALRM)
	runtime.LockOSThread()
	pid, tid := unix.Getpid(), unix.Gettid()
	var stop atomic.Bool
	var sent int
	var storm sync.WaitGroup
	storm.Add(1)
	go func() {
		defer storm.Done()
		for !stop.Load() {
			if unix.Tgkill(pid, tid, unix.SIGALRM) == nil {
				sent++
			}
			unix.Nanosleep(&unix.Timespec{Nsec: 20_000}, nil)
		}
	}()
	for i := range n {
		if r, errno := uverbs(7, i); errno != 0 || r != i+1 {
			return fmt.Errorf("call %d: %d, %v", i, r, errno)
		}
	}
	stop.Store(true)
	storm.Wait()
	fmt.Print(sent)
	return nil
}

// clientIdent prints what a program gets from those who start it.
func clientIdent(args []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	var in bytes.Buffer
	if _, err := io.Copy(&in, os.Stdin); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	fmt.Printf("args=%s\nenv=%s\ndir=%s\nstdin=%s\n", strings.Join(args, ","), os.Getenv("SECCOMP_TEST"), dir, in.String())
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "SigBlk") {
			fmt.Print(line)
		}
	}
	for _, a := range args {
		if fd, err := strconv.Atoi(a); err == nil {
			var st unix.Stat_t
			fmt.Printf("fd %d: %v\n", fd, unix.Fstat(fd, &st))
		}
	}
	fmt.Fprintln(os.Stderr, "to stderr")
	return nil
}

// clientEnd ends by a signal or exits.
func clientEnd(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	if args[0] == "exit" {
		os.Exit(n)
	}
	unix.Kill(unix.Getpid(), unix.Signal(n))
	select {}
}

func clientNetlink([]string) error {
	_, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_RDMA)
	if err != unix.EPROTONOSUPPORT {
		return fmt.Errorf("NETLINK_RDMA: %v", err)
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// clientListener wants a listener of its own.
func clientListener([]string) error {
	_, err := Install(Filter(Options{}))
	return err
}

// clientLeader ends its first thread and lets another make calls.
func clientLeader([]string) error {
	go func() {
		runtime.LockOSThread()
		for ended := false; !ended; time.Sleep(time.Millisecond) {
			stat, err := os.ReadFile("/proc/self/stat") // of the first thread
			ended = err != nil || bytes.Contains(stat, []byte(") Z "))
		}
		if err := clientAnswers(nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}()
	unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
	return errors.New("exit() returned")
}
