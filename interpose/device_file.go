package interpose

import (
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/interpose/sysfs"
	"uverbsim/kernel"
	"uverbsim/process"
)

// deviceFile is an open file of a device node: to the program a sparse file, whose
// pages are those of the device that the program has mapped.
type deviceFile struct {
	s      *Supervisor
	id     uint64 // counted from 1
	at     inode
	path   string // of the node
	node   sysfs.Entry
	device *kernel.Device
	file   *process.File
	fd     int // of the sparse file

	damaged atomic.Bool // a call has left its locks held

	mu     sync.Mutex
	frames map[uint64]*frame // by offset, in pages
	events []*eventFile
	areas  []mapping
}

// frame is a page of the sparse file, as it is mapped here.
type frame struct {
	mem  []byte
	page *copyuser.Page // what stands there
}

func (f *frame) array() *[copyuser.PageSize]byte { return (*[copyuser.PageSize]byte)(f.mem) }

// mapping is an area of the machine that stands for one of a program. The program's
// kernel chooses another address.
type mapping struct {
	client *client
	area   copyuser.Addr
	pgoff  uint64
	length uint64 // bytes
	io     bool   // pages of the device's, which cannot be pinned
}

// part returns a part of a mapping that begins so far behind its start.
func (m mapping) part(skip, length uint64) mapping {
	return mapping{m.client, m.area + copyuser.Addr(skip), m.pgoff + skip>>copyuser.PageShift, length, m.io}
}

// sparseSize is the length of the sparse file: beyond every offset that a driver
// gives out. Where the file system has no files of that length the next is tried.
var sparseSize = []int64{1 << 46, 1 << 43, 1 << 40, 1 << 36}

// newDeviceFile makes the sparse file for a file of the machine, and returns the
// description that the program gets.
func newDeviceFile(s *Supervisor, node string, file *process.File, flags int) (f *deviceFile, open int, err error) {
	f = &deviceFile{s: s, id: s.files.last.Add(1), path: node, device: file.Private.(*kernel.File).Device, file: file,
		frames: map[uint64]*frame{}}
	f.node, _ = s.tree.Resolve(node)
	if f.fd, err = sparseFile(filepath.Base(node)); err != nil {
		return nil, -1, err
	}
	if open, err = f.hand(flags); err != nil {
		unix.Close(f.fd)
		return nil, -1, err
	}
	// A write() that is not trapped shall not seem to succeed: there is no room
	// behind the last place of a file.
	const last = 1<<63 - 1
	_, _ = unix.Seek(open, last, unix.SEEK_SET)
	s.files.add(f.at, f)
	return f, open, nil
}

// hand opens the sparse file once more, for the program, and looks out for the last close
// of what that gives.
func (f *deviceFile) hand(flags int) (open int, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return -1, err
	}
	f.at = inodeOf(&st)
	again := "/proc/self/fd/" + strconv.Itoa(f.fd)
	wd, err := f.s.closes.watch(again, f, unix.IN_CLOSE)
	if err != nil {
		return -1, err
	}
	if open, err = unix.Open(again, flags&(unix.O_ACCMODE|unix.O_NONBLOCK)|unix.O_CLOEXEC, 0); err != nil {
		f.s.closes.unwatch(wd)
	}
	return open, err
}

// sparseFile makes a file in memory, whose length no program can change: pages that
// are gone would be the end of who looks at them.
func sparseFile(name string) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, err
	}
	for _, size := range sparseSize {
		if err = unix.Ftruncate(fd, size); err == nil {
			break
		}
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (f *deviceFile) open() *process.File { return f.file }

// closed ends the file in the machine: no descriptor and no mapping is left.
func (f *deviceFile) closed() {
	f.s.files.remove(f.at)
	for _, m := range f.takeAreas() {
		m.client.unmap(m.area, m.length)
	}
	f.s.left(f)
	f.settleEvents()
	f.s.asSystem(func(t *process.Task) { f.file.Put(t) })
	f.showEvents() // without those that have gone
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fr := range f.frames {
		f.release(fr)
		_ = unix.Munmap(fr.mem)
	}
	f.frames = nil
	unix.Close(f.fd)
}

// isIO says whether what is at an offset of the file is the device's and cannot be
// pinned.
func (f *deviceFile) isIO(offset uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.areas {
		if at := m.pgoff << copyuser.PageShift; m.io && at <= offset && offset < at+m.length {
			return true
		}
	}
	return false
}

func (f *deviceFile) takeAreas() []mapping {
	f.mu.Lock()
	defer f.mu.Unlock()
	areas := f.areas
	f.areas = nil
	return areas
}

// bind has the page of the file at an offset be that page of the machine.
func (f *deviceFile) bind(pgoff uint64, page *copyuser.Page) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	fr := f.frames[pgoff]
	if fr == nil {
		mem, err := unix.Mmap(f.fd, int64(pgoff<<copyuser.PageShift), copyuser.PageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		fr = &frame{mem: mem}
		f.frames[pgoff] = fr
	}
	if fr.page == page {
		return nil
	}
	f.release(fr)
	fr.page = page
	switch polled, ok := page.Polled(); {
	case ok:
		clear(fr.mem)
		f.s.engine.add(fr.array(), polled)
	case page.IsIO():
		fr.page = nil
		return errUnseen
	default:
		page.Share(fr.array())
	}
	return nil
}

// errUnseen refuses registers that have to see each load: nobody can be told of one.
const errUnseen = unix.EOPNOTSUPP

// release takes the page of the machine out of a page of the file.
func (f *deviceFile) release(fr *frame) {
	switch {
	case fr.page == nil:
		return
	case f.s.engine.remove(fr.array()):
	default:
		fr.page.Unshare(fr.array())
	}
	fr.page = nil
}

// zap takes all pages of the machine out of the file, and out of the programs that
// have mapped it: they see zeros from then on.
func (f *deviceFile) zap() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for pgoff, fr := range f.frames {
		f.release(fr)
		err := unix.Fallocate(f.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(pgoff<<copyuser.PageShift), copyuser.PageSize)
		if err != nil {
			f.s.report("take a page from programs: %v", err)
		}
	}
}

// settleEvents counts what programs have read of the file's events so far.
func (f *deviceFile) settleEvents() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		e.settle()
	}
}

// showEvents puts right what programs see, after events have gone.
func (f *deviceFile) showEvents() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		e.show()
	}
}

func (f *deviceFile) addEvents(e *eventFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
}

func (f *deviceFile) removeEvents(e *eventFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.events {
		if f.events[i] == e {
			f.events = append(f.events[:i], f.events[i+1:]...)
			return
		}
	}
}

func (f *deviceFile) name() (uint64, string) { return f.id, f.path }
