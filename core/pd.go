package core

import "uverbsim/trace"

// PD is a struct ib_pd, a protection domain.
type PD struct {
	Device *Device
	Driver any
	Usecnt Usecnt // objects that live in it
}

// XRCD is a struct ib_xrcd, a domain of shared receive queues and XRC targets.
type XRCD struct {
	Device *Device
	Driver any
	Usecnt Usecnt
	Inode  any // the file that it is shared through, nil if none

	tgtQPsRwsem trace.RWSem
	tgtQPs      map[uint32]*QP // shared XRC target QPs by their number
}
