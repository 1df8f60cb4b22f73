package record

import (
	"errors"
	"fmt"
	"io"
)

// File is where cases are written: an *os.File.
type File interface {
	io.Writer
	io.Seeker
	Truncate(size int64) error
}

// sink appends lines to a file, each whole or not at all, and keeps those that
// could not be written until they can.
type sink struct {
	f       File
	size    int64    // of the whole lines in the file
	waiting [][]byte // lines that are not in it yet
}

// add writes a line, and those that wait before it. What could not be written
// waits on.
func (s *sink) add(line []byte) error {
	s.waiting = append(s.waiting, line)
	return s.flush()
}

func (s *sink) flush() error {
	for len(s.waiting) > 0 {
		if err := s.write(s.waiting[0]); err != nil {
			return err
		}
		s.waiting = s.waiting[1:]
	}
	return nil
}

// write writes one line at once, and takes back what a failure left of it.
func (s *sink) write(line []byte) error {
	n, err := s.f.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err == nil {
		s.size += int64(n)
		return nil
	}
	if n > 0 {
		if undo := s.f.Truncate(s.size); undo != nil {
			return errors.Join(err, fmt.Errorf("and half a line is left: %w", undo))
		}
		if _, undo := s.f.Seek(s.size, io.SeekStart); undo != nil {
			return errors.Join(err, undo)
		}
	}
	return err
}
