package faults

import (
	"reflect"
	"syscall"
	"unicode"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/trace"
)

// OpErrno is what an operation answers that is made to fail: an errno that nothing in
// the model answers, so that a call which answers it has it from the operation. The
// kernel's core looks at no operation's errno.
const OpErrno = syscall.EXFULL

var (
	errorType = reflect.TypeFor[error]()
	opErr     = reflect.ValueOf(OpErrno)
)

// failingOps makes each operation of a device that can fail a step. An operation
// without a result cannot.
func failingOps(ops *core.DeviceOps) {
	v := reflect.ValueOf(ops).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if typ := f.Type(); f.IsNil() || typ.NumOut() == 0 || typ.Out(typ.NumOut()-1) != errorType {
			continue
		}
		f.Set(failingOp(opName(v.Type().Field(i).Name), reflect.ValueOf(f.Interface())))
	}
}

// failingOp is an operation that asks whether it shall fail before it does anything.
func failingOp(name string, op reflect.Value) reflect.Value {
	typ := op.Type()
	return reflect.MakeFunc(typ, func(args []reflect.Value) []reflect.Value {
		if !traceOf(args).Fail(trace.Op, name) {
			return op.Call(args)
		}
		out := make([]reflect.Value, typ.NumOut())
		for i := range out {
			out[i] = reflect.Zero(typ.Out(i))
		}
		last := reflect.New(errorType).Elem()
		last.Set(opErr)
		out[len(out)-1] = last
		return out
	})
}

// traceOf is the seam of the thread that calls an operation.
func traceOf(args []reflect.Value) *trace.Task {
	for _, a := range args {
		switch a := a.Interface().(type) {
		case *process.Task:
			if a != nil {
				return a.Trace
			}
		case *core.Udata:
			if a != nil && a.Attrs != nil {
				return a.Trace()
			}
		case core.Attrs:
			return a.Task().Trace
		}
	}
	return nil
}

// opName is a field of core.DeviceOps in the spelling of struct ib_device_ops.
func opName(field string) string {
	if field == "RegDMMR" {
		return "reg_dm_mr"
	}
	var out []rune
	in := []rune(field)
	for i, r := range in {
		word := i > 0 && unicode.IsUpper(r) &&
			(unicode.IsLower(in[i-1]) || i+1 < len(in) && unicode.IsLower(in[i+1]))
		if word {
			out = append(out, '_')
		}
		out = append(out, unicode.ToLower(r))
	}
	return string(out)
}
