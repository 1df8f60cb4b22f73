package interpose

import (
	"runtime"
	"testing"
	"time"
)

// TestEngineStops stops engines at every moment of their first look: none may
// go to rest without having seen that it is to end.
func TestEngineStops(t *testing.T) {
	const engines = 20000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range engines {
			e := startEngine(nil)
			for range i % 50 {
				runtime.Gosched()
			}
			e.stop()
		}
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("an engine rests, and nobody will wake it")
	}
}
