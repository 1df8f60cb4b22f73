package bench

// Task is a thread of a program: what it takes to make the calls. The errors of its
// system calls are an errno, or have one in them as errors.Is finds it.
type Task interface {
	// Open opens the device node.
	Open(flags int) (fd int, err error)
	Close(fd int) error
	Ioctl(fd int, cmd uint32, arg uint64) (int64, error)
	Write(fd int, addr, n uint64) (int64, error)
	// Map maps n bytes of zeros, readable and writable, from the start of a page.
	Map(n uint64) (addr uint64, err error)
	// Load and Store access that memory and return how many bytes they came.
	Load(addr uint64, dst []byte) int
	Store(addr uint64, src []byte) int
}
