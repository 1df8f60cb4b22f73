//go:build linux

package guest

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const kmsg = "/dev/kmsg"

// mark writes a line of the first process's own into the kernel's log.
func mark(text string) error { return os.WriteFile(kmsg, []byte("<6>"+text), 0) }

// kernelLog returns all that the kernel's log has, each line with its level and the
// seconds since the start: "<4>[    1.234567] text". Records are read as
// Documentation/ABI/testing/dev-kmsg has them.
func kernelLog() (string, error) {
	fd, err := unix.Open(kmsg, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var log strings.Builder
	record := make([]byte, 8192)
	for {
		n, err := unix.Read(fd, record)
		switch err {
		case nil:
			log.WriteString(logLine(string(record[:n])))
		case unix.EPIPE: // it was overwritten just now
		case unix.EAGAIN:
			return log.String(), nil
		default:
			return "", err
		}
	}
}

// logLine makes a line of a record: "4,338,1234567,-;text", where the third number
// counts microseconds, with lines of keys and values behind it.
func logLine(record string) string {
	prefix, text, _ := strings.Cut(record, ";")
	fields := strings.Split(prefix, ",")
	if len(fields) < 3 {
		return ""
	}
	facility, err1 := strconv.Atoi(fields[0])
	us, err2 := strconv.ParseUint(fields[2], 10, 64)
	if err1 != nil || err2 != nil {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n")
	return fmt.Sprintf("<%d>[%5d.%06d] %s\n", facility&7, us/1e6, us%1e6, text)
}
