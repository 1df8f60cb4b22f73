package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/interpose/record"
	"uverbsim/interpose/watch"
	"uverbsim/report/dissect"
	"uverbsim/report/request"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

// caseText is a record.File in memory.
type caseText struct{ bytes.Buffer }

// Seek implements record.File for one who only asks where the end is.
func (t *caseText) Seek(int64, int) (int64, error) { return int64(t.Len()), nil }

// Truncate implements record.File.
func (t *caseText) Truncate(size int64) error { t.Buffer.Truncate(int(size)); return nil }

// requestCase makes a case of a request: an open, a context unless the request
// gets one itself, and the request. It is recorded as if a program had made it,
// with memory that is zero where nothing is known of it, and refused, so that
// nothing it names counts as made by it.
func requestCase(r *request.Request, dev dissect.Device, bare bool) (*casefile.Case, error) {
	var text caseText
	rec, err := record.New(&text, record.Options{Process: func(int) record.Process { return record.Process{Caps: ^uint64(0), Memlock: -1} }})
	if err != nil {
		return nil, err
	}
	const file, fd = 1, 3
	mem := r.Mem(true)
	do := func(c *watch.Call) {
		c.PID, c.TID, c.File, c.Mem, c.Kernel, c.Driver = 1, 1, file, mem, dev.Kernel, dev.Driver
		rec.Enter(c)
		rec.Leave(c)
	}
	do(&watch.Call{Name: "open", Path: "/dev/infiniband/uverbs0", OpenFlags: syscall.O_RDWR | syscall.O_CLOEXEC, FD: -1, Ret: fd})
	if r.Kind == request.Ioctl {
		do(&watch.Call{Name: "ioctl", FD: fd, Cmd: spec.RDMA_VERBS_IOCTL, Arg: copyuser.Addr(r.At), Ret: -1, Err: syscall.EINVAL})
	} else {
		do(&watch.Call{Name: "write", FD: fd, Addr: r.At, Length: uint64(writeLength(r)), Ret: -1, Err: syscall.EINVAL})
	}
	if err := rec.Close(); err != nil {
		return nil, err
	}
	var c *casefile.Case
	for one, err := range casefile.Read(&text, "the request") {
		if err != nil {
			return nil, err
		}
		c = one
	}
	return prepared(c, r, dev, bare)
}

// writeLength is how many bytes a write() was to write.
func writeLength(r *request.Request) int {
	if r.Count >= 0 {
		return r.Count
	}
	return len(r.Bytes)
}

// prepared gives a recorded request the form that is played.
func prepared(c *casefile.Case, r *request.Request, dev dissect.Device, bare bool) (*casefile.Case, error) {
	if c == nil || len(c.Steps) != 2 {
		return nil, errors.New("the request cannot be made a case")
	}
	c.Name, c.Why, c.Driver = "decode/request", "the request alone, on a file with a context", dev.Name
	if dev.Kernel == spec.Linux6_12 {
		c.Kernel = "" // it is played on that anyhow, and nothing is recorded
	}
	for i := range c.Steps {
		c.Steps[i].Got, c.Steps[i].Mask = nil, nil
	}
	if shownShort(r) {
		edge := len(r.Bytes)
		switch a := c.Steps[1].Do.(type) {
		case *casefile.Ioctl:
			a.ArgEdge = &edge
			onlyShown(a, edge)
		case *casefile.Write:
			a.ArgEdge = &edge
		}
	}
	if bare || getsContext(r) {
		c.Why = "the request alone, on a file without a context"
		return c, nil
	}
	fd := c.Steps[0].Do.(*casefile.Open).FD
	c.Steps = slices.Insert(c.Steps, 1, casefile.Step{Do: getContext(c, fd)})
	return c, nil
}

