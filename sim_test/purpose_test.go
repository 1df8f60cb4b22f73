package sim_test

import (
	"encoding/binary"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/spec"
)

// purposes are what programs do with the device, as they should: each makes, uses or
// destroys an object that a rabble's other calls can use, at the same time too.
var purposes = []func(*rabble){
	(*rabble).allocPD, (*rabble).regMR, (*rabble).regMR, (*rabble).reregMR, (*rabble).createCompChannel,
	(*rabble).createCQ, (*rabble).createCQ, (*rabble).createQP, (*rabble).createQP, (*rabble).createSRQ, (*rabble).notify,
	(*rabble).destroy, (*rabble).destroy, (*rabble).destroy, (*rabble).destroyTwice,
}

func (r *rabble) purpose() { purposes[r.rng.IntN(len(purposes))](r) }

// Where a purpose has what in a rabble's data.
const (
	respAt = 0            // the kernel's answer
	uhwAt  = 1 * pageSize // the driver's part of a request
	outAt  = 2 * pageSize // the driver's part of an answer
	bufAt  = 4 * pageSize // memory to register, and a queue's
	dbAt   = 9 * pageSize // a doorbell record
)

func (r *rabble) addr(off uint64) uint64 { return uint64(r.data) + off }

func (r *rabble) allocPD() {
	r.command(r.file(), spec.IB_USER_VERBS_CMD_ALLOC_PD, spec.UVERBS_OBJECT_PD, spec.AllocPD{Response: r.addr(respAt)}, [1]uint64{})
}

func (r *rabble) regMR() {
	pd, ok := r.find(spec.UVERBS_OBJECT_PD, -1)
	if !ok {
		return
	}
	r.command(pd.fd, spec.IB_USER_VERBS_CMD_REG_MR, spec.UVERBS_OBJECT_MR, spec.RegMR{
		Response: r.addr(respAt), Start: r.addr(bufAt), Length: 4 * pageSize, HcaVA: r.addr(bufAt), PDHandle: pd.id,
		AccessFlags: spec.IB_UVERBS_ACCESS_LOCAL_WRITE}, [1]uint64{}, pd)
}

// reregMR gives an MR another PD, other rights or other memory.
func (r *rabble) reregMR() {
	mr, ok := r.find(spec.UVERBS_OBJECT_MR, -1)
	if !ok {
		return
	}
	pd, _ := r.find(spec.UVERBS_OBJECT_PD, mr.fd)
	r.command(mr.fd, spec.IB_USER_VERBS_CMD_REREG_MR, 0, spec.ReregMR{
		Response: r.addr(respAt), MRHandle: mr.id, Flags: uint32(1 + r.rng.IntN(7)), Start: r.addr(bufAt + pageSize), Length: 2 * pageSize,
		HcaVA: r.addr(bufAt + pageSize), PDHandle: pd.id, AccessFlags: spec.IB_UVERBS_ACCESS_LOCAL_WRITE}, [1]uint64{}, mr, pd)
}

func (r *rabble) createCompChannel() {
	if len(r.task.FDs()) < manyFDs {
		r.command(r.file(), spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, 0, spec.CreateCompChannel{Response: r.addr(respAt)}, nil)
	}
}

// createCQ makes a CQ of 15 entries, half of them with a channel.
func (r *rabble) createCQ() {
	fd := r.file()
	r.store(uhwAt, spec.Mlx5CreateCQ{BufAddr: r.addr(bufAt), DBAddr: r.addr(dbAt), CQESize: 64})
	attrs := []spec.IoctlAttr{
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_HANDLE},
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_CQE, Len: 4, Data: 15},
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, Len: 8, Data: 7},
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, Len: 4},
		{AttrID: spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, Len: 4, Data: r.addr(respAt)},
		{AttrID: spec.UVERBS_ATTR_UHW_IN, Len: spec.Mlx5CreateCQSize, Data: r.addr(uhwAt)},
		{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 32, Data: r.addr(outAt)},
	}
	if r.rng.IntN(2) == 0 {
		attrs = append(attrs, spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, Data: uint64(r.fd())})
	}
	if r.send(fd, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, attrs) != nil {
		return
	}
	id, _ := r.task.Mem.GetUint64(r.call + spec.IoctlHdrSize + spec.IoctlAttrDataOffset)
	r.keep(handle{fd, spec.UVERBS_OBJECT_CQ, uint32(id)})
	r.count("a CQ")
	r.seeQueue(fd, outAt)
}

func (r *rabble) createQP() {
	pd, ok := r.find(spec.UVERBS_OBJECT_PD, -1)
	if !ok {
		return
	}
	cq, ok := r.find(spec.UVERBS_OBJECT_CQ, pd.fd)
	if !ok {
		return
	}
	made := r.command(pd.fd, spec.IB_USER_VERBS_CMD_CREATE_QP, spec.UVERBS_OBJECT_QP, spec.CreateQP{
		Response: r.addr(respAt), PDHandle: pd.id, SendCQHandle: cq.id, RecvCQHandle: cq.id,
		MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 1, MaxRecvSGE: 1, QPType: spec.IB_UVERBS_QPT_RC,
	}, r.mlx5(spec.Mlx5CreateQP{BufAddr: r.addr(bufAt), DBAddr: r.addr(dbAt), SQWQECount: 16, RQWQECount: 16, RQWQEShift: 4,
		Uidx: 0xffffff}), pd, cq)
	if made {
		r.seeQueue(pd.fd, respAt+uint64(binary.Size(spec.CreateQPResp{})))
	}
}

