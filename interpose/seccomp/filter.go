package seccomp

import "golang.org/x/sys/unix"

// RDMA_VERBS_IOCTL is the command of every uverbs ioctl,
// include/uapi/rdma/rdma_user_ioctl_cmds.h.
const RDMA_VERBS_IOCTL = 0xc0181b01

// maxUnmap is the longest munmap and mremap that is notified: device areas are
// single pages, and what allocators give back is mostly longer.
const maxUnmap = 1 << 20

// The lengths that a write() of a uverbs command can have: a header of two
// words at least, whole words, and no more than in_words can say, which the
// longest command is far below.
const (
	minWrite = 8
	maxWrite = 16384
)

// Options says which calls the filter notifies besides those that it always
// does.
type Options struct {
	// Munmap notifies munmap and mremap of at most 1 MiB.
	Munmap bool
	// Write notifies write on descriptors from 3 on, of a length that a
	// uverbs command can have.
	Write bool
	// Listener notifies seccomp calls that ask for a listener, of which a
	// process can have only one: the kernel will refuse them with EBUSY.
	Listener bool
}

// Defaults are the options for a program on a simulated device.
func Defaults() Options { return Options{Munmap: true} }

// rules returns the filter as a table. A call that no rule takes is allowed.
func rules(o Options) []rule {
	table := []rule{
		// The command is an unsigned int: the kernel drops the high word.
		{[]uint32{NrIoctl}, []test{{low(1), all, equal, RDMA_VERBS_IOCTL}}, notify},
		// MAP_SHARED is 1 and MAP_SHARED_VALIDATE 3. No flag lies in the
		// high word.
		{[]uint32{NrMmap}, []test{{low(3), unix.MAP_TYPE&^2 | unix.MAP_ANONYMOUS, equal, unix.MAP_SHARED}}, notify},
		// Private mappings too, since a driver refuses them; but not those of
		// the dynamic linker, which alone sets MAP_DENYWRITE.
		{[]uint32{NrMmap}, []test{{low(3), unix.MAP_ANONYMOUS | unix.MAP_DENYWRITE, equal, 0}}, notify},
		{[]uint32{NrSocket}, []test{
			{low(0), all, equal, unix.AF_NETLINK},
			{low(2), all, equal, unix.NETLINK_RDMA},
		}, refuse(unix.EPROTONOSUPPORT)},
		// Paths, and fstat, which tells a device file from another.
		{[]uint32{NrOpenat, NrNewfstatat, NrStatx, NrFstat, NrOpen, NrStat, NrLstat, NrOpenat2}, nil, notify},
		{[]uint32{NrAccess, NrFaccessat, NrFaccessat2, NrReadlink, NrReadlinkat}, nil, notify},
		{[]uint32{NrGetxattr, NrLgetxattr, NrListxattr, NrLlistxattr}, nil, notify},
		{[]uint32{NrExecve, NrExecveat}, nil, notify},
	}
	if o.Munmap {
		table = append(table, rule{[]uint32{NrMunmap, NrMremap}, []test{
			{high(1), all, equal, 0},
			{low(1), all, atMost, maxUnmap},
		}, notify})
	}
	if o.Write {
		table = append(table, rule{[]uint32{NrWrite}, []test{
			{low(0), all, atLeast, 3},
			{low(0), 1 << 31, equal, 0},
			{high(2), all, equal, 0},
			{low(2), all, atLeast, minWrite},
			{low(2), all, atMost, maxWrite},
			{low(2), 3, equal, 0},
		}, notify})
	}
	if o.Listener {
		table = append(table, rule{[]uint32{NrSeccomp}, []test{
			{low(0), all, equal, unix.SECCOMP_SET_MODE_FILTER},
			{low(1), unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, equal, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER},
		}, notify})
	}
	return table
}

// Filter returns the BPF program that lets through all system calls but those
// that may concern an RDMA device. It cannot read memory: whoever answers a
// call with a path looks at the path, and lets go on what is no concern of his.
func Filter(o Options) []unix.SockFilter { return compile(rules(o)) }
