package main

import (
	"errors"
	"io/fs"
	"os"
)

// canWrite is an error if a file cannot be written. It is to be asked before the work whose
// result the file gets, and leaves everything as it is.
func canWrite(name string) error {
	if st, err := os.Stat(name); err == nil && st.Mode().Type() == fs.ModeNamedPipe {
		return nil // to who reads it, closing it would be its end
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return errors.Join(f.Close(), os.Remove(name))
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
		return err
	}
	return f.Close()
}
