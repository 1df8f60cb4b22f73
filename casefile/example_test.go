package casefile_test

import (
	"fmt"
	"strings"

	"uverbsim/casefile"
)

const recorded = `
# One case a line.
{"v":1,"name":"pd/alloc","why":"a process gets a protection domain","driver":"rxe","bufs":{"resp":{"fill":"a5","len":4}},"steps":[{"op":"open","fd":"f","got":{"ret":"*","errno":""}},{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},"attrs":[{"id":1,"len":4,"flags":1,"data":{"ptr":"resp"}}],"got":{"ret":0,"errno":"","attrs":[{"flags":3,"data":"*"}],"bufs":{"resp":"00000000"}}}]}
{"v":1,"name":"pd/typo","driver":"rxe","steps":[{"op":"open","fd":"f","mod":"r"}]}
`

func ExampleRead() {
	for c, err := range casefile.Read(strings.NewReader(recorded), "pd.jsonl") {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(c.Name, "-", c.Why)
		for _, s := range c.Steps {
			switch do := s.Do.(type) {
			case *casefile.Ioctl:
				fmt.Printf("  ioctl: object %d, method %d, %d attributes, ret %s\n", do.Hdr.ObjectID, do.Hdr.MethodID, len(do.Attrs), s.Got.Ret)
			default:
				fmt.Printf("  %s\n", s.Op())
			}
		}
	}
	// Output:
	// pd/alloc - a process gets a protection domain
	//   open
	//   ioctl: object 0, method 0, 1 attributes, ret 0
	// pd.jsonl:4: steps[0]: op open has no member "mod"
}

func ExampleCompare() {
	want := &casefile.Got{
		Ret: "0", Errno: new(""),
		Attrs: []casefile.GotAttr{{Flags: "3", Data: casefile.Any}},
		Bufs:  map[string]string{"resp": "01000000********"},
	}
	got := &casefile.Got{
		Ret: "0", Errno: new(""),
		Attrs: []casefile.GotAttr{{Flags: "1", Data: "0x7f12c0de0000"}},
		Bufs:  map[string]string{"resp": "0200000017a50000"},
	}
	for _, d := range casefile.Compare(want, got) {
		fmt.Println(d)
	}
	// Output:
	// attrs[0].flags: want 3, got 1
	// bufs.resp: want 01000000********, got 0200000017a50000
}

func ExampleCase_Marshal() {
	c := &casefile.Case{
		Name: "hdr/length-zero", Why: "a length of 0 does not match the attributes", Driver: "rxe",
		Steps: []casefile.Step{
			{Do: &casefile.Open{FD: "f"}},
			{Do: &casefile.Ioctl{FD: "f", Hdr: casefile.Hdr{ObjectID: 3, MethodID: 1, Length: new(uint16(0))}},
				Got: &casefile.Got{Ret: casefile.Int(-1), Errno: new("EINVAL")}},
		},
	}
	line, err := c.Marshal()
	fmt.Println(string(line), err)
	// Output:
	// {"v":1,"name":"hdr/length-zero","why":"a length of 0 does not match the attributes","driver":"rxe","steps":[{"op":"open","fd":"f"},{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":1,"length":0},"got":{"ret":-1,"errno":"EINVAL"}}]} <nil>
}
