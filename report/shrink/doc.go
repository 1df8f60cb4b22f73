// Package shrink makes a case small that shows something: that a model and a
// real kernel answer it differently, say.
//
// Whether a smaller case still shows it, an Oracle tells. Asking a real kernel
// takes a boot, so cases are asked about many at once: each thing that can be
// left out or made plain alone first, then together those that can.
package shrink
