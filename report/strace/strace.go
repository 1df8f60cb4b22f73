package strace

import (
	"io"
	"sync"
	"time"

	"uverbsim/interpose/watch"
)

// Options say how calls are printed.
type Options struct {
	// JSON prints an object a line instead of text.
	JSON bool

	Times     bool // begin a line with the time of day
	Durations bool // end it with how long the call took
	PIDs      bool // show the thread always, not only from the second one on

	// Verbose leaves nothing out: otherwise long bytes and arrays are cut with
	// "...", reserved members that are zero are left out, and so are all
	// members of large structs that are zero.
	Verbose bool
	// Raw adds the bytes of an ioctl's header and buffers in hexadecimal.
	Raw bool
}

// Watcher prints calls. Its methods may be called by several goroutines at
// once.
type Watcher struct {
	opts Options

	mu      sync.Mutex
	w       io.Writer
	err     error
	first   int  // the first thread seen
	several bool // more than one was
}

var _ watch.Watcher = (*Watcher)(nil)

// New returns a watcher that prints to w, a line a write.
func New(w io.Writer, opts Options) *Watcher { return &Watcher{opts: opts, w: w} }

// Enter keeps what the call hands in.
func (s *Watcher) Enter(c *watch.Call) { c.TakeArgument() }

// Leave prints the call.
func (s *Watcher) Leave(c *watch.Call) {
	c.TakeAnswer()
	p := printer{opts: &s.opts}
	if s.opts.JSON {
		p.object(c)
	} else {
		p.call(c)
	}
	s.write(c, p.b)
}

// Err returns the first error of the writer; after it nothing is written.
func (s *Watcher) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// write writes a line with what stands before it.
func (s *Watcher) write(c *watch.Call, line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	if s.first == 0 {
		s.first = c.TID
	}
	s.several = s.several || c.TID != s.first && c.TID != 0
	p := printer{opts: &s.opts}
	if !s.opts.JSON {
		p.prefix(c, s.several)
	}
	p.b = append(append(p.b, line...), '\n')
	_, s.err = s.w.Write(p.b)
}

// prefix is what stands before a line of text.
func (p *printer) prefix(c *watch.Call, several bool) {
	if (several || p.opts.PIDs) && c.TID != 0 {
		p.format("[pid %d] ", c.TID)
	}
	if p.opts.Times {
		p.b = c.Begun.AppendFormat(p.b, timeOfDay)
		p.text(" ")
	}
}

const timeOfDay = "15:04:05.000000"

// seconds is how strace writes a duration.
func (p *printer) seconds(d time.Duration) { p.format(" <%.6f>", d.Seconds()) }
