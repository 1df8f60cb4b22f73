package spec

// Method is one method of an object (struct uverbs_method_def,
// include/rdma/uverbs_ioctl.h), without its handler.
type Method struct {
	ID    uint16
	Name  string // the UAPI's enumerator: "UVERBS_METHOD_CQ_CREATE"
	Attrs []Attr // in the order of the kernel's declaration

	// Destroy: the method does nothing but destroy the object that its one
	// attribute names (DECLARE_UVERBS_NAMED_METHOD_DESTROY).
	Destroy bool

	// Extends: a driver adds attributes to a method that another definition
	// declares (ADD_UVERBS_ATTRIBUTES_SIMPLE); it brings no handler.
	Extends bool
}

// Attr returns the attribute with the id, nil if the method has none.
func (m *Method) Attr(id uint16) *Attr {
	for i := range m.Attrs {
		if m.Attrs[i].ID == id {
			return &m.Attrs[i]
		}
	}
	return nil
}
