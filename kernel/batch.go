package kernel

import (
	"encoding/binary"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// The batch entry is an experiment. Linux has no such command: there, and on a
// machine without the option ExperimentalBatch, it is ENOTTY. It exists so that
// what a batch would save can be counted.
//
// The argument is a header of 16 bytes,
//
//	u32 num_calls    1 to BatchMaxCalls
//	u32 flags        BatchContinue
//	u64 reserved     0
//
// and behind it one entry of 16 bytes for each call:
//
//	u64 hdr          where the call's struct ib_uverbs_ioctl_hdr is
//	s32 result       written: 0 or the negative errno of the call
//	u32 reserved     0
//
// Header and entries are copied before the first call. If that fails, or the
// header is wrong, no call is made and the answer is the errno. Otherwise the
// calls are made one after the other, each as RDMA_VERBS_IOCTL on the same open
// file would: its attributes are copied when it is its turn, its outputs are
// written before the next one begins, and a removal of the device can come in
// between two. After each call its result is written.
//
// The batch ends with the first call that is refused, which is the last that is
// counted; with BatchContinue it goes on. It ends in any case with a result that
// cannot be written; that call was made, and is counted. The answer is how many
// calls were counted; the entries behind them are untouched.
const (
	// BatchIoctl is _IOWR(RDMA_IOCTL_MAGIC, 0xb0, 16 bytes). Linux uses the
	// numbers 1 to 4 and 0xe1 to 0xee of the magic number.
	BatchIoctl = 3<<30 | BatchHdrSize<<16 | 0x1b<<8 | 0xb0

	BatchHdrSize   = 16
	BatchEntrySize = 16

	// Where an entry has its result.
	BatchResultOffset = 8

	// BatchMaxCalls is how many entries fit into a page with the header.
	BatchMaxCalls = (copyuser.PageSize - BatchHdrSize) / BatchEntrySize

	// BatchContinue goes on after a call that was refused.
	BatchContinue = 1
)

// ExperimentalBatch gives the machine's devices the batch entry; see BatchIoctl.
func ExperimentalBatch(m *Machine) { m.batch = true }

// batchFile is where the rules of the experiment say that they are from: no file
// of the kernel, so they are not in the catalogue.
const batchFile = "none: an experiment"

// The refusals of a batch itself.
var (
	BatchFault = &rule.Rule{ID: "batch/fault", Errno: syscall.EFAULT, Func: "batch", File: batchFile,
		Why: "The batch's header or one of its entries cannot be read.",
		Do:  "Pass the address of a header with its entries behind it, in readable memory."}
	BatchCount = &rule.Rule{ID: "batch/count", Errno: syscall.EINVAL, Func: "batch", File: batchFile,
		Why: "The batch has no entry, or more than fit into a page with the header.",
		Do:  "Send 1 to 255 calls in a batch."}
	BatchFlags = &rule.Rule{ID: "batch/flags", Errno: syscall.EINVAL, Func: "batch", File: batchFile,
		Why: "A flag of the batch is unknown, or a reserved field of its header or of an entry is not zero.",
		Do:  "Clear header and entries before filling them in."}
	BatchNoMemory = &rule.Rule{ID: "batch/no-memory", Errno: syscall.ENOMEM, Func: "batch", File: batchFile,
		Why: "There was no memory for the entries.",
		Do:  "Free memory and call again."}
)

// batch carries out a batch and returns how many calls were made.
//
// Errors: batch/….
func (f *File) batch(task *process.Task, arg copyuser.Addr) (int64, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "batch").Leave()
	b := f.getBundle(task)
	defer f.putBundle(b)
	entries, flags, err := b.copyBatch(arg)
	if err != nil {
		return 0, refuse(t, err)
	}
	at := arg + BatchHdrSize
	for made := int64(1); ; made++ {
		err := f.call(task, copyuser.Addr(binary.LittleEndian.Uint64(entries)))
		answered := copyuser.PutUser32(t, task.Mem, at+BatchResultOffset, uint32(-int32(rule.Errno(err))))
		entries, at = entries[BatchEntrySize:], at+BatchEntrySize
		if !answered || len(entries) == 0 || err != nil && flags&BatchContinue == 0 {
			return made, nil
		}
	}
}

// copyBatch copies and checks the header and the entries. The bundle, which no
// call uses, has the room for them.
func (b *Bundle) copyBatch(arg copyuser.Addr) (entries []byte, flags uint32, err error) {
	t, p := b.Trace(), b.priv
	hdr := p.hdr[:BatchHdrSize]
	if !copyuser.CopyFromUser(t, b.task.Mem, hdr, arg) {
		return nil, 0, BatchFault
	}
	n := binary.LittleEndian.Uint32(hdr)
	if n == 0 || n > BatchMaxCalls {
		return nil, 0, BatchCount
	}
	flags = binary.LittleEndian.Uint32(hdr[4:])
	if flags&^BatchContinue != 0 || binary.LittleEndian.Uint64(hdr[8:]) != 0 {
		return nil, 0, BatchFlags
	}
	if t.Fail(trace.Alloc, "batch") {
		return nil, 0, BatchNoMemory
	}
	entries = p.uattrs[:n*BatchEntrySize]
	if !copyuser.CopyFromUser(t, b.task.Mem, entries, arg+BatchHdrSize) {
		return nil, 0, BatchFault
	}
	for e := entries; len(e) > 0; e = e[BatchEntrySize:] {
		if binary.LittleEndian.Uint32(e[12:]) != 0 {
			return nil, 0, BatchFlags
		}
	}
	return entries, flags, nil
}
