package kernel

import (
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// ioctl is the ioctl operation of the device node: command, header, length and
// reserved fields, then the call itself. It models ib_uverbs_ioctl.
//
// Errors: cmd/unknown, header/fault, header/length, header/reserved, and those
// of the call.
func ioctl(task *process.Task, filp *process.File, cmd uint32, arg copyuser.Addr) (int64, error) {
	t := task.Trace
	if t != nil {
		defer t.Enter(trace.Uverbs, "ib_uverbs_ioctl").Leave()
	}
	f := filp.Private.(*File)
	if cmd != spec.RDMA_VERBS_IOCTL {
		if cmd == BatchIoctl && f.Device.machine.batch {
			return f.batch(task, arg)
		}
		return 0, refuse(t, rule.CmdUnknown)
	}
	return 0, f.call(task, arg)
}

// call makes a call with a bundle that it borrows.
func (f *File) call(task *process.Task, arg copyuser.Addr) error {
	b := f.getBundle(task)
	err := f.ioctl(b, arg)
	f.putBundle(b)
	if err != nil {
		return refuse(task.Trace, err)
	}
	return nil
}

// refuse reports the rule that refused the call.
func refuse(t *trace.Task, err error) error {
	if t == nil {
		return err
	}
	if r, ok := err.(*rule.Rule); ok {
		t.Note(trace.Refuse, r.ID, uint64(r.Errno), 0, 0)
	} else {
		t.Note(trace.Refuse, err.Error(), uint64(rule.Errno(err)), 0, 0)
	}
	return err
}

// ioctl is ib_uverbs_ioctl from the copy of the header on.
func (f *File) ioctl(b *Bundle, arg copyuser.Addr) error {
	t := b.Trace()
	if !copyuser.CopyFromUser(t, b.task.Mem, b.priv.hdr[:], arg) {
		return rule.HeaderFault
	}
	hdr := spec.DecodeIoctlHdr(&b.priv.hdr)
	if hdr.Length > copyuser.PageSize || int(hdr.Length) != spec.IoctlHdrSize+int(hdr.NumAttrs)*spec.IoctlAttrSize {
		return rule.HeaderLength
	}
	if hdr.Reserved1 != 0 || hdr.Reserved2 != 0 {
		return rule.HeaderReserved
	}
	key := f.Device.srcu.ReadLock(b.task)
	err := f.cmdVerbs(b, &hdr, arg+spec.IoctlHdrSize)
	f.Device.srcu.ReadUnlock(b.task, key)
	return err
}

// cmdVerbs finds the method, runs it, and commits or aborts what it touched.
// It models ib_uverbs_cmd_verbs.
//
// Errors: header/driver-id, method/unknown, bundle/no-memory.
func (f *File) cmdVerbs(b *Bundle, hdr *spec.IoctlHdr, userAttrs copyuser.Addr) error {
	t := b.Trace()
	if t != nil {
		defer t.Enter(trace.Uverbs, "ib_uverbs_cmd_verbs").Leave()
	}
	api := f.Device.API
	if hdr.DriverID != api.DriverID {
		return rule.HeaderDriverID
	}
	p := b.priv
	p.methodKey = spec.KeyObj(hdr.ObjectID) | spec.KeyIoctlMethod(hdr.MethodID)
	if t != nil {
		api.traceWalk(t, "method", p.methodKey)
	}
	elm, chunk := api.radix.LookupChunk(p.methodKey)
	if elm == nil {
		return rule.MethodUnknown
	}
	p.method, p.chunk = elm.Method, chunk
	if !p.method.UseStack && t.Fail(trace.Alloc, "bundle_priv") {
		return rule.BundleNoMemory
	}
	p.userAttrs, p.numAttrs = userAttrs, hdr.NumAttrs

	err := b.runMethod()
	if p.uobjFinalize|p.specFinalize != 0 { // it touched some object
		b.finish(err == nil)
	}
	return err
}

// traceWalk reports the nodes of the tree that lead to a key.
func (api *API) traceWalk(t *trace.Task, what string, key uint32) {
	api.radix.Walk(key, func(shift uint, slot int) {
		t.Note(trace.Node, what, uint64(key), uint64(shift), uint64(slot))
	})
}

// runMethod copies and processes the attributes, destroys the object of a
// destroying method, and runs the handler. It models ib_uverbs_run_method.
//
// Errors: method/disassociated, attrs/fault, attr/missing, method/eprotonosupport,
// and those of the attributes and of the handler.
func (b *Bundle) runMethod() error {
	t := b.Trace()
	if t != nil {
		defer t.EnterInlined(trace.Uverbs, "ib_uverbs_run_method").Leave()
	}
	p := b.priv
	m := p.method
	t.Point(trace.Word, "load", "handler", trace.Reads, &m.handler)
	handler := m.handler.Load()
	if handler == nil {
		return rule.MethodDisassociated
	}

	if err := b.copyAttrs(); err != nil {
		return err
	}
	if err := b.setAttrs(t); err != nil {
		return err
	}
	if m.Mandatory&^b.present != 0 {
		return rule.AttrMissing
	}

	if m.HasUdata {
		b.FillUdata(&b.DriverUdata, spec.UVERBS_ATTR_UHW_IN, spec.UVERBS_ATTR_UHW_OUT)
	}

	var err error
	if m.DestroyBkey != spec.BkeyLen {
		a := &b.attrs[m.DestroyBkey]
		o := a.object
		if err = uobject.Destroy(o, b); err != nil {
			return err
		}
		p.uobjFinalize &^= 1 << m.DestroyBkey
		err = b.runHandler(*handler)
		uobject.LookupPut(o, uobject.LookupDestroy, b)
		a.object = nil
	} else {
		err = b.runHandler(*handler)
	}

	// A driver that writes to its response does not say so, so it is taken
	// for written.
	if err == nil && m.HasUdata {
		if a := b.get(spec.UVERBS_ATTR_UHW_OUT); a != nil {
			err = b.setOutput(a)
		}
	}
	// Only the framework itself may say EPROTONOSUPPORT.
	if err != nil && rule.Errno(err) == rule.MethodUnknown.Errno {
		t.Warn("ib_uverbs_run_method")
		return rule.MethodEPROTONOSUPPORT
	}
	return err
}

// setAttrs processes the user's attributes in their order.
func (b *Bundle) setAttrs(t *trace.Task) error {
	n := int(b.priv.numAttrs)
	if t != nil {
		for i := range n {
			if err := b.tracedSetAttr(t, i); err != nil {
				return err
			}
		}
		return nil
	}
	p := b.priv
	uattrs := p.uattrs[:n*spec.IoctlAttrSize]
	for i := 0; len(uattrs) > 0; i++ {
		u := decodeAttr((*[spec.IoctlAttrSize]byte)(uattrs))
		uattrs = uattrs[spec.IoctlAttrSize:]
		if b.setPlain(p.chunk, u, i) {
			continue
		}
		if err := b.setAttr(i); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bundle) runHandler(handler Handler) error {
	if t := b.Trace(); t != nil {
		defer t.Enter(b.priv.method.module, b.priv.method.symbol).Leave()
	}
	return handler(b)
}

// copyAttrs copies the user's array of attributes.
func (b *Bundle) copyAttrs() error {
	t := b.Trace()
	t.Enter(trace.Uverbs, "_uverbs_alloc").Leave()
	if t.Fail(trace.Alloc, "_uverbs_alloc") {
		return rule.BundleNoMemory
	}
	p := b.priv
	if !copyuser.CopyFromUser(t, b.task.Mem, p.uattrs[:int(p.numAttrs)*spec.IoctlAttrSize], p.userAttrs) {
		return rule.AttrsFault
	}
	return nil
}
