// Package casefile reads, writes and compares uverbs cases.
//
// A case is what one user process does to an RDMA device's uverbs file, step
// by step, and what the kernel answered. A case file has one case a line, as
// one JSON object; blank lines and lines that begin with # are passed over.
// The same file is played on a real device and on the model.
//
// # Reading
//
// Reading is strict. A member that the format does not know, a member twice,
// a number too large for its field, an operation without what it needs, a
// buffer, symbol, mapping, process or background step that no earlier part of
// the case makes: each is a *FormatError with file, line and reason. Numbers
// keep all their 64 bits.
//
// # Answers
//
// A recorded answer is a Got. In it "*" stands for anything and "**" in hex
// text for any byte: what differs from run to run. A step whose answer is not
// always the same has a set of them in GotAny, and any of the set will do.
// Compare says, member by member, where an answer is not the wanted one.
//
// # Playing
//
// What a line means that is not in the JSON itself, players share: Resolve
// turns a Value into a number, Ioctl.Bytes and Write.Bytes lay out what the
// system call is given, Ioctl.Report and Masks write down what is in memory
// afterwards. The package opens no device and holds no memory: whoever plays
// a case does.
package casefile
