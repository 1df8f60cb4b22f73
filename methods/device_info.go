package methods

import (
	"encoding/binary"

	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// infoHandles lists the file's objects of one type, the newest first, as many
// as there is room for. Descriptors have no handle and show as 0. The answer
// without the optional INFO_TOTAL_HANDLES is attr/absent, after the list was
// written. It is the handler of UVERBS_METHOD_INFO_HANDLES.
//
// Errors: info-handles/list, info-handles/any-object,
// info-handles/unknown-object, const/range, attr/absent, attr/output-fault,
// attr/flag-fault, bundle/no-memory.
func infoHandles(b *kernel.Bundle) error {
	size, err := b.Len(spec.UVERBS_ATTR_INFO_HANDLES_LIST)
	if err != nil || size == 0 || size%4 != 0 {
		return rule.InfoHandlesList
	}
	id, err := b.Const(spec.UVERBS_ATTR_INFO_OBJECT_ID, 1<<16-1)
	if err != nil {
		return err
	}
	if uint16(id) == spec.IDRAnyObject {
		return rule.InfoHandlesAnyObject
	}
	elm := b.File().Device.API.Lookup(spec.KeyObj(uint16(id)))
	if elm == nil {
		return rule.InfoHandlesUnknownObject
	}
	handles, total, err := gatherObjectsHandle(b, elm.Object, size)
	if err != nil {
		return err
	}
	if err := b.CopyTo(spec.UVERBS_ATTR_INFO_HANDLES_LIST, handles[:4*total]); err != nil {
		return err
	}
	return b.CopyToUint64(spec.UVERBS_ATTR_INFO_TOTAL_HANDLES, uint64(total))
}

// gatherObjectsHandle returns the handles of the file's objects of that type,
// at most size bytes of them, and how many there are. It models
// gather_objects_handle in drivers/infiniband/core/uverbs_std_types_device.c.
//
// Errors: bundle/no-memory.
func gatherObjectsHandle(b *kernel.Bundle, typ *kernel.ObjectElm, size int) (handles []byte, total int, err error) {
	t := b.Trace()
	defer t.EnterInlined(trace.Uverbs, "gather_objects_handle").Leave()
	if handles, err = b.Alloc(size); err != nil {
		return nil, 0, err
	}
	for o := range b.ObjectFile().Objects(t) {
		if o.Type() != typ.Type {
			continue
		}
		if total >= size/4 {
			break
		}
		binary.LittleEndian.PutUint32(handles[4*total:], uint32(o.ID()))
		total++
	}
	return handles, total, nil
}
