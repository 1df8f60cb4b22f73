package main

import (
	"encoding/binary"
	"fmt"
	"slices"

	"uverbsim/casefile"
	"uverbsim/report/dissect"
	"uverbsim/spec"
)

// mostObjects is up to which handle objects are made.
const mostObjects = 64

// withObjects returns a case like c in which the objects that the request names
// are made first, each with its number, and what they are; nil if it names none, or
// one that cannot be made here.
func withObjects(c *casefile.Case, objects []dissect.Object) (*casefile.Case, []string) {
	if len(objects) == 0 {
		return nil, nil
	}
	want := map[uint64]uint16{}
	m := &objectMaker{c: clone(c), fd: c.Steps[0].Do.(*casefile.Open).FD}
	var made []string
	for _, o := range objects {
		if o.FD {
			if !m.descriptor(&o) {
				return nil, nil
			}
			made = append(made, fmt.Sprintf("%s as descriptor %d", shortName(o.Type), int64(o.Number)))
			continue
		}
		typ, again := want[o.Number]
		if makers[o.Type] == nil || o.Number >= mostObjects || again && typ != o.Type {
			return nil, nil
		}
		if want[o.Number] = o.Type; !again {
			made = append(made, fmt.Sprintf("%s %d", shortName(o.Type), o.Number))
		}
	}
	m.all(want)
	last := len(m.c.Steps) - 1
	m.c.Steps = slices.Insert(m.c.Steps, last, m.steps...)
	m.c.Why = "the request, after what it names was made"
	return m.c, made
}

// clone copies what withObjects changes.
func clone(c *casefile.Case) *casefile.Case {
	k := *c
	k.Steps = slices.Clone(c.Steps)
	k.Bufs = map[string]*casefile.Buf{}
	for name, b := range c.Bufs {
		k.Bufs[name] = b
	}
	if a, ok := k.Steps[len(k.Steps)-1].Do.(*casefile.Ioctl); ok {
		i := *a
		i.Attrs = slices.Clone(a.Attrs)
		k.Steps[len(k.Steps)-1].Do = &i
	}
	return &k
}

// shortName is UVERBS_OBJECT_PD without its prefix.
func shortName(typ uint16) string {
	const prefix = len("UVERBS_OBJECT_")
	return spec.ObjectName(typ)[prefix:]
}

// objectMaker adds steps that make objects.
type objectMaker struct {
	c     *casefile.Case
	fd    string
	steps []casefile.Step
	bufs  int

	pd, cq uint64 // of those that others need
}

// makers make an object, which gets the lowest free number.
var makers = map[uint16]func(m *objectMaker){
	spec.UVERBS_OBJECT_PD:  (*objectMaker).allocPD,
	spec.UVERBS_OBJECT_CQ:  (*objectMaker).createCQ,
	spec.UVERBS_OBJECT_MR:  (*objectMaker).regMR,
	spec.UVERBS_OBJECT_SRQ: (*objectMaker).createSRQ,
	spec.UVERBS_OBJECT_QP:  (*objectMaker).createQP,
}

// all makes the objects. A handle is the lowest that is free, so all numbers up
// to the highest are taken by PDs first; behind them comes what other objects
// need; then each PD that is to be something else makes room for it.
func (m *objectMaker) all(want map[uint64]uint16) {
	if len(want) == 0 {
		return
	}
	n := uint64(0)
	needs := false
	for h, typ := range want {
		n = max(n, h+1)
		needs = needs || typ != spec.UVERBS_OBJECT_PD && typ != spec.UVERBS_OBJECT_CQ
	}
	for range n {
		m.allocPD()
	}
	if needs {
		m.pd, m.cq = n, n+1
		m.allocPD()
		m.createCQ()
	}
	for h := range n {
		typ, ok := want[h]
		if ok && typ == spec.UVERBS_OBJECT_PD {
			continue
		}
		if ok {
			m.destroyPD(h)
			makers[typ](m)
		}
	}
	for h := range n { // last, since the next object would take its number
		if _, ok := want[h]; !ok {
			m.destroyPD(h)
		}
	}
}

