package rule

import "syscall"

const (
	rxeVerbs = "drivers/infiniband/sw/rxe/rxe_verbs.c"
	rxePool  = "drivers/infiniband/sw/rxe/rxe_pool.c"
	rxeQueue = "drivers/infiniband/sw/rxe/rxe_queue.c"
	rxeMmap  = "drivers/infiniband/sw/rxe/rxe_mmap.c"
	rxeCQ    = "drivers/infiniband/sw/rxe/rxe_cq.c"
	rxeMR    = "drivers/infiniband/sw/rxe/rxe_mr.c"
	rxeAV    = "drivers/infiniband/sw/rxe/rxe_av.c"
	rxeMcast = "drivers/infiniband/sw/rxe/rxe_mcast.c"
)

// The refusals of rxe_pool.c: the numbers of objects.
var (
	RxePoolFull = add(Rule{"rxe/pool-full", syscall.EINVAL, "__rxe_add_to_pool", rxePool,
		"The device has as many objects of this type as it can have.",
		"Destroy one of them first; QUERY_DEVICE tells how many there can be."})
	RxePoolNoMemory = add(Rule{"rxe/pool-no-memory", syscall.ENOMEM, "__rxe_add_to_pool", rxePool,
		"There is no memory to give the object a number.",
		"Try again when memory is free."})
)

// The refusals of rxe_queue.c and rxe_mmap.c: queues that the user maps.
var (
	RxeMmapInfoNoMemory = add(Rule{"rxe/mmap-info-no-memory", syscall.ENOMEM, "rxe_create_mmap_info", rxeMmap,
		"There is no memory for what describes a queue that can be mapped.",
		"Try again when memory is free."})
	RxeMmapInfoFault = add(Rule{"rxe/mmap-info-fault", syscall.EFAULT, "do_mmap_info", rxeQueue,
		"The place in the driver's response where the offset to map a queue at goes cannot be written.",
		"Pass the address of writable memory as UHW_OUT, or behind the response of a write() command."})
	RxeQueueResizeNoMemory = add(Rule{"rxe/queue-resize-no-memory", syscall.ENOMEM, "rxe_queue_resize", rxeQueue,
		"There is no memory for a queue of the new size.",
		"Ask for fewer elements."})
	RxeQueueResizeTooSmall = add(Rule{"rxe/queue-resize-too-small", syscall.EINVAL, "resize_finish", rxeQueue,
		"The queue holds more elements than the new size has room for.",
		"Take elements out first, or ask for more room."})
	RxeMmapNoObject = add(Rule{"rxe/mmap-no-object", syscall.EINVAL, "rxe_mmap", rxeMmap,
		"No queue of this context waits to be mapped at the offset: it was never given out, its queue is gone, or it was mapped before.",
		"Map each queue once, at the offset that its creation or its resizing returned."})
	RxeMmapTooLarge = add(Rule{"rxe/mmap-too-large", syscall.EINVAL, "rxe_mmap", rxeMmap,
		"The mapping is longer than the queue.",
		"Map at most as many bytes as the creation returned beside the offset."})
	RxeMmapObjectGone = add(Rule{"rxe/mmap-object-gone", syscall.ENXIO, "rxe_mmap", rxeMmap,
		"The queue is just being destroyed.",
		"Do not map a queue while another thread destroys it."})
	RxeMmapRemap = add(Rule{"rxe/mmap-remap", syscall.ENOMEM, "rxe_mmap", rxeMmap,
		"There is no memory for the page tables of the mapping.",
		"Make another queue: this one waits to be mapped no longer."})
)

// The refusals of rxe_verbs.c that ask about the device.
var (
	RxeQueryDeviceUdata = add(Rule{"rxe/query-device-udata", syscall.EINVAL, "rxe_query_device", rxeVerbs,
		"The query has a driver's part, and this driver has none.",
		"Leave UHW_IN and UHW_OUT out."})
	RxeQueryPort = add(Rule{"rxe/query-port", syscall.EINVAL, "rxe_query_port", rxeVerbs,
		"The device has only port 1.",
		"Ask for port 1."})
	RxeQueryPkey = add(Rule{"rxe/query-pkey", syscall.EINVAL, "rxe_query_pkey", rxeVerbs,
		"The table of partition keys has only one entry.",
		"Ask for index 0."})
)

// The refusals about completion queues.
var (
	RxeCreateCQUdata = add(Rule{"rxe/create-cq-udata", syscall.EINVAL, "rxe_create_cq", rxeVerbs,
		"The driver's response has less than 16 bytes.",
		"Give UHW_OUT room for a struct rxe_create_cq_resp."})
	RxeCreateCQFlags = add(Rule{"rxe/create-cq-flags", syscall.EOPNOTSUPP, "rxe_create_cq", rxeVerbs,
		"A creation flag is set, and this driver knows none.",
		"Set no flags."})
	RxeCreateCQNoMemory = add(Rule{"rxe/create-cq-no-memory", syscall.ENOMEM, "rxe_cq_from_init", rxeCQ,
		"There is no memory for the queue.",
		"Ask for fewer entries."})
	RxeCQEmpty = add(Rule{"rxe/cq-empty", syscall.EINVAL, "rxe_cq_chk_attr", rxeCQ,
		"The number of entries is 0, or negative when read as a signed 32-bit number.",
		"Ask for at least one entry."})
	RxeCQTooLarge = add(Rule{"rxe/cq-too-large", syscall.EINVAL, "rxe_cq_chk_attr", rxeCQ,
		"The number of entries is above max_cqe of QUERY_DEVICE.",
		"Ask for at most 32767 entries."})
	RxeCQTooSmall = add(Rule{"rxe/cq-too-small", syscall.EINVAL, "rxe_cq_chk_attr", rxeCQ,
		"The queue holds more completions than the new size has entries.",
		"Poll the queue first, or ask for more entries."})
	RxeResizeCQUdata = add(Rule{"rxe/resize-cq-udata", syscall.EINVAL, "rxe_resize_cq", rxeVerbs,
		"The driver's response has less than 16 bytes.",
		"Leave room for a struct rxe_resize_cq_resp behind the response."})
	RxeCQInUse = add(Rule{"rxe/cq-in-use", syscall.EINVAL, "rxe_destroy_cq", rxeVerbs,
		"A queue pair still completes into the queue.",
		"Destroy the queue pairs first."})
)

