package methods

import (
	"syscall"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The write() commands of UVERBS_OBJECT_XRCD, but for OPEN_QP, and the
// device's table of the XRC domains that processes share: whoever names a file
// with the same inode gets the same domain.

// anonInode is the inode that all anonymous files share (anon_inode_inode of
// fs/anon_inodes.c).
type anonInode struct{}

// fileInode returns what stands for the inode of an open file: two files of
// the same inode give equal values. It models file_inode in
// include/linux/fs.h. A file of another kind than those of uverbs says by a
// method Inode of its Private which inode it has; without one it is an inode
// of its own.
func fileInode(f *process.File) any {
	switch p := f.Private.(type) {
	case *kernel.File:
		return p.Device
	case *uobject.Object:
		return anonInode{}
	case interface{ Inode() any }:
		return p.Inode()
	}
	return f
}

// xrcdTableInsert puts a new domain into the device's table. The caller holds
// xrcd_tree_mutex. It models xrcd_table_insert in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-xrcd/no-memory.
func xrcdTableInsert(t *trace.Task, d *kernel.Device, inode any, xrcd *core.XRCD) error {
	defer t.EnterInlined(trace.Uverbs, "xrcd_table_insert").Leave()
	if t.Fail(trace.Alloc, "xrcd_table_entry") {
		return rule.CmdXRCDNoMemory
	}
	d.XRCDTree[inode] = xrcd
	return nil
}

// findXRCD models find_xrcd in drivers/infiniband/core/uverbs_cmd.c.
func findXRCD(t *trace.Task, d *kernel.Device, inode any) *core.XRCD {
	defer t.EnterInlined(trace.Uverbs, "find_xrcd").Leave()
	return d.XRCDTree[inode]
}

// xrcdTableDelete models xrcd_table_delete in
// drivers/infiniband/core/uverbs_cmd.c.
func xrcdTableDelete(t *trace.Task, d *kernel.Device, inode any) {
	defer t.EnterInlined(trace.Uverbs, "xrcd_table_delete").Leave()
	delete(d.XRCDTree, inode)
}

// uverbsOpenXRCD makes an XRC domain, or opens the one that is shared through
// a file. It models ib_uverbs_open_xrcd in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: those of openXRCD.
func uverbsOpenXRCD(b *kernel.Bundle) error {
	var cmd spec.OpenXRCD
	if err := request(b, &cmd); err != nil {
		return err
	}
	d := b.File().Device
	d.XRCDTreeMutex.Lock(b.Trace())
	o, err := openXRCD(b, d, &cmd)
	d.XRCDTreeMutex.Unlock(b.Trace())
	if err != nil {
		return err
	}
	uobjFinalizeUobjCreate(o, b)
	resp := spec.OpenXRCDResp{XRCDHandle: uint32(o.ID())}
	return response(b, &resp)
}

// openXRCD is the part of uverbsOpenXRCD under xrcd_tree_mutex.
//
// Errors: cmd-xrcd/bad-fd, cmd-xrcd/no-create, cmd-xrcd/excl,
// cmd-xrcd/no-memory, xrcd/unsupported, xrcd/no-memory, and those of the
// driver.
func openXRCD(b *kernel.Bundle, d *kernel.Device, cmd *spec.OpenXRCD) (*uobject.Object, error) {
	task, t := b.Task(), b.Trace()
	var inode any
	var xrcd *core.XRCD
	if fd := int32(cmd.FD); fd != -1 {
		f := task.Fget(int(fd))
		if f == nil {
			return nil, rule.CmdXRCDBadFD
		}
		defer f.Put(task)
		inode = fileInode(f)
		xrcd = findXRCD(t, d, inode)
		if xrcd == nil && cmd.Oflags&syscall.O_CREAT == 0 {
			return nil, rule.CmdXRCDNoCreate
		}
		if xrcd != nil && cmd.Oflags&syscall.O_EXCL != 0 {
			return nil, rule.CmdXRCDExcl
		}
	}
	o, dev, err := uobjAlloc(b, spec.UVERBS_OBJECT_XRCD)
	if err != nil {
		return nil, err
	}
	fresh := xrcd == nil
	if fresh {
		if xrcd, err = core.AllocXRCDUser(dev, inode, &b.DriverUdata); err != nil {
			uobjAllocAbort(o, b)
			return nil, err
		}
	}
	o.HW = xrcd
	if inode == nil {
		return o, nil
	}
	if fresh {
		if err := xrcdTableInsert(t, d, inode, xrcd); err != nil {
			core.DeallocXRCDUser(xrcd, getClearedUdata(b)) // as the kernel does
			uobjAllocAbort(o, b)
			return nil, err
		}
	}
	xrcd.Usecnt.Count(t, "ib_xrcd", 1)
	return o, nil
}

// uverbsCloseXRCD closes an XRC domain. It models ib_uverbs_close_xrcd in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsCloseXRCD(b *kernel.Bundle) error {
	var cmd spec.CloseXRCD
	if err := request(b, &cmd); err != nil {
		return err
	}
	return uobjPerformDestroy(b, spec.UVERBS_OBJECT_XRCD, cmd.XRCDHandle)
}

// uverbsDeallocXRCD ends one use of an XRC domain that is shared through a
// file, and the domain itself with the last; one that is not shared ends at
// once. The caller holds xrcd_tree_mutex of the device. It models
// ib_uverbs_dealloc_xrcd in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: xrcd/in-use, and those of the driver.
func uverbsDeallocXRCD(xrcd *core.XRCD, b *kernel.Bundle) error {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "ib_uverbs_dealloc_xrcd").Leave()
	inode := xrcd.Inode
	if inode != nil && xrcd.Usecnt.Count(t, "ib_xrcd", -1) != 0 {
		return nil
	}
	if err := core.DeallocXRCDUser(xrcd, &b.DriverUdata); err != nil {
		xrcd.Usecnt.Count(t, "ib_xrcd", 1)
		return err
	}
	if inode != nil {
		xrcdTableDelete(t, b.File().Device, inode)
	}
	return nil
}