// onlyShown leaves out of a call the attributes of which an argument that long has
// nothing: zeros, as they were read.
func onlyShown(a *casefile.Ioctl, length int) {
	n := max(0, length-spec.IoctlHdrSize+spec.IoctlAttrSize-1) / spec.IoctlAttrSize
	if n >= len(a.Attrs) {
		return
	}
	if a.Hdr.NumAttrs == nil {
		all := uint16(len(a.Attrs))
		a.Hdr.NumAttrs = &all
	}
	if a.Hdr.Length == nil {
		all := uint16(spec.IoctlHdrSize + len(a.Attrs)*spec.IoctlAttrSize)
		a.Hdr.Length = &all
	}
	a.Attrs = a.Attrs[:n]
	cut := func(_ string, ref casefile.Ref) bool { return ref.Buf == "" && ref.Attr >= n }
	maps.DeleteFunc(a.Save, cut)
	maps.DeleteFunc(a.SaveFD, cut)
}

// shownShort says whether the request goes on where the text ends.
func shownShort(r *request.Request) bool {
	switch {
	case r.Kind == request.Write:
		return len(r.Bytes) < r.Count
	case len(r.Bytes) < spec.IoctlHdrSize:
		return true
	}
	h := spec.DecodeIoctlHdr((*[spec.IoctlHdrSize]byte)(r.Bytes))
	return len(r.Bytes) < spec.IoctlHdrSize+int(h.NumAttrs)*spec.IoctlAttrSize
}

// getContext is the call that libraries begin with. On mlx5 the context may use
// DEVX, and has registers of its own, so that calls need not name any.
func getContext(c *casefile.Case, fd string) *casefile.Ioctl {
	a := &casefile.Ioctl{FD: fd, Hdr: casefile.Hdr{ObjectID: spec.UVERBS_OBJECT_DEVICE, MethodID: spec.UVERBS_METHOD_GET_CONTEXT}}
	if c.Driver == "mlx5" {
		const name = "context" // no buffer of a recording is called so
		req := spec.Mlx5AllocUcontextReqV2{TotalNumBfregs: 16, NumLowLatencyBfregs: 4, MaxCQEVersion: 1, Flags: spec.MLX5_IB_ALLOC_UCTX_DEVX}
		data := spec.Bytes(&req)
		n := uint16(len(data))
		if c.Bufs == nil {
			c.Bufs = map[string]*casefile.Buf{}
		}
		c.Bufs[name] = &casefile.Buf{Data: data, Len: len(data)}
		a.Attrs = []casefile.Attr{{ID: spec.UVERBS_ATTR_UHW_IN, Len: &n, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: casefile.PtrTo(name, 0)}}
	}
	return a
}

// getsContext says whether the request is for a context itself.
func getsContext(r *request.Request) bool {
	b := r.Bytes
	if r.Kind == request.Write {
		return len(b) >= 4 && binary.LittleEndian.Uint32(b) == spec.IB_USER_VERBS_CMD_GET_CONTEXT
	}
	i := watch.TakeIoctl(r.Mem(false), copyuser.Addr(r.At), spec.RDMA_DRIVER_UNKNOWN)
	if !i.Readable || i.Header.ObjectID != spec.UVERBS_OBJECT_DEVICE {
		return false
	}
	command, invokes := i.InvokeWrite()
	return i.Header.MethodID == spec.UVERBS_METHOD_GET_CONTEXT || invokes && command == spec.IB_USER_VERBS_CMD_GET_CONTEXT
}

// mostMemory is how much memory a request may have pinned.
const mostMemory = 256 << 20

