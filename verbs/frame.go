package verbs

import "uverbsim/copyuser"

// frameSize is how much memory a frame has in one piece. What does not fit is
// mapped for itself.
const frameSize = 64 << 10

// frameAlign is the alignment of what is put into a frame.
const frameAlign = 16

// Frame is memory of the program for the length of one call: the part of the
// stack that a function of the C library has for its command buffer, for the
// structs that attributes point to, and for the answers. Frames are used again;
// what an earlier call left in one is still there.
//
// A frame serves one goroutine. An error of its memory is kept and is the error
// of the command that is executed with it.
type Frame struct {
	c        *Context
	base, sp copyuser.Addr
	spilled  []mapping
	err      error
}

// mapping is a piece of mapped memory.
type mapping struct {
	at copyuser.Addr
	n  uint64
}

// Frame returns a frame for a call. The caller gives it back with Leave.
func (c *Context) Frame() *Frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.frames); n > 0 {
		f := c.frames[n-1]
		c.frames = c.frames[:n-1]
		f.sp, f.err = f.base, nil
		return f
	}
	f := &Frame{c: c}
	f.base, f.err = Alloc(c.sys, frameSize)
	f.sp = f.base
	return f
}

// Leave ends the frame. No command buffer that was made in it may be used any
// more.
func (f *Frame) Leave() {
	for _, m := range f.spilled {
		f.unmap(m)
	}
	f.spilled = nil
	if f.base == 0 {
		return
	}
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	f.c.frames = append(f.c.frames, f)
}

func (f *Frame) unmap(m mapping) {
	if err := f.c.sys.Munmap(m.at, m.n); err != nil {
		panic("verbs: memory of a frame is not mapped")
	}
}

// alloc returns the address of n bytes of the frame.
func (f *Frame) alloc(n int) copyuser.Addr {
	if f.err != nil {
		return 0
	}
	need := copyuser.Addr(n+frameAlign-1) &^ (frameAlign - 1)
	if f.sp+need <= f.base+frameSize {
		f.sp += need
		return f.sp - need
	}
	var at copyuser.Addr
	if at, f.err = Alloc(f.c.sys, uint64(need)); f.err == nil {
		f.spilled = append(f.spilled, mapping{at, uint64(need)})
	}
	return at
}

// push puts bytes into the frame and returns their address.
func (f *Frame) push(b []byte) copyuser.Addr {
	at := f.alloc(len(b))
	f.store(at, b)
	return at
}

// store writes to the frame.
func (f *Frame) store(at copyuser.Addr, b []byte) {
	if f.err == nil {
		f.err = Store(f.c.sys, at, b)
	}
}

// load reads from the frame.
func (f *Frame) load(at copyuser.Addr, b []byte) {
	if f.err == nil {
		f.err = Load(f.c.sys, at, b)
	}
}
