package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endStuck ends a process group that should have ended by itself and returns
// where each of its threads is. A Go program prints its goroutines before it goes.
func endStuck(group int) string {
	var where strings.Builder
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, p := range processes {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(p), "%d", &pid); err != nil {
			continue
		}
		if g, err := unix.Getpgid(pid); err != nil || g != group {
			continue
		}
		cmdline, _ := os.ReadFile(p + "/cmdline") // what cannot be read is left out
		fmt.Fprintf(&where, "%d %s\n", pid, strings.ReplaceAll(strings.TrimRight(string(cmdline), "\x00"), "\x00", " "))
		threads, _ := filepath.Glob(p + "/task/*")
		for _, t := range threads {
			call, _ := os.ReadFile(t + "/syscall")
			wchan, _ := os.ReadFile(t + "/wchan")
			fmt.Fprintf(&where, "    %s waits in %s, system call %s\n", filepath.Base(t), wchan, strings.TrimSpace(string(call)))
		}
	}
	_ = syscall.Kill(-group, syscall.SIGABRT)
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end) && syscall.Kill(-group, 0) == nil; {
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(-group, syscall.SIGKILL)
	return where.String()
}