func (m *objectMaker) add(a casefile.Action) { m.steps = append(m.steps, casefile.Step{Do: a}) }

// buffer adds a buffer and returns its name.
func (m *objectMaker) buffer(data []byte, reloc ...casefile.Reloc) string {
	m.bufs++
	name := fmt.Sprintf("object%d", m.bufs)
	m.c.Bufs[name] = &casefile.Buf{Data: data, Len: len(data), Reloc: reloc}
	return name
}

// memory adds pages of zeros.
func (m *objectMaker) memory(n int) string {
	name := m.buffer(nil)
	m.c.Bufs[name].Len = n
	return name
}

func address(at int, buf string) casefile.Reloc {
	return casefile.Reloc{At: at, Size: 8, Value: casefile.PtrTo(buf, 0)}
}

// number, in, out and object are attributes.
func number(id uint16, size uint16, v uint64) casefile.Attr {
	return casefile.Attr{ID: id, Len: &size, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: casefile.NumberOf(v)}
}

func (m *objectMaker) in(id uint16, data []byte, reloc ...casefile.Reloc) casefile.Attr {
	a := number(id, uint16(len(data)), 0)
	a.Data = casefile.PtrTo(m.buffer(data, reloc...), 0)
	return a
}

func (m *objectMaker) out(id uint16, n int) casefile.Attr { return m.in(id, make([]byte, n)) }

func object(id uint16, h uint64) casefile.Attr { return number(id, 0, h) }

func (m *objectMaker) ioctl(object, method uint16, attrs ...casefile.Attr) *casefile.Ioctl {
	a := &casefile.Ioctl{FD: m.fd, Hdr: casefile.Hdr{ObjectID: object, MethodID: method}, Attrs: attrs}
	m.add(a)
	return a
}

// invoke makes a write() command by ioctl.
func (m *objectMaker) invoke(command uint64, core casefile.Attr, outLen int, more ...casefile.Attr) *casefile.Ioctl {
	attrs := []casefile.Attr{number(spec.UVERBS_ATTR_WRITE_CMD, 8, command), core, m.out(spec.UVERBS_ATTR_CORE_OUT, outLen)}
	return m.ioctl(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE, append(attrs, more...)...)
}

// driver is the driver's part of a call: of mlx5 what it is handed, of all what
// they hand back.
func (m *objectMaker) driver(mlx5 []byte, room int, reloc ...casefile.Reloc) []casefile.Attr {
	switch m.c.Driver {
	case "stub":
		return nil
	case "mlx5":
		return []casefile.Attr{m.in(spec.UVERBS_ATTR_UHW_IN, mlx5, reloc...), m.out(spec.UVERBS_ATTR_UHW_OUT, room)}
	}
	return []casefile.Attr{m.out(spec.UVERBS_ATTR_UHW_OUT, room)}
}

// queue are a queue's buffer and its doorbell record, with whose addresses the
// structs of mlx5 begin.
func (m *objectMaker) queue() []casefile.Reloc {
	if m.c.Driver != "mlx5" {
		return nil
	}
	return []casefile.Reloc{address(0, m.memory(1<<16)), address(8, m.memory(4096))}
}

// driverRoom is more than any driver hands back.
const driverRoom = 64

func (m *objectMaker) allocPD() {
	var more []casefile.Attr
	if m.c.Driver == "mlx5" {
		more = append(more, m.out(spec.UVERBS_ATTR_UHW_OUT, driverRoom))
	}
	m.invoke(spec.IB_USER_VERBS_CMD_ALLOC_PD, number(spec.UVERBS_ATTR_CORE_IN, spec.AllocPDSize, 0), spec.AllocPDRespSize, more...)
}

func (m *objectMaker) destroyPD(h uint64) {
	m.ioctl(spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY, object(spec.UVERBS_ATTR_DESTROY_PD_HANDLE, h))
}

// queueEntries is how many entries the queues have.
const queueEntries = 16

