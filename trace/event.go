package trace

import "time"

// The modules that the modelled functions belong to, as ftrace prints them.
const (
	Uverbs = "ib_uverbs"
	Core   = "ib_core"
)

// Kind says what an Event tells.
type Kind uint8

// The kinds of events. What A, B and C hold is said behind each.
const (
	Enter    Kind = iota // a function is entered: Module, Name
	Leave                // it is left: Module, Name
	CopyIn               // copy_from_user: A address, B bytes wanted, C bytes copied
	CopyOut              // copy_to_user, put_user: A address, B bytes wanted, C bytes copied
	Clear                // clear_user: A address, B bytes wanted, C bytes cleared
	Node                 // a radix tree node was visited: Name what for, A key, B shift, C slot
	Attr                 // an attribute is processed: Name its own, A attribute id, B length, C index in the user's order, Spec
	Lock                 // a lock or a semaphore was taken: Name
	Unlock               // it was released: Name
	Ref                  // a reference count changed: Name of the object, A its id, B the change as int64
	Usecnt               // a use count changed: Name of the object, A its id, B the new value as int64; an object of ib_core, "ib_pd", has no id
	Handle               // a handle or descriptor was taken or freed: Name of the object, A its number, B 1 taken, 0 freed
	Firmware             // a firmware command: Name, A opcode, B status, C syndrome
	DMA                  // the device read or wrote memory: Name what, A address, B length, C 1 for a write
	Refuse               // a check refused the call: Name the rule's id
	Warn                 // a state that the kernel WARNs about: Name the function
)

// Event is one thing that happened. It is valid only during the call that
// hands it to a Sink. What a kind does not have is not to be looked at: a Batcher
// finds there what an earlier event has left.
type Event struct {
	Kind    Kind
	Inlined bool   // Enter and Leave: the compiler inlines this function in the recorded kernels
	Module  string // Enter and Leave
	Name    string
	A, B, C uint64
	Spec    any           // Attr: the *spec.Attr that the method has for it, nil for an attribute that it does not know
	Time    time.Duration // when the sink is a Timer: what its clock showed
}

// Step names a kind of operation that can fail.
type Step uint8

// The steps that pass through Task.Fail.
const (
	Alloc    Step = iota // kmalloc and its kin
	Copy                 // a copy from or to user memory, before its first byte
	Middle               // a copy from or to user memory, when some of its bytes have arrived
	FD                   // get_unused_fd_flags
	File                 // anon_inode_getfile
	ID                   // xa_alloc
	Charge               // ib_rdmacg_try_charge
	Pin                  // pin_user_pages, before the first page
	PinPart              // pin_user_pages, when some of the pages are pinned
	Command              // a firmware command: the device refuses it
	Timeout              // a firmware command: the device does not answer
	Op                   // an operation of the driver
	NumSteps             // how many kinds there are
)

var stepNames = [NumSteps]string{"alloc", "copy", "middle", "fd", "file", "id", "charge", "pin", "pin-part", "command", "timeout", "op"}

// String is the kind in one word.
func (s Step) String() string { return stepNames[s] }
