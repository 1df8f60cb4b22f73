package rule

import "syscall"

// Refusals of mmap(2), mm/mmap.c.
var (
	MmapZeroLength = add(Rule{"mmap/zero-length", syscall.EINVAL, "do_mmap", "mm/mmap.c",
		"The length to map is 0.",
		"Map at least one byte; the length is rounded up to whole pages."})
	MmapLengthWraps = add(Rule{"mmap/length-wraps", syscall.ENOMEM, "do_mmap", "mm/mmap.c",
		"The length to map, rounded up to whole pages, does not fit into 64 bits.",
		"Map a length that the address space can hold."})
	MmapOffsetWraps = add(Rule{"mmap/offset-wraps", syscall.EOVERFLOW, "do_mmap", "mm/mmap.c",
		"The offset in pages plus the length in pages does not fit into 64 bits.",
		"Choose an offset and a length whose sum fits."})
	MmapTooManyAreas = add(Rule{"mmap/too-many-areas", syscall.ENOMEM, "do_mmap", "mm/mmap.c",
		"The address space has more areas than sysctl vm.max_map_count allows.",
		"Unmap something first."})
	MmapNoRoom = add(Rule{"mmap/no-room", syscall.ENOMEM, "__get_unmapped_area", "mm/mmap.c",
		"No gap of the user's half of the address space holds the mapping, or a fixed address puts its end above that half.",
		"Map less, or at an address whose end lies in the user's half."})
	MmapFixedUnaligned = add(Rule{"mmap/fixed-unaligned", syscall.EINVAL, "__get_unmapped_area", "mm/mmap.c",
		"The address given with MAP_FIXED is no multiple of the page size.",
		"Give an address that is a multiple of 4096."})
	MmapFixedOccupied = add(Rule{"mmap/fixed-occupied", syscall.EEXIST, "do_mmap", "mm/mmap.c",
		"Something is mapped already in the range that MAP_FIXED_NOREPLACE names.",
		"Choose a range where nothing is mapped."})
	MmapFileOffset = add(Rule{"mmap/file-offset", syscall.EOVERFLOW, "do_mmap", "mm/mmap.c",
		"The mapping would reach beyond the largest offset a file can have.",
		"Choose an offset whose bytes, with the length, fit into 64 bits."})
	MmapType = add(Rule{"mmap/type", syscall.EINVAL, "do_mmap", "mm/mmap.c",
		"The flags say neither MAP_SHARED nor MAP_PRIVATE.",
		"Set exactly one of MAP_SHARED, MAP_SHARED_VALIDATE (files only) and MAP_PRIVATE."})
	MmapFlagsUnsupported = add(Rule{"mmap/flags-unsupported", syscall.EOPNOTSUPP, "do_mmap", "mm/mmap.c",
		"MAP_SHARED_VALIDATE comes with a flag that the file does not support.",
		"Leave the flag out, or use MAP_SHARED, which ignores unknown flags."})
	MmapWriteShared = add(Rule{"mmap/write-shared", syscall.EACCES, "do_mmap", "mm/mmap.c",
		"A shared mapping shall be writable, and the file was not opened for writing.",
		"Open the file with O_RDWR, or map it without PROT_WRITE."})
	MmapNotReadable = add(Rule{"mmap/not-readable", syscall.EACCES, "do_mmap", "mm/mmap.c",
		"The file was not opened for reading, which every mapping needs.",
		"Open the file with O_RDWR or O_RDONLY."})
	MmapNoOperation = add(Rule{"mmap/no-operation", syscall.ENODEV, "do_mmap", "mm/mmap.c",
		"The file has no mmap operation.",
		"Map a file that can be mapped, such as the device file; event files cannot."})
	MmapAlloc = add(Rule{"mmap/no-memory", syscall.ENOMEM, "__mmap_region", "mm/mmap.c",
		"There is no memory for the description of the area.",
		"Try again when memory is free."})
)

