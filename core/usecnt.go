package core

import (
	"sync/atomic"

	"uverbsim/trace"
)

// Usecnt is the usecnt of an object: how many others use it. It is an atomic_t in
// the structs of include/rdma/ib_verbs.h.
type Usecnt struct{ atomic.Int32 }

// Count changes it by n, reports that under the object's name in C, and returns
// what it is now.
func (u *Usecnt) Count(t *trace.Task, name string, n int32) int32 {
	t.Point(trace.Usecnt, "count", name, trace.Counts, u)
	now := u.Add(n)
	t.Note(trace.Usecnt, name, 0, uint64(now), 0)
	return now
}

// Read returns what it is, for a caller that acts on that.
func (u *Usecnt) Read(t *trace.Task, name string) int32 {
	t.Point(trace.Usecnt, "read", name, trace.Reads, u)
	return u.Load()
}
