package process

import (
	"sync"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/trace"
)

// DmaBuf is memory that one driver exports and others use: a struct dma_buf of
// include/linux/dma-buf.h with its exporter. It stands for the memory of a GPU, say,
// which the exporter may move while others have it mapped. Its methods may be
// called by several goroutines at once.
type DmaBuf struct {
	resv        trace.Mutex // dma_resv
	attachments []*DmaBufAttachment
	pins        int

	mu    sync.Mutex // over the following
	pages []*copyuser.Page
	areas map[*copyuser.Area]bool // where users have mapped it
}

// DmaBufAttachment is an importer's use of a dma-buf: struct dma_buf_attachment.
type DmaBufAttachment struct {
	buf        *DmaBuf
	moveNotify func(t *trace.Task)
	mapped     bool
	pinned     bool
}

// NewDmaBuf returns memory of that many bytes, all zero, rounded up to whole pages.
func NewDmaBuf(size uint64) *DmaBuf {
	b := &DmaBuf{resv: trace.Mutex{Name: "reservation_ww_class_mutex"}, areas: map[*copyuser.Area]bool{}}
	for range (size + copyuser.PageSize - 1) / copyuser.PageSize {
		b.pages = append(b.pages, copyuser.NewPage())
	}
	return b
}

// Size returns how many bytes there are.
func (b *DmaBuf) Size() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return uint64(len(b.pages)) << copyuser.PageShift
}

// Attachments returns how many importers there are, and how many of them have the
// memory mapped.
func (b *DmaBuf) Attachments() (attached, mapped int) {
	b.resv.Lock(nil)
	defer b.resv.Unlock(nil)
	for _, a := range b.attachments {
		if a.mapped {
			mapped++
		}
	}
	return len(b.attachments), mapped
}

// current returns the pages where they are now.
func (b *DmaBuf) current() *copyuser.Pin {
	b.mu.Lock()
	defer b.mu.Unlock()
	return copyuser.NewPin(b.pages)
}

// ReadAt reads the memory as its exporter does; the error is io.EOF behind its end.
func (b *DmaBuf) ReadAt(p []byte, off int64) (int, error) { return b.current().ReadAt(p, off) }

// WriteAt is the same for writing; the error is io.ErrShortWrite.
func (b *DmaBuf) WriteAt(p []byte, off int64) (int, error) { return b.current().WriteAt(p, off) }

var dmaBufOps = FileOps{Mmap: mmapDmaBuf}

// Export models dma_buf_export and dma_buf_fd in drivers/dma-buf/dma-buf.c: it
// returns a descriptor by which the task can hand the memory on. Of the flags, the
// access mode and O_CLOEXEC count. Its errors are the rules fd/none-free and
// file/no-memory.
func (b *DmaBuf) Export(t *Task, flags int) (int, error) {
	fd, err := t.GetUnusedFD(flags&syscall.O_CLOEXEC != 0)
	if err != nil {
		return -1, err
	}
	f, err := NewAnonFile(t, &dmaBufOps, b, flags)
	if err != nil {
		t.PutUnusedFD(fd)
		return -1, err
	}
	t.FDInstall(fd, f)
	return fd, nil
}

// GetDmaBuf models dma_buf_get in drivers/dma-buf/dma-buf.c: it returns the dma-buf
// of a descriptor, and the open file that keeps it until the caller puts it. Its
// errors are the rules dmabuf/bad and dmabuf/foreign.
func (t *Task) GetDmaBuf(fd int) (*DmaBuf, *File, error) {
	f := t.Fget(fd)
	if f == nil {
		return nil, nil, rule.DmabufBad
	}
	if f.Ops != &dmaBufOps {
		f.Put(t)
		return nil, nil, rule.DmabufForeign
	}
	return f.Private.(*DmaBuf), f, nil
}

// Attach models dma_buf_dynamic_attach in drivers/dma-buf/dma-buf.c. MoveNotify is
// called with the lock held when the memory is about to move; the importer unmaps
// it then.
func (b *DmaBuf) Attach(t *trace.Task, moveNotify func(t *trace.Task)) *DmaBufAttachment {
	a := &DmaBufAttachment{buf: b, moveNotify: moveNotify}
	b.resv.Lock(t)
	defer b.resv.Unlock(t)
	b.attachments = append(b.attachments, a)
	return a
}

