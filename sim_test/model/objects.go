package model

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/uobject"
)

// LiveObject is an object of an open device file.
type LiveObject struct {
	ID   int64 // its handle, or its descriptor; -1 for a descriptor object that the process has none of
	FD   bool  // it is one behind a descriptor
	Type string

	object *uobject.Object
}

// FileOf returns the device's file that a descriptor of the process is of, nil if it
// is of none.
func FileOf(p *process.Task, fd int) *kernel.File {
	filp := p.Fget(fd)
	if filp == nil {
		return nil
	}
	defer filp.Put(p)
	f, _ := filp.Private.(*kernel.File)
	return f
}

// LiveObjects are the objects of an open device file, in the order of their numbers,
// as the process knows them.
func LiveObjects(p *process.Task, f *kernel.File) (out []LiveObject) {
	var fds map[*uobject.Object]int64
	for o := range f.Objects.Objects(nil) {
		l := LiveObject{ID: o.ID(), Type: o.Type().Name, FD: o.Type().FD(), object: o}
		if l.FD {
			if fds == nil {
				fds = descriptors(p)
			}
			l.ID = -1
			if fd, ok := fds[o]; ok {
				l.ID = fd
			}
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b LiveObject) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// descriptors has the descriptors of a process that lead to an object.
func descriptors(p *process.Task) map[*uobject.Object]int64 {
	fds := map[*uobject.Object]int64{}
	for _, fd := range p.Process.FDs() {
		if filp := p.Fget(fd); filp != nil {
			if o, ok := filp.Private.(*uobject.Object); ok {
				fds[o] = int64(fd)
			}
			filp.Put(p)
		}
	}
	return fds
}

// Uses is the usecnt of the hardware object behind an object. No call may be under
// way that makes or destroys it.
func (l LiveObject) Uses() int32 { return uses(l.object.HW) }

// UsedBy says as what one object uses another: the members of its hardware object
// that point to the other's, in the kernel's spelling. None if it does not.
func (l LiveObject) UsedBy(user LiveObject) (members []string) {
	used := reflect.ValueOf(l.object.HW)
	of := reflect.ValueOf(user.object.HW)
	if l.object == user.object || used.Kind() != reflect.Pointer || of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
		return nil
	}
	of = of.Elem()
	for i := range of.NumField() {
		f, name := of.Field(i), memberName(of.Type().Field(i).Name)
		switch {
		case !of.Type().Field(i).IsExported():
		case f.Type() == used.Type() && f.Pointer() == used.Pointer():
			members = append(members, name)
		case f.Kind() == reflect.Slice && f.Type().Elem() == used.Type():
			for j := range f.Len() {
				if f.Index(j).Pointer() == used.Pointer() {
					members = append(members, name)
				}
			}
		}
	}
	return members
}

// memberName is the kernel's name of a member that points to another object.
func memberName(field string) string {
	if name, ok := memberNames[field]; ok {
		return name
	}
	return strings.ToLower(field)
}

// memberNames are those that differ in more than in their capitals, as
// include/rdma/ib_verbs.h has them.
var memberNames = map[string]string{
	"SendCQ": "send_cq", "RecvCQ": "recv_cq", "RWQIndTable": "rwq_ind_tbl", "RealQP": "real_qp", "Table": "ind_tbl",
}
