package methods

import (
	"slices"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// The write() commands of UVERBS_OBJECT_QP for multicast groups.

// uverbsAttachMcast attaches a QP to a multicast group; one that it is
// attached to already is success. It models ib_uverbs_attach_mcast in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-mcast/no-memory, those of the lookup, mcast/attach-…, and those
// of the driver.
func uverbsAttachMcast(b *kernel.Bundle) error {
	var cmd spec.AttachMcast
	if err := request(b, &cmd); err != nil {
		return err
	}
	qp, o, err := uobjGetObjRead[*core.QP](b, spec.UVERBS_OBJECT_QP, cmd.QPHandle)
	if err != nil {
		return err
	}
	defer uobjPutRead(o, b)
	// What is noted is in the object that the QP was made with, which is the
	// handle's own.
	u := qp.Object.Ext.(*uqp)
	t := b.Trace()
	u.mcastLock.Lock(t)
	defer u.mcastLock.Unlock(t)
	entry := mcastEntry{cmd.GID, cmd.Mlid}
	if slices.Contains(u.mcastList, entry) {
		return nil
	}
	if t.Fail(trace.Alloc, "ib_uverbs_mcast_entry") {
		return rule.CmdMcastNoMemory
	}
	if err := core.AttachMcast(b.Task(), qp, entry.gid, entry.lid); err != nil {
		return err
	}
	u.mcastList = append(u.mcastList, entry)
	return nil
}

// uverbsDetachMcast detaches a QP from a multicast group. The group is
// forgotten even if the driver refuses. It models ib_uverbs_detach_mcast in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-mcast/not-attached, those of the lookup, mcast/detach-…, and
// those of the driver.
func uverbsDetachMcast(b *kernel.Bundle) error {
	var cmd spec.DetachMcast
	if err := request(b, &cmd); err != nil {
		return err
	}
	qp, o, err := uobjGetObjRead[*core.QP](b, spec.UVERBS_OBJECT_QP, cmd.QPHandle)
	if err != nil {
		return err
	}
	defer uobjPutRead(o, b)
	u := qp.Object.Ext.(*uqp)
	t := b.Trace()
	u.mcastLock.Lock(t)
	defer u.mcastLock.Unlock(t)
	i := slices.Index(u.mcastList, mcastEntry{cmd.GID, cmd.Mlid})
	if i < 0 {
		return rule.CmdMcastNotAttached
	}
	u.mcastList = slices.Delete(u.mcastList, i, i+1)
	return core.DetachMcast(b.Task(), qp, cmd.GID, cmd.Mlid)
}
