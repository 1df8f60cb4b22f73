package interpose_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/spec"
)

func init() {
	clients["mmap"] = mmapClient
	clients["removal"] = removalClient
	clients["adjacent"] = adjacentClient
}

// uar is a page of registers.
type uar struct {
	handle uint32
	offset uint64
	length uint32
}

// newUAR makes one that is not for the fast path.
func newUAR(fd int) (u uar, err error) {
	offset, length, page := make([]byte, 8), make([]byte, 4), make([]byte, 4)
	e, b := verbs(fd, spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC, spec.RDMA_DRIVER_MLX5,
		&attr{id: spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE},
		&attr{id: spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, data: spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC, len: 8},
		&attr{id: spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, buf: offset},
		&attr{id: spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, buf: length},
		&attr{id: spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, buf: page})
	if e != 0 {
		return u, fmt.Errorf("a UAR: %w", e)
	}
	le := binary.LittleEndian
	return uar{le.Uint32(b[spec.IoctlHdrSize+8:]), le.Uint64(offset), le.Uint32(length)}, nil
}

func (u uar) destroy(fd int) error {
	e, _ := verbs(fd, spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_DESTROY, spec.RDMA_DRIVER_MLX5,
		&attr{id: spec.MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, data: uint64(u.handle)})
	if e != 0 {
		return e
	}
	return nil
}

// mmapClient maps pages of the device.
func mmapClient([]string) error {
	const page = copyuser.PageSize
	fd, err := opens()
	if err != nil {
		return err
	}
	first, err := newUAR(fd)
	if err != nil {
		return err
	}
	mapped := func(prot, flags int, length int, offset uint64) ([]byte, error) {
		return unix.Mmap(fd, int64(offset), length, prot, flags)
	}
	refused := []struct {
		name        string
		prot, flags int
		length      int
		offset      uint64
		want        unix.Errno
	}{
		{"an offset of nothing", unix.PROT_WRITE, unix.MAP_SHARED, page, first.offset + 64*page, unix.EINVAL},
		{"two pages", unix.PROT_WRITE, unix.MAP_SHARED, 2 * page, first.offset, unix.EINVAL},
		{"a private mapping", unix.PROT_WRITE, unix.MAP_PRIVATE, page, first.offset, unix.EINVAL},
		{"a private mapping to read", unix.PROT_READ, unix.MAP_PRIVATE, page, first.offset, unix.EINVAL},
		{"no length", unix.PROT_WRITE, unix.MAP_SHARED, 0, first.offset, unix.EINVAL},
	}
	for _, c := range refused {
		if _, _, e := unix.Syscall6(unix.SYS_MMAP, 0, uintptr(c.length), uintptr(c.prot), uintptr(c.flags), uintptr(fd), uintptr(c.offset)); e != c.want {
			return fmt.Errorf("%s: %w, not %w", c.name, e, c.want)
		}
	}
	mem, err := mapped(unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED, page, first.offset)
	if err != nil {
		return err
	}
	// A page that is mapped outlives its handle, and its offset is not given out.
	if err := first.destroy(fd); err != nil {
		return fmt.Errorf("destroy: %w", err)
	}
	second, err := newUAR(fd)
	if err != nil {
		return err
	}
	if second.offset == first.offset {
		return errors.New("an offset was given out again that is mapped")
	}
	mem[8] = 1
	if err := unix.Munmap(mem); err != nil {
		return err
	}
	third, err := newUAR(fd)
	if err != nil {
		return err
	}
	if third.offset != first.offset {
		return fmt.Errorf("the offset %#x is not free after munmap: the next is %#x", first.offset, third.offset)
	}
	// Two mappings of one page: both have to go.
	one, err := mapped(unix.PROT_WRITE, unix.MAP_SHARED, page, third.offset)
	if err != nil {
		return err
	}
	two, err := mapped(unix.PROT_WRITE, unix.MAP_SHARED, page, third.offset)
	if err != nil {
		return err
	}
	if err := third.destroy(fd); err != nil {
		return err
	}
	if err := unix.Munmap(one); err != nil {
		return err
	}
	fourth, err := newUAR(fd)
	if err != nil {
		return err
	}
	if fourth.offset == third.offset {
		return errors.New("an offset was given out again that is mapped once more")
	}
	if err := unix.Munmap(two); err != nil {
		return err
	}
	// A mapping may move, and not grow.
	mem, err = mapped(unix.PROT_WRITE, unix.MAP_SHARED, page, fourth.offset)
	if err != nil {
		return err
	}
	at := addrOf(mem)
	if _, _, e := unix.Syscall6(unix.SYS_MREMAP, uintptr(at), page, 2*page, unix.MREMAP_MAYMOVE, 0, 0); e != unix.EFAULT {
		return fmt.Errorf("a mapping that shall grow: %w, not EFAULT", e)
	}
	if err := fourth.destroy(fd); err != nil {
		return err
	}
	fifth, err := newUAR(fd)
	if err != nil {
		return err
	}
	if fifth.offset == fourth.offset {
		return errors.New("an offset was given out again after an mremap was refused")
	}
	// One that the kernel refuses stays as it is.
	for name, c := range map[string]struct{ length, flags uintptr }{
		"to nothing":                            {0, unix.MREMAP_MAYMOVE},
		"with unknown flags":                    {0x800, 1 << 20},
		"to a place, but without leave to move": {0x800, unix.MREMAP_FIXED},
	} {
		if _, _, e := unix.Syscall6(unix.SYS_MREMAP, uintptr(at), page, c.length, c.flags, uintptr(at), 0); e != unix.EINVAL {
			return fmt.Errorf("an mremap %s: %w, not EINVAL", name, e)
		}
	}
	again, err := newUAR(fd)
	if err != nil {
		return err
	}
	if again.offset == fourth.offset {
		return errors.New("an offset was given out again after an mremap that is invalid")
	}
	if err := again.destroy(fd); err != nil {
		return err
	}
	// One that replaces another unmaps it.
	if _, _, e := unix.Syscall6(unix.SYS_MMAP, uintptr(at), page, unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED, uintptr(fd), uintptr(fifth.offset)); e != 0 {
		return fmt.Errorf("a mapping at a place that is taken: %w", e)
	}
	sixth, err := newUAR(fd)
	if err != nil {
		return err
	}
	if sixth.offset != fourth.offset {
		return fmt.Errorf("the offset %#x is not free though its mapping was replaced: the next is %#x", fourth.offset, sixth.offset)
	}
	return replacedByMove(fd, at, fifth)
}

