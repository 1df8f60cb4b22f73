package interpose

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/seccomp"
)

// execve notes that the process may become another program, and tells of one that
// will find no devices.
func (c *call) execve() answer {
	c.look()
	if cl := c.knownClient(int(c.PID)); cl != nil {
		cl.execve(int(c.PID))
	}
	return answer{}
}

// elfClass is where an ELF file says whether it is of 32 or 64 bits: EI_CLASS.
const (
	elfMagic   = "\x7fELF"
	elfClass   = 4
	elfClass32 = 1
)

// look looks at the file that is to be executed. The filter lets the calls of
// another architecture through.
func (c *call) look() {
	if c.Nr != seccomp.NrExecve {
		return
	}
	name := string(c.readPath(c.Args[0]))
	if name == "" {
		return
	}
	from := "/cwd/"
	if name[0] == '/' {
		from = "/root"
	}
	var head [5]byte
	if !readHead("/proc/"+strconv.Itoa(int(c.PID))+from+name, head[:]) {
		return
	}
	if string(head[:4]) == elfMagic && head[elfClass] == elfClass32 {
		c.report("%s is a program of 32 bits: it finds no devices", name)
	}
}

// readHead reads the beginning of a regular file. What is no such file is not opened:
// that could wait, or do something.
func readHead(path string, head []byte) bool {
	at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if unix.Fstat(at, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	fd, err := unix.Open("/proc/self/fd/"+strconv.Itoa(at), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	n, err := unix.Pread(fd, head, 0)
	return err == nil && n == len(head)
}

// seccomp tells of a program that wants to be a supervisor itself.
func (c *call) seccomp() answer {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(int(c.PID)) + "/comm")
	c.report("%s installs a listener for system calls of its own, which the kernel refuses (EBUSY): there is one already",
		bytes.TrimSpace(name))
	return answer{}
}
