package rxe_test

import (
	"fmt"
	"net/netip"
	"syscall"

	"uverbsim/drivers/rxe"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
)

// A machine gets a device by Register, which takes what New returns; a process
// finds it under /dev/infiniband.
func ExampleNew() {
	m := kernel.NewMachine(methods.Core())
	dev, err := m.Register(rxe.New(rxe.Config{
		Name:  "rxe_eth0",
		MAC:   [6]byte{0x52, 0x54, 0x00, 0x12, 0x34, 0x56},
		Addrs: []netip.Addr{netip.MustParseAddr("192.0.2.7")},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	ib := dev.IBDevice()
	fmt.Println(ib.Name, "with", ib.NumCompVectors, "completion vector and at most", ib.Attr.MaxQP, "queue pairs")
	for _, g := range ib.GIDs {
		fmt.Println("GID", g.Index, netip.AddrFrom16(g.GID))
	}

	p := m.NewProcess(process.Options{})
	_, err = p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	fmt.Println("opened:", err == nil)
	// Output:
	// rxe_eth0 with 1 completion vector and at most 1048560 queue pairs
	// GID 0 fe80::5054:ff:fe12:3456
	// GID 1 ::ffff:192.0.2.7
	// opened: true
}
