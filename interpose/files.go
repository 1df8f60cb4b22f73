package interpose

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/live"
	"uverbsim/kernel"
	"uverbsim/process"
)

// inode is the identity of a file of this host. A program's descriptor leads to an
// inode, however the program came by it.
type inode live.FileID

func inodeOf(st *unix.Stat_t) inode { return inode{st.Dev, st.Ino} }

// injected is a file of the machine that programs have descriptors of.
type injected interface {
	// name returns the number of the file and what it is called.
	name() (uint64, string)
	// open returns the machine's file.
	open() *process.File
	// closed is called when no program has it any more.
	closed()
}

// files are the injected files of a Supervisor by their inodes.
type files struct {
	n    atomic.Int32
	last atomic.Uint64 // number that was given to a file

	mu sync.RWMutex
	m  map[inode]injected
}

func (f *files) len() int { return int(f.n.Load()) }

func (f *files) add(at inode, file injected) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m == nil {
		f.m = map[inode]injected{}
	}
	f.m[at] = file
	f.n.Store(int32(len(f.m)))
}

func (f *files) remove(at inode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.m, at)
	f.n.Store(int32(len(f.m)))
}

// of returns the open files of a device.
func (f *files) of(d *kernel.Device) (found []*deviceFile) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, file := range f.m {
		if file, ok := file.(*deviceFile); ok && file.device == d {
			found = append(found, file)
		}
	}
	return found
}

// find returns the file with that inode, or nil.
func (f *files) find(at inode) injected {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.m[at]
}
