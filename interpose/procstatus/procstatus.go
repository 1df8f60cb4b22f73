// Package procstatus reads /proc/PID/status, in which the kernel tells of a process
// or of one of its threads whose it is and what it may do (fs/proc/array.c). What it
// says there of memory, signals and processors is left out.
package procstatus

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Status is what the file says of a process, or of a thread, which has an id of its own
// and may have other credentials than the rest of its process.
type Status struct {
	TGID   int // the id of the process
	PPID   int // that of its parent, 0 if this process cannot see it
	Tracer int // the thread that traces it, 0 if none does

	UID, GID IDs

	Inheritable, Permitted, Effective uint64 // capabilities, a bit each
}

// IDs are the ids of users or groups that a process acts for.
type IDs struct{ Real, Effective, Saved, FS uint32 }

// Read returns what the kernel says now. A process that has ended is told of until
// its parent has waited for it; the error is ENOENT or ESRCH for one that is gone.
// With an error the Status is zero.
func Read(id int) (Status, error) {
	path := "/proc/" + strconv.Itoa(id) + "/status"
	text, err := os.ReadFile(path)
	if err != nil {
		return Status{}, err
	}
	s, err := parse(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return s, err
}

func parse(text []byte) (Status, error) {
	l := lines{text: text}
	s := Status{
		TGID: l.pid("Tgid"), PPID: l.pid("PPid"), Tracer: l.pid("TracerPid"),
		UID: l.ids("Uid"), GID: l.ids("Gid"),
		Inheritable: l.caps("CapInh"), Permitted: l.caps("CapPrm"), Effective: l.caps("CapEff"),
	}
	switch {
	case l.err != nil:
		return Status{}, l.err
	case s.TGID == 0: // it has just been waited for, and has lost its id
		return Status{}, syscall.ESRCH
	}
	return s, nil
}

// lines are the lines of the text; err is of the first that was not as it should be.
type lines struct {
	text []byte
	err  error
}

func (l *lines) pid(name string) int     { return int(l.numbers(name, 1, 10, 31)[0]) }
func (l *lines) caps(name string) uint64 { return l.numbers(name, 1, 16, 64)[0] }

func (l *lines) ids(name string) IDs {
	n := l.numbers(name, 4, 10, 32)
	return IDs{uint32(n[0]), uint32(n[1]), uint32(n[2]), uint32(n[3])}
}

// numbers returns the numbers of a line, which has that many.
func (l *lines) numbers(name string, many, base, bits int) (n [4]uint64) {
	// No line of interest is the first one, which has the program's name; line feeds
	// in that are escaped.
	_, rest, _ := bytes.Cut(l.text, []byte("\n"+name+":"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	i := 0
	for word := range bytes.FieldsSeq(line) {
		var err error
		if i < many {
			n[i], err = strconv.ParseUint(string(word), base, bits)
		}
		if err != nil && l.err == nil {
			l.err = fmt.Errorf("%s: %w", name, err)
		}
		i++
	}
	if i != many && l.err == nil {
		l.err = fmt.Errorf("%s has %d numbers, not %d", name, i, many)
	}
	return n
}
