package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// progress is a line on a terminal that says how far the work is; on anything
// else it is nothing.
type progress struct {
	w     io.Writer // nil: no terminal
	what  string    // is counted
	total int
	last  time.Time
	shown bool
}

// progressEvery is the least time between two lines.
const progressEvery = 200 * time.Millisecond

// barWidth is how many columns the bar has.
const barWidth = 30

func newProgress(w io.Writer, total int, what string) *progress {
	p := &progress{total: total, what: what, last: time.Now()}
	if f, ok := w.(*os.File); ok {
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			p.w = w
		}
	}
	return p
}

func (p *progress) show(done int) {
	if p.w == nil || time.Since(p.last) < progressEvery {
		return
	}
	full := barWidth * done / max(p.total, 1)
	fmt.Fprintf(p.w, "\r[%s%s] %d of %d %s", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), done, p.total, p.what)
	p.last, p.shown = time.Now(), true
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
