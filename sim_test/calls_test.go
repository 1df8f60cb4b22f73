package sim_test

import (
	"encoding/binary"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/sim_test/model"
	"uverbsim/spec"
)

// rabble makes system calls that are mostly what a program could mean: methods
// and commands of the device with attributes of the right kind, handles and
// descriptors that are likely to exist, and numbers that are mostly small.
type rabble struct {
	*loot
	m      *model.Machine
	task   *process.Task
	rng    *rand.Rand
	driver uint32
	defs   []spec.Definition

	call, data copyuser.Addr // memory of its own: for the call, and for what it points at
	at         int           // what of the data is taken
	maps       []mapping
	queue      *queue // the last one that a driver said how to map
	children   []*process.Process
}

// loot is what several rabbles made, most of which is still there.
type loot struct {
	mu     sync.Mutex
	made   []handle
	next   int
	files  [8]int         // descriptors of the device
	worked map[string]int // calls that did, by method
}

// handle is an object of a file.
type handle struct {
	fd     int
	object uint16
	id     uint32
}

// keep remembers a handle and forgets an old one.
func (l *loot) keep(h handle) {
	const most = 64
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.made) < most {
		l.made = append(l.made, h)
		return
	}
	l.made[l.next%most] = h
	l.next++
}

// forget forgets handles that seem to lead nowhere.
func (l *loot) forget(gone []handle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made = slices.DeleteFunc(l.made, func(h handle) bool { return slices.Contains(gone, h) })
}

// count counts a call that worked.
func (l *loot) count(method string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.worked == nil {
		l.worked = map[string]int{}
	}
	l.worked[method]++
}

