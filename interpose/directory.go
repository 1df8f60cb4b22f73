package interpose

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// directory is where a Supervisor has its files. While it lives it holds a lock on it.
type directory struct {
	name string
	fd   int // -1 is none
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
		if d, ok := lockDirectory(name); ok {
			d.remove()
		}
	}
	for range tries {
		name, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return d, err
		}
		d, ok := lockDirectory(name)
		if !ok {
			_ = os.Remove(name) // which another one does that has taken it for one that was left
			continue
		}
		if err := os.Chmod(name, 0o755); err != nil { // programs of other users look into it
			d.remove()
			return d, err
		}
		return d, nil
	}
	return d, fmt.Errorf("%s: directories cannot be locked there", parent)
}

// tries is how many directories are made, if none of them can be locked.
const tries = 20

// lockDirectory takes the lock on a directory, if it is ours and nobody holds it.
func lockDirectory(name string) (d directory, ok bool) {
	d = directory{name: name}
	var err error
	if d.fd, err = unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
		return d, false
	}
	var st, there unix.Stat_t
	if unix.Fstat(d.fd, &st) == nil && (int(st.Uid) == os.Geteuid() || os.Geteuid() == 0) && unix.Flock(d.fd, unix.LOCK_EX|unix.LOCK_NB) == nil &&
		unix.Lstat(name, &there) == nil && st.Ino == there.Ino {
		return d, true
	}
	unix.Close(d.fd)
	return d, false
}

// path returns the path of a file of the directory.
func (d *directory) path(name string) string { return filepath.Join(d.name, name) }

// remove removes it. Who finds it meanwhile finds it locked.
func (d *directory) remove() {
	_ = os.RemoveAll(d.name)
	unix.Close(d.fd)
}
