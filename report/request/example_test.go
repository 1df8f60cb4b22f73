package request_test

import (
	"fmt"

	"uverbsim/report/request"
)

// What gdb shows of a request and of what it points to.
func ExampleParse() {
	r, err := request.Parse(`
0x7ffd8ec7be80:	0x0001000000000028	0x0000000000000000
0x7ffd8ec7be90:	0x0000000000000001	0x0000000100100000
0x7ffd8ec7bea0:	0x00007ffd8ec7c000
0x7ffd8ec7c000:	0x01	0x02	0x03	0x04`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s at %#x\n% x\n", request.Guess(r.Bytes, len(r.Bytes)), r.At, r.Bytes)
	for _, m := range r.Memory[1:] {
		fmt.Printf("at %#x: % x\n", m.Addr, m.Bytes)
	}
	_, err = request.Parse("28 00 00 00\n00 00 01 0")
	fmt.Println(err)
	// Output:
	// ioctl at 0x7ffd8ec7be80
	// 28 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 10 00 01 00 00 00 00 c0 c7 8e fd 7f 00 00
	// at 0x7ffd8ec7c000: 01 02 03 04
	// line 2, column 10: "0" has an odd number of digits: a byte has two
}