// file is mostly a descriptor of the device.
func (r *rabble) file() int {
	if r.rng.IntN(8) == 0 {
		return r.fd()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files[r.rng.IntN(len(r.files))]
}

// find returns a handle of that object, if there is one and the dice allow.
func (r *rabble) find(object uint16, fd int) (h handle, ok bool) {
	if r.rng.IntN(8) == 0 {
		return h, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, start := 0, r.rng.IntN(len(r.made)+1); i < len(r.made); i++ {
		h = r.made[(start+i)%len(r.made)]
		if (h.object == object || object == spec.IDRAnyObject) && (fd < 0 || h.fd == fd) {
			return h, true
		}
	}
	return h, false
}

// queue is what to give mmap for the memory of a queue.
type queue struct {
	fd     int
	n, off uint64
}

type mapping struct {
	at copyuser.Addr
	n  uint64
}

const (
	callPages = 2
	dataPages = 16
	pageSize  = copyuser.PageSize
	manyFDs   = 24
)

func newRabble(m *model.Machine, task *process.Task, driver uint32, l *loot, seed uint64) (*rabble, error) {
	mem, err := task.Mmap(-1, (callPages+dataPages)*pageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	if err != nil {
		return nil, err
	}
	r := &rabble{loot: l, m: m, task: task, rng: rand.New(rand.NewPCG(seed, 1)), driver: driver, defs: spec.Linux6_12.Definitions(driver),
		call: mem, data: mem + callPages*pageSize}
	for i := copyuser.Addr(0); i < dataPages*pageSize; i += 8 {
		task.Mem.PutUint64(r.data+i, r.number())
	}
	return r, nil
}

// number is a number that somebody could have meant.
func (r *rabble) number() uint64 {
	switch r.rng.IntN(8) {
	case 0:
		return 0
	case 1:
		return uint64(r.data) + r.rng.Uint64N(dataPages*pageSize)
	case 2:
		return r.rng.Uint64()
	case 3:
		return 1 << r.rng.IntN(64)
	case 4:
		return r.rng.Uint64N(20)
	}
	return r.rng.Uint64N(4)
}

func (r *rabble) fd() int {
	fds := r.task.FDs()
	fds = slices.DeleteFunc(fds, func(fd int) bool { return fd < 3 })
	if len(fds) == 0 {
		return 3
	}
	return fds[r.rng.IntN(len(fds))]
}

// ioctl calls a method of the device.
func (r *rabble) ioctl() {
	d := &r.defs[r.rng.IntN(len(r.defs))]
	if len(d.Object.Methods) == 0 {
		return
	}
	r.ioctlOf(r.file(), d.Object.ID, &d.Object.Methods[r.rng.IntN(len(d.Object.Methods))])
}

func (r *rabble) ioctlOf(fd int, object uint16, m *spec.Method) {
	r.at = 0
	for i := range m.Attrs {
		if a := &m.Attrs[i]; a.Type == spec.TypeIDR && a.Access != spec.AccessNew {
			if h, ok := r.find(a.Object, -1); ok {
				fd = h.fd
				break
			}
		}
	}
	var attrs []spec.IoctlAttr
	for i := range m.Attrs {
		want := 4
		if m.Attrs[i].Mandatory {
			want = 39
		}
		if r.rng.IntN(40) < want {
			attrs = append(attrs, r.attr(fd, &m.Attrs[i]))
		}
	}
	if r.send(fd, object, m.ID, attrs) != nil {
		return
	}
	r.count(m.Name)
	for i := range attrs {
		if s := m.Attr(attrs[i].AttrID); s.Type == spec.TypeIDR && s.Access == spec.AccessNew {
			id, _ := r.task.Mem.GetUint64(r.call + spec.IoctlHdrSize + copyuser.Addr(i*spec.IoctlAttrSize) + spec.IoctlAttrDataOffset)
			r.keep(handle{fd, s.Object, uint32(id)})
		}
	}
}

// attr is an attribute of a call on a file.
func (r *rabble) attr(fd int, s *spec.Attr) spec.IoctlAttr {
	a := spec.IoctlAttr{AttrID: s.ID, Flags: uint16(r.rng.IntN(2))}
	switch s.Type {
	case spec.TypePtrIn, spec.TypePtrOut:
		r.pointer(&a, s)
	case spec.TypeEnumIn:
		i := r.rng.IntN(len(s.Enum))
		r.pointer(&a, &s.Enum[i])
		a.AttrData = uint16(i)
	case spec.TypeIDR:
		a.Data = r.rng.Uint64N(30)
		if h, ok := r.find(s.Object, fd); ok {
			a.Data = uint64(h.id)
		}
	case spec.TypeFD, spec.TypeRawFD:
		a.Data = uint64(r.fd())
	case spec.TypeIDRsArray:
		n := int(s.MinItems) + r.rng.IntN(3)
		for i := range n {
			r.task.Mem.PutUint32(r.data+copyuser.Addr(4*i), uint32(r.rng.IntN(30)))
		}
		a.Len, a.Data = uint16(4*n), uint64(r.data)
		if n <= 2 {
			a.Data = uint64(r.rng.IntN(30)) | uint64(r.rng.IntN(30))<<32
		}
	}
	return a
}

// pointer sets length and data for bytes that go in or out.
func (r *rabble) pointer(a *spec.IoctlAttr, s *spec.Attr) {
	n := s.MinLen
	if s.Len != spec.MaxLen && r.rng.IntN(4) > 0 {
		n = s.Len
	} else if s.Len == spec.MaxLen {
		n += uint16(8 * r.rng.IntN(16))
	}
	a.Len = n
	if n <= 8 && s.Type != spec.TypePtrOut {
		a.Data = r.number()
		return
	}
	a.Data = uint64(r.data) + uint64(r.at)
	if r.at += (int(n) + 63) &^ 63; r.at > (dataPages-4)*pageSize {
		r.at = 0
	}
	if s.Type != spec.TypePtrOut {
		for range 1 + int(n)/16 {
			r.task.Mem.PutUint64(copyuser.Addr(a.Data)+copyuser.Addr(8*r.rng.IntN(int(n)/8+1)), r.number())
		}
	}
}

// makes are the commands that make an object.
var makes = regexp.MustCompile(`_(ALLOC|CREATE|REG|OPEN)_`)

// write writes a command.
func (r *rabble) write() {
	var all []*spec.Write
	for i := range r.defs {
		for j := range r.defs[i].Writes {
			all = append(all, &r.defs[i].Writes[j])
		}
	}
	w := all[r.rng.IntN(len(all))]
	req, resp := (int(w.ReqSize)+7)&^7, (int(w.RespSize)+7)&^7
	b := binary.LittleEndian.AppendUint32(nil, uint32(w.Command))
	if w.Ex {
		req += 8 * r.rng.IntN(3)
		resp += 8 * r.rng.IntN(3)
		b[3] = 0x80
		b = binary.LittleEndian.AppendUint16(b, uint16(req/8))
		b = binary.LittleEndian.AppendUint16(b, uint16(resp/8))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.data))
		b = append(b, make([]byte, 8)...)
	} else {
		b = binary.LittleEndian.AppendUint16(b, uint16((8+req)/4))
		b = binary.LittleEndian.AppendUint16(b, uint16(resp/4))
	}
	for i := range req / 8 {
		v := r.number()
		if w.HasResp && i == 0 {
			v = uint64(r.data)
		}
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	r.task.Mem.Store(r.call, b)
	fd := r.file()
	if _, err := r.task.Write(fd, r.call, uint64(len(b))); err != nil || !w.HasResp {
		return
	}
	r.count(w.Name)
	// The answer of a command that makes something begins with its handle.
	if id, ok := r.task.Mem.GetUint64(r.data); ok && makes.MatchString(w.Name) {
		r.keep(handle{fd, w.Object, uint32(id)})
	}
}

// open opens the device and gives the file a context.
func (r *rabble) open() {
	if len(r.task.FDs()) > manyFDs {
		r.close()
		return
	}
	d := r.m.Driver.Device()
	if d == nil {
		return
	}
	fd, err := r.task.Open(nodeOf(d), syscall.O_RDWR)
	if err != nil {
		return
	}
	r.context(fd)
	r.mu.Lock()
	r.files[r.rng.IntN(len(r.files))] = fd
	r.mu.Unlock()
}

// context gives a file its context.
func (r *rabble) context(fd int) {
	r.task.Mem.Store(r.data, make([]byte, 64))
	r.task.Mem.PutUint32(r.data, 4)                                                         // mlx5 wants a number of bfregs
	r.send(fd, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT, []spec.IoctlAttr{ // whatever it answers
		{AttrID: spec.UVERBS_ATTR_UHW_IN, Len: spec.Mlx5AllocUcontextReqV2Size, Data: uint64(r.data)},
		{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 128, Data: uint64(r.data) + 128},
	})
}

func (r *rabble) close() { r.task.Close(r.fd()) } // another may have closed it

// send makes an ioctl.
func (r *rabble) send(fd int, object, method uint16, attrs []spec.IoctlAttr) error {
	buf := spec.EncodeMethod(r.driver, object, method, attrs...)
	r.task.Mem.Store(r.call, buf)
	_, err := r.task.Ioctl(fd, spec.RDMA_VERBS_IOCTL, r.call)
	return err
}

// read reads an event, if that is one's descriptor. It may wait, until somebody
// interrupts it.
func (r *rabble) read() {
	fd := r.fd()
	r.task.SetNonblock(fd, r.rng.IntN(4) > 0) // another may have closed it
	r.task.Poll(fd, 0)                        // whatever it answers
	if n, err := r.task.Read(fd, r.data, 16); err == nil && n > 0 {
		r.count("an event read")
	}
	r.task.SetNonblock(fd, true)
	r.task.Read(fd, copyuser.Addr(4096), 16) // faults after it has taken the event
}

// mmap maps a queue that a driver announced, a page of registers, or what is not
// there.
func (r *rabble) mmap() {
	fd, n, off := r.file(), pageSize*uint64(1+r.rng.IntN(3)), r.rng.Uint64N(1<<11)*pageSize
	switch r.rng.IntN(3) {
	case 0:
		n, off = pageSize, r.rng.Uint64N(4)*pageSize
	case 1:
		if q := r.queue; q != nil {
			fd, n, off = q.fd, q.n, q.off
		}
	}
	at, err := r.task.Mmap(fd, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED, off)
	if err != nil {
		return
	}
	r.maps = append(r.maps, mapping{at, n})
	r.task.Store(at, []byte{1})
	r.count("mmap")
}

func (r *rabble) munmap() {
	if n := len(r.maps); n > 0 {
		i := r.rng.IntN(n)
		m := r.maps[i]
		r.maps = slices.Delete(r.maps, i, i+1)
		r.task.Munmap(m.at, m.n) // it is there
	}
}

// fork makes a child, which closes about half of its descriptors, and has an older
// one exit.
func (r *rabble) fork() {
	child, err := r.task.Fork()
	if err != nil {
		return
	}
	for _, fd := range child.FDs() {
		if r.rng.IntN(2) == 0 {
			child.Close(fd) // it is there
		}
	}
	if r.children = append(r.children, child); len(r.children) > 3 {
		r.children[0].Exit()
		r.children = r.children[1:]
	}
}

// step does one of these.
func (r *rabble) step() {
	switch n := r.rng.IntN(100); {
	case n < 35:
		r.ioctl()
	case n < 40:
		r.write()
	case n < 70:
		r.purpose()
	case n < 76:
		r.open()
	case n < 79:
		r.close()
	case n < 81:
		if len(r.task.FDs()) < manyFDs {
			r.task.Dup(r.fd()) // another may have closed it
		}
	case n < 88:
		r.read()
	case n < 93:
		r.mmap()
	case n < 98:
		r.munmap()
	case n == 98:
		r.fork()
	default:
		r.context(r.fd())
	}
}

// leave gives back what it has but for the process's descriptors.
func (r *rabble) leave() {
	for _, c := range r.children {
		c.Exit()
	}
	for len(r.maps) > 0 {
		r.munmap()
	}
}
