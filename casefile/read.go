package casefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// FormatError says what is wrong with a line of a case file.
type FormatError struct {
	File   string
	Line   int    // from 1
	Reason string // begins with the member's path, where it is about one
}

func (e *FormatError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// maxLine is the longest line that is read.
const maxLine = 16 << 20

// Read reads the cases of a file, of which name is for the errors. A line that
// is no case yields a *FormatError, and reading goes on with the next line. An
// error of r itself, or a line of more than 16 MiB, ends it.
func Read(r io.Reader, name string) iter.Seq2[*Case, error] {
	return func(yield func(*Case, error) bool) {
		sc := bufio.NewScanner(r)
		sc.Buffer(nil, maxLine)
		n := 0
		for sc.Scan() {
			n++
			line := bytes.TrimSpace(sc.Bytes())
			if len(line) == 0 || line[0] == '#' {
				continue
			}
			c, err := Unmarshal(line)
			if err != nil {
				err = &FormatError{name, n, err.Error()}
			} else {
				c.Line = n
			}
			if !yield(c, err) {
				return
			}
		}
		switch err := sc.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, &FormatError{name, n + 1, "a line of more than 16 MiB"})
		case err != nil:
			yield(nil, fmt.Errorf("%s:%d: %w", name, n+1, err))
		}
	}
}

// ReadFile reads the cases of the named file, all of which must be right.
func ReadFile(name string) ([]*Case, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var cases []*Case
	for c, err := range Read(f, name) {
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// Unmarshal reads one case from its line.
func Unmarshal(line []byte) (*Case, error) {
	n, err := parse(line)
	if err != nil {
		return nil, err
	}
	c := codec{reading: true, scope: newScope()}
	var k Case
	item{&c, n}.object("a case", k.members)
	if c.err != nil {
		return nil, c.err
	}
	return &k, nil
}