// replacedByMove moves memory of no file to where a register is mapped, which is gone
// then.
func replacedByMove(fd int, at uint64, u uar) error {
	const page = 4096
	if err := u.destroy(fd); err != nil {
		return err
	}
	own, err := unix.Mmap(-1, 0, page, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	if _, _, e := unix.Syscall6(unix.SYS_MREMAP, uintptr(addrOf(own)), page, page, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, uintptr(at), 0); e != 0 {
		return fmt.Errorf("memory that is moved to a place that is taken: %w", e)
	}
	return u.isFree(fd, "though memory was moved over its mapping")
}

// isFree has the device give the offset of a page that is gone out again.
func (u uar) isFree(fd int, though string) error {
	next, err := newUAR(fd)
	if err != nil {
		return err
	}
	if next.offset != u.offset {
		return fmt.Errorf("the offset %#x is not free %s: the next is %#x", u.offset, though, next.offset)
	}
	return nil
}

func TestMmap(t *testing.T) { newRig(t, nil).run(t, "mmap") }

// adjacentClient maps two pages of registers side by side, which its kernel takes for
// one mapping, and unmaps both at once.
func adjacentClient([]string) error {
	const page = copyuser.PageSize
	fd, err := opens()
	if err != nil {
		return err
	}
	room, err := unix.Mmap(-1, 0, 2*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	at := uintptr(addrOf(room))
	var uars [2]uar
	for i := range uars {
		if uars[i], err = newUAR(fd); err != nil {
			return err
		}
		place := at + uintptr(i)*page
		if _, _, e := unix.Syscall6(unix.SYS_MMAP, place, page, unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED, uintptr(fd), uintptr(uars[i].offset)); e != 0 {
			return e
		}
	}
	if uars[1].offset != uars[0].offset+page {
		return fmt.Errorf("the offsets are %#x and %#x", uars[0].offset, uars[1].offset)
	}
	for _, u := range uars {
		if err := u.destroy(fd); err != nil {
			return err
		}
	}
	if err := unix.Munmap(room); err != nil {
		return err
	}
	for _, u := range uars {
		if err := u.isFree(fd, "after munmap"); err != nil {
			return err
		}
	}
	return nil
}

func TestMunmapOfTwo(t *testing.T) { newRig(t, nil).run(t, "adjacent") }

// removalClient has a device taken from under it.
func removalClient([]string) error {
	fd, err := opens()
	if err != nil {
		return err
	}
	u, err := newUAR(fd)
	if err != nil {
		return err
	}
	mem, err := unix.Mmap(fd, int64(u.offset), int(u.length), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	event, err := asyncEvent(fd)
	if err != nil {
		return err
	}
	var was unix.Stat_t
	if err := unix.Fstat(fd, &was); err != nil {
		return err
	}
	mem[0xf00] = 0x5a
	fmt.Println("mapped")
	deadline := time.Now().Add(10 * time.Second)
	for err = works(fd); err == nil && time.Now().Before(deadline); err = works(fd) {
		time.Sleep(time.Millisecond)
	}
	if !errors.Is(err, unix.EIO) {
		return fmt.Errorf("an ioctl without a device: %w, not EIO", err)
	}
	for deadline := time.Now().Add(time.Second); mem[0xf00] != 0; {
		if time.Now().After(deadline) {
			return fmt.Errorf("the page has %#x", mem[0xf00])
		}
	}
	mem[0xf00] = 1 // a page of the program's own now
	p := []unix.PollFd{{Fd: int32(event), Events: unix.POLLIN}}
	if n, err := unix.Poll(p, 5000); n != 1 || err != nil {
		return fmt.Errorf("poll of the event descriptor: %d, %w", n, err)
	}
	b := make([]byte, 64)
	if n, err := unix.Read(event, b); n != 16 || err != nil || binary.LittleEndian.Uint32(b[8:]) != spec.IB_EVENT_DEVICE_FATAL {
		return fmt.Errorf("the event: %x, %w", b[:max(n, 0)], err)
	}
	if _, err := openNode(); !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("an open without a device: %w", err)
	}
	if err := stillDevice(fd, &was); err != nil {
		return err
	}
	unix.Close(event)
	unix.Close(fd)
	return unix.Munmap(mem)
}

// stillDevice checks that a descriptor is told to be of the device that it was, though
// there is no node any more.
func stillDevice(fd int, was *unix.Stat_t) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode != was.Mode || st.Rdev != was.Rdev {
		return fmt.Errorf("fstat of a descriptor without a node: mode %#o, device %#x: %w", st.Mode, st.Rdev, err)
	}
	var stx unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS, &stx)
	if err != nil || uint32(stx.Mode) != was.Mode || unix.Mkdev(stx.Rdev_major, stx.Rdev_minor) != was.Rdev {
		return fmt.Errorf("statx of a descriptor without a node: mode %#o, device %d:%d: %w", stx.Mode, stx.Rdev_major, stx.Rdev_minor, err)
	}
	return nil
}

// TestRemoval takes the device from under a program.
func TestRemoval(t *testing.T) {
	r := newRig(t, nil)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	_, ended := r.started(t, write, "removal")
	require.NoError(t, write.Close())
	said, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "mapped\n", said)
	require.NoError(t, r.Remove(r.dev.Uverbs, func(task *process.Task) error {
		r.dev.Remove(task)
		return nil
	}))
	require.Equal(t, end{}, <-ended)
}