func (m *objectMaker) createCQ() {
	req := spec.Mlx5CreateCQ{CQESize: 64}
	m.ioctl(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, append([]casefile.Attr{
		object(spec.UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		number(spec.UVERBS_ATTR_CREATE_CQ_CQE, 4, queueEntries),
		number(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 0),
		number(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0),
		m.out(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
	}, m.driver(spec.Bytes(&req), driverRoom, m.queue()...)...)...)
}

func (m *objectMaker) regMR() {
	const length = 4096
	mem := m.memory(length)
	req := spec.RegMR{Length: length, PDHandle: uint32(m.pd), AccessFlags: spec.IB_UVERBS_ACCESS_LOCAL_WRITE}
	b := spec.Bytes(&req)
	const start, hcaVA = 8, 24
	m.invoke(spec.IB_USER_VERBS_CMD_REG_MR, m.in(spec.UVERBS_ATTR_CORE_IN, b, address(start, mem), address(hcaVA, mem)), spec.RegMRRespSize)
}

func (m *objectMaker) createSRQ() {
	var req spec.Mlx5CreateSRQ
	m.ioctl(spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_CREATE, append([]casefile.Attr{
		object(spec.UVERBS_ATTR_CREATE_SRQ_HANDLE, 0),
		object(spec.UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, m.pd),
		number(spec.UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 0),
		number(spec.UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, queueEntries-1),
		number(spec.UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, 1),
		number(spec.UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 0),
		number(spec.UVERBS_ATTR_CREATE_SRQ_TYPE, 8, spec.IB_UVERBS_SRQT_BASIC),
		m.out(spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4),
		m.out(spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4),
	}, m.driver(spec.Bytes(&req), driverRoom, m.queue()...)...)...)
}

func (m *objectMaker) createQP() {
	req := spec.Mlx5CreateQP{SQWQECount: queueEntries, RQWQECount: queueEntries, RQWQEShift: 6}
	var capacity []byte
	for _, n := range []uint32{queueEntries, queueEntries, 1, 1, 0} {
		capacity = binary.LittleEndian.AppendUint32(capacity, n)
	}
	m.ioctl(spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, append([]casefile.Attr{
		object(spec.UVERBS_ATTR_CREATE_QP_HANDLE, 0),
		object(spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE, m.pd),
		object(spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, m.cq),
		object(spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, m.cq),
		number(spec.UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 0),
		m.in(spec.UVERBS_ATTR_CREATE_QP_CAP, capacity),
		number(spec.UVERBS_ATTR_CREATE_QP_TYPE, 8, spec.IB_UVERBS_QPT_RC),
		m.out(spec.UVERBS_ATTR_CREATE_QP_RESP_CAP, len(capacity)),
		m.out(spec.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4),
	}, m.driver(spec.Bytes(&req), driverRoom, m.queue()...)...)...)
}

// descriptor makes an object that is a descriptor, and has the request's
// attribute name it, whatever number it gets.
func (m *objectMaker) descriptor(o *dissect.Object) bool {
	a, ok := m.c.Steps[len(m.c.Steps)-1].Do.(*casefile.Ioctl)
	if !ok || o.Attr < 0 || o.Attr >= len(a.Attrs) {
		return false
	}
	name := fmt.Sprintf("descriptor%d", o.Attr)
	switch o.Type {
	case spec.UVERBS_OBJECT_ASYNC_EVENT:
		i := m.ioctl(o.Type, spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC, object(spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0))
		i.SaveFD = map[string]casefile.Ref{name: {Attr: 0}}
	case spec.UVERBS_OBJECT_COMP_CHANNEL:
		i := m.invoke(spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, number(spec.UVERBS_ATTR_CORE_IN, spec.CreateCompChannelSize, 0), spec.CreateCompChannelRespSize)
		i.SaveFD = map[string]casefile.Ref{name: {Buf: i.Attrs[2].Data.Name, Size: 4}}
	default:
		return false
	}
	a.Attrs[o.Attr].Data = casefile.HandleOf(name)
	return true
}
