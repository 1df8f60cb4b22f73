package interpose

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// directory is where a Supervisor has its files. While it lives it holds a lock there.
type directory struct {
	name string
	lock *os.File
}

// inMemory is where files need no disk; nobody has to find them later.
const inMemory = "/dev/shm"

// prefix is what the names of all directories of Supervisors begin with.
const prefix = "uverbsim-"

// makeDirectory makes one, and removes those of Supervisors that were killed.
func makeDirectory(parent string) (d directory, err error) {
	if parent == "" {
		parent = os.TempDir()
		if unix.Access(inMemory, unix.W_OK) == nil {
			parent = inMemory
		}
	}
	left, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, name := range left {
		removeLeft(name)
	}
	if d.name, err = os.MkdirTemp(parent, prefix); err != nil {
		return d, err
	}
	if err = os.Chmod(d.name, 0o755); err == nil { // programs of other users look into it
		d.lock, err = os.Create(d.path("lock"))
	}
	if err == nil {
		err = unix.Flock(int(d.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		d.remove()
	}
	return d, err
}

// removeLeft removes a directory that nobody holds the lock of any more. One without
// a lock is being made.
func removeLeft(name string) {
	lock, err := os.Open(filepath.Join(name, "lock"))
	if err != nil {
		return
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = os.RemoveAll(name)
	}
}

// path returns the path of a file of the directory.
func (d *directory) path(name string) string { return filepath.Join(d.name, name) }

func (d *directory) remove() {
	_ = os.RemoveAll(d.name)
	if d.lock != nil {
		_ = d.lock.Close()
	}
}