// playRequest fills in the answers of a request that was made a case. It returns
// the case that went the farthest.
func playRequest(r *request.Request, d *dissect.Dump, c *casefile.Case, bare bool) *casefile.Case {
	on := fmt.Sprintf("%s, Linux %s, a file with a context", c.Driver, d.Device.Kernel.Name)
	if bare || getsContext(r) {
		on = fmt.Sprintf("%s, Linux %s, a file without a context", c.Driver, d.Device.Kernel.Name)
	}
	d.Answer = playCase(r, d, c)
	d.Answer.On = on + " and without any object"
	if d.Answer.Rule == nil || !missesObject(d.Answer.Rule) {
		return c
	}
	more, made := withObjects(c, d.Objects)
	if more == nil {
		return c
	}
	if a := playCase(r, d, more); a.Cannot == "" {
		a.On = on + " and with " + strings.Join(made, ", ")
		d.Then, d.Answer.Seen = a, ""
		return more
	}
	return c
}

// missesObject says whether a rule refuses a call for an object that there is not.
func missesObject(why *rule.Rule) bool { return strings.HasPrefix(why.ID, "object/") }

// playCase plays a case, whose last step is the request.
func playCase(r *request.Request, d *dissect.Dump, c *casefile.Case) *dissect.Answer {
	a := &dissect.Answer{Seen: r.Returned}
	size := 0
	for _, b := range c.Bufs {
		size += b.Len
	}
	if size > mostMemory {
		a.Cannot = fmt.Sprintf("it takes %d bytes of the program's memory, and %d is the most that is played", size, mostMemory)
		return a
	}
	res := player.Play(&model.Model{Kernel: d.Device.Kernel}, c, player.Options{Repeat: 1})
	if res.Err != nil {
		a.Cannot, _, _ = strings.Cut(res.Err.Error(), "\n")
		return a
	}
	last := len(res.Steps) - 1
	for i := range last {
		if e := res.Steps[i].Got.Errno; e != nil && *e != "" {
			a.Cannot = fmt.Sprintf("what it needs could not be made: %v", res.Steps[i].Refused)
			return a
		}
	}
	got := res.Steps[last].Got
	a.Ret = string(got.Ret)
	if got.Errno != nil {
		a.Errno = *got.Errno
	}
	errors.As(res.Steps[last].Refused, &a.Rule)
	if a.Errno == "EFAULT" && shownShort(r) {
		a.Cannot = "the dump ends before the request does, and what there is of it does not decide"
		return a
	}
	a.Matters = matters(d, a.Rule, pinned(c, r))
	return a
}

// matters returns what of all that is assumed may have decided the answer.
func matters(d *dissect.Dump, why *rule.Rule, pinned []string) (says []string) {
	switch {
	case slices.Contains(d.Rules(), why):
		return nil // the dump alone tells it
	case why == nil || !missesObject(why):
		return append(d.Memory, pinned...)
	}
	for i := range d.Objects {
		if says = append(says, d.Objects[i].Assumed()); d.Call == request.Ioctl && d.Objects[i].Attr >= 0 {
			break // they are looked up in this order
		}
	}
	return says
}

// pinned says which memory the kernel may have pinned, which no dump shows.
func pinned(c *casefile.Case, r *request.Request) (says []string) {
	add := func(v *casefile.Value, was []byte) {
		if v.Kind == casefile.Ptr && strings.HasPrefix(v.Name, "memory") && len(was) >= 8 {
			says = append(says, fmt.Sprintf("the memory at %#x, as far as the kernel needs it, is there", binary.LittleEndian.Uint64(was)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Bufs)) {
		b := c.Bufs[name]
		for i := range b.Reloc {
			add(&b.Reloc[i].Value, b.Bytes()[b.Reloc[i].At:])
		}
	}
	switch a := c.Steps[len(c.Steps)-1].Do.(type) {
	case *casefile.Ioctl:
		for i := range a.Attrs {
			if at := spec.IoctlHdrSize + i*spec.IoctlAttrSize + spec.IoctlAttrDataOffset; at < len(r.Bytes) {
				add(&a.Attrs[i].Data, r.Bytes[at:])
			}
		}
	case *casefile.Write:
		for i := range a.Reloc {
			add(&a.Reloc[i].Value, a.Data[a.Reloc[i].At:])
		}
	}
	return slices.Compact(says)
}
