// Package decode turns the bytes of uverbs calls, as package watch keeps them,
// into values with the names of the user ABI: methods, attributes, members of
// structs, enumerators and flags.
//
// What it makes is a tree of [Value]; how that is written is for others (see
// package report/strace). The names and layouts are those of package spec. What
// a number in a struct or an attribute means beyond its size, the tables of
// forms.go, members.go and attrs.go say.
//
// Left out are the commands of a device's firmware that DEVX passes on, the
// packet headers that a flow matches, and the parts of drivers that package
// spec has no structs of: these are bytes.
package decode
