// Package schema says what a device takes, as one value that programs read:
// objects, methods and attributes with ids, types, sizes, access and direction,
// the write() commands, and the layouts of all structs, with what each number in
// them stands for: an address in the caller's memory, a descriptor, a handle.
//
// Build makes the [Document] of a driver on a kernel from the tables of package
// spec and from the radix tree that package kernel makes of them, so that it
// tells what the device prunes. Published is the JSON schema of what a Document
// is as JSON; Version changes when a reader of the old one would be misled.
//
// Left out is what no table knows: which lengths of a driver's part make it take
// which struct, and the commands of a device's firmware that DEVX passes on.
package schema
