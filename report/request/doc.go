// Package request reads the bytes of a request to a uverbs device in whatever
// form a user has them, and says where in memory they lay.
//
// The forms:
//
//   - hexadecimal digits, two a byte, in the order of memory, with or without
//     blanks, commas, 0x, \x and braces around them, as `xxd -p` and `xxd -i`
//     print them. 0x before 4, 8 or 16 digits is a little-endian word;
//   - dumps with an address or an offset at the beginning of each line: those
//     of hexdump, xxd, od, of gdb's x command, of print_hex_dump in the kernel's
//     log. Groups of more than a byte are little-endian words where the program
//     prints them so, and bytes where it is xxd; where both can be, the reading
//     in which the header fits wins;
//   - lines of strace: a write() with its bytes as a string or as the lines
//     behind it (strace -e write=all), an ioctl with its argument as a string;
//     or an ioctl that shows only an address, with a dump of what lies there;
//   - bytes as Python writes them, b'\x28\x00', and what debuggers and Python
//     print in a session, from which lines with a prompt and a command are
//     passed over;
//   - the bytes themselves, as a program writes them to a file.
//
// A dump with addresses may show several ranges of memory: the first has the
// request, unless a line of strace says where it lies, and the others are what
// the request points to.
//
// Left out are decimal and octal digits, big-endian machines, and lines in
// which bytes are already decoded.
package request
