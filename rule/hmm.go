package rule

import "syscall"

const hmmFile = "mm/hmm.c"

// The refusals of hmm.c: pages that a device asks for when it needs them.
var (
	HMMUnmapped = add(Rule{"hmm/unmapped", syscall.EFAULT, "hmm_vma_walk_hole", hmmFile,
		"Nothing is mapped at an address that the device needs.",
		"Map memory there before the device uses it."})
	HMMArea = add(Rule{"hmm/area", syscall.EFAULT, "hmm_vma_walk_test", hmmFile,
		"The area must not be read, or maps the registers of a device.",
		"Let the device use readable memory."})
	HMMWrite = add(Rule{"hmm/write", syscall.EPERM, "hmm_vma_fault", hmmFile,
		"The device needs the page for writing, and the area must not be written.",
		"Map the memory with PROT_WRITE, or register it without rights to write."})
	HMMFault = add(Rule{"hmm/fault", syscall.EFAULT, "hmm_vma_fault", hmmFile,
		"The area has no page there to bring in.",
		"Keep to the part of the mapping that has pages behind it."})
)
