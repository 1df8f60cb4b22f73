package rule

import "syscall"

const uverbsIoctl = "drivers/infiniband/core/uverbs_ioctl.c"

// The refusals of uverbs_ioctl.c.
var (
	CmdUnknown = add(Rule{"cmd/unknown", ENOIOCTLCMD, "ib_uverbs_ioctl", uverbsIoctl,
		"The ioctl command is not RDMA_VERBS_IOCTL.",
		"Use command 0xc0181b01; a user sees ENOTTY."})
	HeaderFault = add(Rule{"header/fault", syscall.EFAULT, "ib_uverbs_ioctl", uverbsIoctl,
		"The 24 bytes of the header cannot be read.",
		"Pass the address of a struct ib_uverbs_ioctl_hdr in readable memory."})
	HeaderLength = add(Rule{"header/length", syscall.EINVAL, "ib_uverbs_ioctl", uverbsIoctl,
		"The header's length is above 4096 or is not exactly 24 + 16 * num_attrs.",
		"Set length to the size of the header and its attributes together."})
	HeaderReserved = add(Rule{"header/reserved", syscall.EPROTONOSUPPORT, "ib_uverbs_ioctl", uverbsIoctl,
		"A reserved field of the header is not zero.",
		"Clear the header before filling it in."})
	HeaderDriverID = add(Rule{"header/driver-id", syscall.EINVAL, "ib_uverbs_cmd_verbs", uverbsIoctl,
		"The header's driver_id is not that of the device's driver.",
		"Set driver_id to the device's, which netlink tells (RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID)."})
	MethodUnknown = add(Rule{"method/unknown", syscall.EPROTONOSUPPORT, "ib_uverbs_cmd_verbs", uverbsIoctl,
		"The device has no such method of such an object.",
		"Use a method that this kernel knows and this device can do, or fall back to write()."})
	MethodDisassociated = add(Rule{"method/disassociated", syscall.EIO, "ib_uverbs_run_method", uverbsIoctl,
		"The device was removed, and with it the driver's handler of this method.",
		"Destroy what is left and close the file."})
	MethodEPROTONOSUPPORT = add(Rule{"method/eprotonosupport", syscall.EINVAL, "ib_uverbs_run_method", uverbsIoctl,
		"The handler returned EPROTONOSUPPORT, which only the framework may.",
		"Mend the handler; the kernel warns about it."})
	BundleNoMemory = add(Rule{"bundle/no-memory", syscall.ENOMEM, "_uverbs_alloc", uverbsIoctl,
		"There was no memory for the call.",
		"Free memory and call again."})
	AttrsFault = add(Rule{"attrs/fault", syscall.EFAULT, "ib_uverbs_run_method", uverbsIoctl,
		"The attributes behind the header cannot all be read.",
		"Put num_attrs attributes of 16 bytes right behind the header."})
	AttrMissing = add(Rule{"attr/missing", syscall.EINVAL, "ib_uverbs_run_method", uverbsIoctl,
		"An attribute that the method must have is missing.",
		"Send every mandatory attribute of the method."})

	AttrUnknownMandatory = add(Rule{"attr/unknown-mandatory", syscall.EPROTONOSUPPORT, "uverbs_set_attr", uverbsIoctl,
		"The method does not know an attribute that the user marked as mandatory.",
		"Leave the attribute out, or clear UVERBS_ATTR_F_MANDATORY if it may be ignored."})
	AttrDuplicate = add(Rule{"attr/duplicate", syscall.EINVAL, "uverbs_set_attr", uverbsIoctl,
		"An attribute that the method knows was sent twice.",
		"Send each attribute once."})

	AttrEnumRange = add(Rule{"attr/enum-range", syscall.EOPNOTSUPP, "uverbs_process_attr", uverbsIoctl,
		"The enum element is beyond those that the attribute has.",
		"Select an element that this kernel knows."})
	AttrEnumReserved = add(Rule{"attr/enum-reserved", syscall.EINVAL, "uverbs_process_attr", uverbsIoctl,
		"The reserved byte beside the enum element is not zero.",
		"Clear the attribute before filling it in."})
	AttrEnumType = add(Rule{"attr/enum-type", syscall.EOPNOTSUPP, "uverbs_process_attr", uverbsIoctl,
		"The enum element that was selected takes no data from the user.",
		"Select an element that is declared as PTR_IN."})
	AttrTrailingNonzero = add(Rule{"attr/trailing-nonzero", syscall.EOPNOTSUPP, "uverbs_process_attr", uverbsIoctl,
		"The struct is longer than the kernel knows it, and the rest is not zero or cannot be read.",
		"Clear the fields that this kernel does not know, or send the shorter struct."})
	AttrTooShort = add(Rule{"attr/too-short", syscall.EINVAL, "uverbs_process_attr", uverbsIoctl,
		"The attribute's length is below the least that the method accepts.",
		"Send at least the method's minimum of bytes."})
	AttrTooLong = add(Rule{"attr/too-long", syscall.EINVAL, "uverbs_process_attr", uverbsIoctl,
		"The attribute is longer than the kernel knows it and may not grow.",
		"Send exactly the size that the method has for it."})
	AttrReserved = add(Rule{"attr/reserved", syscall.EINVAL, "uverbs_process_attr", uverbsIoctl,
		"The two reserved bytes of the attribute are not zero.",
		"Clear the attribute before filling it in."})
	AttrObjectReserved = add(Rule{"attr/object-reserved", syscall.EINVAL, "uverbs_process_attr", uverbsIoctl,
		"The two reserved bytes of a handle or descriptor attribute are not zero.",
		"Clear the attribute before filling it in."})
	AttrObjectLen = add(Rule{"attr/object-len", syscall.EINVAL, "uverbs_process_attr", uverbsIoctl,
		"A handle or descriptor attribute has a length.",
		"Set len to 0 and put the handle into data."})
	AttrIDFault = add(Rule{"attr/id-fault", syscall.EFAULT, "uverbs_process_attr", uverbsIoctl,
		"The new handle cannot be written back into the attribute.",
		"Keep the attributes in writable memory."})
	AttrRawFD = add(Rule{"attr/raw-fd", syscall.EINVAL, "uverbs_process_attr", uverbsIoctl,
		"A raw descriptor attribute has a length or reserved bytes, or its data does not fit into a C int.",
		"Set len to 0 and put the descriptor, sign-extended, into data."})
	AttrType = add(Rule{"attr/type", syscall.EOPNOTSUPP, "uverbs_process_attr", uverbsIoctl,
		"The attribute is declared with a type that the parser does not know.",
		"Mend the driver's declaration."})

	ArrayReserved = add(Rule{"array/reserved", syscall.EINVAL, "uverbs_process_idrs_array", uverbsIoctl,
		"The two reserved bytes of an array of handles are not zero.",
		"Clear the attribute before filling it in."})
	ArraySize = add(Rule{"array/size", syscall.EINVAL, "uverbs_process_idrs_array", uverbsIoctl,
		"The length of an array of handles is no multiple of 4.",
		"Pass handles of 4 bytes each."})
	ArrayCount = add(Rule{"array/count", syscall.EINVAL, "uverbs_process_idrs_array", uverbsIoctl,
		"An array has fewer or more handles than the attribute allows.",
		"Pass a number of handles within the attribute's limits."})
	ArrayFault = add(Rule{"array/fault", syscall.EFAULT, "uverbs_process_idrs_array", uverbsIoctl,
		"The array of handles cannot be read.",
		"Pass the address of readable memory."})

	AttrAbsent = add(Rule{"attr/absent", syscall.ENOENT, "uverbs_attr_get", "include/rdma/uverbs_ioctl.h",
		"The handler wants an optional attribute that was not sent.",
		"Send the attribute."})
	AttrArraySize = add(Rule{"attr/array-size", syscall.EINVAL, "uverbs_attr_ptr_get_array_size", "include/rdma/uverbs_ioctl.h",
		"The length of an array is no multiple of its element's size.",
		"Pass whole elements."})
	AttrLongerThanKnown = add(Rule{"attr/longer-than-known", syscall.EINVAL, "_uverbs_copy_from", "include/rdma/uverbs_ioctl.h",
		"The attribute is longer than what the handler reads.",
		"Send the size that the handler reads."})
	AttrDataFault = add(Rule{"attr/data-fault", syscall.EFAULT, "_uverbs_copy_from", "include/rdma/uverbs_ioctl.h",
		"The data that the attribute points at cannot be read.",
		"Pass the address of readable memory; up to 8 bytes lie in the attribute itself."})
	AttrOutputFault = add(Rule{"attr/output-fault", syscall.EFAULT, "uverbs_copy_to", uverbsIoctl,
		"The buffer for an output cannot be written.",
		"Pass the address of writable memory; an output is never inline."})
	AttrFlagFault = add(Rule{"attr/flag-fault", syscall.EFAULT, "uverbs_set_output", uverbsIoctl,
		"The flag that marks an output as written cannot be stored in the attribute.",
		"Keep the attributes in writable memory."})

	FlagsSize = add(Rule{"flags/size", syscall.EINVAL, "uverbs_get_flags64", uverbsIoctl,
		"Flags come neither in 4 nor in 8 bytes.",
		"Send flags in 8 bytes."})
	FlagsUnknown = add(Rule{"flags/unknown", syscall.EINVAL, "uverbs_get_flags64", uverbsIoctl,
		"A flag is set that the method does not allow.",
		"Clear the flags that this kernel does not know."})
	FlagsRange = add(Rule{"flags/range", syscall.EINVAL, "uverbs_get_flags32", uverbsIoctl,
		"A flag above bit 31 is set where the handler keeps 32.",
		"Use the low 32 bits only."})
	ConstRange = add(Rule{"const/range", syscall.EINVAL, "_uverbs_get_const_unsigned", uverbsIoctl,
		"A constant is beyond what the handler's type holds.",
		"Send a value of the enum, in 8 bytes."})
)
