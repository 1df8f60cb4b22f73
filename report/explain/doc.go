// Package explain says why a call was refused: which check decided and with what
// values, which checks the call had passed before, which it would have met next,
// what would have been accepted, and what became of each attribute.
//
// It puts together two things. What was seen: the rule that the call was refused
// with, and the kernel functions that it entered, in their order, with the
// attribute that each dealt with (see [Recorder]). And what the model's own source
// says: for each function its checks, with their conditions, and the calls in
// between, in the order of the source (checks_gen.go, which gen.go writes from it).
// The functions that were entered tell which calls were made and which branches
// were taken; what lies between two of them follows from the order of the source.
//
// A branch that no entered function tells of is decided by its condition, if all
// that this speaks of is known from the request. If not, the checks in it are
// listed with the condition as their Where: they were met if it held. The same goes
// for what follows a branch that may have returned.
//
// Values are looked up by the names that a condition has: members of the request's
// structs and attributes by the names of the user ABI, limits and capabilities of
// the device, and what the function itself computed from these. A condition may
// speak of more than can be looked up, such as the state of an object. Where it asks
// for a table of a driver, or for a number that a driver has made, tables by the ids
// of rules say what it is about: speaksOf has the members, special has functions, and
// wholeConditions the test as the kernel writes it.
package explain
