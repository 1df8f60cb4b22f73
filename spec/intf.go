package spec

import "syscall"

// objectsIntf declares the objects of
// drivers/infiniband/core/uverbs_std_types.c, in the order of its list
// uverbs_def_obj_intf. Most are made by write() commands; here is how they are
// destroyed.
var objectsIntf = []Object{
	{
		ID:    UVERBS_OBJECT_PD,
		Class: ClassIDR,
		Methods: []Method{
			{ID: UVERBS_METHOD_PD_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(UVERBS_ATTR_DESTROY_PD_HANDLE, UVERBS_OBJECT_PD, AccessDestroy, Mandatory))},
		},
		Needs: []Op{OpDeallocPD},
	},
	{
		ID:    UVERBS_OBJECT_COMP_CHANNEL,
		Class: ClassFD, FDName: "[infinibandevent]", FDFlags: syscall.O_RDONLY,
		Needs: []Op{OpDeallocPD},
	},
	{
		ID:    UVERBS_OBJECT_AH,
		Class: ClassIDR,
		Methods: []Method{
			{ID: UVERBS_METHOD_AH_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(UVERBS_ATTR_DESTROY_AH_HANDLE, UVERBS_OBJECT_AH, AccessDestroy, Mandatory))},
		},
		Needs: []Op{OpDestroyAH},
	},
	{
		ID:    UVERBS_OBJECT_MW,
		Class: ClassIDR,
		Methods: []Method{
			{ID: UVERBS_METHOD_MW_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(UVERBS_ATTR_DESTROY_MW_HANDLE, UVERBS_OBJECT_MW, AccessDestroy, Mandatory))},
		},
		Needs: []Op{OpDeallocMW},
	},
	{
		ID:    UVERBS_OBJECT_FLOW,
		Class: ClassIDR,
		Methods: []Method{
			{ID: UVERBS_METHOD_FLOW_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(UVERBS_ATTR_DESTROY_FLOW_HANDLE, UVERBS_OBJECT_FLOW, AccessDestroy, Mandatory))},
		},
		Needs: []Op{OpDestroyFlow},
	},
	{
		ID:    UVERBS_OBJECT_RWQ_IND_TBL,
		Class: ClassIDR,
		Methods: []Method{
			{ID: UVERBS_METHOD_RWQ_IND_TBL_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, UVERBS_OBJECT_RWQ_IND_TBL, AccessDestroy, Mandatory))},
		},
		Needs: []Op{OpDestroyRWQIndTable},
	},
	{
		ID:    UVERBS_OBJECT_XRCD,
		Class: ClassIDR,
		Methods: []Method{
			{ID: UVERBS_METHOD_XRCD_DESTROY, Destroy: true, Attrs: Attrs(
				IDRAttr(UVERBS_ATTR_DESTROY_XRCD_HANDLE, UVERBS_OBJECT_XRCD, AccessDestroy, Mandatory))},
		},
		Needs: []Op{OpDeallocXRCD},
	},
}
