// Package gen makes random cases: lives of objects on an open device, mostly
// valid, with a few mutations.
//
// What can be called, with which attributes, structs and sizes, comes from the
// tables of package spec; the tables here only say which values a valid call
// has. Handles are foretold, lowest number first, rather than saved: so a case
// can be played whatever the calls before have answered.
//
// The same seed makes the same cases. They have no answers: a real kernel gives
// those.
package gen
