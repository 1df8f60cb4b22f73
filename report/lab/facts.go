package lab

// What the real kernel does and offers, by experiment: Linux 6.12.
const (
	uverbsMainC  = "drivers/infiniband/core/uverbs_main.c"
	uverbsIoctlC = "drivers/infiniband/core/uverbs_ioctl.c"
	uverbsCmdC   = "drivers/infiniband/core/uverbs_cmd.c"
	rdmaCoreC    = "drivers/infiniband/core/rdma_core.c"
	stdDeviceC   = "drivers/infiniband/core/uverbs_std_types_device.c"
	stdMRC       = "drivers/infiniband/core/uverbs_std_types_mr.c"
	devxC        = "drivers/infiniband/hw/mlx5/devx.c"
	mlx5MRC      = "drivers/infiniband/hw/mlx5/mr.c"
	cmdIoctlH    = "rdma-core, libibverbs/cmd_ioctl.h"
)

var (
	batchFacts = []Fact{
		{"No ioctl makes several calls, and the device node has no uring_cmd operation, so io_uring cannot " +
			"submit these calls either.", uverbsMainC + ", uverbs_fops"},
		{"Some methods take or return many things at once: QUERY_GID_TABLE all GIDs of all ports.", stdDeviceC},
		{"ADVISE_MR takes a list of memory ranges.", stdMRC},
		{"The write() commands POST_SEND, POST_RECV and POST_SRQ_RECV take a list of work requests. mlx5's " +
			"library posts without any system call.", uverbsCmdC},
		{"With DEVX one firmware command can make many objects: ALLOC_FLOW_COUNTER takes how many counters.",
			devxC + ", DEVX_OBJ_CREATE"},
		{"GET_CONTEXT answers with the numbers that a program needs at its start.", stdDeviceC},
	}
	reuseFacts = []Fact{
		{"The C library has the command buffer on the stack and fills it in anew for each call; it allocates nothing.", cmdIoctlH},
		{"The kernel keeps nothing of it: header and attributes are copied for every call, into a bundle on the " +
			"kernel's stack or one that is allocated and freed.", uverbsIoctlC + ", ib_uverbs_cmd_verbs"},
		{"It writes into the user's array: the number of a new object into data, UVERBS_ATTR_F_VALID_OUTPUT into " +
			"flags.", uverbsIoctlC + ", uverbs_process_attr, uverbs_set_output"},
		{"On the way in it looks at neither: of the flags only at UVERBS_ATTR_F_MANDATORY, and not at the number in a " +
			"new object's attribute.", uverbsIoctlC + ", uverbs_set_attr; " + rdmaCoreC + ", uverbs_get_uobject_from_file"},
	}
	trimFacts = []Fact{
		{"All attributes are copied at once; input of up to 8 bytes lies in the attribute and is not copied again.",
			uverbsIoctlC + ", ib_uverbs_run_method"},
		{"An attribute that the method has is found by an index into the tree's node that the method was found in; " +
			"only for one that it does not have the tree is walked from its root.", uverbsIoctlC + ", uapi_get_attr_for_method"},
		{"Whether all mandatory attributes are there is one comparison of two sets of bits, however many they are.",
			uverbsIoctlC + ", ib_uverbs_run_method"},
		{"The flag UVERBS_ATTR_F_MANDATORY is looked at only where the kernel does not know the attribute: then it " +
			"decides between EPROTONOSUPPORT and going on.", uverbsIoctlC + ", uverbs_set_attr"},
	}
	asyncFacts = []Fact{
		{"An ioctl as such holds no lock that keeps another one out: a removal waits for the calls, by SRCU, and they " +
			"wait for nobody.", uverbsIoctlC + ", ib_uverbs_ioctl"},
		{"Making and destroying objects hold hw_destroy_rwsem shared; the end of all objects holds it alone.",
			rdmaCoreC + ", rdma_alloc_begin_uobject, uverbs_destroy_ufile_hw"},
		{"DEVX_OBJ_ASYNC_QUERY starts a firmware command and returns; its answer is read from a descriptor of its " +
			"own, with up to 1 MiB of answers outstanding.", devxC},
		{"Memory regions whose keys are in the driver's cache do not take slow_path_mutex.", mlx5MRC + ", alloc_cacheable_mr"},
		{"There is no asynchronous ioctl: the operation uring_cmd is missing.", uverbsMainC + ", uverbs_fops"},
	}
)