// Refusals of munmap(2) and of splitting an area, mm/vma.c.
var (
	MunmapRange = add(Rule{"munmap/range", syscall.EINVAL, "do_vmi_munmap", "mm/vma.c",
		"The start is no multiple of the page size, or the range leaves the user's half of the address space.",
		"Give a start that is a multiple of 4096 and a length that ends in the user's half."})
	MunmapEmpty = add(Rule{"munmap/empty", syscall.EINVAL, "do_vmi_munmap", "mm/vma.c",
		"The length to unmap is 0.",
		"Unmap at least one byte; the length is rounded up to whole pages."})
	MunmapTooManyAreas = add(Rule{"munmap/too-many-areas", syscall.ENOMEM, "vms_gather_munmap_vmas", "mm/vma.c",
		"Unmapping the middle of an area would leave more areas than sysctl vm.max_map_count allows.",
		"Unmap from an end of the area, or unmap something else first."})
	SplitAlloc = add(Rule{"vma/split-no-memory", syscall.ENOMEM, "__split_vma", "mm/vma.c",
		"There is no memory for the description of the second half of an area.",
		"Try again when memory is free."})
	SplitTooManyAreas = add(Rule{"vma/split-too-many-areas", syscall.ENOMEM, "split_vma", "mm/vma.c",
		"Splitting the area would make more areas than sysctl vm.max_map_count allows.",
		"Change the protection of whole areas, or unmap something first."})
)

// Refusals of mprotect(2), mm/mprotect.c.
var (
	MprotectUnaligned = add(Rule{"mprotect/unaligned", syscall.EINVAL, "do_mprotect_pkey", "mm/mprotect.c",
		"The start is no multiple of the page size.",
		"Give a start that is a multiple of 4096."})
	MprotectWraps = add(Rule{"mprotect/wraps", syscall.ENOMEM, "do_mprotect_pkey", "mm/mprotect.c",
		"The end of the range does not fit into 64 bits.",
		"Give a range that is mapped."})
	MprotectProt = add(Rule{"mprotect/prot", syscall.EINVAL, "do_mprotect_pkey", "mm/mprotect.c",
		"The protection has a bit that is none of PROT_READ, PROT_WRITE, PROT_EXEC and PROT_SEM.",
		"Use only these bits."})
	MprotectHole = add(Rule{"mprotect/hole", syscall.ENOMEM, "do_mprotect_pkey", "mm/mprotect.c",
		"A part of the range is not mapped.",
		"Give a range that is mapped from end to end."})
	MprotectMayNot = add(Rule{"mprotect/may-not", syscall.EACCES, "do_mprotect_pkey", "mm/mprotect.c",
		"The area may never get one of the rights: the file was not opened for it, or the driver took it away when the area was mapped.",
		"Ask for rights that the file was opened with and that the driver allows."})
)

