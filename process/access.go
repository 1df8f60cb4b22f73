package process

import "uverbsim/copyuser"

// Load is what the process's own instructions do when they read its memory. It
// returns false if the process gets a signal for it.
func (p *Process) Load(from copyuser.Addr, dst []byte) bool { return p.Mem.Load(from, dst) }

// Store is what the process's own instructions do when they write its memory.
// It returns false if the process gets a signal for it; what lies before the
// fault is written.
func (p *Process) Store(to copyuser.Addr, src []byte) bool { return p.Mem.Store(to, src) }
