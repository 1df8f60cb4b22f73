package rule

import "syscall"

const stdTypes = "drivers/infiniband/core/uverbs_std_types.c"

// The refusals of uverbs_std_types.c.
var (
	PDBusy = add(Rule{"pd/busy", syscall.EBUSY, "uverbs_free_pd", stdTypes,
		"An MR, MW, AH, SRQ, QP or work queue still lives in the protection domain.",
		"Destroy everything that was made in this PD first."})
	RWQIndTblBusy = add(Rule{"rwq-ind-tbl/busy", syscall.EBUSY, "uverbs_free_rwq_ind_tbl", stdTypes,
		"A QP still uses the indirection table.",
		"Destroy the QPs that were made with this table first."})
	XRCDBusy = add(Rule{"xrcd/busy", syscall.EBUSY, "uverbs_free_xrcd", stdTypes,
		"An XRC SRQ or target QP that was made through this handle of the domain still exists.",
		"Destroy what was made through this handle first."})
)
