package ptrace

import (
	"os"

	"uverbsim/spec"
)

// NodePrefix is what the paths of the uverbs device nodes begin with.
const NodePrefix = "/dev/infiniband/uverbs"

// Options say how a program is watched.
type Options struct {
	// Prefix is what the path of a device node begins with; empty: NodePrefix.
	Prefix string

	// Transfers watches read and write as well. It costs each read and each
	// write of the program a stop, whatever file it is on.
	Transfers bool

	// Kernel is what the calls are told to be of; nil: spec.Linux6_12.
	Kernel *spec.Kernel

	// The program's files; nil: the caller's own.
	Stdin, Stdout, Stderr *os.File

	// Started, if set, is told the program's process id, before it runs.
	Started func(pid int)
}

func (o *Options) defaults() {
	if o.Prefix == "" {
		o.Prefix = NodePrefix
	}
	if o.Kernel == nil {
		o.Kernel = spec.Linux6_12
	}
	for _, f := range []struct{ is, otherwise **os.File }{{&o.Stdin, &os.Stdin}, {&o.Stdout, &os.Stdout}, {&o.Stderr, &os.Stderr}} {
		if *f.is == nil {
			*f.is = *f.otherwise
		}
	}
}
