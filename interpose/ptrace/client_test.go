package ptrace_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/ptrace"
	"uverbsim/interpose/seccomp"
	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

// clients are the programs that are watched.
var clients = map[string]func(){
	"one":      one,
	"bad":      bad,
	"copies":   copies,
	"relative": relative,
	"threads":  threads,
	"forks":    forks,
	"passes":   passes,
	"execs":    execs,
	"calls":    func() { ask(open(), number()) },
	"alarms":   alarms,
	"exit":     func() { os.Exit(number()) },
	"killed":   func() { ask(open(), 1); unix.Kill(os.Getpid(), unix.SIGKILL); select {} },
	"term":     func() { unix.Kill(os.Getpid(), unix.SIGTERM); select {} },
	"stops":    stops,
	"hangs":    hangs,
	"orphan":   orphan,
	"files":    listFiles,
	"opens":    opens,
	"endless":  endless,
	"restarts": restarts,
	"replaced": replaced,
	"watches":  watches,
	"refused":  func() { must(refuse(unix.SYS_PTRACE)); watchTrue() },
	"watched":  watchTrue,
}

// numberEnv is a number for a client.
const numberEnv = "PTRACE_TEST_NUMBER"

func number() int { return fromEnv(numberEnv) }

func fromEnv(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	must(err)
	return n
}

func must(err error) {
	if err != nil {
		fmt.Println("client:", err)
		os.Exit(99)
	}
}

func open() int {
	fd, err := unix.Open(os.Getenv(deviceEnv), unix.O_RDWR|unix.O_CLOEXEC, 0)
	must(err)
	return fd
}

// ask makes calls, which the file refuses.
func ask(fd, n int) {
	arg := spec.EncodeMethod(spec.RDMA_DRIVER_MLX5, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT)
	for range n {
		if err := verbs(fd, arg); err != unix.ENOTTY {
			must(fmt.Errorf("the file answers %v", err))
		}
	}
}

// The buffer of a core command in the client "one".
const (
	createCQSize = 32
	filler       = 0xab
)

// one makes one call of each kind.
func one() {
	fd := open()
	in := bytes.Repeat([]byte{filler}, createCQSize) // on the heap: the stack may move before the call
	arg := spec.EncodeMethod(spec.RDMA_DRIVER_MLX5, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE,
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CORE_IN, Len: createCQSize, Data: address(in)},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: 18})
	if err := verbs(fd, arg); err != unix.ENOTTY {
		must(fmt.Errorf("the file answers %v", err))
	}
	runtime.KeepAlive(in)
	m, err := unix.Mmap(fd, pageSize, pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(err)
	must(unix.Munmap(m))
	_, err = unix.Mmap(fd, 1, pageSize, unix.PROT_READ, unix.MAP_SHARED)
	fmt.Println(err)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], 0x0102030405060708)
	_, err = unix.Write(fd, b[:])
	must(err)
	_, err = unix.Read(fd, b[:4])
	must(err)
	must(unix.Close(fd))
}

// bad makes calls that lead nowhere, and calls on files that are no device.
func bad() {
	fd := open()
	for _, at := range []uintptr{0, 8, 0x1000, 1 << 47, ^uintptr(0)} {
		if err := verbsAt(fd, at); err != unix.ENOTTY {
			must(fmt.Errorf("the file answers %v", err))
		}
	}
	if err := verbsAt(-1, 0); err != unix.EBADF {
		must(fmt.Errorf("no file answers %v", err))
	}
	null, err := os.Open("/dev/null")
	must(err)
	if err := verbsAt(int(null.Fd()), 0); err != unix.ENOTTY {
		must(fmt.Errorf("/dev/null answers %v", err))
	}
	if _, err := unix.Open(os.Getenv(deviceEnv)+"1", unix.O_RDONLY, 0); err != unix.ENOENT {
		must(fmt.Errorf("a missing node answers %v", err))
	}
}