// The refusals about memory regions.
var (
	RxeMRAccess = add(Rule{"rxe/mr-access", syscall.EOPNOTSUPP, "rxe_reg_user_mr", rxeVerbs,
		"An access right is asked for that this driver does not know: ZERO_BASED or HUGETLB.",
		"Ask for local and remote access, binding of windows, flushing and optional rights only."})
	RxeMRNoMemory = add(Rule{"rxe/mr-no-memory", syscall.ENOMEM, "rxe_reg_user_mr", rxeVerbs,
		"There is no memory for the memory region.",
		"Try again when memory is free."})
	RxeMRPagesNoMemory = add(Rule{"rxe/mr-pages-no-memory", syscall.ENOMEM, "__alloc_mr_page_info", rxeMR,
		"There is no memory for the list of the region's pages.",
		"Register less memory."})
	RxeMRNotPersistent = add(Rule{"rxe/mr-not-persistent", syscall.EINVAL, "rxe_mr_fill_pages_from_sgt", rxeMR,
		"FLUSH_PERSISTENT is asked for, and a page is not persistent memory.",
		"Leave the right out, or register memory of a persistent memory device."})
	RxeMRReregFlags = add(Rule{"rxe/mr-rereg-flags", syscall.EOPNOTSUPP, "rxe_rereg_user_mr", rxeVerbs,
		"The region's memory shall change, which this driver cannot do.",
		"Change the protection domain and the access rights only, or register the new memory anew."})
	RxeMRReregAccess = add(Rule{"rxe/mr-rereg-access", syscall.EOPNOTSUPP, "rxe_rereg_user_mr", rxeVerbs,
		"One of the new access rights is not known to this driver: ZERO_BASED or HUGETLB.",
		"Ask for local and remote access, binding of windows, flushing and optional rights only."})
	RxeMRHasWindows = add(Rule{"rxe/mr-has-windows", syscall.EINVAL, "rxe_dereg_mr", rxeVerbs,
		"Memory windows are bound to the region.",
		"Unbind or free the windows first."})
)

// The refusals about address handles and address vectors.
var (
	RxeAddrFamily = add(Rule{"rxe/addr-family", syscall.EINVAL, "rdma_resolve_ip", "drivers/infiniband/core/addr.c",
		"One of the source and destination GIDs is an IPv4 address and the other is not.",
		"Choose an sgid_index whose GID is of the same family as the destination."})
	RxeAddrNoRoute = add(Rule{"rxe/addr-no-route", syscall.ENETUNREACH, "addr6_resolve", "drivers/infiniband/core/addr.c",
		"No route leads to the destination's IPv6 address: it is neither link-local nor a group's.",
		"Choose a destination GID on the interface's network, such as one that begins with fe80."})
	RxeAHFault = add(Rule{"rxe/ah-fault", syscall.EFAULT, "rxe_create_ah", rxeVerbs,
		"The place in the driver's response where the handle's number goes cannot be written.",
		"Pass the address of writable memory."})
	RxeAVNetworkType = add(Rule{"rxe/av-network-type", syscall.EINVAL, "chk_attr", rxeAV,
		"The source GID is not one of the device's RoCE v2 addresses.",
		"Choose an sgid_index that QUERY_GID_TABLE lists."})
)

// The refusals about multicast groups.
var (
	RxeMcastGroups = add(Rule{"rxe/mcast-groups", syscall.ENOMEM, "rxe_get_mcg", rxeMcast,
		"The device is in as many multicast groups as it can be.",
		"Detach queue pairs from another group until it is empty."})
	RxeMcastNoMemory = add(Rule{"rxe/mcast-no-memory", syscall.ENOMEM, "rxe_attach_mcast", rxeMcast,
		"There is no memory for the multicast group or for the queue pair's place in it.",
		"Try again when memory is free."})
	RxeMcastAddress = add(Rule{"rxe/mcast-address", syscall.ENOMEM, "rxe_mcast_add", rxeMcast,
		"There is no memory for the group's address among those that the network interface listens to.",
		"Try again when memory is free."})
	RxeMcastAttachments = add(Rule{"rxe/mcast-attachments", syscall.ENOMEM, "__rxe_init_mca", rxeMcast,
		"The device's queue pairs are attached to as many groups, all in all, as they can be.",
		"Detach a queue pair first."})
	RxeMcastGroupFull = add(Rule{"rxe/mcast-group-full", syscall.ENOMEM, "__rxe_init_mca", rxeMcast,
		"The group has 56 queue pairs, which is the most.",
		"Detach another queue pair from the group first."})
	RxeMcastNoGroup = add(Rule{"rxe/mcast-no-group", syscall.EINVAL, "rxe_detach_mcast", rxeMcast,
		"No queue pair is attached to the group.",
		"Detach only what was attached."})
	RxeMcastNotAttached = add(Rule{"rxe/mcast-not-attached", syscall.EINVAL, "rxe_detach_mcg", rxeMcast,
		"The queue pair is not attached to the group.",
		"Detach only what was attached."})
)
