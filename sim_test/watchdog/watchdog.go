// Package watchdog makes a hang of a fuzz target, or of a part of a test, a failure.
// Go's fuzzing bounds the time of no execution, and what waits for ever is then found
// by nobody: it has to end the process, of which the coordinator takes the input for a
// found one.
//
// It imports the standard library only, so that the tests of every package can
// have it.
package watchdog

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Patience is how long one execution may take. It is a hundred times and more
// what the slowest one takes on a machine that does other things as well.
const Patience = 20 * time.Second

// env is the variable that sets another patience, in seconds.
const env = "UVERBSIM_FUZZ_PATIENCE"

// patience is the time that the process has for an execution.
var patience = sync.OnceValue(func() time.Duration {
	if n, err := strconv.Atoi(os.Getenv(env)); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return Patience
})

// On watches the rest of a test, or of one execution of a fuzz target. If it is
// not over in time the process ends with the stacks of all goroutines.
func On(tb testing.TB) {
	d := patience()
	tb.Cleanup(While(tb.Name(), d))
}

// While watches until the function that it returns is called. If that is not within d
// the process ends with the stacks of all goroutines.
func While(what string, d time.Duration) (stop func()) {
	return start(d, func() { hang(what, d) })
}

// start calls late when so much time has passed, unless the function that it
// returns is called before.
func start(d time.Duration, late func()) (stop func()) {
	var done atomic.Bool
	timer := time.AfterFunc(d, func() {
		if !done.Load() {
			late()
		}
	})
	return func() {
		done.Store(true)
		timer.Stop()
	}
}

// hang ends the process. The stacks are written first: a panic in a goroutine
// of its own shows that one only.
func hang(name string, d time.Duration) {
	buf := make([]byte, 1<<20)
	panic(fmt.Sprintf("%s: not over after %v\n\n%s", name, d, buf[:runtime.Stack(buf, true)]))
}
