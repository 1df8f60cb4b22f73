//go:build linux

package firmware

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// bridgeDevice is the kernel module's device.
const bridgeDevice = "/dev/uverbsim-bridge"

// bridge is the other end of the function, opened.
type bridge struct{ fd int }

func openBridge() (*bridge, error) {
	fd, err := unix.Open(bridgeDevice, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", bridgeDevice, err)
	}
	return &bridge{fd}, nil
}

// interrupt raises a vector and returns when the driver's handler has run.
func (b *bridge) interrupt(vector int) error {
	return unix.IoctlSetInt(b.fd, ioctlInterrupt, vector)
}

// The bridge's calls, as _IOW and _IO make their numbers.
const (
	ioctlPlug      = 1<<30 | functionSize<<16 | 'u'<<8 | 0xb0
	ioctlInterrupt = 'u'<<8 | 0xb1
)

// mapAt maps memory by its physical address.
func (b *bridge) mapAt(addr, size uint64) ([]byte, error) {
	m, err := unix.Mmap(b.fd, int64(addr), int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mapping %d bytes at %#x: %w", bridgeDevice, size, addr, err)
	}
	return m, nil
}

// memory maps all of the machine's memory.
func (b *bridge) memory() (*memory, error) {
	text, err := os.ReadFile("/proc/iomem")
	if err != nil {
		return nil, err
	}
	m := &memory{ram: ramIn(string(text))}
	if len(m.ram) == 0 {
		return nil, fmt.Errorf("/proc/iomem tells of no memory")
	}
	m.bytes, err = b.mapAt(0, m.ram[len(m.ram)-1].to)
	return m, err
}

// ramIn are the ranges of memory of a text like /proc/iomem, without what lies in
// them.
func ramIn(iomem string) (ram []span) {
	for line := range strings.Lines(iomem) {
		ends, ok := strings.CutSuffix(strings.TrimRight(line, "\n"), " : System RAM")
		if !ok || strings.HasPrefix(line, " ") {
			continue
		}
		first, last, _ := strings.Cut(ends, "-")
		from, err1 := strconv.ParseUint(first, 16, 64)
		to, err2 := strconv.ParseUint(last, 16, 64)
		if err1 == nil && err2 == nil && to > from {
			ram = append(ram, span{from, to + 1})
		}
	}
	return ram
}
