package interpose

import (
	"bytes"
	"os"
	"strconv"

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
	f, err := os.Open("/proc/" + strconv.Itoa(int(c.PID)) + from + name)
	if err != nil {
		return
	}
	defer f.Close()
	var head [5]byte
	if _, err := f.ReadAt(head[:], 0); err == nil && string(head[:4]) == elfMagic && head[elfClass] == elfClass32 {
		c.report("%s is a program of 32 bits: it finds no devices", name)
	}
}

// seccomp tells of a program that wants to be a supervisor itself.
func (c *call) seccomp() answer {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(int(c.PID)) + "/comm")
	c.report("%s installs a listener for system calls of its own, which the kernel refuses (EBUSY): there is one already",
		bytes.TrimSpace(name))
	return answer{}
}
