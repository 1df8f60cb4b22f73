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
func rules(o Options) []Rule {
	table := []Rule{
		// The command is an unsigned int: the kernel drops the high word.
		{[]uint32{NrIoctl}, []Condition{{Word: Low(1), Value: RDMA_VERBS_IOCTL}}, notify},
		// MAP_SHARED is 1 and MAP_SHARED_VALIDATE 3. No flag lies in the
		// high word.
		{[]uint32{NrMmap}, []Condition{{Word: Low(3), Mask: unix.MAP_TYPE&^2 | unix.MAP_ANONYMOUS, Value: unix.MAP_SHARED}}, notify},
		// Private mappings too, since a driver refuses them; but not those of
		// the dynamic linker, which alone sets MAP_DENYWRITE.
		{[]uint32{NrMmap}, []Condition{{Word: Low(3), Mask: unix.MAP_ANONYMOUS | unix.MAP_DENYWRITE, Value: 0}}, notify},
		{[]uint32{NrSocket}, []Condition{
			{Word: Low(0), Value: unix.AF_NETLINK},
			{Word: Low(2), Value: unix.NETLINK_RDMA},
		}, refuse(unix.EPROTONOSUPPORT)},
		// Paths, and fstat, which tells a device file from another.
		{[]uint32{NrOpenat, NrNewfstatat, NrStatx, NrFstat, NrOpen, NrStat, NrLstat, NrOpenat2}, nil, notify},
		{[]uint32{NrAccess, NrFaccessat, NrFaccessat2, NrReadlink, NrReadlinkat}, nil, notify},
		{[]uint32{NrGetxattr, NrLgetxattr, NrListxattr, NrLlistxattr}, nil, notify},
		{[]uint32{NrExecve, NrExecveat}, nil, notify},
	}
	if o.Munmap {
		table = append(table, Rule{[]uint32{NrMunmap, NrMremap}, []Condition{
			{Word: High(1), Value: 0},
			{Word: Low(1), Relation: AtMost, Value: maxUnmap},
		}, notify})
	}
	if o.Write {
		table = append(table, Rule{[]uint32{NrWrite}, []Condition{
			{Word: Low(0), Relation: AtLeast, Value: 3},
			{Word: Low(0), Mask: 1 << 31, Value: 0},
			{Word: High(2), Value: 0},
			{Word: Low(2), Relation: AtLeast, Value: minWrite},
			{Word: Low(2), Relation: AtMost, Value: maxWrite},
			{Word: Low(2), Mask: 3, Value: 0},
		}, notify})
	}
	if o.Listener {
		table = append(table, Rule{[]uint32{NrSeccomp}, []Condition{
			{Word: Low(0), Value: unix.SECCOMP_SET_MODE_FILTER},
			{Word: Low(1), Mask: unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, Value: unix.SECCOMP_FILTER_FLAG_NEW_LISTENER},
		}, notify})
	}
	return table
}

// Filter returns the BPF program that lets through all system calls but those
// that may concern an RDMA device. It cannot read memory: whoever answers a
// call with a path looks at the path, and lets go on what is no concern of his.
func Filter(o Options) []unix.SockFilter { return Compile(rules(o)) }
