package uobject

// class is a struct uverbs_obj_type_class: what differs between objects that
// are handles and objects that are file descriptors.
type class interface {
	allocBegin(t *Type, attrs Attrs) (*Object, error)
	lookupGet(t *Type, attrs Attrs, f *File, id int64, mode LookupMode) (*Object, error)
	lookupPut(o *Object, attrs Attrs, mode LookupMode)
	allocCommit(o *Object, attrs Attrs)
	allocAbort(o *Object, attrs Attrs)
	destroyHW(o *Object, why RemoveReason, attrs Attrs) error
	removeHandle(o *Object, attrs Attrs)
	// swapObjects exchanges the numbers of a visible object and one in the
	// making; false where the class has none.
	swapObjects(old, fresh *Object, attrs Attrs) bool
}
