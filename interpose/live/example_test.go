package live_test

import (
	"fmt"
	"os/exec"

	"uverbsim/interpose/live"
)

// A memory is that of one program: it ends with it, not with the process's number.
func ExampleOpen() {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return
	}
	mem, err := live.Open(cmd.Process.Pid)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mem.Close()
	fmt.Println("alive:", mem.Alive())
	fmt.Println("bytes at address 0:", mem.CopyIn(make([]byte, 8), 0))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	fmt.Println("alive:", mem.Alive())
	// Output:
	// alive: true
	// bytes at address 0: 0
	// alive: false
}
