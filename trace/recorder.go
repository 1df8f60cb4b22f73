package trace

import "sync"

// Recorder is a Sink that keeps events as they come and hands them on later, as
// ftrace keeps them in a buffer until somebody reads it: a call that is traced is
// not slowed down by what becomes of its events.
type Recorder struct {
	to Batcher

	mu     sync.Mutex
	events []Event
	parts  []part
}

// part is the events of one task up to an index.
type part struct {
	t   *Task
	end int
}

var _ Batcher = (*Recorder)(nil)

// recorderSize is how many events a Recorder keeps at most.
const recorderSize = 1 << 12

// NewRecorder returns a Recorder that hands on to a sink: when Drain is called, and
// when it is full.
func NewRecorder(to Batcher) *Recorder {
	return &Recorder{to: to, events: make([]Event, 0, recorderSize)}
}

// Wants implements Filter, as the sink that it hands on to says.
func (r *Recorder) Wants(k Kind, inlined bool) bool { return wants(r.to, k, inlined) }

// wants asks a sink that may be a Filter.
func wants(s Sink, k Kind, inlined bool) bool {
	f, ok := s.(Filter)
	return !ok || f.Wants(k, inlined)
}

// Event keeps one event.
func (r *Recorder) Event(t *Task, e *Event) { r.Events(t, []Event{*e}) }

// Events keeps events.
func (r *Recorder) Events(t *Task, events []Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.events)+len(events) > recorderSize {
		r.drain()
	}
	r.events = append(r.events, events...)
	if n := len(r.parts); n > 0 && r.parts[n-1].t == t {
		r.parts[n-1].end = len(r.events)
		return
	}
	r.parts = append(r.parts, part{t, len(r.events)})
}

// Drain hands on what was kept.
func (r *Recorder) Drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drain()
}

func (r *Recorder) drain() {
	from := 0
	for _, p := range r.parts {
		r.to.Events(p.t, r.events[from:p.end])
		from = p.end
	}
	clear(r.parts)
	r.events, r.parts = r.events[:0], r.parts[:0]
}