// Detach models dma_buf_detach in drivers/dma-buf/dma-buf.c.
func (a *DmaBufAttachment) Detach(t *trace.Task) {
	b := a.buf
	b.resv.Lock(t)
	defer b.resv.Unlock(t)
	for i, other := range b.attachments {
		if other == a {
			b.attachments = append(b.attachments[:i:i], b.attachments[i+1:]...)
			if a.pinned {
				b.pins--
			}
			break
		}
	}
}

// Lock models dma_resv_lock in include/linux/dma-resv.h: while it is held the memory
// stays where it is. Unlock gives it back.
func (a *DmaBufAttachment) Lock(t *trace.Task)   { a.buf.resv.Lock(t) }
func (a *DmaBufAttachment) Unlock(t *trace.Task) { a.buf.resv.Unlock(t) }

// Pin models dma_buf_pin in drivers/dma-buf/dma-buf.c: the memory stays where it is
// until Detach. The caller holds the lock.
func (a *DmaBufAttachment) Pin() {
	if !a.pinned {
		a.pinned = true
		a.buf.pins++
	}
}

// Map models dma_buf_map_attachment in drivers/dma-buf/dma-buf.c: it returns the
// pages, which are good until Unmap. The caller holds the lock.
func (a *DmaBufAttachment) Map() []*copyuser.Page {
	a.mapped = true
	return a.buf.current().Pages()
}

// Unmap models dma_buf_unmap_attachment in drivers/dma-buf/dma-buf.c. The caller
// holds the lock.
func (a *DmaBufAttachment) Unmap() { a.mapped = false }

// Move moves the memory to other pages with the same content, as an exporter does
// that needs the place. Importers are told first (dma_buf_move_notify in
// drivers/dma-buf/dma-buf.c), and the mappings of users find it at its new place. It
// is false while an importer has the memory pinned; nothing moves then.
func (b *DmaBuf) Move(t *trace.Task) bool {
	b.resv.Lock(t)
	defer b.resv.Unlock(t)
	if b.pins > 0 {
		return false
	}
	for _, a := range b.attachments {
		a.moveNotify(t)
	}
	b.mu.Lock()
	from := b.pages
	b.pages = make([]*copyuser.Page, len(from))
	var areas []*copyuser.Area
	for a := range b.areas {
		areas = append(areas, a)
	}
	var content [copyuser.PageSize]byte
	for i, p := range from {
		p.Load(0, content[:])
		b.pages[i] = copyuser.NewPage()
		b.pages[i].Store(0, content[:])
	}
	b.mu.Unlock()
	for _, a := range areas {
		a.MM.MmapReadLock(t)
		a.Zap()
		a.MM.MmapReadUnlock(t)
	}
	return true
}

// mmapDmaBuf is the mmap operation: the memory as it lies, page by page. It models
// dma_buf_mmap_internal in drivers/dma-buf/dma-buf.c.
func mmapDmaBuf(t *Task, f *File, a *copyuser.Area) error {
	b := f.Private.(*DmaBuf)
	if a.Pgoff+uint64(a.Pages()) > b.Size()>>copyuser.PageShift {
		return rule.DmabufMmapRange
	}
	a.Flags |= copyuser.VM_IO | copyuser.VM_PFNMAP | copyuser.VM_DONTEXPAND | copyuser.VM_DONTDUMP
	a.Ops, a.Private = dmaBufAreaOps, b
	b.follow(a, true)
	return nil
}

var dmaBufAreaOps = &copyuser.AreaOps{
	Open:  func(_ copyuser.Current, a *copyuser.Area) { a.Private.(*DmaBuf).follow(a, true) },
	Close: func(_ copyuser.Current, a *copyuser.Area) { a.Private.(*DmaBuf).follow(a, false) },
	Fault: func(a *copyuser.Area, i int) (*copyuser.Page, bool) {
		return a.Private.(*DmaBuf).page(a.Pgoff + uint64(i))
	},
}

// follow begins or ends that a move is told to an area.
func (b *DmaBuf) follow(a *copyuser.Area, on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if on {
		b.areas[a] = true
	} else {
		delete(b.areas, a)
	}
}

func (b *DmaBuf) page(i uint64) (*copyuser.Page, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i >= uint64(len(b.pages)) {
		return nil, false
	}
	return b.pages[i], true
}
