package rule

import "syscall"

// The refusals of the write() commands of memory regions and windows, address
// handles and XRC domains.
var (
	CmdMRAlignment = add(Rule{"cmd-mr/alignment", syscall.EINVAL, "ib_uverbs_reg_mr", uverbsCmd,
		"The members start and hca_va do not lie equally far in their pages.",
		"Choose an hca_va with the low 12 bits of start."})
	CmdMRReregNothing = add(Rule{"cmd-mr/rereg-nothing", syscall.EINVAL, "ib_uverbs_rereg_mr", uverbsCmd,
		"No flag is set, so that nothing would change.",
		"Say with IB_MR_REREG_TRANS, _PD and _ACCESS what to change."})
	CmdMRReregFlags = add(Rule{"cmd-mr/rereg-flags", syscall.EOPNOTSUPP, "ib_uverbs_rereg_mr", uverbsCmd,
		"A flag is set that the kernel does not know.",
		"Use IB_MR_REREG_TRANS, IB_MR_REREG_PD and IB_MR_REREG_ACCESS only."})
	CmdMRReregAlignment = add(Rule{"cmd-mr/rereg-alignment", syscall.EINVAL, "ib_uverbs_rereg_mr", uverbsCmd,
		"The new start and hca_va do not lie equally far in their pages.",
		"Choose an hca_va with the low 12 bits of start."})
	CmdMRReregDM = add(Rule{"cmd-mr/rereg-dm", syscall.EINVAL, "ib_uverbs_rereg_mr", uverbsCmd,
		"The region is one of device memory, which cannot change.",
		"Destroy the region and register another."})

	CmdMWType = add(Rule{"cmd-mw/type", syscall.EINVAL, "ib_uverbs_alloc_mw", uverbsCmd,
		"The member mw_type is neither 1 nor 2.",
		"Pass IB_MW_TYPE_1 or IB_MW_TYPE_2."})
	CmdMWNoMemory = add(Rule{"cmd-mw/no-memory", syscall.ENOMEM, "ib_uverbs_alloc_mw", uverbsCmd,
		"There was no memory for the memory window.",
		"Free memory and call again."})

	CmdAHPort = add(Rule{"cmd-ah/port", syscall.EINVAL, "ib_uverbs_create_ah", uverbsCmd,
		"The device has no port of that number.",
		"Pass a port from 1 to the device's phys_port_cnt."})

	CmdXRCDBadFD = add(Rule{"cmd-xrcd/bad-fd", syscall.EBADF, "ib_uverbs_open_xrcd", uverbsCmd,
		"The file that the domain is to be shared through is not open.",
		"Pass an open descriptor, or -1 for a domain that is not shared."})
	CmdXRCDNoCreate = add(Rule{"cmd-xrcd/no-create", syscall.EAGAIN, "ib_uverbs_open_xrcd", uverbsCmd,
		"No domain is shared through that file yet, and O_CREAT was not given.",
		"Set O_CREAT in oflags, or wait until another process has made the domain."})
	CmdXRCDExcl = add(Rule{"cmd-xrcd/excl", syscall.EINVAL, "ib_uverbs_open_xrcd", uverbsCmd,
		"A domain is shared through that file already, and O_EXCL was given.",
		"Leave O_EXCL out to open the domain that is there."})
	CmdXRCDNoMemory = add(Rule{"cmd-xrcd/no-memory", syscall.ENOMEM, "xrcd_table_insert", uverbsCmd,
		"There was no memory for the domain's entry in the device's table.",
		"Free memory and call again."})
)
