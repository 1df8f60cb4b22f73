//go:build linux

package device

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Setuid implements player.Identity: the system call, which concerns the thread
// alone.
func (t *Task) Setuid(uid uint32) error { return t.do(unix.SYS_SETUID, args{uintptr(uid)}) }

// Setgid implements player.Identity.
func (t *Task) Setgid(gid uint32) error { return t.do(unix.SYS_SETGID, args{uintptr(gid)}) }

// Capset implements player.Identity.
func (t *Task) Capset(drop []int) error {
	const hdrSize, sets, setSize = 8, 3, 4 // struct __user_cap_header_struct and __user_cap_data_struct
	b := binary.NativeEndian.AppendUint32(nil, unix.LINUX_CAPABILITY_VERSION_3)
	b = append(b, make([]byte, hdrSize-len(b)+2*sets*setSize)...)
	hdr, err := t.hand(b)
	if err != nil {
		return err
	}
	if err := t.do(unix.SYS_CAPGET, args{hdr, hdr + hdrSize}); err != nil {
		return err
	}
	if err := t.handed(b); err != nil {
		return err
	}
	for _, n := range drop {
		for set := range sets {
			w := b[hdrSize+(n/32*sets+set)*setSize:]
			binary.NativeEndian.PutUint32(w, binary.NativeEndian.Uint32(w)&^(1<<(n%32)))
		}
	}
	if _, err := t.hand(b); err != nil {
		return err
	}
	return t.do(unix.SYS_CAPSET, args{hdr, hdr + hdrSize})
}

// rlimitSize is the size of struct rlimit64 (include/uapi/linux/resource.h).
const rlimitSize = 16

// Getrlimit implements player.Identity.
func (t *Task) Getrlimit(resource int) (cur, max uint64, err error) {
	if err := t.do(unix.SYS_PRLIMIT64, args{0, uintptr(resource), 0, uintptr(t.scratch)}); err != nil {
		return 0, 0, err
	}
	var b [rlimitSize]byte
	err = t.handed(b[:])
	return binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:]), err
}

// Setrlimit implements player.Identity.
func (t *Task) Setrlimit(resource int, cur, max uint64) error {
	b := binary.NativeEndian.AppendUint64(nil, cur)
	at, err := t.hand(binary.NativeEndian.AppendUint64(b, max))
	if err != nil {
		return err
	}
	return t.do(unix.SYS_PRLIMIT64, args{0, uintptr(resource), at})
}
