package core_test

import (
	"fmt"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/spec"
)

// A driver that registers memory pins it. A buffer of 10000 bytes at the byte 100
// of a page touches three pages; behind the mapping there is nothing to pin, and a
// user without privileges may lock no more than RLIMIT_MEMLOCK.
func ExampleGetUmem() {
	p := process.New(nil, process.Options{})
	buf, err := p.Mmap(-1, 4*copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	task := p.MainTask()
	dev := &core.Device{Name: "example0", Kernel: spec.Linux6_12}
	pin := func(addr copyuser.Addr, n uint64) {
		umem, err := core.GetUmem(task, dev, uint64(addr), n, core.AccessLocalWrite)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer umem.Release(nil)
		fmt.Println(umem.NumPages(), "pages from byte", umem.Offset())
	}

	pin(buf+100, 10000)
	pin(buf+100, 4*copyuser.PageSize)
	if err := p.SetRlimit(process.RLIMIT_MEMLOCK, process.Rlimit{Cur: 2 * copyuser.PageSize, Max: 2 * copyuser.PageSize}); err != nil {
		fmt.Println(err)
		return
	}
	if err := p.Setuid(1000); err != nil {
		fmt.Println(err)
		return
	}
	pin(buf+100, 10000)
	pin(buf+100, 5000)
	// Output:
	// 3 pages from byte 100
	// EFAULT (pin/unmapped): A page of the memory to pin is not mapped.
	// ENOMEM (umem/memlock-limit): The pages pinned so far and these are more than RLIMIT_MEMLOCK allows, and the process lacks CAP_IPC_LOCK.
	// 2 pages from byte 100
}

// A reliable connection is initialized with a P_Key, a port and access rights, all
// of them, and cannot skip a state.
func ExampleModifyQPIsOK() {
	const needed = spec.IB_QP_PKEY_INDEX | spec.IB_QP_PORT | spec.IB_QP_ACCESS_FLAGS
	for _, step := range []struct {
		to   uint8
		mask uint32
	}{
		{spec.IB_QPS_INIT, spec.IB_QP_STATE | needed},
		{spec.IB_QPS_INIT, spec.IB_QP_STATE | needed&^spec.IB_QP_PORT},
		{spec.IB_QPS_INIT, spec.IB_QP_STATE | needed | spec.IB_QP_QKEY},
		{spec.IB_QPS_RTR, spec.IB_QP_STATE | needed},
	} {
		fmt.Println(core.ModifyQPIsOK(nil, spec.IB_QPS_RESET, step.to, spec.IB_QPT_RC, step.mask))
	}
	// Output:
	// true
	// false
	// false
	// false
}

// What a program may map of the device has page offsets that the kernel gives out,
// the lowest that are free in a range. They are free again when the driver has taken
// the entry away and nothing maps it any more.
func ExampleUcontext_InsertMmapEntry() {
	c := core.NewUcontext(&core.Device{Name: "example0"}, new(core.Umaps), nil)
	insert := func(length uint64) *core.MmapEntry {
		e := new(core.MmapEntry)
		if err := c.InsertMmapEntry(nil, e, length, 16, 1<<16-1); err != nil {
			fmt.Println(err)
			return nil
		}
		fmt.Println("offset", e.Pgoff, "pages", e.NPages)
		return e
	}
	first := insert(4096)
	insert(4097)
	first.Remove(nil)
	fmt.Println("mapped:", c.MmapEntryAt(nil, 16) != nil)
	insert(4096)
	// Output:
	// offset 16 pages 1
	// offset 17 pages 2
	// mapped: false
	// offset 16 pages 1
}