// copies uses a descriptor under many numbers, and two open files.
func copies() {
	a, b := open(), open()
	ask(a, 1)
	ask(b, 1)
	c, err := unix.Dup(a)
	must(err)
	ask(c, 1)
	must(unix.Close(a))
	must(unix.Dup3(b, c, unix.O_CLOEXEC)) // over a's last one
	ask(c, 1)
	d, err := unix.FcntlInt(uintptr(c), unix.F_DUPFD_CLOEXEC, 100)
	must(err)
	must(unix.Close(b))
	must(unix.Close(c))
	ask(d, 1)
	e := open() // gets a number that has been used
	ask(e, 1)
	must(unix.CloseRange(uint(e), uint(d), 0))
	if err := verbsAt(e, 0); err != unix.EBADF {
		must(fmt.Errorf("a closed one answers %v", err))
	}
	f := open()
	ask(f, 1)
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	must(err)
	must(unix.Dup2(null, f))
	if err := verbsAt(f, 0); err != unix.ENOTTY {
		must(fmt.Errorf("/dev/null answers %v", err))
	}
}

// relative opens the node by a path below a directory.
func relative() {
	dir, err := unix.Open(filepath.Dir(os.Getenv(deviceEnv)), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(err)
	name := filepath.Base(os.Getenv(deviceEnv))
	a, err := unix.Openat(dir, name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	must(err)
	ask(a, 1)
	must(unix.Fchdir(dir))
	b, err := unix.Openat2(unix.AT_FDCWD, name, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC})
	must(err)
	ask(b, 1)
	must(unix.Symlink(name, "link")) // nobody sees where that leads before it is used
	c, err := unix.Open("link", unix.O_RDWR|unix.O_CLOEXEC, 0)
	must(err)
	ask(c, 1)
}

// threads call from many threads at once.
func threads() {
	fd := open()
	var group sync.WaitGroup
	for range number() {
		group.Go(func() {
			runtime.LockOSThread() // and so ends the thread
			ask(fd, 50)
			own := open()
			ask(own, 1)
			must(unix.Close(own))
		})
	}
	group.Wait()
}

// forks has children that go on with the parent's open file, one of them when
// the parent has closed it.
func forks() {
	fd := open()
	ask(fd, 1)
	var children []*exec.Cmd
	for range 3 {
		children = append(children, again("execs", fd))
	}
	must(unix.Close(fd))
	for _, c := range children {
		must(c.Wait())
	}
}

// again starts this program as another client that has a descriptor as its
// fourth.
func again(client string, fd int) *exec.Cmd {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), clientEnv+"="+client)
	c.Stdout = os.Stdout
	own, err := unix.Dup(fd)
	must(err)
	f := os.NewFile(uintptr(own), "device")
	c.ExtraFiles = []*os.File{f}
	must(c.Start())
	must(f.Close())
	return c
}

// firstExtra is the number of the first extra file of a child.
const firstExtra = 3

// execs uses an inherited descriptor, and again when it has become another
// program, in which its own one is gone.
func execs() {
	ask(firstExtra, 1)
	if os.Getenv(numberEnv) == "again" {
		if err := verbsAt(firstExtra+1, 0); err != unix.EBADF && err != unix.ENOTTY {
			must(fmt.Errorf("a descriptor that an exec closes answers %v", err))
		}
		return
	}
	open()
	done := make(chan bool)
	go func() { // of a thread that is not the first
		must(unix.Exec("/proc/self/exe", os.Args, append(os.Environ(), numberEnv+"=again")))
		close(done)
	}()
	<-done
}

// passes hands its descriptor to itself over a socket.
func passes() {
	fd := open()
	ask(fd, 1)
	socks, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	must(err)
	must(unix.Sendmsg(socks[0], []byte{0}, unix.UnixRights(fd), nil, 0))
	var b [1]byte
	var oob [64]byte
	_, n, _, _, err := unix.Recvmsg(socks[1], b[:], oob[:], unix.MSG_CMSG_CLOEXEC)
	must(err)
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	must(err)
	got, err := unix.ParseUnixRights(&messages[0])
	must(err)
	ask(got[0], 1)
}

// alarms calls in a storm of signals and counts those.
func alarms() {
	var count atomic.Int64
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, unix.SIGALRM)
	go func() {
		for range ch {
			count.Add(1)
		}
	}()
	it := unix.Itimerval{Interval: unix.Timeval{Usec: 200}, Value: unix.Timeval{Usec: 200}}
	_, err := unix.Setitimer(unix.ItimerReal, it)
	must(err)
	ask(open(), number())
	for count.Load() < 10 {
		time.Sleep(time.Millisecond)
	}
}

