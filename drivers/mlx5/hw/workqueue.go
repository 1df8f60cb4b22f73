package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// wqLayout has where a context describes a queue of work requests. A field that
// the context lacks has no width.
type wqLayout struct {
	typ, logSize, logStride, pageOffset, logPageSize, pd, uar, record ifc.Field
	bufUMEM, bufUMEMID, bufUMEMOffset, recordUMEM, recordUMEMID       ifc.Field
	lwm, taken, posted                                                ifc.Field

	strideFrom uint      // the logarithm of the stride that stands as 0
	logMaxSize ifc.Field // the capability
}

// fieldOf is a field of a context, or of no width if the context lacks it.
func fieldOf(layout, path string) ifc.Field {
	f, _ := ifc.Must(layout).Lookup(path)
	return f
}

// wqIn is the layout of a struct wq in a context.
func wqIn(context string) wqLayout {
	field := func(name string) ifc.Field { return ifc.Must(context).Field("wq." + name) }
	return wqLayout{
		typ: field("wq_type"), logSize: field("log_wq_sz"), logStride: field("log_wq_stride"),
		pageOffset: field("page_offset"), logPageSize: field("log_wq_pg_sz"), pd: field("pd"), uar: field("uar_page"),
		record: field("dbr_addr"), bufUMEM: field("wq_umem_valid"), bufUMEMID: field("wq_umem_id"),
		bufUMEMOffset: field("wq_umem_offset"), recordUMEM: field("dbr_umem_valid"), recordUMEMID: field("dbr_umem_id"),
		lwm: field("lwm"), taken: field("hw_counter"), posted: field("sw_counter"),
		logMaxSize: ifc.Must("cmd_hca_cap").Field("log_max_wq_sz"),
	}
}

// workQueue is a queue of work requests in its user's memory, and where the user
// says how many it has posted.
type workQueue struct {
	buf                buffer
	record             Addr
	logSize, logStride uint
	typ                uint8
	refs               []ref // what it needs
}

// minLogStride is the logarithm of the shortest stride: one data segment.
const minLogStride = 4

// size is the number of entries.
func (w *workQueue) size() uint32 { return 1 << w.logSize }

// stride is the length of an entry.
func (w *workQueue) stride() uint64 { return 1 << w.logStride }

// isLinked says that an entry names the next one.
func (w *workQueue) isLinked() bool { return w.typ == ifc.MLX5_WQ_TYPE_LINKED_LIST }

// workQueue reads a queue from a context and a list of page addresses.
func (d *Device) workQueue(l *wqLayout, ctx, list []byte, uid uint16) (w workQueue, r *refusal) {
	w = workQueue{
		typ:       uint8(l.typ.Get(ctx)),
		record:    l.record.Get(ctx),
		logSize:   uint(l.logSize.Get(ctx)),
		logStride: uint(l.logStride.Get(ctx)) + l.strideFrom,
	}
	switch {
	case uint64(w.logSize) > d.cap(l.logMaxSize):
		return w, badWQSize
	case w.logStride < minLogStride:
		return w, badWQStride
	case w.typ > ifc.MLX5_WQ_TYPE_CYCLIC && d.cap(capStridingRQ) == 0:
		return w, badWQType
	}
	if l.bufUMEM.Get(ctx) != 0 {
		id := uint32(l.bufUMEMID.Get(ctx))
		w.buf, r = d.umemBuffer(id, l.bufUMEMOffset.Get(ctx), uid)
		w.refs = append(w.refs, ref{kindUMEM, id})
	} else {
		w.buf = newBuffer(l.logPageSize.Get(ctx), l.pageOffset.Get(ctx), list)
	}
	if r == nil && l.recordUMEM.Get(ctx) != 0 {
		id := uint32(l.recordUMEMID.Get(ctx))
		w.record, r = d.umemAddr(id, w.record, uid)
		w.refs = append(w.refs, ref{kindUMEM, id})
	}
	if r == nil && !w.buf.reaches(w.stride()<<w.logSize) {
		r = shortWQPages
	}
	if l.pd.Width != 0 {
		w.refs = append(w.refs, domain(uint32(l.pd.Get(ctx)), uid)...)
	}
	return w, r
}

var capStridingRQ = ifc.Must("cmd_hca_cap").Field("striding_rq")

// umemOf finds the memory with that number if the uid may name it.
func (d *Device) umemOf(id uint32, uid uint16) *umem {
	o, ok := d.find(kindUMEM, id, uid, toName)
	if !ok {
		return nil
	}
	u, _ := o.as.(*umem)
	return u
}

// umemBuffer is a queue that begins at an offset of such a memory.
func (d *Device) umemBuffer(id uint32, off uint64, uid uint16) (b buffer, r *refusal) {
	u := d.umemOf(id, uid)
	switch {
	case u == nil:
		return b, noSuchUMEM
	case off > uint64(len(u.pages))<<u.shift:
		return b, shortWQPages
	}
	b = buffer{shift: u.shift, start: u.start + off, pages: make([]Addr, len(u.pages))}
	for i, p := range u.pages {
		b.pages[i] = p &^ (1<<adapterPageShift - 1) // the low bits are access rights
	}
	return b, nil
}

// umemAddr is the bus address of an offset of such a memory.
func (d *Device) umemAddr(id uint32, off uint64, uid uint16) (Addr, *refusal) {
	b, r := d.umemBuffer(id, off, uid)
	switch {
	case r != nil:
		return 0, r
	case !b.reaches(8):
		return 0, shortWQPages
	}
	return b.pages[b.start>>b.shift] + b.start&(1<<b.shift-1), nil
}
