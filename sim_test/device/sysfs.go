//go:build linux

package device

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	verbsClass = "/sys/class/infiniband_verbs/"
	devices    = "/sys/class/infiniband/"
	nodes      = "/dev/infiniband/"
)

// readLine is the first line of a file of sysfs.
func readLine(path string) (string, error) {
	b, err := os.ReadFile(path)
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line), err
}

// ibdevOf is the name of the RDMA device behind a node.
func ibdevOf(path string) (string, error) {
	return readLine(verbsClass + filepath.Base(path) + "/ibdev")
}

// parentOf is the network device that a software RDMA device was made on.
func parentOf(ibdev string) string {
	name, err := readLine(devices + ibdev + "/parent")
	if err != nil {
		return ""
	}
	return name
}

// nodeOf is the node of an RDMA device now, "" when there is none.
func nodeOf(ibdev string) string {
	names, err := filepath.Glob(verbsClass + "uverbs*")
	if err != nil {
		return ""
	}
	for _, name := range names {
		if have, err := ibdevOf(name); err == nil && have == ibdev {
			return nodes + filepath.Base(name)
		}
	}
	return ""
}

// AwaitReady waits until an RDMA device that was just made has its node and its
// GIDs, which come later and from a queue of work: until those of port 1 have
// one of an IPv4 address and stay as they are.
func AwaitReady(ibdev string) error {
	const every, limit = 50 * time.Millisecond, 20 * time.Second
	last := ""
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(every) {
		node := nodeOf(ibdev)
		if node == "" || unix.Access(node, unix.F_OK) != nil {
			continue
		}
		now := gids(ibdev)
		if now == last && strings.Contains(now, "0000:ffff:") {
			return nil
		}
		last = now
	}
	return fmt.Errorf("the RDMA device %s did not get ready within %v", ibdev, limit)
}

func gids(ibdev string) string {
	const some = 4
	var b strings.Builder
	for i := range some {
		line, _ := readLine(fmt.Sprintf("%s%s/ports/1/gids/%d", devices, ibdev, i))
		b.WriteString(line + "\n")
	}
	return b.String()
}