// stops stops itself and goes on when somebody lets it.
func stops() {
	fd := open()
	ask(fd, 1)
	fmt.Println("stopping")
	must(unix.Kill(os.Getpid(), unix.SIGSTOP))
	ask(fd, 1)
}

// orphan leaves a child behind that calls when the parent has gone.
func orphan() {
	if os.Getenv(numberEnv) == "child" {
		for os.Getppid() == fromEnv(parentEnv) {
			time.Sleep(time.Millisecond)
		}
		ask(firstExtra, 1)
		return
	}
	os.Setenv(numberEnv, "child")
	os.Setenv(parentEnv, strconv.Itoa(os.Getpid()))
	again("orphan", open())
	os.Exit(5)
}

// parentEnv is the process id of an orphan's parent.
const parentEnv = "PTRACE_TEST_PARENT"

// endless calls from several threads until it is killed.
func endless() {
	for range 3 {
		go func() {
			for {
				fd := open()
				ask(fd, 3)
				must(unix.Close(fd))
			}
		}()
	}
	select {}
}

// restarts waits in a read that a signal interrupts and the kernel begins again.
func restarts() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGALRM)
	fd := openPipe()
	pid := os.Getpid() // of the first thread, on which this runs
	go func() {
		untilReads(pid)
		must(unix.Tgkill(pid, pid, unix.SIGALRM)) // which wakes it at once
		untilReads(pid)
		_, err := unix.Write(fd, []byte("late"))
		must(err)
	}()
	var b [8]byte
	n, err := unix.Read(fd, b[:])
	must(err)
	fmt.Println(n)
}

// openPipe opens a pipe that stands for a device, on which a read waits.
func openPipe() int {
	name := os.Getenv(deviceEnv) + "fifo"
	must(unix.Mkfifo(name, 0o600))
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	must(err)
	return fd
}

// replaced waits in a read on its first thread while another one executes a program.
func replaced() {
	fd := openPipe()
	go func() {
		untilReads(os.Getpid())
		must(unix.Exec("/bin/true", []string{"true"}, os.Environ()))
	}()
	_, err := unix.Read(fd, make([]byte, 8))
	must(err)
}

// untilReads returns when a thread of this process sleeps in a read.
func untilReads(tid int) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		nr, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(tid) + "/syscall")
		must(err)
		if state(tid) == "S" && strings.HasPrefix(string(nr), strconv.Itoa(unix.SYS_READ)+" ") {
			return
		}
		if time.Now().After(deadline) {
			must(fmt.Errorf("thread %d does not read: %s", tid, nr))
		}
	}
}

// hangs starts a child, says which process that is, and does no more.
func hangs() {
	child := exec.Command("sleep", "1000")
	must(child.Start())
	fmt.Println(child.Process.Pid)
	time.Sleep(time.Hour)
}

// watches watches a client that hangs, and says which process that is.
func watches() {
	os.Setenv(clientEnv, "hangs")
	o := ptrace.Options{Prefix: os.Getenv(deviceEnv), Started: func(pid int) { fmt.Println(pid) }}
	_, err := ptrace.Run(context.Background(), []string{"/proc/self/exe"}, nil, watch.Watchers{}, o)
	must(err)
}

// watchTrue watches a program where that cannot be, and says what comes of it.
func watchTrue() {
	_, err := ptrace.Run(context.Background(), []string{"/bin/true"}, nil, watch.Watchers{}, ptrace.Options{})
	var missing *seccomp.Missing
	fmt.Println(errors.As(err, &missing), err)
}

// refuse has the kernel refuse a system call to all threads of this process.
func refuse(nr uint32) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	rule := seccomp.Rule{Calls: []uint32{nr}, Action: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	_, err := seccomp.SetFilter(seccomp.Compile([]seccomp.Rule{rule}), unix.SECCOMP_FILTER_FLAG_TSYNC)
	return err
}

// listFiles says which descriptors it was started with.
func listFiles() {
	for fd := range 500 {
		var st syscall.Stat_t
		if syscall.Fstat(fd, &st) == nil {
			if link, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil && link[0] == '/' {
				fmt.Println(fd, link)
			}
		}
	}
	fmt.Println(os.Getenv("UVERBSIM_PTRACE"))
}

// opens opens files that are no device.
func opens() {
	for range number() {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		must(err)
		must(unix.Close(fd))
	}
}
