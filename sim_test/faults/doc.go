// Package faults plays cases with steps that fail, and says whether the model came
// through as the kernel does.
//
// A step is a place of a system call at which the kernel can fail: a copy from or to
// the user's memory before its first byte and in its middle, an allocation, a
// descriptor, an open file, a number, a charge, a pin, an operation of the driver,
// a firmware command that is refused or not answered (package trace has the kinds).
// The steps of a call are numbered from 0 in the order in which the call comes to
// them. [Runner.Baseline] plays a case without a fault and lists the calls with their
// steps; [Runner.Play] plays it again with some of them failing.
//
// What is looked at: nothing panics or hangs; the call answers what the kernel
// answers at that place, by a table that was made by reading the kernel ([Expect]);
// the machine's books are as before the call, or what remains is known by name
// ([Effects]); the same call, made again at once, is answered as if nothing had
// happened, and so is the rest of the case; and when everything is closed the books
// are as they are without a fault.
//
// Of a case in which calls run at the same time only the answer and the end are
// looked at: books cannot be taken while another call is under way.
package faults
