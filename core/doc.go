// Package core holds what drivers and method handlers share: the device with
// its operations, the verbs objects (PD, CQ, QP, MR, …) and their init
// attributes, the driver's part of a request (Udata), pinned user memory,
// mmap entries, events and control group charges.
//
// It models include/rdma/ib_verbs.h and, of drivers/infiniband/core, verbs.c,
// umem.c, cgroup.c, ib_core_uverbs.c and the event part of device.c. Kernel
// clients (ULPs), MADs, caches of GIDs and resource tracking are left out.
package core
