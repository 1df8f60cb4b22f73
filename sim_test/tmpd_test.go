package sim_test

import "uverbsim/trace"
import "io"

type nopBatch struct{}

func (nopBatch) Event(t *trace.Task, e *trace.Event)    {}
func (nopBatch) Events(t *trace.Task, e []trace.Event) {}

type nopSink struct{}

func (nopSink) Event(t *trace.Task, e *trace.Event)    {}

func init() {
	tracedFormats = append(tracedFormats, struct {
	name string
	sink func(w io.Writer) trace.Sink
}{"nopbatch", func(io.Writer) trace.Sink { return nopBatch{} }},struct {
	name string
	sink func(w io.Writer) trace.Sink
}{"recorder", func(io.Writer) trace.Sink { return trace.NewRecorder(nopBatch{}) }},struct {
	name string
	sink func(w io.Writer) trace.Sink
}{"nop", func(io.Writer) trace.Sink { return nopSink{} }})
}
