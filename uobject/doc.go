// Package uobject models drivers/infiniband/core/rdma_core.c: the user objects
// of an open uverbs file, their handles and descriptors, and their lifetimes.
//
// An object is begun (it has a number, and is locked exclusively), then either
// committed, which makes it visible, or aborted. A lookup takes a reference
// and locks the object: shared (use count n), exclusively (use count -1), or
// not at all for a destroy, which takes the exclusive lock itself. Closing the
// file, or the removal of its device, destroys what is left.
//
// What the package needs of the call that runs (a struct uverbs_attr_bundle)
// and of the rest of the open file (struct ib_uverbs_file) it declares as the
// interfaces Attrs and Owner.
package uobject
