// Package traffic has tests of programs that use the emulated mlx5 device by the
// verbs, as rdma-core's own tests do: each has one or two processes with memory of
// their own, on one device or on two that a link joins, and looks at what those
// processes see. Nothing here looks into the device, but for the books: when a
// test's programs are gone, the device holds what it held when its driver had
// probed it, and no memory of theirs is mapped for it.
//
// Each test steps its devices itself and moves their clock, so a run depends on
// nothing but the model.
package traffic