// Refusals of mremap(2), mm/mremap.c.
var (
	MremapFlags = add(Rule{"mremap/flags", syscall.EINVAL, "mremap", "mm/mremap.c",
		"The flags have a bit that is neither MREMAP_MAYMOVE nor MREMAP_FIXED.",
		"Use only these flags."})
	MremapFixedStays = add(Rule{"mremap/fixed-stays", syscall.EINVAL, "mremap", "mm/mremap.c",
		"MREMAP_FIXED comes without MREMAP_MAYMOVE.",
		"Set MREMAP_MAYMOVE as well."})
	MremapUnaligned = add(Rule{"mremap/unaligned", syscall.EINVAL, "mremap", "mm/mremap.c",
		"The old address is no multiple of the page size.",
		"Give an address that is a multiple of 4096."})
	MremapZeroLength = add(Rule{"mremap/zero-length", syscall.EINVAL, "mremap", "mm/mremap.c",
		"The new length, rounded up to whole pages, is 0.",
		"Give a new length of at least one byte, or use munmap."})
	MremapUnmapped = add(Rule{"mremap/unmapped", syscall.EFAULT, "mremap", "mm/mremap.c",
		"Nothing is mapped at the old address.",
		"Give the address of a mapping."})
	MremapPrivateTwice = add(Rule{"mremap/private-twice", syscall.EINVAL, "vma_to_resize", "mm/mremap.c",
		"An old length of 0 asks to map a private area a second time.",
		"Give the old length; only shared areas can be mapped twice."})
	MremapBeyondArea = add(Rule{"mremap/beyond-area", syscall.EFAULT, "vma_to_resize", "mm/mremap.c",
		"The old length reaches beyond the area.",
		"Remap one area at a time."})
	MremapOffsetWraps = add(Rule{"mremap/offset-wraps", syscall.EINVAL, "vma_to_resize", "mm/mremap.c",
		"The offset in pages plus the new length in pages does not fit into 64 bits.",
		"Ask for a smaller length."})
	MremapDontExpand = add(Rule{"mremap/dont-expand", syscall.EFAULT, "vma_to_resize", "mm/mremap.c",
		"The area is a driver's mapping, which cannot change its length.",
		"Map the new length by mmap."})
	MremapStays = add(Rule{"mremap/stays", syscall.ENOMEM, "mremap", "mm/mremap.c",
		"There is no room to grow behind the area, and the flags do not let it move.",
		"Set MREMAP_MAYMOVE."})
	MremapTarget = add(Rule{"mremap/target", syscall.EINVAL, "mremap_to", "mm/mremap.c",
		"The new address is no multiple of the page size, or the new range leaves the user's half of the address space.",
		"Give a new address that is a multiple of 4096 and leaves room for the new length."})
	MremapOverlap = add(Rule{"mremap/overlap", syscall.EINVAL, "mremap_to", "mm/mremap.c",
		"The new range overlaps the old one.",
		"Choose a new address outside of the old range."})
	MremapTooManyAreas = add(Rule{"mremap/too-many-areas", syscall.ENOMEM, "move_vma", "mm/mremap.c",
		"Moving the area could make more areas than sysctl vm.max_map_count allows.",
		"Unmap something first."})
	MremapAlloc = add(Rule{"mremap/no-memory", syscall.ENOMEM, "move_vma", "mm/mremap.c",
		"There is no memory for the description of the moved area.",
		"Try again when memory is free."})
)

// ForkAlloc is the refusal of fork(2) for want of memory, kernel/fork.c.
var ForkAlloc = add(Rule{"fork/no-memory", syscall.ENOMEM, "dup_mmap", "kernel/fork.c",
	"There is no memory for the child's copy of an area.",
	"Try again when memory is free."})

// Refusals to pin memory, mm/gup.c.
var (
	PinWraps = add(Rule{"pin/wraps", syscall.EOVERFLOW, "gup_fast_fallback", "mm/gup.c",
		"The end of the memory to pin does not fit into 64 bits.",
		"Give an address and a length whose sum fits."})
	PinRange = add(Rule{"pin/range", syscall.EFAULT, "gup_fast_fallback", "mm/gup.c",
		"The memory to pin reaches above the user's half of the address space.",
		"Give memory of the process."})
	PinUnmapped = add(Rule{"pin/unmapped", syscall.EFAULT, "__get_user_pages", "mm/gup.c",
		"A page of the memory to pin is not mapped.",
		"Map all of the memory first."})
	PinIO = add(Rule{"pin/io", syscall.EFAULT, "check_vma_flags", "mm/gup.c",
		"The memory to pin is a mapping of device memory, which has no pages.",
		"Give ordinary memory."})
	PinWrite = add(Rule{"pin/write", syscall.EFAULT, "check_vma_flags", "mm/gup.c",
		"The device shall write to the memory, and the process may not.",
		"Make the memory writable, or ask for access that does not write."})
	PinRead = add(Rule{"pin/read", syscall.EFAULT, "check_vma_flags", "mm/gup.c",
		"The device shall read the memory, and the process may not.",
		"Make the memory readable."})
	PinFault = add(Rule{"pin/fault", syscall.EFAULT, "faultin_page", "mm/gup.c",
		"A page of the memory to pin cannot be brought in: the driver that mapped it has none.",
		"Give memory that can be read without a signal."})
)
