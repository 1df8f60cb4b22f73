//go:build linux

package firmware

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRAM takes the memory out of /proc/iomem, and not what lies in it.
func TestRAM(t *testing.T) {
	require.Equal(t, []span{{0x1000, 0x9fc00}, {0x100000, 0x30000000}, {0x32000000, 0x3ffe0000}}, ramIn(`00000000-00000fff : Reserved
00001000-0009fbff : System RAM
000a0000-000bffff : PCI Bus 0000:00
00100000-2fffffff : System RAM
  01000000-01ffffff : Kernel code
  02000000-02000fff : System RAM
30000000-31ffffff : Reserved
32000000-3ffdffff : System RAM
fee00000-fee00fff : Local APIC
`))
	require.Empty(t, ramIn("00000000-00000000 : System RAM\n"), "what an ordinary user sees")
}

// TestCalls: the numbers of the bridge's calls are those that _IOW and _IO make of
// struct bridge_function.
func TestCalls(t *testing.T) {
	require.Equal(t, 8+8+256+256, functionSize)
	require.Equal(t, 0x421075b0, ioctlPlug)
	require.EqualValues(t, 0x75b1, ioctlInterrupt)
}
