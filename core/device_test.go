package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/trace"
)

// TestEventHandlers: an event goes to all who registered, in their order, until
// they leave.
func TestEventHandlers(t *testing.T) {
	d := new(Device)
	d.InitLocks()
	task := process.New(nil, process.Options{}).MainTask()
	var got []string
	handler := func(name string) *EventHandler {
		return &EventHandler{Handle: func(_ *trace.Task, e *Event) { got = append(got, name) }}
	}
	a, b, c := handler("a"), handler("b"), handler("c")
	for _, h := range []*EventHandler{a, b, c} {
		d.RegisterEventHandler(task, h)
	}
	require.Equal(t, 3, d.EventHandlers())
	d.DispatchEvent(nil, &Event{Type: 1})
	d.UnregisterEventHandler(task, b)
	d.UnregisterEventHandler(task, b)
	d.DispatchEvent(nil, &Event{Type: EventGIDChange})
	d.DispatchEvent(nil, &Event{Type: 1})
	require.Equal(t, []string{"a", "b", "c", "a", "c"}, got)
	require.Equal(t, 2, d.EventHandlers())
}

func TestIsPort(t *testing.T) {
	d := &Device{PhysPorts: 2}
	for port, want := range map[uint32]bool{0: false, 1: true, 2: true, 3: false, 1 << 31: false} {
		require.Equalf(t, want, d.IsPort(port), "%d", port)
	}
}
