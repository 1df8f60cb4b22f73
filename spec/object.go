package spec

// Class says how a user names objects of a type (struct
// uverbs_obj_type_class, include/rdma/uverbs_types.h).
type Class uint8

const (
	ClassNone Class = iota // no objects, only methods: DECLARE_UVERBS_GLOBAL_METHODS
	ClassIDR               // by a handle of the file (uverbs_idr_class)
	ClassFD                // by an fd of the process (uverbs_fd_class)
)

// String returns "none", "idr" or "fd".
func (c Class) String() string {
	switch c {
	case ClassNone:
		return "none"
	case ClassIDR:
		return "idr"
	case ClassFD:
		return "fd"
	}
	return "?"
}

// Object is what one definition says of an object type (struct
// uverbs_object_def, include/rdma/uverbs_ioctl.h). Several definitions may
// speak of the same object: the core declares CQ, mlx5 adds to it. Only one of
// them has a class.
type Object struct {
	ID    uint16
	Name  string // the UAPI's enumerator: "UVERBS_OBJECT_CQ"
	Class Class

	FDName  string // ClassFD: the name of the anonymous inode, "[infinibandevent]"
	FDFlags int    // ClassFD: the flags of the open file, O_RDONLY

	Methods []Method // in the order of the kernel's declaration

	// Needs: without all of these operations in the device the object and
	// all that refers to it are absent (UAPI_DEF_OBJ_NEEDS_FN).
	Needs []Op

	// IsSupported is the name of the driver's function that says whether
	// this device has the object, "" if there is none
	// (UAPI_DEF_IS_OBJ_SUPPORTED): "devx_is_supported".
	IsSupported string
}

// Method returns the method with the id, nil if this definition has none.
func (o *Object) Method(id uint16) *Method {
	for i := range o.Methods {
		if o.Methods[i].ID == id {
			return &o.Methods[i]
		}
	}
	return nil
}

// Definition is one entry of a struct uapi_definition list
// (include/rdma/uverbs_ioctl.h): a tree of ioctl methods, or the write
// commands of an object.
type Definition struct {
	Object Object
	Writes []Write
}
