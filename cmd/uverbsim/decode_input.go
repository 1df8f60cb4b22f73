package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"uverbsim/report/request"
)

// mostText is how long a text may be: a few times as much as any dump of
// request.MaxBytes bytes.
const mostText = 16 << 20

// decodeInput returns the text that is to be read, and where it comes from. One
// argument is a file if there is one of that name.
func decodeInput(stdin io.Reader, args []string) (text, from string, err error) {
	if len(args) == 0 || len(args) == 1 && args[0] == "-" {
		const from = "standard input"
		text, err := readBounded(stdin, from)
		return text, from, err
	}
	if len(args) == 1 {
		text, err := readTextFile(args[0])
		if err == nil {
			return text, args[0], nil
		}
		if !noFile(err) || !isText(args[0]) && !errors.Is(err, syscall.ENAMETOOLONG) {
			return "", "", err
		}
	}
	return strings.Join(args, " "), "the arguments", nil
}

// readTextFile reads a file that has a text.
func readTextFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readBounded(f, name)
}

// readBounded reads a text of bounded length.
func readBounded(r io.Reader, name string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, mostText+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > mostText:
		return "", fmt.Errorf("%s: more than %d MiB: decode takes one request, and what it points to", name, mostText>>20)
	}
	return string(b), nil
}

// noFile says whether no file has a name, or can have it.
func noFile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.EINVAL)
}

// isText says whether an argument that names no file is meant to be bytes: it can
// be read as such, or looks too much like them to be a name.
func isText(s string) bool {
	if _, err := request.Parse(s); err == nil {
		return true
	}
	const digits = "0123456789abcdefABCDEFxX, "
	first, _, more := strings.Cut(s, " ")
	return strings.Trim(s, digits) == "" || strings.ContainsAny(s, "\\(\"{|:=\n") ||
		more && strings.Trim(first, digits) == ""
}
