package copyuser_test

import (
	"fmt"
	"syscall"

	"uverbsim/copyuser"
)

// A copy stops at the first byte that the process may not write.
func ExampleCopyToUser() {
	mem := copyuser.NewAddressSpace()
	buf, err := mem.Mmap(nil, copyuser.MmapRequest{
		Length: 2 * copyuser.PageSize,
		Prot:   syscall.PROT_READ | syscall.PROT_WRITE,
		Flags:  syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	second := buf + copyuser.PageSize
	if err := mem.Mprotect(nil, second, copyuser.PageSize, syscall.PROT_READ); err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(copyuser.CopyToUser(nil, mem, buf, []byte("answer")))
	fmt.Println(copyuser.CopyToUser(nil, mem, second-3, []byte("answer")))

	got := make([]byte, 3)
	mem.Load(second-3, got)
	fmt.Printf("%s\n", got)
	// Output:
	// true
	// false
	// ans
}

// A device keeps the pages that it pinned, whatever the process does.
func ExampleAddressSpace_Pin() {
	mem := copyuser.NewAddressSpace()
	buf, err := mem.Mmap(nil, copyuser.MmapRequest{
		Length: copyuser.PageSize,
		Prot:   syscall.PROT_READ | syscall.PROT_WRITE,
		Flags:  syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mem.Store(buf, []byte("registered"))

	pin, err := mem.Pin(buf, 10, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pin.Unpin()
	fmt.Println(mem.Munmap(nil, buf, copyuser.PageSize))
	fmt.Println(mem.Load(buf, make([]byte, 1)))

	got := make([]byte, 10)
	_, err = pin.ReadAt(got, 0)
	fmt.Printf("%s %v\n", got, err)
	// Output:
	// <nil>
	// false
	// registered <nil>
}

// Bytes is for tests of what needs one buffer only.
func ExampleNewBytes() {
	mem := copyuser.NewBytes(0x1234, []byte("four"))
	v := make([]byte, 6)
	fmt.Println(mem.CopyIn(v, 0x1235))
	fmt.Println(mem.PutUint16(0x1236, 0x6f74))
	fmt.Printf("%s\n", mem.Bytes())
	// Output:
	// 3
	// true
	// foto
}
