package guest

import "fmt"

// The guest's memory, and the part of it that the kernel leaves alone and that
// BAR 0 of the bridge's function lies in.
const (
	memoryMiB = 1024
	barMiB    = 32
	barAt     = 0x30000000
	barSize   = barMiB << 20
)

// barArgs keeps BAR 0 out of the kernel's memory. A driver that waits for the
// device without end stops the guest after two minutes.
var barArgs = fmt.Sprintf("memmap=%dM$%#x hung_task_panic=1", barMiB, barAt)