func (r *rabble) createSRQ() {
	pd, ok := r.find(spec.UVERBS_OBJECT_PD, -1)
	if !ok {
		return
	}
	r.command(pd.fd, spec.IB_USER_VERBS_CMD_CREATE_SRQ, spec.UVERBS_OBJECT_SRQ, spec.CreateSRQ{
		Response: r.addr(respAt), PDHandle: pd.id, MaxWR: 15, MaxSGE: 1},
		r.mlx5(spec.Mlx5CreateSRQ{BufAddr: r.addr(bufAt), DBAddr: r.addr(dbAt), Uidx: 0xffffff}), pd)
}

// notify asks for an event of a CQ's next completion.
func (r *rabble) notify() {
	if cq, ok := r.find(spec.UVERBS_OBJECT_CQ, -1); ok {
		r.command(cq.fd, spec.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, 0, spec.ReqNotifyCQ{CQHandle: cq.id}, nil, cq)
	}
}

// destroyers are the methods that destroy what a purpose makes.
var destroyers = []struct{ object, method uint16 }{
	{spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY},
	{spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_MR_DESTROY},
	{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY},
	{spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_DESTROY},
	{spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_DESTROY},
}

func (r *rabble) destroy() {
	d := destroyers[r.rng.IntN(len(destroyers))]
	_, m := spec.FindMethod(r.defs, d.object, d.method)
	r.ioctlOf(r.file(), d.object, m)
}

// destroyTwice destroys an MR by each of the two ways, of which the second finds
// nothing, or what another has made meanwhile.
func (r *rabble) destroyTwice() {
	mr, ok := r.find(spec.UVERBS_OBJECT_MR, -1)
	if !ok {
		return
	}
	gone := r.send(mr.fd, spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_MR_DESTROY,
		[]spec.IoctlAttr{{AttrID: spec.UVERBS_ATTR_DESTROY_MR_HANDLE, Data: uint64(mr.id)}}) == nil
	again := r.command(mr.fd, spec.IB_USER_VERBS_CMD_DEREG_MR, 0, spec.DeregMR{MRHandle: mr.id}, nil, mr)
	switch {
	case gone && !again:
		r.count("a second destroy that found nothing")
	case gone:
		r.count("a second destroy that found another's")
	}
}

// mlx5 is the driver's part of a request where the driver is not rxe, which wants
// none.
func (r *rabble) mlx5(part any) any {
	if r.driver == spec.RDMA_DRIVER_RXE {
		return nil
	}
	return part
}

// store encodes v at an offset of the data.
func (r *rabble) store(off uint64, v any) {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	r.task.Mem.Store(copyuser.Addr(r.addr(off)), b)
}

// command writes a plain command with its driver's part, if it has one, and says
// whether it worked. The answer of one that makes an object begins with its
// handle. The objects that it is about are forgotten where the errno can mean that
// one of them is gone.
func (r *rabble) command(fd int, cmd uint8, object uint16, req, driver any, about ...handle) bool {
	payload, err := binary.Append(make([]byte, 8), binary.LittleEndian, req)
	if err == nil && driver != nil {
		payload, err = binary.Append(payload, binary.LittleEndian, driver)
	}
	if err != nil {
		panic(err)
	}
	const resp = 128 // bytes, more than any answer has
	binary.LittleEndian.PutUint32(payload, uint32(cmd))
	binary.LittleEndian.PutUint16(payload[4:], uint16(len(payload)/4))
	binary.LittleEndian.PutUint16(payload[6:], resp/4)
	r.task.Mem.Store(r.call, payload)
	if _, err := r.task.Write(fd, r.call, uint64(len(payload))); err != nil {
		switch rule.Errno(err) {
		case syscall.EBADF, syscall.ENOENT, syscall.EIO, syscall.EINVAL:
			r.forget(about)
		}
		return false
	}
	if object != 0 {
		id, _ := r.task.Mem.GetUint64(r.data + respAt)
		r.keep(handle{fd, object, uint32(id)})
	}
	r.count(spec.FindWrite(r.defs, cmd, false).Name)
	return true
}

// seeQueue remembers where rxe said that a queue can be mapped: a struct mminfo.
func (r *rabble) seeQueue(fd int, off uint64) {
	if r.driver != spec.RDMA_DRIVER_RXE {
		return
	}
	at := r.data + copyuser.Addr(off)
	q := &queue{fd: fd}
	q.off, _ = r.task.Mem.GetUint64(at)
	n, _ := r.task.Mem.GetUint64(at + 8)
	q.n = uint64(uint32(n))
	r.queue = q
}
